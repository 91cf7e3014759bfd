"""Code reads or writes the `Mcp-Session-Id` header."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ...facts.model import Fact, Header, HeaderUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Need, Severity
from .. import clientside, hosted

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

# A name or a list of names does nothing by itself.
_NAMES = frozenset({HeaderUse.CONSTANT, HeaderUse.LIST})
_GIVES = frozenset({HeaderUse.READ, HeaderUse.ALIAS})


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    if not isinstance(fact, Header):
        return
    if clientside.knows(fact, ctx):
        yield from clientside.check(fact, ctx, removable=True)
        return
    for finding in hosted.check(fact, ctx, follows=fact.use in _GIVES):
        if finding.applicability is Applicability.SAFE and _stays(fact, ctx):
            finding = ctx.finding(fact, Applicability.MANUAL)
        yield replace(finding, severity=Severity.NOTE) if fact.use in _NAMES else finding


def _stays(fact: Header, ctx: Context) -> bool:
    """Whether a boundary stands already before code that reads the header, and `fix` has nothing to take away: it goes elsewhere."""
    from ...rewrite.tree import Tree

    return fact.use in _GIVES and hosted.handle(ctx) != "" and not any(True for _ in fix(fact, Tree(ctx.file.source), ctx))


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit | Need]:
    """Takes away what writes, lists or takes the header; what is read into a name goes with the last use of the name."""
    from ...rewrite import clients, sessions

    done, gone = clientside.is_done(fact, ctx), hosted.is_removable(fact, ctx)
    if clientside.knows(fact, ctx) and not done:
        yield from clientside.fix(fact, tree, ctx)
    elif isinstance(fact, Header) and (done or gone):
        kept = list(clients.without_session(fact, tree)) if done else []
        own = kept or list(sessions.without_header(fact, tree))
        # What is read into a name goes once nothing follows it any more.
        yield from own or (hosted.unfollowed(tree, ctx) if gone and fact.use in _GIVES else ())
