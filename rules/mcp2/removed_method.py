"""`session.get_server_capabilities()`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite import compat
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import, NewFile
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.use is SymbolUse.CALL:
        yield ctx.finding(fact, Applicability.SAFE if fact.sure else Applicability.UNSAFE)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    node = ctx.module.at(fact.span)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
        start = ctx.module.attribute_span(node.func).start
        yield Edit(Span(start, fact.span.end), ctx.entry.data[str(fact.key)][0])


def keep(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import | NewFile]:
    node = ctx.module.at(fact.span)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args and not compat.obstacle(ctx):
        yield from compat.asked(node.func, "server_capabilities", "", ctx, fact.span.end)
