"""What is lost where a session lives for one request only: what one call leaves in it for the next."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .code import Place
from .functions import Module, targets
from .sessionless import Needed, Sessionless, Spared, Way

_CHANGES = frozenset({"append", "add", "extend", "update", "insert", "pop", "remove", "discard", "clear", "setdefault", "popitem"})


def lost(model: Sessionless) -> Iterator[Needed]:
    """What tools keep in a session that is made for one request: the parts of it that one of them writes."""
    uses = list(model.uses())
    nodes = [(use, node) for use in uses for node in ([use.node] if isinstance(use, Needed) else _changed(use.node))]
    parts = [(use, node, _part(node, model, use.place)) for use, node in nodes]
    kept = {part for use, _, part in parts if isinstance(use, Spared) and use.way is Way.SKIP} - {""}
    # What changes a part may also be a call whose value is used.
    kept |= {part for use, node, part in parts if part and _is_changed(node, use.place)}
    kept = {part for part in kept if any(_is_read(part, use.place.unit.module) for use, _, _ in parts)}
    yield from (Needed(use.place, node) for use, node, part in parts if part in kept)


def _changed(statement: ast.AST) -> Iterator[ast.expr]:
    """What a statement writes into, or calls a changing method of."""
    yield from targets(statement)
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=value, attr=attr))) if attr in _CHANGES:
            yield value


def _is_read(part: str, module: Module) -> bool:
    """Whether a module reads an attribute or key of this name anywhere."""
    if any(node.attr == part and isinstance(node.ctx, ast.Load) for node in module.nodes(ast.Attribute)):
        return True
    keys = [node.slice for node in module.nodes(ast.Subscript) if isinstance(node.ctx, ast.Load)]
    keys += [
        node.args[0] for node in module.nodes(ast.Call) if isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args
    ]
    return any(isinstance(key, ast.Constant) and key.value == part for key in keys)


def _is_changed(node: ast.AST, place: Place) -> bool:
    parent = place.unit.module.parents.get(node)
    return isinstance(parent, ast.Attribute) and parent.attr in _CHANGES and isinstance(place.unit.module.parents.get(parent), ast.Call)


def _part(node: ast.AST, model: Sessionless, place: Place) -> str:
    """The attribute or key of the session that an expression leads through; "" where it is none."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        if model.is_session(node.value, place):
            if isinstance(node, ast.Attribute):
                return node.attr
            return node.slice.value if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str) else ""
        node = node.value
    return ""
