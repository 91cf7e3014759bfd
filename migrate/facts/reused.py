"""Whether the name of a message is only used again for something else, once the message has been read."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from . import chains
from .code import Code, Place, last
from .syntax import descend

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
# What makes a text of a value, or shows it to somebody.
_TELLS = frozenset({"str", "repr", "len", "bool", "type", "print", "dumps", "format"})


def is_reused(code: Code, place: Place, name: str) -> bool:
    """`except Exception as error: status, message = explain(error)`: behind that, nothing takes the name for the message.

    True only where every other value stands behind all that reads the message, and is not made of it.
    """
    assert place.function
    named = [node for node in place.nodes if isinstance(node, ast.Name) and node.id == name]
    stores = [node for node in named if not isinstance(node.ctx, ast.Load) and not _keeps(node, place)]
    within = sum(isinstance(node, ast.Name) and node.id == name for statement in place.function.node.body for node in descend(statement))
    if not stores or within != len(named):  # a function inside may see either value
        return False
    if any(True for _ in _bound_otherwise(place, name)) or not all(_is_apart(node, name, place) for node in stores):
        return False
    first = min(_position(node) for node in stores)
    return all(_is_told(code, node, place) for node in named if isinstance(node.ctx, ast.Load) and _position(node) > first)


def is_default(value: ast.expr, name: str) -> bool:
    """`message = message or {}`, `message = dict(message)`: the same message."""
    match value:
        case ast.BoolOp(op=ast.Or(), values=[ast.Name(id=found), *_]) | ast.Call(func=ast.Name(id="dict"), args=[ast.Name(id=found)]):
            return found == name
    return False


def _bound_otherwise(place: Place, name: str) -> Iterator[ast.AST]:
    """What gives a value to a name that no expression spells: imports, patterns, handlers."""
    for node in place.nodes:
        match node:
            case ast.ExceptHandler(name=found) | ast.MatchAs(name=found) | ast.MatchStar(name=found) | ast.MatchMapping(rest=found):
                if found == name:
                    yield node
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                if any((alias.asname or alias.name.partition(".")[0]) == name for alias in names):
                    yield node
            case ast.Global(names=names) | ast.Nonlocal(names=names) if name in names:
                yield node


def _keeps(store: ast.Name, place: Place) -> bool:
    statement = place.unit.module.parents[store]
    return isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None and is_default(statement.value, store.id)


def _is_apart(store: ast.Name, name: str, place: Place) -> bool:
    """Whether a name is given something that is not made of what it had, in a statement that runs once."""
    parents = place.unit.module.parents
    statement: ast.AST = store
    while isinstance(statement, ast.expr):
        statement = parents[statement]
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
        return False
    if any(isinstance(around, _LOOPS) for around in place.unit.module.ancestors(statement)):
        return False
    return not any(isinstance(node, ast.Name) and node.id == name for node in descend(statement.value))


def _position(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _is_told(code: Code, load: ast.Name, place: Place) -> bool:
    """Whether a value is only told or put into something, never read as a message or handed to what reads one."""
    match place.unit.module.parents[load]:
        case ast.keyword() as keyword:
            call = place.unit.module.parents[keyword]
            return isinstance(call, ast.Call) and keyword.arg is not None and not _may_read(code, call, keyword.arg, place)
        case ast.Call(args=args) as call if load in args:
            target = code.function(call, place)
            if target is None or target.function is None:
                return last(call.func) in _TELLS or chains.is_said(call, place)
            at, names = args.index(load), target.function.parameters
            starred = any(isinstance(one, ast.Starred) for one in args[:at])
            return not starred and at < len(names) and not _may_read(code, call, names[at], place)
        case ast.Dict() | ast.FormattedValue() | ast.BinOp() | ast.Tuple() | ast.List() | ast.IfExp() | ast.BoolOp() | ast.If():
            return True
        case ast.Assign(targets=[ast.Subscript()]):
            return True
    return False


def _may_read(code: Code, call: ast.Call, parameter: str, place: Place) -> bool:
    """Whether what is called may take a parameter for a message."""
    target = code.function(call, place)
    if target is None or target.function is None:
        return not (last(call.func) in _TELLS or chains.is_said(call, place))
    for node in target.nodes:
        match node:
            case ast.Subscript(value=ast.Name(id=found)) | ast.Attribute(value=ast.Name(id=found)) if found == parameter:
                return True
            case ast.Call(args=args, keywords=keywords) if last(node.func) not in _TELLS and not chains.is_said(node, target):
                if any(isinstance(one, ast.Name) and one.id == parameter for one in (*args, *(keyword.value for keyword in keywords))):
                    return True
    return False
