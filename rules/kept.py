"""Whether a session is what something is kept by: a key of a dict, an item of a set, told apart by its identity."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..rule import Context
from ..sdk.modules import Module

_KEYED = frozenset({"add", "append", "discard", "remove", "get", "pop", "setdefault", "register"})


def same(node: ast.Attribute, ctx: Context) -> Iterator[ast.expr]:
    """The expression, and the uses of a name that it is given in the same function."""
    yield node
    module = ctx.module
    match module.parents.get(node):
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is node:
            yield from module.reads(name, module.scope(node))


def is_kept(node: ast.expr, module: Module) -> bool:
    """Whether an object is told apart from others, or stored in a container."""
    match module.parents.get(node):
        case ast.Call(func=ast.Name(id="id" | "hash"), args=[asked]):
            return asked is node
        case ast.Call(func=ast.Attribute(attr=attr), args=[first, *_]) if first is node:
            return attr in _KEYED
        case ast.Subscript(slice=index):
            return index is node
        case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()]):
            return left is node
        case ast.Dict(keys=keys):
            return node in keys
    return False
