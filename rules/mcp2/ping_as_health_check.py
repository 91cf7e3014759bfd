"""`try: await session.send_ping()`, `except Exception: return False` in a client."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite import lines
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import
from ...sdk.modules import Def, dotted
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_BROAD = frozenset({"Exception", "BaseException", "MCPError", "McpError"})


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    found = _check(fact, ctx)
    if found is not None:
        _, handler = found
        how = Applicability.UNSAFE if fact.sure and _is_plain(found) else Applicability.MANUAL
        yield ctx.finding(fact, how, span=ctx.module.span(handler))


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    found = _check(fact, ctx)
    if found is None or not _is_plain(found):
        return
    module, (_, handler) = ctx.module, found
    source, start = module.source, module.span(handler).start
    outer, inner = lines.indent_of(source, start), lines.indent_of(source, module.span(handler.body[0]).start)
    clause = [
        f"{outer}except MCPError as error:",
        f"{inner}# 2026-07-28 has no ping: who says so is there.",
        f"{inner}return error.code == METHOD_NOT_FOUND",
        "",
    ]
    at = lines.line_start(source, start)
    yield Edit(Span(at, at), source.newline.join(clause))
    yield Import("mcp", "MCPError")
    yield Import("mcp.types", "METHOD_NOT_FOUND")


def _check(fact: Symbol, ctx: Context) -> tuple[ast.Try, ast.ExceptHandler] | None:
    """The block around the ping, and the handler that takes every failure for the end of the peer."""
    call = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or call is None:
        return None
    node: ast.AST = call
    for above in ctx.module.around(call):
        if isinstance(above, Def):
            return None
        if isinstance(above, ast.Try) and node in above.body:
            told = [handler for handler in above.handlers if any("METHOD_NOT_FOUND" in ast.dump(part) for part in handler.body)]
            broad = next(
                (handler for handler in above.handlers if handler.type is None or dotted(handler.type).rpartition(".")[2] in _BROAD), None
            )
            return None if broad is None or told or isinstance(broad.body[-1], ast.Raise) else (above, broad)
        node = above
    return None


def _is_plain(found: tuple[ast.Try, ast.ExceptHandler]) -> bool:
    """Whether all that is told is that the peer is there, or is not."""
    guarded, handler = found
    match guarded.body, handler.body:
        case [ast.Expr(), ast.Return(value=ast.Constant(value=True))], [ast.Return(value=ast.Constant(value=False))]:
            return guarded.handlers[0] is handler and not (
                handler.type is not None and dotted(handler.type).endswith(("MCPError", "McpError"))
            )
    return False
