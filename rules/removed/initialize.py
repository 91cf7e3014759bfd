"""A connection opens with the `initialize` handshake."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Call, Fact, Send
from ...rewrite.edits import Edit
from ...rule import Context, Finding, Need, Severity
from .. import clientside, folding, legacy

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    # The SDK still opens handshake connections; such a client merely stays on the older revisions.
    if isinstance(fact, Call):
        yield from _session(fact, ctx)
    elif isinstance(fact, Send) and not ctx.settled(fact):
        yield from clientside.check(fact, ctx)
    else:
        yield from legacy.check(fact, ctx)


def _session(fact: Call, ctx: Context) -> Iterator[Finding]:
    """A session that is to be a `Client` is a finding of its own, at the place where it is opened."""
    node = ctx.module.at(fact.span) if ctx.project.sdk is not None else None
    reason = folding.reason_at(node, ctx) if node is not None else ""
    if reason is not None:
        hint = ctx.entry.hints["session"] if not reason else ctx.entry.hints["kept_session"].replace("{reason}", reason)
        yield ctx.finding(fact, severity=Severity.NOTE, hint=hint)


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit | Need]:
    yield from clientside.fix(fact, tree, ctx) if isinstance(fact, Send) else legacy.fix(fact, tree, ctx)
