"""`ctx.session.client_params.capabilities`."""

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
    if fact.use is SymbolUse.READ and _read(fact, ctx) is not None:
        yield ctx.finding(fact, Applicability.SAFE if fact.sure else Applicability.UNSAFE)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    read = _read(fact, ctx)
    if read is not None:
        asked, whole = read
        yield Edit(Span(ctx.module.attribute_span(asked).start, ctx.module.span(whole).end), "client_capabilities")


def _read(fact: Symbol, ctx: Context) -> tuple[ast.Attribute, ast.Attribute] | None:
    """`client_params`, and the `.capabilities` that is read of it."""
    node = ctx.module.at(fact.span)
    above = ctx.module.parents.get(node) if node is not None else None
    match node, above:
        case ast.Attribute(attr="client_params"), ast.Attribute(attr="capabilities", ctx=ast.Load()):
            return node, above
    return None
