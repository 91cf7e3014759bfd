"""`ctx.send_tool_list_changed()` and its neighbours, which 3 has as one method."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Standalone, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is SymbolUse.CALL and isinstance(node, ast.Call):
        if _is_plain(fact, node, ctx):
            yield ctx.finding(fact, Applicability.SAFE)
        else:
            yield ctx.finding(fact, hint=ctx.entry.hints["manual"].format(name=_name(fact)))


def fix(fact: Standalone, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    node = ctx.module.at(fact.span)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_plain(fact, node, ctx):
        name = ctx.module.attribute_span(node.func)
        yield Edit(Span(name.start, fact.span.end), f"send_notification({_name(fact)}())")
        yield Import("mcp.types", _name(fact))


def _name(fact: Standalone) -> str:
    kind = str(fact.key).rpartition(".")[2].split("_")[1]
    return f"{kind.title()}ListChangedNotification"


def _is_plain(fact: Standalone, node: ast.Call, ctx: Context) -> bool:
    name = _name(fact)
    return fact.sure and not node.args and not node.keywords and ctx.module.means(name, f"mcp.types.{name}")
