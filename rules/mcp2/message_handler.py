"""`RequestResponder[...] | ServerNotification | Exception`, the parameter of a client's message handler."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_NAME = "RequestResponder"


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.use is SymbolUse.IMPORT:
        yield ctx.finding(fact, Applicability.MANUAL if _annotations(ctx) is None else Applicability.SAFE)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    """The import goes once nothing uses it."""
    for annotation in _annotations(ctx) or ():
        yield Edit(ctx.module.span(annotation), "IncomingMessage")
        yield Import("mcp.client", "IncomingMessage")


def _annotations(ctx: Context) -> list[ast.expr] | None:
    """The annotations of parameters that hold the name; None where it stands anywhere else."""
    found: dict[ast.expr, None] = {}
    for node in ctx.module.nodes:
        if isinstance(node, ast.Name | ast.Attribute) and (node.id if isinstance(node, ast.Name) else node.attr) == _NAME:
            annotation = _annotation(node, ctx)
            if annotation is None:
                return None
            found[annotation] = None
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _NAME in node.value:
            return None
    return [*found] or None


def _annotation(node: ast.AST, ctx: Context) -> ast.expr | None:
    child = node
    for above in ctx.module.around(node):
        if isinstance(above, ast.arg):
            return above.annotation if above.annotation is child else None
        if not isinstance(above, ast.BinOp | ast.Subscript | ast.Tuple):
            return None
        child = above
    return None
