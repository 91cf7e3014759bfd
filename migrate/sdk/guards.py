"""Whether code asks first which of two names something has: then it is made for both."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from ..facts.syntax import descend
from .modules import Def, Module, dotted

_ASKS = frozenset({"hasattr", "getattr"})


def is_asked(node: ast.AST, subject: ast.expr, names: Iterable[str], module: Module, *, read: bool = True) -> bool:
    """Whether what stands around a use asks `hasattr` or `getattr` for one of these names of the same subject, or reads one (`read`)."""
    wanted = {name: read for name in names if module.says(name)}
    if not wanted:
        return False
    text = dotted(subject)
    child = node
    for above in module.around(node):
        match above:
            case ast.IfExp() | ast.BoolOp():
                scopes: list[ast.AST] = [above]
            case ast.If(test=test):
                scopes = [test]
            case ast.Try():
                scopes = [above]
            case _:
                scopes = []
        if text and any(_speaks(inner, text, wanted, node) for scope in scopes for inner in descend(scope)):
            return True
        if isinstance(above, Def | ast.ClassDef | ast.Module | ast.Lambda):
            return text != "" and isinstance(child, ast.stmt) and _left_before(above, child, text, wanted, module)
        child = above
    return False


def is_meta(node: ast.AST | None) -> bool:
    """Whether what an attribute is read from, known or not, is at least called as the metadata of a request is."""
    subject = node.value if isinstance(node, ast.Attribute) else node.args[0] if isinstance(node, ast.Call) and node.args else None
    return subject is not None and dotted(subject).rpartition(".")[2] in ("meta", "_meta", "request_meta")


def _speaks(inner: ast.AST, text: str, wanted: Mapping[str, bool], node: ast.AST) -> bool:
    if inner is node:
        return False
    match inner:
        case ast.Attribute(attr=attr, value=value):
            return wanted.get(attr, False) and dotted(value) == text
        case ast.Call(func=ast.Name(id=asks), args=[subject, ast.Constant(value=str(name)), *_]):
            return asks in _ASKS and name in wanted and dotted(subject) == text
    return False


def _left_before(above: ast.AST, child: ast.stmt, text: str, wanted: Mapping[str, bool], module: Module) -> bool:
    """`if hasattr(x, "new_name"): return ...` above a use of the old one."""
    place = module.place(child)
    if place is None or place[0] is not getattr(above, "body", None):
        return False
    for number, statement in module.leaving(place[0]):
        if number < place[1] and any(_speaks(inner, text, wanted, child) for inner in descend(statement.test)):
            return True
    return False
