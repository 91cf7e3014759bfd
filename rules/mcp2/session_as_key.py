"""Something is kept by the session object, which is another one for each request."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rule import Applicability, Context, Finding
from ...sdk.modules import Module

_KEYED = frozenset({"add", "append", "discard", "remove", "get", "pop", "setdefault", "register"})


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is SymbolUse.READ and isinstance(node, ast.Attribute) and any(_is_kept(one, ctx.module) for one in _same(node, ctx)):
        yield ctx.finding(fact, Applicability.MANUAL)


def _same(node: ast.Attribute, ctx: Context) -> Iterator[ast.expr]:
    """The expression, and the uses of a name that it is given in the same function."""
    yield node
    module = ctx.module
    match module.parents.get(node):
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is node:
            scope = module.scope(node)
            for other in module.nodes:
                if isinstance(other, ast.Name) and other.id == name and isinstance(other.ctx, ast.Load) and module.scope(other) is scope:
                    yield other


def _is_kept(node: ast.expr, module: Module) -> bool:
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
