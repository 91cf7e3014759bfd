"""A protocol revision is hard-coded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Fact, Version, VersionUse
from ...rewrite.edits import Edit
from ...rule import Context, Finding, Need, Severity
from .. import clientside

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_OTHER_RULES = frozenset({VersionUse.ECHO, VersionUse.ORDER})
_SENT = frozenset({VersionUse.SEND, VersionUse.HEADER})


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    if not isinstance(fact, Version) or fact.use in _OTHER_RULES:
        return
    if fact.key in ctx.entry.data["current"] or ctx.settled(fact):
        return
    if fact.use in _SENT and clientside.knows(fact, ctx):
        yield from clientside.check(fact, ctx)
    # A comparison pins nothing, and beside 2026-07-28 an older revision is the handshake half of a program that speaks both.
    elif fact.use is VersionUse.COMPARE or clientside.is_at_home(ctx) or ctx.project.offers_modern(ctx.file):
        yield ctx.finding(fact, severity=Severity.NOTE, message=ctx.entry.messages["beside"])
    else:
        yield ctx.finding(fact)


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit | Need]:
    yield from clientside.fix(fact, tree, ctx)
