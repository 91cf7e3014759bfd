"""A question to the user is asked with the camelCase keyword of version 1."""

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

_NAME = "requestedSchema"


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    keyword = _keyword(fact, ctx)
    if keyword is not None:
        how = Applicability.SAFE if fact.sure and fact.use is SymbolUse.CALL else Applicability.UNSAFE
        yield ctx.finding(fact, how, span=_span(keyword, ctx))


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    keyword = _keyword(fact, ctx)
    if keyword is not None:
        yield Edit(_span(keyword, ctx), "requested_schema")


def keep(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    """By its place: the releases call it differently."""
    keyword, node = _keyword(fact, ctx), ctx.module.at(fact.span)
    if keyword is None or not isinstance(node, ast.Call):
        return
    before = [word for word in node.keywords[: node.keywords.index(keyword)] if word.arg == "message"]
    if len(node.args) + len(before) == 1 and node.keywords.index(keyword) == len(before):
        for word in (*before, keyword):
            yield Edit(Span(ctx.module.span(word).start, ctx.module.span(word.value).start))


def _span(keyword: ast.keyword, ctx: Context) -> Span:
    start = ctx.module.span(keyword).start
    return Span(start, start + len(_NAME))


def _keyword(fact: Symbol, ctx: Context) -> ast.keyword | None:
    node = ctx.module.at(fact.span)
    if fact.use is SymbolUse.READ and str(fact.key).startswith("?"):
        above = ctx.module.parents.get(node) if node is not None else None
        node = above if isinstance(above, ast.Call) and above.func is node else None
    elif fact.use is not SymbolUse.CALL:
        return None
    return next((one for one in node.keywords if one.arg == _NAME), None) if isinstance(node, ast.Call) else None
