"""`int(error.id)`, `waiting[error.id]`: an error reply may have no id now."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rule import Context, Finding
from ...sdk.types import Instance


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.READ or not isinstance(node, ast.Attribute):
        return
    # Of all messages together the id is read everywhere; only who knows that it is an error relies on the type.
    if ctx.sdk.type(node.value, ctx.module) != Instance("mcp.types.JSONRPCError") or ctx.sdk.is_moved(ctx.file.source.path):
        return
    above = ctx.module.parents.get(node)
    match above:
        case ast.Call(func=ast.Name(id="int")) | ast.BinOp():
            yield ctx.finding(fact)
        case ast.Subscript(slice=index) if index is node:
            yield ctx.finding(fact)
        case ast.Compare(ops=ops) if any(isinstance(op, ast.Lt | ast.Gt | ast.LtE | ast.GtE) for op in ops):
            yield ctx.finding(fact)
