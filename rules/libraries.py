"""Objects of `httpx`, which the SDK and `fastmcp` take of `httpx2` now."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..rule import Context
from ..sdk.modules import How


def made(value: ast.expr, ctx: Context) -> ast.expr | None:
    """The expression of httpx that makes what is handed over; None for anything else."""
    if isinstance(value, ast.Name):
        bindings = ctx.sdk.inference.bindings(value.id, value, ctx.module)
        if len(bindings) == 1 and bindings[0].how in (How.VALUE, How.ENTERED) and not bindings[0].path:
            value = bindings[0].value or value
    if isinstance(value, ast.Lambda):
        value = value.body
    return value if isinstance(value, ast.Call) and is_httpx(value.func, ctx) else None


def is_httpx(node: ast.expr, ctx: Context) -> bool:
    """Whether this is a name of the library."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and _is_library(node.value, ctx)


def names(found: ast.AST, ctx: Context) -> Iterator[ast.Name]:
    """Where the library is named inside: of the client itself, its timeouts, its limits."""
    yield from (node for node in ast.walk(found) if isinstance(node, ast.Name) and node.id == "httpx" and _is_library(node, ctx))


def serves_only(value: ast.expr, found: ast.expr, ctx: Context) -> bool:
    """Whether nothing else gets the object, nothing in it is made elsewhere, and the library is named in it."""
    inside = [node for node in ast.walk(found) if isinstance(node, ast.Call) and node is not found]
    if any(not is_httpx(node.func, ctx) and isinstance(node.func, ast.Name) and node.func.id[:1].isupper() for node in inside):
        return False
    if not any(names(found, ctx)):
        return False
    if not isinstance(value, ast.Name):
        return True
    inference = ctx.sdk.inference
    given = inference.bindings(value.id, value, ctx.module)
    if given and ctx.module.scopes[ctx.module.tree].bindings.get(value.id) == given:
        elsewhere = f"{ctx.module.name}.{value.id}"
        if any(path != ctx.module.path for path in ctx.project.texts.importing(elsewhere)):
            return False
    loads = [node for node in ctx.module.loads.get(value.id, ()) if inference.bindings(value.id, node, ctx.module) == given]
    return all(isinstance(ctx.module.parents.get(node), ast.keyword) for node in loads)


def _is_library(node: ast.Name, ctx: Context) -> bool:
    bindings = ctx.sdk.inference.bindings(node.id, node, ctx.module)
    return bool(bindings) and all(binding.target == "httpx" for binding in bindings)
