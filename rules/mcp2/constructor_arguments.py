"""Positional arguments of `FastMCP(...)`, and a server without a name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call):
        return
    for argument in _later(node):
        yield ctx.finding(fact, Applicability.SAFE, span=ctx.module.span(argument))
    if _is_nameless(node):
        yield ctx.finding(fact, Applicability.SAFE, message=f"a server without a name is no longer called `{ctx.entry.data['default'][0]}`")


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    node, module = ctx.module.at(fact.span), ctx.module
    assert isinstance(node, ast.Call)
    for name, argument in zip(ctx.entry.data["names"][1:], _later(node), strict=False):
        at = module.span(argument).start
        yield Edit(Span(at, at), f"{name}=")
    if not _is_nameless(node):
        return
    default = f'"{ctx.entry.data["default"][0]}"'
    given = node.args[0] if node.args else next((word.value for word in node.keywords if word.arg == "name"), None)
    if given is not None:
        yield Edit(module.span(given), default)
    else:
        at = module.source.utf8.index(b"(", module.span(node.func).end) + 1
        yield Edit(Span(at, at), f"{default}, " if node.keywords else default)


def _later(node: ast.Call) -> list[ast.expr]:
    """The arguments that come behind the name; none where a star hides some."""
    return [] if any(isinstance(argument, ast.Starred) for argument in node.args) else node.args[1:8]


def _is_nameless(node: ast.Call) -> bool:
    given = node.args[0] if node.args else next((word.value for word in node.keywords if word.arg == "name"), None)
    if given is None:
        return not any(word.arg is None for word in node.keywords)
    return isinstance(given, ast.Constant) and not given.value
