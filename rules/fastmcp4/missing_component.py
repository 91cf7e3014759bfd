"""`try: await server.get_tool(name)` with `except NotFoundError`, or `pytest.raises(NotFoundError)` around it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Standalone, SymbolUse
from ...rule import Context, Finding

_ERROR = "NotFoundError"


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is SymbolUse.CALL and isinstance(node, ast.Call) and fact.sure and _is_expected(node, ctx):
        yield ctx.finding(fact)


def _is_expected(node: ast.Call, ctx: Context) -> bool:
    child: ast.AST = node
    for above in ctx.module.around(node):
        match above:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() | ast.ClassDef():
                return False
            case ast.Try(body=body, handlers=handlers) if child in body:
                if any(handler.type is not None and _names(handler.type) for handler in handlers):
                    return True
            case ast.With(items=items) | ast.AsyncWith(items=items):
                if any(isinstance(item.context_expr, ast.Call) and any(map(_names, item.context_expr.args)) for item in items):
                    return True
        child = above
    return False


def _names(node: ast.expr) -> bool:
    return any(
        (isinstance(inner, ast.Name) and inner.id == _ERROR) or (isinstance(inner, ast.Attribute) and inner.attr == _ERROR)
        for inner in ast.walk(node)
    )
