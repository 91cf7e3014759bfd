"""What stands in the way of requests and does nothing: functions that refuse nobody, decorators and middleware that only hand on."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TypeGuard

from ..source import Source
from .functions import Def, dotted
from .mask import parse
from .syntax import descend

# Calls that only look at a request, as far as an answer can tell.
_LOOKS = frozenset(
    {"get", "getheader", "get_json", "json", "body", "loads", "decode", "lower", "upper", "strip", "startswith", "endswith"}
    | {"isinstance", "len", "bool", "str", "dict", "is_modern"}
)
_HANDED_ON = frozenset({"call_next", "get_response", "app", "handler"})
_HOOKS = frozenset({"before_request", "before_app_request", "middleware"})
_FIELDS = frozenset({"Header", "Query", "Cookie"})
_TYPES = frozenset({"Any", "HTTPConnection", "Headers", "Mapping", "Optional", "Request", "Response", "WebSocket"})


class Idle(Enum):
    """In which way something does nothing."""

    GUARD = "guard"  # a function that gives None, whatever it is given
    DECORATOR = "decorator"  # the function that it makes calls the one that it is given, and does nothing else
    MIDDLEWARE = "middleware"  # a class, or a function that is registered as one, that hands every request on
    HOOK = "hook"  # a function that its decorator registers, and that does nothing


def idle(source: Source) -> Mapping[str, Idle]:
    """The functions and classes of a module that do nothing, by their names."""
    found: dict[str, Idle] = {}
    for node in parse(source)[0].body:
        kind = _kind(node)
        if kind is not None and isinstance(node, Def | ast.ClassDef):
            found[node.name] = kind
    return found


def _kind(node: ast.stmt) -> Idle | None:
    match node:
        case ast.ClassDef(decorator_list=[], keywords=[]):
            return Idle.MIDDLEWARE if _is_middleware(node) else None
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            names = {dotted(one.func if isinstance(one, ast.Call) else one).rpartition(".")[2] for one in node.decorator_list}
            if not names:
                if all(_does_nothing(one) for one in node.body):
                    return Idle.GUARD if _asks_for_nothing(node.args) else None
                return Idle.DECORATOR if _hands_back(node) else Idle.MIDDLEWARE if _hands_on(node) else None
            if names <= _HOOKS and len(node.decorator_list) == 1:
                return Idle.HOOK if all(_does_nothing(one) for one in node.body) or _hands_on(node) else None
    return None


def _asks_for_nothing(args: ast.arguments) -> bool:
    """Whether a framework that finds values for parameters refuses no request on the way, as for `user: User = Depends(current_user)`."""
    every = [*args.posonlyargs, *args.args]
    defaults: list[ast.expr | None] = [*([None] * (len(every) - len(args.defaults))), *args.defaults]
    pairs = [*zip(every, defaults, strict=True), *zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    return all(_is_plain(arg.annotation) if default is None else _is_optional(default) for arg, default in pairs)


def _is_plain(annotation: ast.expr | None) -> bool:
    """Whether a type stands for itself; an alias of the project may hold a dependency."""
    for node in ast.walk(annotation) if annotation is not None else ():
        match node:
            case ast.Call() | ast.Constant(value=str()):
                return False
            case ast.Name(id=name) if not hasattr(builtins, name) and name not in _TYPES:
                return False
    return True


def _is_optional(default: ast.expr) -> bool:
    match default:
        case ast.Constant(value=value):
            return value is not ...
        case ast.Call(args=[ast.Constant(value=None), *_]):
            return dotted(default.func).rpartition(".")[2] in _FIELDS
        case ast.Call(args=[], keywords=keywords):
            given = [word.value for word in keywords if word.arg == "default"]
            return dotted(default.func).rpartition(".")[2] in _FIELDS and any(
                isinstance(one, ast.Constant) and one.value is None for one in given
            )
    return False


def _does_nothing(node: ast.stmt) -> bool:
    match node:
        case ast.Pass() | ast.Expr(value=ast.Constant()) | ast.Return(value=None | ast.Constant(value=None)):
            return True
        case ast.Assign(targets=[ast.Name()], value=value) | ast.AnnAssign(target=ast.Name(), value=ast.expr() as value):
            return _only_looks(value)
        case ast.If(test=test, body=body, orelse=orelse):
            return _only_looks(test) and all(map(_does_nothing, [*body, *orelse]))
        case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=last):
            caught = [one for handler in handlers for one in handler.body]
            return all(map(_does_nothing, [*body, *caught, *orelse, *last]))
    return False


def _only_looks(node: ast.expr) -> bool:
    for part in descend(node):
        match part:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                if name not in _LOOKS:
                    return False
            case ast.Call() | ast.NamedExpr() | ast.Yield() | ast.YieldFrom():
                return False
            case ast.Subscript():
                return False  # `headers["authorization"]` refuses whoever has none
    return True


def _hands_back(function: Def) -> bool:
    """`def decorator(f): def inner(...): return f(...); return inner`."""
    parameters = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)]
    body = [one for one in function.body if not _is_text(one)]
    match body:
        case [ast.FunctionDef() | ast.AsyncFunctionDef() as inner, ast.Return(value=ast.Name(id=name))] if name == inner.name:
            return len(parameters) == 1 and _only_calls(inner, parameters[0])
    return False


def _only_calls(inner: Def, name: str) -> bool:
    """Whether a function gives to another all that it is given, and gives back what that gives. Only `wraps` may stand above it."""
    wraps = [one for one in inner.decorator_list if isinstance(one, ast.Call) and dotted(one.func).rpartition(".")[2] == "wraps"]
    if len(wraps) != 1 or len(inner.decorator_list) != 1:
        return False  # a framework may look at its own parameters
    return _ends_in(inner.body, name, _forwarded(inner))


def _hands_on(function: Def) -> bool:
    """`async def middleware(request, call_next): return await call_next(request)`."""
    parameters = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)]
    if len(parameters) == 2 and parameters[1] in {"call_next", "handler"}:
        return _ends_in(function.body, parameters[1], [parameters[0]])
    return False


def _is_middleware(node: ast.ClassDef) -> bool:
    """Whether a class only has methods that keep what comes next, and one that hands each request on to it."""
    handing = False
    for statement in node.body:
        if isinstance(statement, ast.Pass) or _is_text(statement):
            continue
        if not isinstance(statement, Def) or statement.decorator_list:
            return False
        if statement.name == "__init__":
            if not all(_keeps(one) for one in statement.body):
                return False
            continue
        names = [arg.arg for arg in statement.args.args][1:]
        given = names[1] if statement.name == "dispatch" and len(names) == 2 else ""
        if statement.name not in {"dispatch", "__call__"} or not _ends_in(statement.body, given, names[:1] if given else names):
            return False
        handing = True
    return handing


def _keeps(node: ast.stmt) -> bool:
    match node:
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"))], value=ast.Name()):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__"))):
            return True
    return _does_nothing(node)


def _ends_in(body: Sequence[ast.stmt], name: str, arguments: Sequence[str]) -> bool:
    """Whether statements that do nothing end in a call with these arguments, of a parameter or of what an object keeps."""
    *before, last = body
    value = last.value if isinstance(last, ast.Return | ast.Expr) else None
    value = value.value if isinstance(value, ast.Await) else value
    if not isinstance(value, ast.Call) or not all(map(_does_nothing, before)) or any(_leaves(one) for one in before):
        return False
    match value.func:
        case ast.Name(id=called):
            known = called == name
        case ast.Attribute(value=ast.Name(id="self"), attr=attr):
            known = not name and attr.lstrip("_") in _HANDED_ON
        case _:
            return False
    # What is only awaited gives nothing back, as ASGI applications do.
    if isinstance(last, ast.Expr) and list(arguments) != ["scope", "receive", "send"]:
        return False
    return known and _spelled(value) == list(arguments)


def _leaves(node: ast.stmt) -> bool:
    return any(isinstance(one, ast.Return) for one in descend(node))


def _forwarded(function: Def) -> list[str]:
    args = function.args
    names = [arg.arg for arg in (*args.posonlyargs, *args.args)]
    names += [f"*{args.vararg.arg}"] if args.vararg else []
    names += [f"{arg.arg}=" for arg in args.kwonlyargs]
    return names + ([f"**{args.kwarg.arg}"] if args.kwarg else [])


def _spelled(call: ast.Call) -> list[str] | None:
    found: list[str] = []
    for argument in call.args:
        match argument:
            case ast.Name(id=name):
                found.append(name)
            case ast.Starred(value=ast.Name(id=name)):
                found.append(f"*{name}")
            case _:
                return None
    for keyword in call.keywords:
        if not isinstance(keyword.value, ast.Name) or keyword.arg not in (None, keyword.value.id):
            return None
        found.append(f"{keyword.arg}=" if keyword.arg else f"**{keyword.value.id}")
    return found


def _is_text(node: ast.stmt) -> TypeGuard[ast.Expr]:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
