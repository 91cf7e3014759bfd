"""`Context[ServerSession, L]` and `Context[ServerSession, L, R]`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding
from ...sdk.types import ClassOf
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_SESSION = "mcp.server.session.ServerSession"


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if _parameters(fact, ctx):
        yield ctx.finding(fact, Applicability.SAFE)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    found, module = _parameters(fact, ctx), ctx.module
    node = module.at(fact.span)
    if not found or not isinstance(node, ast.Subscript):
        return
    if len(found) == 2 and isinstance(found[1], ast.Constant) and found[1].value is None:
        yield Edit(Span(module.span(node.value).end, fact.span.end))
    else:
        yield Edit(Span(module.span(found[0]).start, module.span(found[1]).start))


def keep(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    """Without its parameters: each release counts them otherwise, and they are for type checkers only."""
    node = ctx.module.at(fact.span)
    if _parameters(fact, ctx) and isinstance(node, ast.Subscript):
        yield Edit(Span(ctx.module.span(node.value).end, fact.span.end))


def _parameters(fact: Symbol, ctx: Context) -> list[ast.expr]:
    """The parameters, where the first one is the session."""
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.SUBSCRIPT or not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple):
        return []
    found = node.slice.elts
    if len(found) not in (2, 3):
        return []
    # Where the name is one of version 1, so are the parameters; after a rename only the session itself tells.
    known = ctx.sdk.type(found[0], ctx.module)
    is_session = isinstance(known, ClassOf) and known.name == _SESSION
    old = str(fact.key).startswith("mcp.server.fastmcp.")
    return found if is_session or len(found) == 3 or old else []
