"""Plain functions as tools, resources and prompts that need the thread of the event loop."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding
from ...sdk.handlers import Handler, callers, defined, mentions, own_nodes, registered
from ...sdk.modules import Def, How, Module
from ...sdk.types import OWN, Function, members
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_MAX_DEPTH = 3
_MADE = {
    "sqlite3.connect": "uses an sqlite3 connection that was made on another one",
    "threading.local": "reads what is local to a thread",
    "playwright.sync_api.sync_playwright": "drives a browser that belongs to another one",
}


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    for handler in _of(fact, ctx):
        what = _bound(handler.function, handler.module, ctx)
        if what:
            yield ctx.finding(
                fact,
                Applicability.SAFE if _is_alone(handler, ctx) else Applicability.MANUAL,
                message=ctx.entry.message.replace("{what}", what),
                span=_head(handler, ctx),
            )


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    for handler in _of(fact, ctx):
        if _bound(handler.function, handler.module, ctx) and _is_alone(handler, ctx):
            at = _head(handler, ctx).start
            yield Edit(Span(at, at), "async ")


def _of(fact: Symbol, ctx: Context) -> list[Handler]:
    node = ctx.module.at(fact.span)
    return [
        handler for handler in registered(node, ctx.sdk) if handler.module is ctx.module and isinstance(handler.function, ast.FunctionDef)
    ]


def _head(handler: Handler, ctx: Context) -> Span:
    start = ctx.module.source.offset(handler.function.lineno, handler.function.col_offset)
    return Span(start, ctx.module.name_span(handler.function).end)


def _is_alone(handler: Handler, ctx: Context) -> bool:
    """Whether nothing but the server calls the function, and nothing in it keeps it from being `async`."""
    if not handler.is_plain or any(isinstance(node, ast.Yield | ast.YieldFrom) for node in own_nodes(handler.function)):
        return False
    return not [*callers(handler.function, handler.module, ctx.sdk)] and not [*mentions(handler.function, handler.module, ctx.sdk)]


def _bound(function: Def, module: Module, ctx: Context, depth: int = 0, seen: frozenset[ast.AST] = frozenset()) -> str:
    """What a function, or one that it calls, needs of the thread that it runs on."""
    if depth > _MAX_DEPTH or function in seen or isinstance(function, ast.AsyncFunctionDef):
        return ""
    for node in own_nodes(function):
        if isinstance(node, ast.Call):
            what = _called(node, module, ctx)
            if what:
                return what
            for one in members(ctx.sdk.type(node.func, module)):
                if isinstance(one, Function) and OWN in one.name:
                    for inner, definition in defined(one, ctx.sdk):
                        what = _bound(definition, inner, ctx, depth + 1, seen | {function})
                        if what:
                            return what
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            what = _made_elsewhere(node, module, ctx)
            if what:
                return what
    return ""


def _called(node: ast.Call, module: Module, ctx: Context) -> str:
    match node.func:
        case ast.Attribute(value=ast.Name(id=name), attr=attr):
            if attr in ctx.entry.data["loop"] and _dotted(name, node, module, ctx) == "asyncio" and not _is_tried(node, module):
                return "asks for the running event loop"
            if attr == "set" and _made(node.func.value, module, ctx) == "contextvars.ContextVar":
                return "sets a context variable"
        case ast.Name(id=name) if name in ctx.entry.data["loop"]:
            if _dotted(name, node, module, ctx) == f"asyncio.{name}" and not _is_tried(node, module):
                return "asks for the running event loop"
    return ""


def _is_tried(node: ast.AST, module: Module) -> bool:
    """Whether code is ready for there being no loop."""
    child = node
    for above in module.around(node):
        if isinstance(above, ast.Try) and child in above.body:
            for handler in above.handlers:
                names = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
                if any(name is None or (isinstance(name, ast.Name) and name.id in ("RuntimeError", "Exception")) for name in names):
                    return True
        if isinstance(above, Def):
            return False
        child = above
    return False


def _made_elsewhere(node: ast.Name, module: Module, ctx: Context) -> str:
    """What a name of the module holds, where that belongs to the thread that made it."""
    scope = module.scopes[module.tree]
    if node.id not in scope.bindings:
        return ""
    bindings = ctx.sdk.inference.bindings(node.id, node, module)
    if not bindings or any(binding not in scope.bindings.get(node.id, ()) for binding in bindings):
        return ""
    return _MADE.get(_made(node, module, ctx), "")


def _made(node: ast.expr, module: Module, ctx: Context) -> str:
    """The dotted name of the call, outside of the project, that gave a name its value."""
    if not isinstance(node, ast.Name):
        return ""
    bindings = ctx.sdk.inference.bindings(node.id, node, module)
    if len(bindings) != 1:
        return ""
    binding = bindings[0]
    if binding.how is How.IMPORTED:
        where = ctx.sdk.locate(binding.target, module)
        if where is None or not where[1] or "." in where[1]:
            return ""
        inner, name = where
        given = inner.scopes[inner.tree].bindings.get(name, ())
        return _value(given[0].value, inner, ctx) if len(given) == 1 and given[0].how is How.VALUE else ""
    value = binding.node.value if binding.how is How.ANNOTATED and isinstance(binding.node, ast.AnnAssign) else binding.value
    return _value(value, module, ctx) if binding.how in (How.VALUE, How.ANNOTATED) else ""


def _value(value: ast.expr | None, module: Module, ctx: Context) -> str:
    match value:
        case ast.Call(func=ast.Name(id=name), keywords=keywords):
            found = _dotted(name, value, module, ctx)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr), keywords=keywords):
            found = f"{_dotted(name, value, module, ctx)}.{attr}"
        case ast.Call(func=ast.Attribute(value=ast.Call() as inner, attr="start"), keywords=keywords):
            return _value(inner, module, ctx)
        case _:
            return ""
    if any(word.arg == "check_same_thread" for word in keywords):
        return ""
    return found


def _dotted(name: str, node: ast.AST, module: Module, ctx: Context) -> str:
    bindings = ctx.sdk.inference.bindings(name, node, module)
    return bindings[0].target if len(bindings) == 1 and bindings[0].how is How.IMPORTED else ""
