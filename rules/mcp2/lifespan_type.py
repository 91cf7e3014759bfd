"""`ctx.request_context.lifespan_context.db` of a parameter that is annotated `Context`, without the type of the lifespan."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.code import last
from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import
from ...sdk.modules import Binding, Def, How
from ...sdk.types import OWN, ClassOf, Function
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
    if ctx.sdk.memo.setdefault(f"lifespan_type {ctx.file.source.path}:{span.start}", fact.span) == fact.span:
        applicability = Applicability.SAFE if _yielded(annotation, ctx) else Applicability.UNSAFE
        hint = ctx.entry.hints["default"] if applicability is Applicability.SAFE and _idle_default(annotation, ctx) else ""
        yield ctx.finding(fact, applicability, span=span, hint=hint)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    annotation = _annotation(fact, ctx)
    if annotation is not None:
        end = ctx.module.span(annotation).end
        name = _yielded(annotation, ctx)
        default = _idle_default(annotation, ctx) if name else None
        if default is not None:
            yield from _required(annotation, ctx)
        yield Edit(Span(end, end if default is None else ctx.module.span(default).end), f"[{name or 'Any'}]")
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


def _idle_default(annotation: ast.expr, ctx: Context) -> ast.expr | None:
    """The `None` that a context defaults to, where a call without a context fails at once, so that nobody makes one.

    `def tool(a: int = 1, ctx: Context = None): db = ctx.request_context.lifespan_context.db`: the SDK hands the context over by its name.
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
    if between.strip() != b"=" or not (_needs_no_star(function) or _is_named_by_all(function, ctx)):
        return None
    return default


def _asks_first(function: Def, name: str) -> bool:
    """Whether the first thing that a function does is to ask an attribute of a parameter."""
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    first = body[0] if body else None
    value = first.value if isinstance(first, ast.Assign | ast.AnnAssign | ast.Expr | ast.Return) else None
    asked = False
    while isinstance(value, ast.Attribute | ast.Await | ast.Subscript | ast.Call):
        asked, value = isinstance(value, ast.Attribute), value.func if isinstance(value, ast.Call) else value.value
    return asked and isinstance(value, ast.Name) and value.id == name


def _needs_no_star(function: Def) -> bool:
    return len(function.args.defaults) == 1


def _is_named_by_all(function: Def, ctx: Context) -> bool:
    """Whether the last parameter of a function can be one that is given by its name only: no call gives it by its place."""
    if function.args.vararg is not None or function.args.kwonlyargs or not all(_leaves_places(one, ctx) for one in function.decorator_list):
        return False
    places = len(function.args.posonlyargs) + len(function.args.args)
    for path, file in ctx.sdk.files.items():
        if f"{function.name}(".encode() in file.source.utf8:
            for call in ctx.sdk.module_at(path).calls.get(function.name, ()):
                if len(call.args) >= places or any(isinstance(argument, ast.Starred) for argument in call.args):
                    return False
    return True


def _leaves_places(decorator: ast.expr, ctx: Context) -> bool:
    """Whether a decorator is the SDK's own, which gives all by name, or one that calls nothing which it is given with places."""
    known = ctx.sdk.type(decorator.func if isinstance(decorator, ast.Call) else decorator, ctx.module)
    if not isinstance(known, Function):
        return False
    path, own, name = known.name.partition(OWN)
    if not own:
        return known.name.startswith("mcp.")
    node = ctx.sdk.module_at(path).defined.get(name)
    if not isinstance(node, Def):
        return False
    inner = [*ast.walk(node)]
    given = {argument.arg for one in inner if isinstance(one, Def) for argument in (*one.args.posonlyargs, *one.args.args)}
    return not any(isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id in given and one.args for one in inner)


def _required(annotation: ast.expr, ctx: Context) -> Iterator[Edit]:
    """What makes a parameter without a default possible behind others that have one."""
    parameter = ctx.module.parents[annotation]
    function = next(above for above in ctx.module.around(annotation) if isinstance(above, Def))
    if not _needs_no_star(function):
        start = ctx.module.span(parameter).start
        yield Edit(Span(start, start), "*, ")


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
    if len(bindings) != 1 or bindings[0].how is not How.PARAMETER or not isinstance(bindings[0].value, ast.Name | ast.Attribute):
        return None
    known = ctx.sdk.type(bindings[0].value, module)
    return bindings[0].value if isinstance(known, ClassOf) and known.name.endswith(".Context") else None
