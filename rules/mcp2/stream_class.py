"""`Session(*streams)` of a class whose parameters are annotated with the streams of anyio."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rule import Applicability, Context, Finding
from ...sdk.modules import Def, leaves
from ...sdk.types import OWN, ClassOf, Function, Instance, Known, members

_WORD = "MemoryObject"
_STREAM = "Stream"


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    call = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(call, ast.Call) or ctx.sdk.is_moved(ctx.file.source.path):
        return
    if ".ClientSession" in str(fact.key):
        for value in (*call.args, *(word.value for word in call.keywords)):
            if _carries_messages(ctx.sdk.type(value, ctx.module)):
                yield ctx.finding(fact, Applicability.MANUAL, span=ctx.module.span(value), hint=ctx.entry.hints["messages"])
        return
    for name in _handed_on(call, ctx):
        yield ctx.finding(fact, Applicability.MANUAL, span=ctx.module.span(name))


def _carries_messages(known: Known | None) -> bool:
    """Whether an annotation says that a stream carries the messages themselves."""
    streams = [one for one in members(known) if isinstance(one, Instance) and one.name == _STREAM]
    return any(
        isinstance(item, Instance) and item.name == "mcp.types.JSONRPCMessage"
        for one in streams
        for arg in one.args
        for item in members(arg)
    )


def _handed_on(call: ast.Call, ctx: Context) -> Iterator[ast.Name]:
    """The places where what a transport gives goes to code that asks for the streams of anyio."""
    module = ctx.module
    above = module.parents.get(call)
    function = module.function(call)
    if isinstance(above, ast.withitem) and above.optional_vars is not None:
        names = {leaf.id for _, leaf in leaves(above.optional_vars) if isinstance(leaf, ast.Name)}
        scope = module.scope(call)
        uses = (node for name in sorted(names) for node in module.reads(name, scope))
        yield from (node for node in uses if _is_asked(node, ctx))
    elif isinstance(above, ast.Return) and function is not None:
        # A function that opens a transport is itself handed on.
        yield from (node for node in module.reads(function.name, module.scope(function)) if _is_asked(node, ctx))


def _is_asked(node: ast.Name, ctx: Context) -> bool:
    """Whether the parameter, or the result, that a value becomes is annotated with streams of anyio."""
    module = ctx.module
    child: ast.AST = node
    for above in module.around(node):
        match above:
            case ast.Starred() | ast.Tuple() | ast.keyword():
                child = above
            case ast.Yield() | ast.Return():
                function = module.function(node)
                return function is not None and function.returns is not None and _WORD in module.text(function.returns)
            case ast.Call() if child is not above.func:
                return any(_takes(known, above, child, ctx) for known in members(ctx.sdk.type(above.func, module)))
            case _:
                return False
    return False


def _takes(known: Known, call: ast.Call, argument: ast.AST, ctx: Context) -> bool:
    if not isinstance(known, ClassOf | Function) or OWN not in known.name:
        return False
    path, _, name = known.name.partition(OWN)
    module = ctx.sdk.module_at(path)
    node = module.defined.get(f"{name}.__init__" if isinstance(known, ClassOf) else name)
    if not isinstance(node, Def):
        return False
    parameters = [*node.args.posonlyargs, *node.args.args]
    bound = isinstance(known, ClassOf) or (known.bound is not None and isinstance(module.parents.get(node), ast.ClassDef))
    parameters = parameters[1:] if bound else parameters
    if isinstance(argument, ast.keyword):
        wanted = [one for one in (*parameters, *node.args.kwonlyargs) if one.arg == argument.arg]
    else:
        place = call.args.index(argument) if isinstance(argument, ast.expr) and argument in call.args else len(parameters)
        wanted = parameters[place:] if isinstance(argument, ast.Starred) else parameters[place : place + 1]
    return any(one.annotation is not None and _WORD in module.text(one.annotation) for one in wanted)
