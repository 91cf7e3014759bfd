"""`ctx.request_context.lifespan_context.db` of a parameter that is annotated `Context`, without the type of the lifespan."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ...facts.code import last
from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import
from ...sdk.modules import Binding, Def, How
from ...sdk.types import ClassOf, ModuleOf
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_OF_DICTS = frozenset(dir(dict))
_YIELDING = frozenset({"AsyncIterator", "AsyncIterable", "AsyncGenerator"})


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    annotation = _annotation(fact, ctx)
    if annotation is None or ctx.sdk.is_moved(ctx.file.source.path):
        return
    # Once for each parameter, however often it is read: that is the place to mend.
    span = ctx.module.span(annotation)
    if ctx.sdk.memo.setdefault(f"lifespan_type {ctx.file.source.path}:{span.start}", fact.span) != fact.span:
        return
    default = _idle_default(annotation, ctx)
    if not isinstance(annotation, ast.Subscript):
        applicability = Applicability.SAFE if _yielded(annotation, ctx) else Applicability.UNSAFE
        hint = ctx.entry.hints["default"] if applicability is Applicability.SAFE and default is not None and default.alone else ""
        yield ctx.finding(fact, applicability, span=span, hint=hint)
    if default is not None and not default.alone:
        message = f"`{default.name}` defaults to `None`, which is no context: type checkers tell of it in other words than before"
        applicability, hint = (Applicability.UNSAFE, ctx.entry.hints["behind"]) if default.by_name else (Applicability.MANUAL, "")
        yield ctx.finding(fact, applicability, span=ctx.module.span(default.node), message=message, hint=hint)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    annotation = _annotation(fact, ctx)
    if annotation is None:
        return
    module, default = ctx.module, _idle_default(annotation, ctx)
    end = module.span(annotation).end
    if isinstance(annotation, ast.Subscript):
        if default is not None and default.by_name and not default.alone:
            at = module.span(default.parameter).start
            yield Edit(Span(at, at), "*, ")
            yield Edit(Span(end, module.span(default.node).end))
        return
    name = _yielded(annotation, ctx)
    cut = module.span(default.node).end if name and default is not None and default.alone else end
    yield Edit(Span(end, cut), f"[{name or 'Any'}]")
    if not name:
        yield Import("typing", "Any")


def _yielded(annotation: ast.expr, ctx: Context) -> str:
    """The class of what the lifespan yields, where the one server says so, and the parameter can name it; else nothing."""
    servers = ctx.sdk.servers
    if len(servers) != 1 or servers[0].module is not ctx.module:
        return ""
    given = next((word.value for word in servers[0].call.keywords if word.arg == "lifespan"), None)
    made = _only(given.id, given, ctx) if isinstance(given, ast.Name) else None
    match made.node if made is not None else None:
        case ast.AsyncFunctionDef(returns=ast.Subscript(value=ast.Name() | ast.Attribute() as head, slice=told)):
            told = told.elts[0] if isinstance(told, ast.Tuple) and told.elts else told
            if last(head) in _YIELDING and isinstance(told, ast.Name):
                named = _only(told.id, annotation, ctx)
                # An annotation is evaluated with its function.
                if named is not None and isinstance(named.node, ast.ClassDef | ast.alias) and named.node.lineno < annotation.lineno:
                    return told.id
    return ""


class _Default(NamedTuple):
    """The `None` that a context defaults to, where a call without a context fails at once, so that nobody makes one."""

    node: ast.expr
    parameter: ast.arg
    name: str
    alone: bool  # whether no other parameter has a default, so that it can go
    by_name: bool  # whether a `*` can stand before the parameter, as far as the project calls the function


def _idle_default(annotation: ast.expr, ctx: Context) -> _Default | None:
    """`def tool(a: int, ctx: Context = None): db = ctx.request_context.lifespan_context.db`.

    Behind other defaults it can go only with the place of the parameter: who calls the function need not be part of the run.
    """
    module = ctx.module
    parameter = module.parents.get(annotation)
    function = next((above for above in module.around(annotation) if isinstance(above, Def)), None)
    if function is None or not isinstance(parameter, ast.arg) or parameter not in function.args.args[-1:]:
        return None
    default = function.args.defaults[-1] if function.args.defaults else None
    if not isinstance(default, ast.Constant) or default.value is not None or not _asks_first(function, parameter.arg):
        return None
    between = module.source.utf8[module.span(annotation).end : module.span(default).start]
    if between.strip() != b"=":
        return None
    alone = len(function.args.defaults) == 1
    by_name = function.args.vararg is None and not function.args.kwonlyargs and not _is_called_by_place(function, ctx)
    return _Default(default, parameter, parameter.arg, alone, by_name)


def _is_called_by_place(function: Def, ctx: Context) -> bool:
    """Whether a call of the project by this name may give the last parameter its value by its place."""
    arguments = [*function.args.posonlyargs, *function.args.args]
    # A method has its first one of itself.
    last = len(arguments) - 1 - isinstance(ctx.module.parents.get(function), ast.ClassDef)
    is_method = last + 1 < len(arguments)
    for module, call in ctx.sdk.callers(function.name):
        if isinstance(call.func, ast.Attribute) and not is_method and not isinstance(ctx.sdk.type(call.func.value, module), ModuleOf):
            continue  # a method of something else
        if len(call.args) > last or any(isinstance(argument, ast.Starred) for argument in call.args):
            return True
    return False


def _asks_first(function: Def, name: str) -> bool:
    """Whether the first thing that a function does is to ask an attribute of a parameter."""
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    first = body[0] if body else None
    value = first.value if isinstance(first, ast.Assign | ast.AnnAssign | ast.Expr | ast.Return) else None
    asked = False
    while isinstance(value, ast.Attribute | ast.Await | ast.Subscript | ast.Call):
        asked, value = isinstance(value, ast.Attribute), value.func if isinstance(value, ast.Call) else value.value
    return asked and isinstance(value, ast.Name) and value.id == name


def _only(name: str, at: ast.expr, ctx: Context) -> Binding | None:
    """What the module gives to a name, if that is one thing, and the name means it here."""
    bindings = ctx.sdk.inference.bindings(name, at, ctx.module)
    own = ctx.module.scopes[ctx.module.tree].bindings.get(name, [])
    return bindings[0] if len(bindings) == 1 and len(own) == 1 and bindings[0] is own[0] else None


def _annotation(fact: Symbol, ctx: Context) -> ast.expr | None:
    """The `Context` of the parameter whose lifespan is asked for an attribute."""
    module = ctx.module
    node = module.at(fact.span)
    above = module.parents.get(node) if node is not None else None
    read = module.parents.get(above) if isinstance(above, ast.Attribute) and above.attr == "lifespan_context" else None
    if fact.use is not SymbolUse.READ or not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return None
    if not isinstance(read, ast.Attribute) or read.attr in _OF_DICTS:
        return None
    bindings = ctx.sdk.inference.bindings(node.value.id, node.value, module)
    if len(bindings) != 1 or bindings[0].how is not How.PARAMETER:
        return None
    annotation = bindings[0].value
    plain = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    if not isinstance(plain, ast.Name | ast.Attribute):
        return None
    known = ctx.sdk.type(plain, module)
    return annotation if isinstance(known, ClassOf) and known.name.endswith(".Context") else None
