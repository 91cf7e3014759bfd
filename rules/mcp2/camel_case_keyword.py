"""`Tool(inputSchema=...)`: both spellings make the same object, but only one of them is known to type checkers."""

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
    if fact.use is not SymbolUse.CALL or not fact.sure or not str(fact.key).startswith("mcp.types."):
        return
    # In code that is there already nobody minds, or the checker has said so.
    if [*_edits(fact, ctx)] and not ctx.sdk.is_moved(ctx.file.source.path):
        yield ctx.finding(fact, Applicability.SAFE)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    yield from _edits(fact, ctx)


def _edits(fact: Symbol, ctx: Context) -> Iterator[Edit]:
    node, key = ctx.module.at(fact.span), str(fact.key)
    if not isinstance(node, ast.Call):
        return
    given = {word.arg for word in node.keywords}
    for word in node.keywords:
        new = ctx.sdk.api.renamed(key, word.arg) if word.arg is not None else None
        # Of two spellings side by side version 2 takes the old one; that is to be seen.
        if new is not None and word.arg is not None and new not in given:
            start = ctx.module.span(word).start
            yield Edit(Span(start, start + len(word.arg.encode())), new)
