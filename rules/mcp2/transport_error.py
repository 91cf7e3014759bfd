"""`except httpx.HTTPStatusError` around calls of the SDK."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import
from ...sdk.modules import TRY

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or node is None:
        return
    child: ast.AST = node
    for above in ctx.module.around(node):
        if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef):
            return
        if isinstance(above, TRY) and child in above.body and _is_first(fact, above, ctx):
            for handler in above.handlers:
                for caught in handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]:
                    if caught is not None and _is_httpx(caught, ctx) and not _uses_httpx(above, ctx):
                        yield ctx.finding(
                            fact, Applicability.SAFE if _moves(caught, ctx) else Applicability.MANUAL, span=ctx.module.span(caught)
                        )
        child = above


def _is_first(fact: Symbol, around: ast.Try, ctx: Context) -> bool:
    """Whether no other call of the SDK in the block tells the same."""
    others = (
        one for one in ctx.file.facts if isinstance(one, Symbol) and one.use is SymbolUse.CALL and one.key in ctx.entry.match["Symbol"]
    )
    return not any(one.span < fact.span and ctx.module.span(around).contains(one.span) for one in others)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    for finding in check(fact, ctx):
        caught = ctx.module.at(finding.span)
        if isinstance(caught, ast.Attribute) and _moves(caught, ctx):
            yield Edit(ctx.module.span(caught.value), "httpx2")
            yield Import("httpx2", "")


def _moves(caught: ast.expr, ctx: Context) -> bool:
    """Whether this tells of a connection that fails: that reaches the caller as it did, from the newer library."""
    return isinstance(caught, ast.Attribute) and caught.attr in ctx.entry.data["connections"]


def _is_httpx(node: ast.expr, ctx: Context) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id=name)):
            return any(binding.target == "httpx" for binding in ctx.sdk.inference.bindings(name, node, ctx.module))
        case ast.Name(id=name):
            return any(binding.target.startswith("httpx.") for binding in ctx.sdk.inference.bindings(name, node, ctx.module))
    return False


def _uses_httpx(node: ast.Try, ctx: Context) -> bool:
    """Whether the block makes requests of its own, so that the clause may be about those."""
    inside = (part for statement in node.body for part in ast.walk(statement))
    return any(isinstance(part, ast.Attribute) and _is_httpx(part, ctx) for part in inside)
