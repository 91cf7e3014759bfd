"""`{"progressToken": 1}` in a test with a client of `fastmcp`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Standalone, SymbolUse
from ...rule import Context, Finding


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    if fact.use is not SymbolUse.IMPORT or not ctx.project.is_test(ctx.file.source.path):
        return
    for node in ctx.module.of(ast.Dict):
        assert isinstance(node, ast.Dict)
        for key, value in zip(node.keys, node.values, strict=True):
            match key, value:
                case ast.Constant(value="progressToken"), ast.Constant(value=int()) if _is_expected(node, ctx):
                    yield ctx.finding(fact, span=ctx.module.span(node))


def _is_expected(node: ast.Dict, ctx: Context) -> bool:
    """Whether it is compared, or is what a mock should have been called with."""
    for above in ctx.module.around(node):
        match above:
            case ast.Assert() | ast.Compare():
                return True
            case ast.Call(func=ast.Attribute(attr=name)) if name.startswith("assert_"):
                return True
            case ast.stmt():
                return False
    return False
