"""`http_client=httpx.AsyncClient(...)`, `auth=` and `httpx_client_factory=` of the SDK's transports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import
from ...sdk.modules import How
from ...sdk.types import OWN, Instance

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    for value in _handed(fact, ctx):
        made = _made(value, ctx)
        if made is not None:
            names = [*_names(made, ctx)]
            safe = bool(names) and _serves_only(value, made, ctx)
            yield ctx.finding(fact, Applicability.SAFE if safe else Applicability.MANUAL, span=ctx.module.span(value))
        elif (base := _derived(value, ctx)) is not None:
            safe = _is_only_handed(base, ctx)
            yield ctx.finding(fact, Applicability.SAFE if safe else Applicability.MANUAL, span=ctx.module.span(base.bases[0]))


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    for value in _handed(fact, ctx):
        made = _made(value, ctx)
        base = _derived(value, ctx) if made is None else None
        if made is not None and _serves_only(value, made, ctx):
            for name in _names(made, ctx):
                yield Edit(ctx.module.span(name), "httpx2")
                yield Import("httpx2", "")
        elif base is not None and _is_only_handed(base, ctx):
            for name in _names(base, ctx):
                yield Edit(ctx.module.span(name), "httpx2")
                yield Import("httpx2", "")


def _handed(fact: Symbol, ctx: Context) -> Iterator[ast.expr]:
    node = ctx.module.at(fact.span)
    if fact.use is SymbolUse.CALL and isinstance(node, ast.Call):
        yield from (keyword.value for keyword in node.keywords if keyword.arg in ctx.entry.data["keywords"])


def _made(value: ast.expr, ctx: Context) -> ast.expr | None:
    """The expression of httpx that makes what is handed over; None for anything else."""
    if isinstance(value, ast.Name):
        bindings = ctx.sdk.inference.bindings(value.id, value, ctx.module)
        if len(bindings) == 1 and bindings[0].how in (How.VALUE, How.ENTERED) and not bindings[0].path:
            value = bindings[0].value or value
    if isinstance(value, ast.Lambda):
        value = value.body
    return value if isinstance(value, ast.Call) and _is_httpx(value.func, ctx) else None


def _derived(value: ast.expr, ctx: Context) -> ast.ClassDef | None:
    """The class of this file that an object is made of, where that derives from one of httpx alone."""
    known = ctx.sdk.type(value, ctx.module)
    if not isinstance(known, Instance) or not known.name.startswith(f"{ctx.module.path}{OWN}"):
        return None
    found = ctx.module.defined.get(known.name.partition(OWN)[2])
    return found if isinstance(found, ast.ClassDef) and len(found.bases) == 1 and _is_httpx(found.bases[0], ctx) else None


def _is_only_handed(found: ast.ClassDef, ctx: Context) -> bool:
    """Whether objects of a class go to the SDK and to nobody else."""
    handed = {
        value
        for fact in ctx.file.facts
        if isinstance(fact, Symbol) and fact.key in ctx.entry.match["Symbol"]
        for value in _handed(fact, ctx)
    }
    uses = [node for node in ctx.module.nodes if isinstance(node, ast.Name) and node.id == found.name]
    elsewhere = (file for path, file in ctx.project.files.items() if path != ctx.module.path)
    if any(f"{ctx.module.name}.{found.name}" in file.imports.values() for file in elsewhere):
        return False
    return bool(uses) and all(any(node in ast.walk(value) for value in handed) for node in uses)


def _is_httpx(node: ast.expr, ctx: Context) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and _is_library(node.value, ctx)


def _is_library(node: ast.Name, ctx: Context) -> bool:
    bindings = ctx.sdk.inference.bindings(node.id, node, ctx.module)
    return bool(bindings) and all(binding.target == "httpx" for binding in bindings)


def _names(made: ast.AST, ctx: Context) -> Iterator[ast.Name]:
    """Where the library is named inside: of the client itself, its timeouts, its limits."""
    yield from (node for node in ast.walk(made) if isinstance(node, ast.Name) and node.id == "httpx" and _is_library(node, ctx))


def _serves_only(value: ast.expr, made: ast.expr, ctx: Context) -> bool:
    """Whether nothing but the SDK gets the object, and nothing in it is made elsewhere."""
    inside = [node for node in ast.walk(made) if isinstance(node, ast.Call) and node is not made]
    if any(not _is_httpx(node.func, ctx) and isinstance(node.func, ast.Name) and node.func.id[:1].isupper() for node in inside):
        return False
    if not isinstance(value, ast.Name):
        return True
    scope = ctx.module.scope(value)
    loads = [node for node in ctx.module.nodes if isinstance(node, ast.Name) and node.id == value.id and isinstance(node.ctx, ast.Load)]
    return all(isinstance(ctx.module.parents.get(node), ast.keyword) for node in loads if ctx.module.scope(node) is scope)
