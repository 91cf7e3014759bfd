"""Revisions without a handshake that the answer to `initialize` can name, because it picks from a list that holds them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .functions import Function, Module
from .model import Role, Use
from .names import Names
from .syntax import descend
from .vocabulary import CURRENT

_ANSWER = frozenset({"serverInfo", "capabilities"})


def offers(module: Module, names: Names) -> Iterator[Use]:
    """The answers to `initialize` whose version can be 2026-07-28, though no text beside the key says so."""
    if CURRENT.encode() not in module.source.utf8:
        return
    for answer in module.nodes(ast.Dict):
        entries = {module.string(key): value for key, value in zip(answer.keys, answer.values, strict=True) if key is not None}
        version = entries.get("protocolVersion")
        if version is None or isinstance(version, ast.Constant) or not entries.keys() & _ANSWER or "clientInfo" in entries:
            continue
        function = module.function_of(answer)
        if any(_holds(offered, function, names) for offered in _picked(version, function, module)):
            found = frozenset(key for key in entries if key is not None)
            yield Use(Role.ENTRY, CURRENT, module.span(version), function.name if function else "", name="protocolVersion", siblings=found)


def _picked(version: ast.expr, function: Function | None, module: Module) -> Iterator[ast.expr]:
    """The collections from which the value of an expression is picked, and the elements that are named."""
    values = [version]
    if isinstance(version, ast.Name) and function is not None:
        values += function.assigned.get(version.id, ())
        for branch in (node for node in function.own if isinstance(node, ast.If)):
            # `if asked in SUPPORTED: version = asked`, and `if version not in SUPPORTED: version = NEWEST`
            for asked, collection, inside in _asked(branch.test):
                taken = {n.id for s in branch.body for n in descend(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
                passed = asked in taken if inside else asked == version.id
                if passed and version.id in _given(branch):
                    yield collection
    for value in values:
        for node in descend(value):
            match node:
                case ast.IfExp(test=test, body=body, orelse=orelse):
                    for asked, collection, inside in _asked(test):
                        if isinstance(kept := body if inside else orelse, ast.Name) and kept.id == asked:
                            yield collection
                case ast.Subscript(value=ast.Name() | ast.Attribute()):
                    yield node


def _asked(test: ast.expr) -> Iterator[tuple[str, ast.expr, bool]]:
    """`name in collection` (True) or `name not in collection` (False); what else an `or` asks could take the revision out again."""
    match test:
        case ast.Compare(left=ast.Name(id=name), ops=[ast.In() | ast.NotIn() as op], comparators=[collection]):
            yield name, collection, isinstance(op, ast.In)
        case ast.BoolOp(op=ast.And(), values=[value, *_]):
            yield from (found for found in _asked(value) if found[2])


def _given(branch: ast.If) -> set[str]:
    return {n.id for s in branch.body for n in descend(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _holds(node: ast.expr, function: Function | None, names: Names) -> bool:
    """Whether a collection holds the current revision, or an element is it."""
    owner = function.owner if function else ""
    match node:
        case ast.Subscript(value=collection, slice=ast.Constant(value=int() as at)):
            found = names.value(collection, owner)
            return isinstance(found, tuple) and -len(found) <= at < len(found) and found[at] == CURRENT
        case ast.Subscript(value=collection, slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as at))):
            found = names.value(collection, owner)
            return isinstance(found, tuple) and at <= len(found) and found[-at] == CURRENT
    found = names.value(node, owner)
    return isinstance(found, tuple) and CURRENT in found
