"""A prompt that returns `PromptMessage(...)` or dicts, where `fastmcp` takes its own `Message` since 3."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Standalone, SymbolUse
from ...facts.syntax import descend
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import
from ...sdk.types import ClassOf, members

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_MESSAGE = "mcp.types.PromptMessage"
_WORDS = frozenset({"role", "content"})


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    for node, what in _given(fact, ctx):
        plain = isinstance(node, ast.Call) and _is_plain(node, ctx)
        yield ctx.finding(
            fact,
            Applicability.SAFE if plain else Applicability.MANUAL,
            message=ctx.entry.message.replace("{what}", what),
            span=ctx.module.span(node),
        )


def fix(fact: Standalone, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    for node, _ in _given(fact, ctx):
        if isinstance(node, ast.Call) and _is_plain(node, ctx):
            yield Edit(ctx.module.span(node.func), "Message")
            yield Import("fastmcp.prompts", "Message")


def _given(fact: Standalone, ctx: Context) -> Iterator[tuple[ast.expr, str]]:
    """The messages that a decorated function returns, itself or in a list, and that are none of `fastmcp`."""
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.READ or node is None:
        return
    above = ctx.module.parents.get(node)
    decorator = above if isinstance(above, ast.Call) and above.func is node else node
    function = ctx.module.parents.get(decorator)
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) or decorator not in function.decorator_list:
        return
    for inner in (one for statement in function.body for one in descend(statement)):
        if isinstance(inner, ast.Return) and inner.value is not None and ctx.module.function(inner) is function:
            yield from _messages(inner.value, ctx)
        match inner:
            case ast.Call(func=ast.Attribute(attr="append"), args=[one]) if _is_message(one, ctx):
                yield one, "`PromptMessage`"


def _messages(value: ast.expr, ctx: Context) -> Iterator[tuple[ast.expr, str]]:
    match value:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            for element in elements:
                yield from _messages(element, ctx)
        case ast.Call() if _is_message(value, ctx):
            yield value, "`PromptMessage`"
        case ast.Dict(keys=keys) if {key.value for key in keys if isinstance(key, ast.Constant)} == _WORDS:
            yield value, "a dict"
        case ast.ListComp(elt=element):
            yield from _messages(element, ctx)
        case ast.IfExp(body=body, orelse=orelse):
            yield from _messages(body, ctx)
            yield from _messages(orelse, ctx)
        case ast.Name(id=name):
            for binding in ctx.sdk.inference.bindings(name, value, ctx.module):
                if binding.value is not None and not binding.path and isinstance(binding.value, ast.List | ast.Call | ast.ListComp):
                    yield from _messages(binding.value, ctx)


def _is_message(node: ast.expr, ctx: Context) -> bool:
    known = ctx.sdk.type(node.func, ctx.module) if isinstance(node, ast.Call) else None
    return any(isinstance(one, ClassOf) and one.name == _MESSAGE for one in members(known))


def _is_plain(node: ast.Call, ctx: Context) -> bool:
    """Whether it is made of a role and a content that have their names; then another class can be called in the same way."""
    named = {word.arg for word in node.keywords}
    return not node.args and named == _WORDS and ctx.module.means("Message", "fastmcp.prompts.Message")
