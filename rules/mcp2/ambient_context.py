"""`server.get_context()`: a parameter of the tool, or a context variable that a middleware sets."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import
from ...sdk.handlers import Handler, callers, handler_of, mentions
from ...sdk.modules import Def, How, Module
from ...sdk.servers import Server, part
from ...sdk.types import Instance, members
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_CONTEXTS = ("mcp.server.fastmcp.server.Context", "mcp.server.mcpserver.context.Context")
_GETTER = "get_context"
_KEEPER = """
{variable}: ContextVar[ServerRequestContext | None] = ContextVar("{variable}", default=None)


async def {middleware}(ctx: ServerRequestContext, call_next: CallNext) -> HandlerResult:
    token = {variable}.set(ctx)
    try:
        return await call_next(ctx)
    finally:
        {variable}.reset(token)


{server}.middleware.append({middleware})


def {getter}() -> Context:
    \"\"\"The context of the request that is being answered.\"\"\"
    return Context(request_context={variable}.get(), mcp_server={server})
"""


class Given(NamedTuple):
    """A parameter that a function has, or gets, for the context."""

    name: str
    function: Def
    is_new: bool
    assigned: ast.Assign | None  # `ctx = server.get_context()`, which goes


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if part(fact) == "get_context" and fact.use is SymbolUse.CALL and isinstance(node, ast.Call):
        server = _server(node, ctx)
        fits = _given(node, ctx) is not None or (server is not None and _reached(server, node, ctx) is not None)
        yield ctx.finding(fact, Applicability.SAFE if fits and fact.sure else Applicability.MANUAL)
    elif part(fact) == "get_context":
        above = ctx.module.parents.get(node) if node is not None else None
        if isinstance(above, ast.Call) and above.func is node:
            return
        yield ctx.finding(fact, Applicability.MANUAL)
    elif part(fact) == "" and fact.use is SymbolUse.CALL:
        # Other modules ask for the context: what keeps it is made where the server is.
        server = ctx.sdk.servers.at(node)
        if server is not None and _can_keep(server) and not _is_kept(server) and _is_asked(server):
            message = "other modules ask this server for the context, which version 2 does not keep"
            yield ctx.finding(fact, Applicability.SAFE, message=message)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    node, module = ctx.module.at(fact.span), ctx.module
    if not isinstance(node, ast.Call):
        return
    if part(fact) == "":
        server = ctx.sdk.servers.at(node)
        if server is not None:
            yield from _kept(server, ctx)
        return
    given = _given(node, ctx)
    if given is not None:
        yield from _parameter(given, node, tree, ctx)
        return
    server = _server(node, ctx)
    if server is None:
        return
    if server.module is module and not _is_kept(server):
        yield from _kept(server, ctx)
    if server.module is module or _is_kept(server):
        reached = _reached(server, node, ctx)
        if reached is not None:
            text, insert = reached
            yield Edit(module.span(node.func), text)
            if insert is not None:
                yield Edit(Span(insert, insert), f", {_getter(server)}")


# -- as a parameter ------------------------------------------------------------------


def _given(node: ast.Call, ctx: Context) -> Given | None:
    """The parameter by which a handler can have the context; None where the framework alone does not call it, or gives none."""
    module = ctx.module
    function = module.function(node)
    if function is None:
        return None
    for parameter in (*function.args.args, *function.args.kwonlyargs):
        known = ctx.sdk.inference.annotated(parameter.annotation, module)
        if any(isinstance(one, Instance) and one.name in _CONTEXTS for one in members(known)):
            optional = parameter in function.args.args[len(function.args.args) - len(function.args.defaults) :]
            if not optional and len(module.scopes[function].bindings.get(parameter.arg, ())) == 1:
                return Given(parameter.arg, function, False, None)
            return None
    handler = handler_of(function, ctx.sdk)
    if handler is None or not _takes_context(handler, ctx) or function.args.kwarg is not None or function.args.vararg is not None:
        return None
    asking = [call for call in module.calls.get(_GETTER, ()) if module.function(call) is function]
    assigned = [statement for call in asking if (statement := _assigned(call, module)) is not None]
    if len(asking) == 1 and assigned and not _is_before(assigned[0], function, module):
        name = assigned[0].targets[0].id  # type: ignore[attr-defined]
        if len(module.scopes[function].bindings.get(name, ())) == 1:
            return Given(name, function, True, assigned[0])
        return None
    scope = module.scopes[function]
    return Given("ctx", function, True, None) if "ctx" not in scope.bindings and not assigned else None


def _takes_context(handler: Handler, ctx: Context) -> bool:
    """Whether the server gives this function a context, and nothing else calls it."""
    if not handler.is_plain or handler.module is not ctx.module:
        return False
    if handler.kind == "resource" and "{" not in (handler.uri or ""):
        return False
    if isinstance(handler.module.parents.get(handler.function), ast.ClassDef):
        return False
    called = [*callers(handler.function, handler.module, ctx.sdk)]
    return not called and not [*mentions(handler.function, handler.module, ctx.sdk)]


def _assigned(call: ast.Call, module: Module) -> ast.Assign | None:
    above = module.parents.get(call)
    if isinstance(above, ast.Assign) and above.value is call and len(above.targets) == 1 and isinstance(above.targets[0], ast.Name):
        return above
    return None


def _is_before(statement: ast.Assign, function: Def, module: Module) -> bool:
    """Whether the assignment stands anywhere but directly in the body of the function."""
    return module.parents.get(statement) is not function


def _parameter(given: Given, node: ast.Call, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    from ...rewrite import cut
    from ...rewrite.lazy import cst

    module = ctx.module
    if given.is_new:
        yield _declared(given, module)
        if "Context" not in module.scopes[module.tree].bindings:
            yield Import("mcp.server.mcpserver", "Context")
    if given.assigned is not None:
        found = tree.node(cst.Assign, module.span(given.assigned))
        if found is not None:
            yield from cut.statement(tree, found)
    else:
        statement = _assigned(node, module)
        if statement is not None and isinstance(statement.targets[0], ast.Name) and statement.targets[0].id == given.name:
            found = tree.node(cst.Assign, module.span(statement))
            if found is not None:
                yield from cut.statement(tree, found)
        else:
            yield Edit(module.span(node), given.name)


def _declared(given: Given, module: Module) -> Edit:
    """The parameter behind the others; behind one that has a default, it has to be named."""
    arguments = given.function.args
    text = f"{given.name}: Context"
    last: ast.AST | None = None
    if arguments.kwonlyargs:
        default = arguments.kw_defaults[-1]
        last = default if default is not None else arguments.kwonlyargs[-1]
    elif arguments.args or arguments.posonlyargs:
        last = arguments.defaults[-1] if arguments.defaults else (*arguments.posonlyargs, *arguments.args)[-1]
        if arguments.defaults:
            text = f"*, {text}"
    if last is None:
        at = module.source.utf8.index(b"(", module.name_span(given.function).end) + 1
        return Edit(Span(at, at), text)
    at = module.span(last).end
    if isinstance(last, ast.expr):
        # A default in parentheses ends behind them.
        data = module.source.utf8
        while (
            data[at : at + 1] == b")"
            and data.count(b"(", module.span(given.function).start, at) > data.count(b")", module.span(given.function).start, at) + 1
        ):
            at += 1
    return Edit(Span(at, at), f", {text}")


# -- as a variable of the request ------------------------------------------------------


def _server(node: ast.Call, ctx: Context) -> Server | None:
    found = ctx.sdk.servers.using(node)
    return found[0] if len(found) == 1 and _can_keep(found[0]) else None


def _can_keep(server: Server) -> bool:
    module = server.module
    statement = module.statement(server.call)
    return (
        server.sure
        and isinstance(statement, ast.Assign)
        and statement.value is server.call
        and len(statement.targets) == 1
        and isinstance(statement.targets[0], ast.Name)
        and module.parents.get(statement) is module.tree
        and all(module.means(name, name) for name in ("ContextVar", "CallNext", "HandlerResult", "ServerRequestContext", "Context"))
    )


def _names(server: Server) -> tuple[str, str, str, str]:
    statement = server.module.statement(server.call)
    assert isinstance(statement, ast.Assign)
    assert isinstance(statement.targets[0], ast.Name)
    name = statement.targets[0].id
    return name, f"_{name}_request", f"_keep_{name}_request", _getter(server)


def _getter(server: Server) -> str:
    statement = server.module.statement(server.call)
    name = statement.targets[0].id if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name) else "server"
    return f"get_{name}_context"


def _is_kept(server: Server) -> bool:
    return _can_keep(server) and _getter(server) in server.module.scopes[server.module.tree].bindings


def _is_asked(server: Server) -> bool:
    """Whether another module needs the variable."""
    return any(use.name == _GETTER and isinstance(use.node, ast.Call) for use in server.uses if use.module is not server.module)


def _kept(server: Server, ctx: Context) -> Iterator[Edit | Import]:
    from ...rewrite.lines import next_line

    module = server.module
    statement = module.statement(server.call)
    assert statement is not None
    name, variable, middleware, getter = _names(server)
    text = _KEEPER.format(server=name, variable=variable, middleware=middleware, getter=getter)
    at = next_line(module.source, module.span(statement).end)
    gap = "" if module.source.utf8[at : at + 2].strip() == b"" and at < len(module.source.utf8) else "\n"
    yield Edit(Span(at, at), (text + gap).replace("\n", module.source.newline))
    yield Import("contextvars", "ContextVar")
    yield Import("mcp.server.context", "CallNext")
    yield Import("mcp.server.context", "HandlerResult")
    yield Import("mcp.server.context", "ServerRequestContext")
    if "Context" not in module.scopes[module.tree].bindings:
        yield Import("mcp.server.mcpserver", "Context")


def _reached(server: Server, node: ast.Call, ctx: Context) -> tuple[str, int | None] | None:
    """How a place gets at the function that gives the context, and where its import has to be inserted."""
    module, getter = ctx.module, _getter(server)
    assert isinstance(node.func, ast.Attribute)
    if server.module is module:
        return getter, None
    receiver = node.func.value
    if isinstance(receiver, ast.Attribute):
        return f"{module.text(receiver.value)}.{getter}", None
    if isinstance(receiver, ast.Name):
        bindings = ctx.sdk.inference.bindings(receiver.id, receiver, module)
        if len(bindings) == 1 and bindings[0].how is How.IMPORTED and isinstance(bindings[0].node, ast.alias):
            where = ctx.sdk.locate(bindings[0].target, module)
            if where is not None and where[0] is server.module and isinstance(module.parents.get(bindings[0].node), ast.ImportFrom):
                known = ctx.sdk.inference.bindings(getter, receiver, module)
                return getter, None if known else module.span(bindings[0].node).end
    return None
