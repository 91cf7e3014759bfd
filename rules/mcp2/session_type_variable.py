"""`from mcp.shared.session import ReceiveResultT`: a type variable that code has borrowed from the SDK."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rewrite.lines import next_line
from ...rule import Applicability, Context, Finding, Import
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_HOMES = {"TypeVar": "typing", "BaseModel": "pydantic"}


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.use in (SymbolUse.IMPORT, SymbolUse.NAME):
        yield ctx.finding(fact, Applicability.SAFE if _place(fact, ctx) is not None else Applicability.MANUAL)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    from ...rewrite import renames

    module, place = ctx.module, _place(fact, ctx)
    alias = module.at(fact.span)
    statement = module.parents.get(alias) if alias is not None else None
    if place is None or not isinstance(alias, ast.alias) or not isinstance(statement, ast.ImportFrom):
        return
    local, given = alias.asname or alias.name, _given(alias.name, ctx)
    yield from renames.replaced(statement, alias, lambda node: (local, []), tree, module, ctx.sdk.inference)
    newline = module.source.newline
    yield Edit(Span(place, place), f'{newline}{local} = TypeVar("{local}", {given}){newline}')
    top = module.scopes[module.tree].bindings
    for name in ["TypeVar", *re.findall(r"\b[A-Z]\w+", given)]:
        home = _HOMES.get(name, "mcp.types")
        if not any(binding.target.startswith(home.partition(".")[0]) for binding in top.get(name, ())):
            yield Import(home, name)


def _place(fact: Symbol, ctx: Context) -> int | None:
    """Behind the imports of the file, before anything that uses the name; None where there is no such place."""
    module = ctx.module
    alias = module.at(fact.span)
    statement = module.parents.get(alias) if alias is not None else None
    if not isinstance(alias, ast.alias) or not isinstance(statement, ast.ImportFrom) or module.parents.get(statement) is not module.tree:
        return None
    head = []
    for node in module.tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            break
        head.append(node)
    imports = [node for node in head if isinstance(node, ast.Import | ast.ImportFrom)]
    if statement not in imports:
        return None
    end = next_line(module.source, module.span(imports[-1]).end)
    local = alias.asname or alias.name
    early = any(isinstance(node, ast.Name) and node.id == local and module.span(node).start < end for node in module.of(ast.Name))
    return None if early or not module.source.utf8[:end].endswith((b"\n", b"\r")) else end


def _given(name: str, ctx: Context) -> str:
    return dict(pair.split(" -> ") for pair in ctx.entry.data["variables"])[name]
