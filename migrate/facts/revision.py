"""Tests of which revision a request speaks: `MCP.modern`, which a server may also call something of its own, and what says the same."""

from __future__ import annotations

import ast
import re

from .functions import Module, dotted, targets
from .syntax import descend

_HEADER = re.compile(r"(http_)?mcp[-_]protocol[-_]version$", re.IGNORECASE)


def is_modern(node: ast.AST, module: Module) -> bool:
    """Whether an expression says of the request in progress that it is one of 2026-07-28."""
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr="modern"):
            return name in module.once(_objects)
        case ast.Call(func=ast.Name(id="is_modern"), args=[], keywords=[]):
            return module.once(_takes_it)
        case ast.Compare(left=read, ops=[ast.Eq()], comparators=[ast.Constant(value="2026-07-28" | b"2026-07-28")]):
            return _reads_header(read)
    return False


def asks(test: ast.AST, module: Module) -> bool:
    """Whether an expression looks at the revision anywhere."""
    return any(is_modern(node, module) or is_earlier(node) for node in descend(test))


def is_earlier(node: ast.AST) -> bool:
    """Whether an expression says of the request in progress that its header names no 2026-07-28."""
    match node:
        case ast.Compare(left=read, ops=[ast.NotEq()], comparators=[ast.Constant(value="2026-07-28" | b"2026-07-28")]):
            return _reads_header(read)
    return False


def _reads_header(node: ast.expr) -> bool:
    match node:
        case ast.Call(args=[ast.Constant(value=str(key)), *_]):
            return _HEADER.match(key) is not None
        case ast.Call(args=[ast.Constant(value=bytes(key)), *_]):
            return _HEADER.match(key.decode("latin-1")) is not None
    return False


def _takes_it(module: Module) -> bool:
    """Whether the boundary module's `is_modern` is imported."""
    taken = (node for node in module.nodes(ast.ImportFrom) if (node.module or "").rpartition(".")[2] == "mcp_stateless")
    return any(alias.name == "is_modern" for node in taken for alias in node.names)


def _objects(module: Module) -> frozenset[str]:
    """The names of boundary objects: those that are made here, and imported ones by the name that `fix` gives them."""
    stored: list[ast.Assign | ast.AnnAssign] = [*module.nodes(ast.Assign), *module.nodes(ast.AnnAssign)]
    made = (node for node in stored if isinstance(node.value, ast.Call) and dotted(node.value.func).rpartition(".")[2] == "Stateless")
    found = {goal.id for node in made for goal in targets(node) if isinstance(goal, ast.Name)}
    imported = (alias.asname or alias.name for node in module.nodes(ast.ImportFrom) for alias in node.names)
    return frozenset(found.union(name for name in imported if name.startswith("MCP")))
