"""`client=httpx.AsyncClient(...)`, `auth=`, `httpx_client_factory=` that `fastmcp` is handed, and `except httpx...` around its calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Standalone, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import
from .. import libraries

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call):
        return
    for value in _handed(node, ctx):
        made = libraries.made(value, ctx)
        if made is not None:
            safe = libraries.serves_only(value, made, ctx)
            yield ctx.finding(fact, Applicability.SAFE if safe else Applicability.MANUAL, span=ctx.module.span(value))
    for caught in _caught(node, ctx):
        # Each clause is told of once, at the first call that it stands around.
        if _first(caught, fact, ctx):
            yield ctx.finding(
                fact, Applicability.SAFE, message=ctx.entry.messages["caught"], span=ctx.module.span(caught), hint=ctx.entry.hints["caught"]
            )


def fix(fact: Standalone, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    node = ctx.module.at(fact.span)
    if not isinstance(node, ast.Call):
        return
    for value in _handed(node, ctx):
        made = libraries.made(value, ctx)
        if made is not None and libraries.serves_only(value, made, ctx):
            for name in libraries.names(made, ctx):
                yield Edit(ctx.module.span(name), "httpx2")
                yield Import("httpx2", "")
    for caught in _caught(node, ctx):
        if _first(caught, fact, ctx):
            # What the tool's own calls raise is still of `httpx`.
            text = ctx.module.text(caught)
            both = f"{text}, httpx2.{text.partition('.')[2]}"
            above = ctx.module.parents.get(caught)
            yield Edit(ctx.module.span(caught), both if isinstance(above, ast.Tuple) else f"({both})")
            yield Import("httpx2", "")


def _handed(node: ast.Call, ctx: Context) -> Iterator[ast.expr]:
    yield from (word.value for word in node.keywords if word.arg in ctx.entry.data["keywords"])
    callee = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    if callee in ("from_openapi", "OpenAPIProvider") and len(node.args) > 1:
        yield node.args[1]


def _caught(node: ast.Call, ctx: Context) -> Iterator[ast.Attribute]:
    """The errors of httpx that the clauses around a call catch, where no clause has that of the other library."""
    child: ast.AST = node
    for above in ctx.module.around(node):
        if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            return
        if isinstance(above, ast.Try) and child in above.body:
            named = [
                one
                for handler in above.handlers
                if handler.type is not None
                for one in (handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type])
            ]
            known = {ctx.module.text(one) for one in named}
            for one in named:
                if isinstance(one, ast.Attribute) and libraries.is_httpx(one, ctx) and f"httpx2.{one.attr}" not in known:
                    yield one
        child = above


def _first(caught: ast.Attribute, fact: Standalone, ctx: Context) -> bool:
    """Whether this call is the first of those that an `except` stands around."""
    for other in ctx.project.of(ctx.file.source.path, Standalone):
        node = ctx.module.at(other.span)
        called = other.use is SymbolUse.CALL and other.key in ctx.entry.match["Standalone"] and isinstance(node, ast.Call)
        if called and isinstance(node, ast.Call) and any(one is caught for one in _caught(node, ctx)):
            return other == fact
    return False
