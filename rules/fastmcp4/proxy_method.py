"""`FastMCP.as_proxy(...)`, which is `create_proxy(...)` now."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Standalone, SymbolUse
from ...rewrite import calls
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import
from ...sdk.types import ClassOf

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_NAME = "as_proxy"


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use in (SymbolUse.PATCHED, SymbolUse.TEXT):
        function = ctx.module.function(node) if node is not None else None
        if function is not None and any(isinstance(inner, ast.Attribute) and inner.attr == _NAME for inner in ast.walk(function)):
            yield ctx.finding(fact, message=ctx.entry.messages["patched"], hint=ctx.entry.hints["patched"])
    elif fact.use is SymbolUse.CALL and isinstance(node, ast.Call):
        yield ctx.finding(fact, Applicability.SAFE if _is_plain(fact, node, ctx) else Applicability.MANUAL)
    elif fact.use is SymbolUse.READ and isinstance(node, ast.Attribute):
        above = ctx.module.parents.get(node)
        if not (isinstance(above, ast.Call) and above.func is node):
            yield ctx.finding(fact)


def fix(fact: Standalone, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    node, call = ctx.module.at(fact.span), calls.at(tree, fact.span)
    if not isinstance(node, ast.Call) or call is None or not _is_plain(fact, node, ctx):
        return
    yield Edit(ctx.module.span(node.func), "create_proxy")
    yield Import("fastmcp.server", "create_proxy")
    argument = calls.keyword(call, "backend")
    if argument is not None:
        yield calls.renamed(tree, argument, "target")


def _is_plain(fact: Standalone, node: ast.Call, ctx: Context) -> bool:
    """Whether it is called of the class of `fastmcp` itself: a class that derives from it would make one of its own."""
    known = ctx.sdk.type(node.func.value, ctx.module) if isinstance(node.func, ast.Attribute) else None
    return (
        fact.sure
        and isinstance(known, ClassOf)
        and known.name == "fastmcp.FastMCP"
        and ctx.module.means("create_proxy", "fastmcp.server.create_proxy")
    )
