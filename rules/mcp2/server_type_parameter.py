"""A low-level server has two type parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    match ctx.module.at(fact.span):
        case ast.Subscript(slice=ast.Tuple(elts=[_, _])) if fact.use is SymbolUse.SUBSCRIPT:
            yield ctx.finding(fact, Applicability.SAFE if fact.sure else Applicability.UNSAFE)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    import libcst as cst

    from ...rewrite import cut

    node = tree.node(cst.Subscript, fact.span)
    if node is not None:
        yield from cut.item(tree, node.slice, 1)


def keep(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    """Without its parameters: each release counts them otherwise, and they are for type checkers only."""
    node = ctx.module.at(fact.span)
    if isinstance(node, ast.Subscript):
        yield Edit(Span(ctx.module.span(node.value).end, fact.span.end))
