"""`server.add_tool_transformation(...)` and `server.remove_tool(...)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Standalone, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_NOW = {
    "remove_tool": "local_provider.remove_tool(name)",
    "add_tool_transformation": "add_transform(ToolTransform({name: config}))",
}


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    if not _is_plain(fact, node, ctx):
        yield ctx.finding(fact, hint=ctx.entry.hints["manual"].replace("{now}", _NOW[node.func.attr]))
    else:
        hint = ctx.entry.hints["transform"] if node.func.attr == "add_tool_transformation" else ""
        yield ctx.finding(fact, Applicability.UNSAFE, hint=hint)


def fix(fact: Standalone, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    node = ctx.module.at(fact.span)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not _is_plain(fact, node, ctx):
        return
    name = ctx.module.attribute_span(node.func)
    if node.func.attr == "remove_tool":
        yield Edit(name, "local_provider.remove_tool")
        return
    first, config = _arguments(node)
    start, end = ctx.module.span(first).start, ctx.module.span(config).end
    opening = ctx.module.source.utf8.index(b"(", ctx.module.span(node.func).end) + 1
    if {first, config} == {*node.args}:
        yield Edit(ctx.module.span(first)._replace(start=start, end=start), "ToolTransform({")
        between = ctx.module.source.utf8.index(b",", ctx.module.span(first).end)
        yield Edit(ctx.module.span(first)._replace(start=between, end=between + 1), ":")
        yield Edit(ctx.module.span(first)._replace(start=end, end=end), "})")
    else:
        text = f"ToolTransform({{{ctx.module.text(first)}: {ctx.module.text(config)}}})"
        yield Edit(ctx.module.span(node)._replace(start=opening, end=fact.span.end - 1), text)
    yield Edit(name, "add_transform")
    yield Import("fastmcp.server.transforms", "ToolTransform")


def _is_plain(fact: Standalone, node: ast.Call, ctx: Context) -> bool:
    if not fact.sure or any(isinstance(argument, ast.Starred) for argument in node.args) or any(word.arg is None for word in node.keywords):
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr == "remove_tool":
        return len(node.args) + len(node.keywords) == 1
    return len(_arguments(node)) == 2 and ctx.module.means("ToolTransform", "fastmcp.server.transforms.ToolTransform")


def _arguments(node: ast.Call) -> list[ast.expr]:
    """The name of the tool, and what it is turned into."""
    named = {word.arg: word.value for word in node.keywords}
    rest = [named[name] for name in ("tool_name", "transformation")[len(node.args) :] if name in named]
    return [*node.args, *rest] if len(rest) == len(named) else []
