"""`except httpx.HTTPStatusError` around calls of the SDK."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rule import Applicability, Context, Finding

# `except*`, where the running Python knows it.
_TRY: tuple[type[ast.Try], ...] = (ast.Try, *((ast.TryStar,) if hasattr(ast, "TryStar") else ()))


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or node is None:
        return
    child: ast.AST = node
    for above in ctx.module.around(node):
        if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef):
            return
        if isinstance(above, _TRY) and child in above.body:
            for handler in above.handlers:
                for caught in handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]:
                    if caught is not None and _is_httpx(caught, ctx) and not _uses_httpx(above, ctx):
                        yield ctx.finding(fact, Applicability.MANUAL, span=ctx.module.span(caught))
        child = above


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
