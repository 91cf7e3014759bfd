"""Answers that nobody asked for: a notification falls through to the reply for unknown methods.

Only what is sure: the module nowhere tells messages without an id, or notifications, from requests.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from .functions import Function, Module, bound
from .model import Unasked
from .syntax import descend
from .vocabulary import METHODS, SERVER_REQUESTS

_UNKNOWN = 32601
_WORDS = (str(_UNKNOWN).encode(), b"METHOD_NOT_FOUND")
_ID = re.compile(r"(^|_)[rm]?id$|(request|message|msg|rpc)id$")
_TESTS = (ast.If, ast.While, ast.IfExp, ast.Assert)
_LONGEST = 4  # a condition within a condition within ... of an answer to an unknown method


def unasked(module: Module) -> Iterator[Unasked]:
    """The replies for unknown methods that notifications get, too."""
    if not any(word in module.source.utf8 for word in _WORDS) or _tells_apart(module):
        return
    for function in module.functions.values():
        if _routes(function):
            ids = frozenset(_ids(function, module))
            for node in function.own:
                if _replies(node, function, module, ids) and _is_reached(node, function, module):
                    assert isinstance(node, ast.expr)
                    yield Unasked(module.span(node), "notification", function.name)


def _routes(function: Function) -> bool:
    """Whether a function looks at the methods of several requests."""
    texts = {n.value for n in function.own if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    return len(texts & SERVER_REQUESTS) > 1 or "method" in texts


def _ids(function: Function, module: Module) -> Iterator[str]:
    """The names that hold a message's id, or None where it has none."""
    for name, values in function.assigned.items():
        if len(values) == 1 and _is_id(values[0]):
            yield name
    calls: list[ast.Call] | None = None
    for name in function.parameters:
        if calls is None:
            calls = [call for call in module.called.get(function.short, ()) if module.callee(call, module.function_of(call)) is function]
        if calls and all(_is_id(bound(call, function, name)) for call in calls):
            yield name


def _names(node: ast.AST, name: str) -> bool:
    return (isinstance(node, ast.Name) and node.id == name) or (isinstance(node, ast.Attribute) and node.attr == name)


def _is_id(node: ast.expr | None, names: Collection[str] = ()) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value="id")] | [ast.Constant(value="id"), ast.Constant()]):
            return True
        case ast.Name(id=name):
            return name in names
    return False


def _replies(node: ast.AST, function: Function, module: Module, ids: Collection[str]) -> bool:
    """Whether this builds the error for an unknown method, with the id of the message as it is or is not."""
    match node:
        case ast.Dict(keys=keys, values=values):
            entries = {key.value: value for key, value in zip(keys, values, strict=True) if isinstance(key, ast.Constant)}
            return _is_id(entries.get("id"), ids) and "error" in entries and any(map(_is_unknown, descend(entries["error"])))
        case ast.Call(args=args, keywords=keywords):
            given = [*args, *(keyword.value for keyword in keywords)]
            if not (any(map(_is_unknown, given)) and any(_is_id(one, ids) for one in given)):
                return False
            target = module.callee(node, function)
            return target is not None and any(isinstance(n, ast.Constant) and n.value == "error" for n in target.own)
    return False


def _is_unknown(node: ast.AST) -> bool:
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
            return bool(value == _UNKNOWN)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.upper().endswith("METHOD_NOT_FOUND")
    return False


def _is_reached(node: ast.AST, function: Function, module: Module) -> bool:
    """Whether the place is where a method goes that nothing else has answered."""
    child, depth = node, 0
    for parent in module.ancestors(node):
        if parent is function.node:
            return True
        match parent:
            case ast.If(test=test, body=body) if child in body:
                if not _is_missing(test) or (depth := depth + 1) > _LONGEST:
                    return False
            case ast.match_case(pattern=ast.MatchAs(pattern=None), guard=None):
                pass
            case ast.match_case() | ast.ExceptHandler() | ast.IfExp() | ast.BoolOp() | ast.comprehension():
                return False
        child = parent
    return False


def _is_missing(test: ast.expr) -> bool:
    """`handler is None`, `not handler`, `method not in HANDLERS`."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name()):
            return True
        case ast.Compare(ops=[ast.Is()], comparators=[ast.Constant(value=None)]) | ast.Compare(ops=[ast.NotIn()]):
            return True
    return False


def _tells_apart(module: Module) -> bool:
    """Whether anything asks for the id of a message, or for notifications as such."""
    if any(isinstance(node.value, str) and _is_of_notifications(node.value) for node in module.nodes(ast.Constant)):
        return True
    # A message without an id ends in a KeyError here.
    stored: list[ast.Assign | ast.NamedExpr] = [*module.nodes(ast.Assign), *module.nodes(ast.NamedExpr)]
    if any(isinstance(n, ast.Subscript) and _says(n.slice, "id") for node in stored for n in descend(node.value)):
        return True
    # Most modules say it by a name, and to find out which names hold an id takes ten times as long.
    asked = [node for test in _conditions(module) for node in descend(test)]
    if any(map(_asks, asked)):
        return True
    known = {name for function in module.functions.values() for name in _ids(function, module)}
    return bool(known) and any(_names(node, name) for node in asked for name in known)


def _is_of_notifications(text: str) -> bool:
    """A prefix, or the notification that comes when it likes; `initialized` alone has a branch in most servers."""
    return (text.startswith("notif") and text not in METHODS) or text == "notifications/cancelled"


def _asks(node: ast.AST) -> bool:
    match node:
        case ast.Constant(value="id"):
            return True
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return _ID.search(name.lower()) is not None or "notif" in name.lower()
    return False


def _conditions(module: Module) -> Iterator[ast.AST]:
    for kind in _TESTS:
        for node in module.nodes(kind):
            yield node.test  # type: ignore[attr-defined]
    yield from module.nodes(ast.Compare)
    yield from module.nodes(ast.BoolOp)
    for comprehension in module.nodes(ast.comprehension):
        yield from comprehension.ifs
    for match in module.nodes(ast.Match):
        yield match.subject
        yield from (part for case in match.cases for part in (case.pattern, case.guard) if part is not None)
    for call in module.nodes(ast.Call):
        if isinstance(call.func, ast.Name) and call.func.id in ("isinstance", "bool", "filter", "hasattr"):
            yield call


def _says(node: ast.expr, text: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == text
