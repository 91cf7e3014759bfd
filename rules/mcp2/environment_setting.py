"""`os.environ["FASTMCP_PORT"] = ...`; a variable that code reads itself is its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rule import Applicability, Context, Finding


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.use is not SymbolUse.IMPORT or b"FASTMCP_" not in ctx.file.source.utf8:
        return
    for node in ctx.module.nodes:
        match node:
            case ast.Subscript(value=ast.Attribute(attr="environ"), slice=ast.Constant(value=str(name)), ctx=ast.Store()):
                place: ast.AST = node
            case ast.Call(
                func=ast.Attribute(value=ast.Attribute(attr="environ"), attr="setdefault"), args=[ast.Constant(value=str(name)), *_]
            ):
                place = node
            case _:
                continue
        if name in ctx.entry.data["names"] and not _is_read(name, ctx):
            yield ctx.finding(fact, Applicability.MANUAL, message=ctx.entry.message.replace("{word}", name), span=ctx.module.span(place))


def _is_read(name: str, ctx: Context) -> bool:
    """Whether code of the project asks for the variable itself."""
    for node in ctx.module.nodes:
        match node:
            case ast.Call(func=ast.Attribute(attr="getenv" | "get"), args=[ast.Constant(value=str(asked)), *_]) if asked == name:
                return True
            case ast.Subscript(value=ast.Attribute(attr="environ"), slice=ast.Constant(value=str(asked)), ctx=ast.Load()) if asked == name:
                return True
    return False
