"""`RequestResponder[...] | ServerNotification | Exception`, the parameter of a client's message handler."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import
from ...sdk.modules import dotted

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_NAME = "RequestResponder"
_BASE = "mcp.shared.session.BaseSession"
_WHOLE = frozenset({_NAME, "ServerNotification", "Exception"})


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    # Where a class has the base of version 1, its requests still come as they did.
    own = ctx.project.remember(f"sessions of its own in {ctx.module.path}", partial(_has_own, ctx))
    if fact.use is SymbolUse.IMPORT and not own:
        yield ctx.finding(fact, Applicability.MANUAL if _annotations(ctx) is None else Applicability.SAFE)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    """The import goes once nothing uses it."""
    for annotation in _annotations(ctx) or ():
        yield Edit(ctx.module.span(annotation), "IncomingMessage")
        yield Import("mcp.client", "IncomingMessage")


def _has_own(ctx: Context) -> bool:
    return any(one.use is SymbolUse.BASE and one.key == _BASE for one in ctx.project.of(ctx.file.source.path, Symbol))


def _annotations(ctx: Context) -> list[ast.expr] | None:
    """The annotations of parameters that hold the name; None where it stands anywhere else."""
    return ctx.project.remember(f"annotations of messages in {ctx.module.path}", partial(_annotated, ctx))


def _annotated(ctx: Context) -> list[ast.expr] | None:
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
    """The whole annotation around a name, if it is that of a message handler: all that may come in, and no more."""
    child = node
    for above in ctx.module.around(node):
        if isinstance(above, ast.arg):
            annotation = above.annotation
            whole = annotation is child and {dotted(part).rpartition(".")[2] for part in _parts(annotation)} == _WHOLE
            return annotation if whole else None
        if not isinstance(above, ast.BinOp | ast.Subscript | ast.Tuple):
            return None
        child = above
    return None


def _parts(node: ast.expr | None) -> Iterator[ast.expr]:
    """The classes of a union, without what they are made of."""
    match node:
        case ast.BinOp(left=left, right=right):
            yield from (*_parts(left), *_parts(right))
        case ast.Subscript(value=value, slice=ast.Tuple(elts=parts)) if dotted(value).rpartition(".")[2] == "Union":
            for part in parts:
                yield from _parts(part)
        case ast.Subscript(value=value):
            yield value
        case ast.expr():
            yield node
