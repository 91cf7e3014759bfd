"""`async with stdio_client(...) as (read, write)`, `async with ClientSession(read, write) as session`, `await session.initialize()`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import
from ...sdk.types import Function
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_CLIENT = "mcp.client.client.Client"


@dataclass(frozen=True, slots=True)
class _Fold:
    """A session whose streams serve nothing else, made right where its transport is opened."""

    transport: ast.withitem
    session: ast.withitem
    inner: ast.AsyncWith  # the statement that holds the session
    handshake: ast.Expr
    server: str  # what `Client` is given


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if _fold(fact, ctx) is not None:
        yield ctx.finding(fact, Applicability.UNSAFE)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    from ...rewrite import cut

    fold = _fold(fact, ctx)
    if fold is None:
        return
    module, source = ctx.module, ctx.module.source
    call = fold.session.context_expr
    assert isinstance(call, ast.Call)
    assert fold.session.optional_vars is not None
    words = "".join(f", {module.text(keyword)}" for keyword in call.keywords)
    made = f"Client({fold.server}{words}) as {module.text(fold.session.optional_vars)}"
    yield Import("mcp", "Client")
    start = module.span(fold.transport.context_expr).start
    if fold.transport in fold.inner.items:
        yield Edit(Span(start, module.span(fold.session.optional_vars).end), made)
    else:
        assert fold.transport.optional_vars is not None
        yield Edit(Span(start, module.span(fold.transport.optional_vars).end), made)
        first, last = fold.inner.body[0], fold.inner.body[-1]
        begin = source.line_starts[fold.inner.lineno - 1]
        yield Edit(Span(begin, source.line_starts[first.lineno - 1]))
        width = first.col_offset - fold.inner.col_offset
        for line in range(first.lineno, (last.end_lineno or 0) + 1):
            at = source.line_starts[line - 1]
            if fold.handshake.lineno <= line <= (fold.handshake.end_lineno or 0) and len(fold.inner.body) > 1:
                continue
            if not source.utf8[at : at + width].strip() and b"\n" not in source.utf8[at : at + width]:
                yield Edit(Span(at, at + width))
    whole = tree.statement(module.span(fold.handshake))
    if whole is not None and len(fold.inner.body) > 1:
        if fold.transport in fold.inner.items:
            yield from cut.statement(tree, whole)
        else:
            yield Edit(Span(source.line_starts[fold.handshake.lineno - 1], source.line_starts[fold.handshake.end_lineno or 0]))


def _fold(fact: Symbol, ctx: Context) -> _Fold | None:
    module = ctx.module
    call = module.at(fact.span)
    item = module.parents.get(call) if call is not None else None
    inner = module.parents.get(item) if isinstance(item, ast.withitem) else None
    if fact.use is not SymbolUse.CALL or not isinstance(call, ast.Call) or not isinstance(inner, ast.AsyncWith):
        return None
    assert isinstance(item, ast.withitem)
    if not isinstance(item.optional_vars, ast.Name) or any(word.arg not in ctx.entry.data["keywords"] for word in call.keywords):
        return None
    place = inner.items.index(item)
    if len(inner.items) == 2 and place == 1:
        transport = inner.items[0]
    else:
        outer = module.parents.get(inner)
        if not isinstance(outer, ast.AsyncWith) or len(inner.items) > 1 or len(outer.items) > 1 or outer.body != [inner]:
            return None
        if _has_long_text(inner):
            return None  # moving it to the left would change it
        transport = outer.items[0]
    server = _server(transport.context_expr, ctx)
    handshake = _handshake(inner, item.optional_vars.id, ctx)
    if server is None or handshake is None or not _are_streams(transport, call, ctx) or not _can_all(inner, item.optional_vars.id, ctx):
        return None
    return _Fold(transport, item, inner, handshake, server)


def _server(node: ast.expr, ctx: Context) -> str | None:
    known = ctx.sdk.type(node.func, ctx.module) if isinstance(node, ast.Call) else None
    if not isinstance(known, Function) or not isinstance(node, ast.Call):
        return None
    if known.name in ctx.entry.data["stdio"]:
        alone = len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred)
        return ctx.module.text(node.args[0]) if alone else None
    return ctx.module.text(node) if known.name in ctx.entry.data["transports"] else None


def _are_streams(transport: ast.withitem, call: ast.Call, ctx: Context) -> bool:
    """Whether the two streams go into the session and nowhere else."""
    match transport.optional_vars, call.args:
        case ast.Tuple(elts=[ast.Name(id=read), ast.Name(id=write)]), [ast.Name(id=one), ast.Name(id=two)] if (read, write) == (one, two):
            scope = ctx.module.scope(call)
            loads = [n for n in ctx.module.nodes if isinstance(n, ast.Name) and n.id in (read, write) and isinstance(n.ctx, ast.Load)]
            return len([node for node in loads if ctx.module.scope(node) is scope]) == 2
    return False


def _handshake(inner: ast.AsyncWith, name: str, ctx: Context) -> ast.Expr | None:
    """The one statement that makes the handshake, first of all."""
    calls = [c for c in ctx.module.calls.get("initialize", ()) if any(above is inner for above in ctx.module.around(c))]
    match inner.body[0]:
        case ast.Expr(value=ast.Await(value=ast.Call(func=ast.Attribute(value=ast.Name(id=used)), args=[], keywords=[]) as call)) as first:
            return first if used == name and calls == [call] else None
    return None


def _can_all(inner: ast.AsyncWith, name: str, ctx: Context) -> bool:
    """Whether a `Client` has everything that is asked of the session; it is not handed on, as others may expect a session."""
    for node in ast.walk(inner):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            above = ctx.module.parents.get(node)
            if not isinstance(above, ast.Attribute):
                return False
            if above.attr != "initialize" and ctx.sdk.api.owner(_CLIENT, above.attr) is None:
                return False
            # Pages are asked for in two ways.
            call = ctx.module.parents.get(above)
            if above.attr.startswith("list_") and isinstance(call, ast.Call) and (call.args or call.keywords):
                return False
    return len(inner.body) > 1


def _has_long_text(inner: ast.AsyncWith) -> bool:
    return any(isinstance(node, ast.Constant | ast.JoinedStr) and node.lineno != node.end_lineno for node in ast.walk(inner))
