"""Tests of which revision a request speaks: `MCP.modern`, which a server may also call something of its own."""

from __future__ import annotations

import ast

from .functions import Module, dotted, targets
from .syntax import descend


def is_modern(node: ast.AST, module: Module) -> bool:
    """Whether an expression says of the request in progress that it is one of 2026-07-28."""
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr="modern"):
            return name in module.once(_objects)
    return False


def asks(test: ast.AST, module: Module) -> bool:
    """Whether an expression looks at the revision anywhere."""
    return any(is_modern(node, module) for node in descend(test))


def _objects(module: Module) -> frozenset[str]:
    """The names of boundary objects: those that are made here, and imported ones by the name that `fix` gives them."""
    stored: list[ast.Assign | ast.AnnAssign] = [*module.nodes(ast.Assign), *module.nodes(ast.AnnAssign)]
    made = (node for node in stored if isinstance(node.value, ast.Call) and dotted(node.value.func).rpartition(".")[2] == "Stateless")
    found = {goal.id for node in made for goal in targets(node) if isinstance(goal, ast.Name)}
    imported = (alias.asname or alias.name for node in module.nodes(ast.ImportFrom) for alias in node.names)
    return frozenset(found.union(name for name in imported if name.startswith("MCP")))
