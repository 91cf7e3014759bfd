"""Deletes the way back of the client's answers, where no client is asked by a request any more.

What only this way used (pending tables, id counters, functions) is left to the sweep.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ..facts.answers import Answers
from ..facts.asking import Asking
from ..facts.functions import Module, walk
from ..source import Span
from . import cut
from .edits import Edit
from .tree import Tree


def answers(asking: Asking, module: Module, tree: Tree) -> Iterator[Edit]:
    """The branches that hand answers of the client to those who wait: messages without a method."""
    tables = {name for waiter in asking.waiters for name in waiter.tables}
    names = Answers(module)
    for node in module.nodes(ast.If):
        if node.orelse or not _lacks_method(node.test, module):
            continue
        function = module.function_of(node)
        inside = [inner for s in node.body for inner in walk(s)]
        called = [target for inner in inside if isinstance(inner, ast.Call) and (target := module.callee(inner, function))]
        delivers = _uses(inside, tables, names) or any(_uses(target.own, tables, names) for target in called)
        if delivers and isinstance(node.body[-1], ast.Return | ast.Continue):
            yield from statement(node, module, tree)


def statement(node: ast.stmt, module: Module, tree: Tree) -> Iterator[Edit]:
    """Deletes one statement by its place."""
    start = module.span(node).start
    found = tree.statement(Span(start, start + 1))
    if found is not None:
        yield from cut.statement(tree, found)


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


def _uses(nodes: Sequence[ast.AST], tables: set[str], names: Answers) -> bool:
    return any(isinstance(node, ast.Name | ast.Attribute) and names.table(node) in tables for node in nodes)
