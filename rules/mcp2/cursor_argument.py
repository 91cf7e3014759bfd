"""`session.list_tools(cursor=x)` and `session.list_tools(x)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_PARAMS = "PaginatedRequestParams"


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if _cursor(fact, ctx) is not None and _is_of_client(fact):
        message = f"`{fact.key}` takes a cursor by its name only"
        yield ctx.finding(fact, Applicability.SAFE if fact.sure else Applicability.UNSAFE, message=message, hint=ctx.entry.hints["named"])
    elif _cursor(fact, ctx) is not None:
        yield ctx.finding(fact, Applicability.SAFE if fact.sure else Applicability.UNSAFE)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    cursor = _cursor(fact, ctx)
    if cursor is None:
        return
    whole, value = cursor
    span = ctx.module.span(value)
    if _is_of_client(fact):
        yield Edit(Span(span.start, span.start), "cursor=")
        return
    start = ctx.module.span(whole).start
    yield Edit(Span(start, span.start), f"params={_PARAMS}(cursor=")
    yield Edit(Span(span.end, span.end), ")")
    yield Import("mcp.types", _PARAMS)


def _is_of_client(fact: Symbol) -> bool:
    """Whether a `Client` is asked, or what becomes one."""
    return str(fact.key).startswith("mcp.client.client.")


def _cursor(fact: Symbol, ctx: Context) -> tuple[ast.AST, ast.expr] | None:
    """The argument, and the value inside of it."""
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL:
        return None
    match node:
        case ast.Call(args=[value], keywords=[]) if not isinstance(value, ast.Starred):
            return value, value
        case ast.Call(args=[], keywords=[ast.keyword(arg="cursor", value=value) as word]) if not _is_of_client(fact):
            return word, value
    return None
