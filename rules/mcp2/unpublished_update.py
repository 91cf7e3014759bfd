"""A low-level server with subscriptions tells of an updated resource in a session only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol
from ...rewrite import adapters
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import, NewFile

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    use = adapters.use(fact, ctx)
    if use is not None:
        reason = adapters.obstacle(ctx)
        yield ctx.finding(fact, Applicability.MANUAL if reason else use.applicability, hint=reason)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import | NewFile]:
    use = adapters.use(fact, ctx)
    if use is not None:
        yield from use.edits
        yield from adapters.needs(ctx, fact.span)


# The module is written for both releases where both have to work.
keep = fix
