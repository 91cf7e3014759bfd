"""A protocol revision is hard-coded."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Fact, Version, VersionUse
from ...rule import Context, Finding, Severity

_OTHER_RULES = frozenset({VersionUse.ECHO, VersionUse.ORDER})


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    if not isinstance(fact, Version) or fact.use in _OTHER_RULES:
        return
    if fact.key in ctx.entry.data["current"] or ctx.settled(fact):
        return
    # A comparison pins nothing, and beside 2026-07-28 an older revision is the handshake half of a program that speaks both.
    if fact.use is VersionUse.COMPARE or ctx.project.offers_modern(ctx.file):
        yield ctx.finding(fact, severity=Severity.NOTE, message=ctx.entry.messages["beside"])
    else:
        yield ctx.finding(fact)
