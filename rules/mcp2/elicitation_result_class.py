"""`isinstance(reply, ElicitationResult)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_MODULE = "mcp.server.elicitation"


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    for node in _tested(fact, ctx):
        yield ctx.finding(fact, Applicability.SAFE, span=ctx.module.span(node))


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    classes = ctx.entry.data["classes"]
    for node in _tested(fact, ctx):
        names = ", ".join(classes)
        yield Edit(ctx.module.span(node), names if isinstance(ctx.module.parents.get(node), ast.Tuple) else f"({names})")
        yield from (Import(_MODULE, name) for name in classes)


def _tested(fact: Symbol, ctx: Context) -> Iterator[ast.expr]:
    """The places that ask whether something is of this class, by the import or the name that the fact is about."""
    module = ctx.module
    if str(fact.key).rpartition(".")[2] != "ElicitationResult" or not ctx.sdk.api.is_module(str(fact.key).rpartition(".")[0]):
        return
    named = module.at(fact.span)
    places: list[ast.expr] = []
    if fact.use is SymbolUse.NAME and isinstance(named, ast.Attribute):
        places = [named]
    elif fact.use is SymbolUse.IMPORT and isinstance(named, ast.alias):
        for call in (*module.calls.get("isinstance", ()), *module.calls.get("issubclass", ())):
            names = [node for node in ast.walk(call) if isinstance(node, ast.Name) and node.id == (named.asname or named.name)]
            places += [node for node in names if any(one.node is named for one in ctx.sdk.inference.bindings(node.id, node, module))]
    for place in places:
        above = module.parents.get(place)
        call = module.parents.get(above) if isinstance(above, ast.Tuple) else above
        match call:
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kinds]) if kinds in (place, above):
                yield place
