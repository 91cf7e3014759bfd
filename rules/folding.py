"""Client sessions of the SDK that open with the handshake: which of them `fix` can make a `Client` of, and why not the others."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import partial
from operator import itemgetter

from ..facts.code import last
from ..facts.model import Symbol, SymbolUse
from ..facts.syntax import descend
from ..rewrite import connections
from ..rule import Context
from ..sdk.types import Function

SESSION = "mcp.client.session.ClientSession"
_CLIENT = "mcp.client.client.Client"


@dataclass(frozen=True, slots=True)
class Fold:
    """A session whose streams serve nothing else, made right where its transport is opened."""

    transport: ast.withitem
    session: ast.withitem
    inner: ast.AsyncWith  # the statement that holds the session
    handshake: ast.Expr
    server: str  # what `Client` is given; "" until the transport is opened as version 2 does


def fold(fact: Symbol, ctx: Context) -> Fold | str:
    """What becomes a `Client`, or why that is not written here."""
    module = ctx.module
    call = module.at(fact.span)
    item = module.parents.get(call) if call is not None else None
    inner = module.parents.get(item) if isinstance(item, ast.withitem) else None
    if fact.use is not SymbolUse.CALL or not isinstance(call, ast.Call) or not isinstance(inner, ast.AsyncWith):
        return "the session is not opened by an `async with` of its own"
    assert isinstance(item, ast.withitem)
    if not isinstance(item.optional_vars, ast.Name):
        return "the session has no name of its own"
    if odd := [str(word.arg) for word in call.keywords if word.arg not in ctx.entry.data["client_keywords"]]:
        return f"`Client` takes no `{odd[0]}` as the session does"
    place = inner.items.index(item)
    if len(inner.items) == 2 and place == 1:
        transport = inner.items[0]
    else:
        outer = module.parents.get(inner)
        if not isinstance(outer, ast.AsyncWith) or len(inner.items) > 1 or len(outer.items) > 1 or outer.body != [inner]:
            return "the session is not opened right where its transport is, or something else is opened there, too"
        if _has_long_text(inner):
            return "a text of several lines would change when it is moved to the left"
        transport = outer.items[0]
    name = item.optional_vars.id
    if reason := _streams(transport, call, ctx):
        return reason
    server = _server(transport, ctx)
    if server is None:
        return "it is not known how its transport is opened, or it gets headers, timeouts or credentials of its own"
    handshake = _handshake(inner, name, ctx)
    if handshake is None:
        return "`initialize()` is not the first thing that is done with the session, or its result is used"
    return _more(inner, name, ctx) or Fold(transport, item, inner, handshake, server)


def reason_at(call: ast.AST, ctx: Context) -> str | None:
    """Why the session with this `initialize()` is not made a `Client`; None for one that is, and "" where no session is known."""
    sessions = ctx.project.remember(f"sessions that statements of {ctx.module.path} hold", partial(_held, ctx))
    holding = (held for above in ctx.module.around(call) for held in sessions.get(above, ()))
    # The first of the file, where several statements around the call hold a session of this name.
    fact = min(((number, fact) for number, item, fact in holding if _is_of(call, item)), default=(0, None), key=itemgetter(0))[1]
    found = fold(fact, ctx) if fact is not None else ""
    return found if isinstance(found, str) else None


def _held(ctx: Context) -> dict[ast.AST, list[tuple[int, ast.withitem, Symbol]]]:
    """The sessions that the file makes in `async with`, numbered, by these statements."""
    found: dict[ast.AST, list[tuple[int, ast.withitem, Symbol]]] = {}
    for number, fact in enumerate(ctx.project.of(ctx.file.source.path, Symbol)):
        node = ctx.module.at(fact.span) if fact.key == SESSION and fact.use is SymbolUse.CALL else None
        item = ctx.module.parents.get(node) if node is not None else None
        inner = ctx.module.parents.get(item) if isinstance(item, ast.withitem) else None
        if isinstance(item, ast.withitem) and isinstance(inner, ast.AsyncWith):
            found.setdefault(inner, []).append((number, item, fact))
    return found


def _is_of(call: ast.AST, item: ast.withitem) -> bool:
    """Whether a method is called on the name that a statement around it gives a session."""
    match call, item.optional_vars:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=used))), ast.Name(id=name):
            return used == name
    return False


def _server(transport: ast.withitem, ctx: Context) -> str | None:
    node = transport.context_expr
    known = ctx.sdk.type(node.func, ctx.module) if isinstance(node, ast.Call) else None
    if not isinstance(known, Function) or not isinstance(node, ast.Call):
        return None
    if known.name in ctx.entry.data["client_stdio"]:
        alone = len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred)
        return ctx.module.text(node.args[0]) if alone else None
    if known.name == connections.FUNCTION:
        return "" if len(node.args) + len(node.keywords) == 1 else None
    return ctx.module.text(node) if known.name in ctx.entry.data["client_transports"] else None


def _streams(transport: ast.withitem, call: ast.Call, ctx: Context) -> str:
    """What stands against the two streams going into the session and nowhere else."""
    match transport.optional_vars, call.args:
        case ast.Tuple(elts=[ast.Name(id=read), ast.Name(id=write), *others]), [ast.Name(id=one), ast.Name(id=two)]:
            scope = ctx.module.scope(call)
            for other in others:
                if not isinstance(other, ast.Name) or ctx.module.reads(other.id, scope):
                    return f"the session's identity is asked for (`{ctx.module.text(other)}`), and a `Client` tells none"
            if (read, write) == (one, two):
                once = len(ctx.module.reads(read, scope)) == len(ctx.module.reads(write, scope)) == 1
                return "" if once else "its streams are used for something else, too"
    return "its streams are not given to the session as two plain names"


def _handshake(inner: ast.AsyncWith, name: str, ctx: Context) -> ast.Expr | None:
    """The one statement that makes the handshake, first of all."""
    calls = [node for node in descend(inner) if isinstance(node, ast.Call) and last(node.func) == "initialize"]
    match inner.body[0]:
        case ast.Expr(value=ast.Await(value=ast.Call(func=ast.Attribute(value=ast.Name(id=used)), args=[], keywords=[]) as call)) as first:
            return first if used == name and calls == [call] else None
    return None


def _more(inner: ast.AsyncWith, name: str, ctx: Context) -> str:
    """What is done with the session that a `Client` cannot do; it is not handed on, as others may expect a session."""
    for node in ast.walk(inner):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            above = ctx.module.parents.get(node)
            if not isinstance(above, ast.Attribute):
                return "the session is handed on, and others may expect a session"
            if above.attr != "initialize" and ctx.sdk.api.owner(_CLIENT, above.attr) is None:
                return f"a `Client` has no `{above.attr}`"
            # Pages are asked for in two ways.
            call = ctx.module.parents.get(above)
            if above.attr.startswith("list_") and isinstance(call, ast.Call) and (call.args or call.keywords):
                return f"a `Client` takes the arguments of `{above.attr}` in another way"
    return "" if len(inner.body) > 1 else "nothing but the handshake is done with the session"


def _has_long_text(inner: ast.AsyncWith) -> bool:
    return any(isinstance(node, ast.Constant | ast.JoinedStr) and node.lineno != node.end_lineno for node in ast.walk(inner))
