"""Deletes what only sending questions and waiting for answers needed: pending tables, id counters, the way back of answers."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ..facts.asking import Asking
from ..facts.clientstate import initial
from ..facts.functions import Function, Module, dotted, walk
from ..facts.waiters import Waiter
from ..source import Span
from . import cut, imports
from .edits import Edit
from .tree import Tree


def edits(asking: Asking, module: Module, tree: Tree) -> Iterator[Edit]:
    """The deletions for a server that serves 2026-07-28 only; what anything else still uses stays."""
    gone: list[ast.AST] = [s for waiter in asking.waiters for s in _replaced(waiter)]
    routes = list(_routes(asking, module))
    names = {name for waiter in asking.waiters for name in (*waiter.tables, *waiter.counters)}
    deleted: list[ast.stmt] = []
    routed = [*gone, *routes, *_routers(routes, module)]
    if _is_only_used_in({n for waiter in asking.waiters for n in waiter.tables}, routed, module):
        deleted += [node for node in routed if isinstance(node, ast.stmt) and node not in gone]
    else:
        names -= {name for waiter in asking.waiters for name in waiter.tables}
    for name in sorted(names):
        start = initial(name, module)
        if start is not None and _is_only_used_in({name}, [*gone, *deleted, start], module):
            deleted.append(start)
    for node in deleted:
        yield from statement(node, module, tree)
    yield from imports.remove(tree, {("", name) for name in _unused([*gone, *deleted], module)})


def statement(node: ast.stmt, module: Module, tree: Tree) -> Iterator[Edit]:
    """Deletes one statement by its place."""
    start = module.span(node).start
    found = tree.statement(Span(start, start + 1))
    if found is not None:
        yield from cut.statement(tree, found)


def _replaced(waiter: Waiter) -> Sequence[ast.stmt]:
    return waiter.function.node.body[waiter.start : waiter.stop]


def _routes(asking: Asking, module: Module) -> Iterator[ast.If]:
    """The branches that hand answers of the client to those who wait: messages without a method."""
    tables = {name for waiter in asking.waiters for name in waiter.tables}
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.If) or node.orelse or not _lacks_method(node.test, module):
            continue
        function = module.function_of(node)
        inside = [inner for s in node.body for inner in walk(s)]
        uses = any(isinstance(inner, ast.Name | ast.Attribute) and dotted(inner) in tables for inner in inside)
        calls = [target for inner in inside if isinstance(inner, ast.Call) and (target := module.callee(inner, function))]
        if isinstance(node.body[-1], ast.Return | ast.Continue) and (uses or any(_uses(target, tables) for target in calls)):
            yield node


def _routers(routes: Sequence[ast.If], module: Module) -> Iterator[ast.stmt]:
    """The functions that only these branches call."""
    for route in routes:
        function = module.function_of(route)
        for inner in walk(route):
            if isinstance(inner, ast.Call) and (target := module.callee(inner, function)) is not None:
                mentions = [
                    n
                    for n in ast.walk(module.tree)
                    if isinstance(n, ast.Name | ast.Attribute) and dotted(n).rsplit(".", 1)[-1] == target.short
                ]
                if all(any(n in walk(r) for r in routes) for n in mentions):
                    yield target.node


def _lacks_method(test: ast.expr, module: Module) -> bool:
    match test:
        case ast.Compare(left=left, ops=[ast.NotIn()]):
            return module.string(left) == "method"
        case ast.Compare(left=ast.Call(func=ast.Attribute(attr="get"), args=[key]), ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
            return module.string(key) == "method"
        case ast.BoolOp(op=ast.And(), values=[first, *_]):
            return _lacks_method(first, module)
        case ast.BoolOp(op=ast.Or(), values=values):
            return {module.string(v.left) for v in values if isinstance(v, ast.Compare) and isinstance(v.ops[0], ast.In)} == {
                "result",
                "error",
            }
    return False


def _uses(function: Function, names: set[str]) -> bool:
    return any(isinstance(node, ast.Name | ast.Attribute) and dotted(node) in names for node in function.own)


def _is_only_used_in(names: set[str], places: Sequence[ast.AST], module: Module) -> bool:
    inside = {id(node) for place in places for node in ast.walk(place)}
    shorts = {name.rsplit(".", 1)[-1] for name in names}
    return all(
        id(node) in inside or _is_initial(node, module)
        for node in ast.walk(module.tree)
        if (isinstance(node, ast.Name) and node.id in names) or (isinstance(node, ast.Attribute) and node.attr in shorts)
    )


def _is_initial(node: ast.expr, module: Module) -> bool:
    parent = module.parents.get(node)
    name = dotted(node)
    return isinstance(parent, ast.Assign | ast.AnnAssign) and node is not parent.value and initial(name, module) is parent


def _unused(gone: Sequence[ast.AST], module: Module) -> Iterator[str]:
    """Imported names that are used in deleted code and nowhere else."""
    inside = {id(node) for place in gone for node in ast.walk(place)}
    used = {node.id for node in ast.walk(module.tree) if isinstance(node, ast.Name) and id(node) not in inside}
    for node in module.tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                name = (alias.asname or alias.name).split(".")[0]
                if name not in used and any(isinstance(n, ast.Name) and n.id == name and id(n) in inside for n in ast.walk(module.tree)):
                    yield name
