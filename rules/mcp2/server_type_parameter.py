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
    if _edit(fact, ctx) is not None:
        yield ctx.finding(fact, Applicability.SAFE if fact.sure else Applicability.UNSAFE)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    edit = _edit(fact, ctx)
    if edit is not None:
        yield edit


def _edit(fact: Symbol, ctx: Context) -> Edit | None:
    match ctx.module.at(fact.span):
        case ast.Subscript(slice=ast.Tuple(elts=[kept, gone])) if fact.use is SymbolUse.SUBSCRIPT:
            return Edit(Span(ctx.module.span(kept).end, ctx.module.span(gone).end))
    return None
