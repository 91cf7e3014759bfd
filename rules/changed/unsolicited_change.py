"""Changes are announced to clients that did not ask."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Call, Fact, Handler
from ...rule import Context, Finding, Severity
from .. import asked


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    # A boundary hands the change to the streams that asked for it.
    if ctx.wired(fact):
        return
    if isinstance(fact, Call) and asked.is_told_elsewhere(fact, ctx):
        return
    # SDK v2 does the same with what its session sends.
    if isinstance(fact, Call):
        yield ctx.finding(fact, severity=Severity.WARNING)
    elif not any(isinstance(other, Handler) and other.key == "subscriptions/listen" for other in ctx.file.facts):
        yield ctx.finding(fact)
