"""Deletes what looks at a store of sessions that nothing fills any more: loops over it, counts of it, removals from it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from itertools import chain

from ..facts.functions import Module, targets
from ..facts.shapes import is_empty_container
from ..source import Span
from .edits import Edit, overlaps
from .lazy import cst
from .sessions import without
from .tree import Tree

_FILLS = frozenset({"add", "setdefault", "update", "append", "insert", "extend", "put", "put_nowait"})
_REMOVES = frozenset({"pop", "discard", "remove", "clear", "popitem"})
_VIEWS = frozenset({"values", "items", "keys", "copy"})
_COPIES = frozenset({"list", "tuple", "sorted", "set", "dict", "len"})


def emptied(name: str, module: Module, tree: Tree, filling: Collection[ast.AST], going: Collection[Span]) -> Iterator[Edit]:
    """The edits for a store that only `filling` puts anything into, code that never runs; nothing where others do.

    What lies in `going` is left alone: it goes as a whole.
    """
    mentions = [n for n in _mentions(name, module) if n not in filling and not any(span.contains(module.span(n)) for span in going)]
    if any(_fills(node, module) for node in mentions):
        return
    taken: list[Edit] = []
    for some in chain.from_iterable(_looks(node, module, tree) for node in mentions):
        if some and not any(overlaps(one.span, other.span) for one in some for other in taken):
            taken += some
    yield from taken


def _mentions(name: str, module: Module) -> Iterator[ast.Name | ast.Attribute]:
    short = name.rpartition(".")[2]
    if "." not in name:
        yield from (node for node in module.nodes(ast.Name) if node.id == short)
    yield from (node for node in module.nodes(ast.Attribute) if node.attr == short)


def _fills(node: ast.Name | ast.Attribute, module: Module) -> bool:
    parent = module.parents[node]
    if isinstance(node.ctx, ast.Store):
        statement = next((a for a in module.ancestors(node) if isinstance(a, ast.stmt)), None)
        value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
        whole = statement is not None and any(goal is node for goal in targets(statement))
        return not whole or value is None or not is_empty_container(value)
    match parent:
        case ast.Subscript(ctx=ast.Store()):
            return True
        case ast.Attribute(attr=attr) if attr in _FILLS:
            return True
        case ast.AugAssign() | ast.Return():
            return True
        case ast.Call(func=func) if func is not node and not (isinstance(func, ast.Name) and func.id in _COPIES):
            return True  # handed to something that may fill it
    return False


def _looks(node: ast.Name | ast.Attribute, module: Module, tree: Tree) -> Iterator[list[Edit]]:
    """What can go around one mention of an empty store."""
    inner: ast.AST = node
    above = module.parents[inner]
    counts = False
    while True:
        match above:
            case ast.Attribute(attr=attr) if attr in _VIEWS and isinstance(module.parents[above], ast.Call):
                inner, above = module.parents[above], module.parents[module.parents[above]]
            case ast.Call(func=ast.Name(id=called)) if called in _COPIES:
                counts = counts or called == "len"
                inner, above = above, module.parents[above]
            case _:
                break
    match above:
        case ast.For(iter=given, orelse=[]) if given is inner and not counts:
            yield list(_without(above, module, tree))
        case ast.Dict() | ast.keyword() if counts:
            # Who reads the answer may look for the key.
            yield [Edit(module.span(inner), "0")]  # type: ignore[arg-type]
        case ast.Attribute(attr=attr) if attr in _REMOVES and isinstance(call := module.parents[above], ast.Call):
            if isinstance(statement := module.parents[call], ast.Expr):
                yield list(_without(statement, module, tree))
        case ast.Subscript(ctx=ast.Del()) if isinstance(statement := module.parents[above], ast.Delete) and len(statement.targets) == 1:
            yield list(_without(statement, module, tree))


def _without(statement: ast.stmt, module: Module, tree: Tree) -> Iterator[Edit]:
    start = module.span(statement).start
    node = tree.statement(Span(start, start + 1))
    if isinstance(node, cst.SimpleStatementLine) and len(node.body) == 1:
        yield from without(tree, node.body[0])
    elif isinstance(node, cst.For):
        yield from without(tree, node)
