"""`tool.fn(...)`, `tool.name`: what 2.x made of a decorated function, and 3 leaves a function."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Standalone, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding
from ...sdk import guards
from ...sdk.types import OWN, Function
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_GETTERS = {"tools": "get_tool", "resources": "get_resource", "prompts": "get_prompt"}


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.READ or not isinstance(node, ast.Attribute) or not fact.sure or not _is_function(node, ctx):
        return
    # Code that asks for the attribute first is written for either.
    if guards.is_asked(node, node.value, [node.attr], ctx.module, read=False):
        return
    message = ctx.entry.message.replace("{name}", node.attr)
    if node.attr == "fn":
        yield ctx.finding(fact, Applicability.SAFE, message=message)
        return
    get = _GETTERS[str(fact.key).split(".")[1]]
    hint = ctx.entry.hints["manual"].format(server="server", get=get, name=ctx.module.text(node.value).rpartition(".")[2])
    yield ctx.finding(fact, message=message, hint=hint)


def fix(fact: Standalone, tree: Tree, ctx: Context) -> Iterator[Edit]:
    node = ctx.module.at(fact.span)
    if isinstance(node, ast.Attribute) and node.attr == "fn":
        yield Edit(Span(ctx.module.span(node.value).end, fact.span.end))


def _is_function(node: ast.Attribute, ctx: Context) -> bool:
    """Whether this is read of a name that a decorator was put on; a component that the server gives has all of it."""
    known = ctx.sdk.type(node.value, ctx.module)
    return isinstance(known, Function) and OWN in known.name
