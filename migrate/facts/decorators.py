"""Whether a decorator leaves a function as it is, so that what the function's own code gives is what its callers get."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from .code import Code, Place, assigned
from .functions import dotted

# What says something about a function, and changes nothing of what a call gives.
_PLAIN = frozenset({"staticmethod", "classmethod", "override", "final", "abstractmethod", "no_type_check", "wraps", "boundary"})


@dataclass(eq=False)
class Decorators:
    """Proves the decorators of a project; what was proven once is kept."""

    code: Code
    _known: dict[Place, bool] = field(default_factory=dict)

    def opaque(self, place: Place) -> ast.expr | None:
        """The first decorator of a function that may change what it gives."""
        found = place.function.node.decorator_list if place.function else []
        return next((one for one in found if not self._is_plain(one, place)), None)

    def _is_plain(self, node: ast.expr, place: Place) -> bool:
        name = dotted(node.func if isinstance(node, ast.Call) else node).rpartition(".")[2]
        if name in _PLAIN:
            return True
        target = self.code.target(node.func if isinstance(node, ast.Call) else node, Place(place.unit, None))
        if not isinstance(target, Place) or target.function is None:
            return False
        if not isinstance(node, ast.Call):
            return self._is_transparent(target)
        inner = [_inner(n.value, target) for n in target.nodes if isinstance(n, ast.Return)]
        return bool(inner) and all(one is not None and self._is_transparent(one) for one in inner)

    def _is_transparent(self, decorator: Place) -> bool:
        """Whether it gives back the function, or one that gives what the function gives."""
        if decorator not in self._known:
            self._known[decorator] = False
            self._known[decorator] = self._prove(decorator)
        return self._known[decorator]

    def _prove(self, decorator: Place) -> bool:
        assert decorator.function
        names = decorator.function.parameters
        returns = [n.value for n in decorator.nodes if isinstance(n, ast.Return)]
        if len(names) != 1 or not returns or assigned(decorator, names[0]):
            return False
        for value in returns:
            if isinstance(value, ast.Name) and value.id == names[0]:
                continue
            inner = _inner(value, decorator)
            if inner is None or self.opaque(inner) is not None or not _passes(inner, names[0]):
                return False
        return True


def _inner(value: ast.expr | None, place: Place) -> Place | None:
    """The function inside `place` that it returns."""
    found = place.unit.module.functions.get(f"{place.name}.{value.id}") if isinstance(value, ast.Name) else None
    return Place(place.unit, found) if found else None


def _passes(inner: Place, wrapped: str) -> bool:
    """Whether all that a function returns is what the wrapped one has given, untouched."""
    returns = [n.value for n in inner.nodes if isinstance(n, ast.Return)]
    return bool(returns) and all(value is not None and _is_given(value, inner, wrapped) for value in returns)


def _is_given(value: ast.expr, inner: Place, wrapped: str) -> bool:
    match value:
        case ast.Await(value=ast.Call(func=ast.Name(id=name))) | ast.Call(func=ast.Name(id=name)):
            return name == wrapped
        case ast.Name(id=name):
            values = assigned(inner, name)
            whole = bool(values) and all(
                one is not None and not isinstance(one, ast.Name) and _is_given(one, inner, wrapped) for one in values
            )
            return whole and not is_changed(inner, name)
    return False


def is_changed(place: Place, name: str) -> bool:
    """Whether a function writes into the value of a name."""
    parents = place.unit.module.parents
    for node in place.nodes:
        if not (isinstance(node, ast.Name) and node.id == name):
            continue
        around: ast.AST = node
        while isinstance(parent := parents[around], ast.Subscript | ast.Attribute) and parent.value is around:
            around = parent
        if isinstance(around, ast.Subscript) and not isinstance(around.ctx, ast.Load) and not _is_label(around):
            return True
        match parent, around:
            case ast.Call(func=func), ast.Attribute(attr=verb) if func is around and verb in _CHANGES:
                return True
            case ast.AugAssign(), _:
                return True
    return False


_CHANGES = frozenset({"update", "pop", "popitem", "clear", "setdefault", "append", "extend", "insert", "remove", "__setitem__"})


def _is_label(node: ast.Subscript) -> bool:
    """`reply["id"] = ...`: what every reply has, whatever it holds."""
    return isinstance(node.slice, ast.Constant) and node.slice.value in {"id", "jsonrpc"} and isinstance(node.value, ast.Name)
