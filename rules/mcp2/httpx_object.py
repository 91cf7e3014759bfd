"""`http_client=httpx.AsyncClient(...)`, `auth=` and `httpx_client_factory=` of the SDK's transports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import
from ...sdk.types import OWN, Instance
from .. import libraries

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    for value in _handed(fact, ctx):
        made = libraries.made(value, ctx)
        if made is not None:
            safe = libraries.serves_only(value, made, ctx)
            yield ctx.finding(fact, Applicability.SAFE if safe else Applicability.MANUAL, span=ctx.module.span(value))
        elif (base := _derived(value, ctx)) is not None:
            safe = _is_only_handed(base, ctx)
            yield ctx.finding(fact, Applicability.SAFE if safe else Applicability.MANUAL, span=ctx.module.span(base.bases[0]))


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    for value in _handed(fact, ctx):
        made = libraries.made(value, ctx)
        base = _derived(value, ctx) if made is None else None
        if made is not None and libraries.serves_only(value, made, ctx):
            for name in libraries.names(made, ctx):
                yield Edit(ctx.module.span(name), "httpx2")
                yield Import("httpx2", "")
        elif base is not None and _is_only_handed(base, ctx):
            for name in libraries.names(base, ctx):
                yield Edit(ctx.module.span(name), "httpx2")
                yield Import("httpx2", "")


def _handed(fact: Symbol, ctx: Context) -> Iterator[ast.expr]:
    node = ctx.module.at(fact.span)
    if fact.use is SymbolUse.CALL and isinstance(node, ast.Call):
        yield from (keyword.value for keyword in node.keywords if keyword.arg in ctx.entry.data["keywords"])


def _derived(value: ast.expr, ctx: Context) -> ast.ClassDef | None:
    """The class of this file that an object is made of, where that derives from one of httpx alone."""
    known = ctx.sdk.type(value, ctx.module)
    if not isinstance(known, Instance) or not known.name.startswith(f"{ctx.module.path}{OWN}"):
        return None
    found = ctx.module.defined.get(known.name.partition(OWN)[2])
    return found if isinstance(found, ast.ClassDef) and len(found.bases) == 1 and libraries.is_httpx(found.bases[0], ctx) else None


def _is_only_handed(found: ast.ClassDef, ctx: Context) -> bool:
    """Whether objects of a class go to the SDK and to nobody else."""
    handed = {
        value
        for fact in ctx.file.facts
        if isinstance(fact, Symbol) and fact.key in ctx.entry.match["Symbol"]
        for value in _handed(fact, ctx)
    }
    uses = ctx.module.names.get(found.name, [])
    if any(path != ctx.module.path for path in ctx.project.texts.importing(f"{ctx.module.name}.{found.name}")):
        return False
    return bool(uses) and all(any(node in ast.walk(value) for value in handed) for node in uses)
