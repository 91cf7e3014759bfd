"""A connection opens with the `initialize` handshake."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Call, Fact, Send
from ...rewrite.edits import Edit
from ...rule import Context, Finding, Need, Severity
from .. import clientside, legacy

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    # The SDK still opens handshake connections; such a client merely stays on the older revisions.
    if isinstance(fact, Call):
        yield ctx.finding(fact, severity=Severity.NOTE, hint=ctx.entry.hints["session"])
    elif isinstance(fact, Send) and not ctx.settled(fact):
        yield from clientside.check(fact, ctx)
    else:
        yield from legacy.check(fact, ctx)


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit | Need]:
    yield from clientside.fix(fact, tree, ctx) if isinstance(fact, Send) else legacy.fix(fact, tree, ctx)
