"""Code that refuses requests for what did not happen before them, and functions that stand behind a stateless boundary."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from ..source import Source
from .functions import Module, dotted, targets, walk
from .model import Gate

_HANDSHAKE = frozenset({"initialize", "notifications/initialized", "initialized"})
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


class Refusal(NamedTuple):
    """The condition of an `initialized` gate: `node` holds when the request is refused, or, if `lets`, when it is let through."""

    node: ast.expr
    lets: bool


def gates(module: Module) -> Iterator[Gate]:
    """The handshake gates of a module: requests refused before initialize, and a first message that has to be initialize."""
    for refusal in refusals(module):
        yield Gate(module.span(refusal.node), "initialized", _scope(module, refusal.node))
    for node in first_messages(module):
        yield Gate(module.span(node), "first-message", _scope(module, node))


def refusals(module: Module) -> Iterator[Refusal]:
    """The conditions under which requests are refused because a flag says that the handshake has not happened."""
    flags = _flags(module)
    if not flags:
        return
    for node in ast.walk(module.tree):
        if isinstance(node, ast.If) and not _is_wired(node.test):
            for condition in _conjuncts(node.test):
                if (lets := _reads(condition, flags)) is None:
                    continue
                refusing = node.orelse if lets else node.body
                if refusing and _refuses(refusing):
                    yield Refusal(condition, lets)


def first_messages(module: Module) -> Iterator[ast.expr]:
    """Conditions that end the process, or the reading of messages, when the first message is not the one that was expected."""
    for node in ast.walk(module.tree):
        match node:
            case ast.If(test=ast.Compare(ops=[ast.NotEq()]) as test, body=body) if _names_handshake(test):
                if isinstance(body[-1], ast.Raise) or _exits(body):
                    yield test


def boundaries(module: Module) -> frozenset[str]:
    """The functions that stand behind a boundary: decorated with one, or calling `begin` of one, or answering server/discover."""
    objects = _objects(module)
    found: set[str] = set()
    for function in module.functions.values():
        for decorator in function.node.decorator_list:
            name = dotted(decorator.func if isinstance(decorator, ast.Call) else decorator)
            if name.endswith(".boundary") and name.removesuffix(".boundary") in objects:
                found.add(function.name)
    for node in ast.walk(module.tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="begin", value=value)) if dotted(value) in objects:
                found.add(_scope(module, node))
    return frozenset(found)


def is_boundary_module(source: Source) -> bool:
    """Whether this is the module that `fix` writes: it speaks both revisions for its server, and is none itself."""
    return source.path.endswith("mcp_stateless.py") and b"class Stateless" in source.utf8


def _objects(module: Module) -> set[str]:
    """The names that hold a `Stateless(...)`, here or imported."""
    found = set()
    for node in ast.walk(module.tree):
        match node:
            case ast.Assign(value=ast.Call(func=func)) if dotted(func).rpartition(".")[2] == "Stateless":
                found |= {dotted(target) for target in targets(node)}
            case ast.ImportFrom(names=names):
                found |= {alias.asname or alias.name for alias in names if alias.name == "MCP"}
    return found


def _flags(module: Module) -> dict[str, set[str]]:
    """Names that code of the handshake sets, with the source text of what it sets them to."""
    found: dict[str, set[str]] = {}
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        for target in targets(node):
            name = dotted(target)
            if name and isinstance(node.value, ast.Constant | ast.Attribute) and _in_handshake(module, node):
                found.setdefault(name.removeprefix("self."), set()).add(ast.unparse(node.value))
    return {name: values for name, values in found.items() if values - {"False", "None"}}


def _in_handshake(module: Module, node: ast.AST) -> bool:
    """Whether a statement runs only for initialize or its notification: inside such a branch, or in a handler of that name."""
    child = node
    for around in module.ancestors(node):
        match around:
            case ast.If(test=test, body=body) if child in body and _names_handshake(test):
                return True
            case ast.match_case(pattern=pattern) if any(_is_handshake(n) for n in ast.walk(pattern)):
                return True
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                decorated = any(_is_handshake(n) for d in around.decorator_list for n in ast.walk(d))
                return name != "__init__" and (decorated or "initialize" in name.lower())
        child = around
    return False


def _names_handshake(test: ast.expr) -> bool:
    names = (_last(node) for node in ast.walk(test) if isinstance(node, ast.Name | ast.Attribute))
    return any(_is_handshake(node) for node in ast.walk(test)) or any("INITIALIZE" in name for name in names)


def _is_handshake(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in _HANDSHAKE


def _conjuncts(test: ast.expr) -> Iterator[ast.expr]:
    """The parts of a condition that can each be the reason for a refusal."""
    match test:
        case ast.BoolOp(values=values):
            for value in values:
                yield from _conjuncts(value)
        case _:
            yield test


def _reads(condition: ast.expr, flags: dict[str, set[str]]) -> bool | None:
    """Whether a condition is true when the handshake was seen (True), when it was not (False), or neither (None)."""
    match condition:
        case ast.UnaryOp(op=ast.Not(), operand=operand) if _flag(operand) in flags:
            return False
        case ast.Name() | ast.Attribute() if _flag(condition) in flags:
            return True
        case ast.Compare(left=left, ops=[op], comparators=[right]) if _flag(left) in flags:
            value = ast.unparse(right)
            same = value in flags[_flag(left)]
            empty = value in {"False", "None"}
            if isinstance(op, ast.Eq | ast.Is) and (same or empty):
                return same
            if isinstance(op, ast.NotEq | ast.IsNot) and (same or empty):
                return empty
    return None


def _flag(node: ast.expr) -> str:
    return dotted(node).removeprefix("self.")


def _refuses(body: list[ast.stmt]) -> bool:
    """Whether a block ends what was to be done: it leaves, or it speaks of the missing handshake."""
    if isinstance(body[-1], _LEAVES):
        return True
    nodes = [node for statement in body for node in walk(statement)]
    return any(
        isinstance(node, ast.Constant) and (node.value == 32002 or (isinstance(node.value, str) and "initiali" in node.value.lower()))
        for node in nodes
    )


def _exits(body: list[ast.stmt]) -> bool:
    return any(
        isinstance(node, ast.Call) and dotted(node.func) in {"sys.exit", "exit", "quit", "os._exit"}
        for statement in body
        for node in walk(statement)
    )


def _is_wired(test: ast.expr) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == "modern" for node in ast.walk(test))


def _scope(module: Module, node: ast.AST) -> str:
    function = module.function_of(node)
    return function.name if function else ""


def _last(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr
