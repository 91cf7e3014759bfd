"""The `callback_handler` of `OAuthClientProvider`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import
from ...sdk.modules import Def
from ...sdk.types import OWN, Function
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_RESULT = "AuthorizationCodeResult"


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    handed = _handed(fact, ctx)
    if handed is None or (isinstance(handed, ast.Constant) and handed.value is None):
        return
    function = _function(handed, ctx)
    if function is None:
        yield ctx.finding(fact, Applicability.MANUAL, span=ctx.module.span(handed))
    elif pairs := _pairs(function):
        yield (
            ctx.finding(fact, Applicability.SAFE, span=ctx.module.span(handed))
            if all(len(pair.elts) == 2 for pair in pairs)
            else ctx.finding(fact, Applicability.MANUAL, span=ctx.module.span(handed))
        )


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    handed = _handed(fact, ctx)
    function = _function(handed, ctx) if handed is not None else None
    if function is None or not all(len(pair.elts) == 2 for pair in _pairs(function)):
        return
    module = ctx.module
    for pair in _pairs(function):
        span, code, state = module.span(pair), module.span(pair.elts[0]), module.span(pair.elts[1])
        yield Edit(Span(span.start, code.start), f"{_RESULT}(code=")
        yield Edit(Span(code.end, state.start), ", state=")
        yield Edit(Span(state.end, span.end), ")")
    if function.returns is not None:
        yield Edit(module.span(function.returns), _RESULT)
    yield Import("mcp.client.auth", _RESULT)


def _handed(fact: Symbol, ctx: Context) -> ast.expr | None:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call):
        return None
    place = int(ctx.entry.data["place"][0])
    named = next((keyword.value for keyword in node.keywords if keyword.arg in ctx.entry.data["keywords"]), None)
    starred = any(isinstance(argument, ast.Starred) for argument in node.args)
    return named or (node.args[place] if len(node.args) > place and not starred else None)


def _function(handed: ast.expr, ctx: Context) -> Def | None:
    """The function of this file that is handed over."""
    known = ctx.sdk.type(handed, ctx.module)
    if isinstance(known, Function) and known.name.startswith(f"{ctx.module.path}{OWN}"):
        found = ctx.module.defined.get(known.name.partition(OWN)[2])
        return found if isinstance(found, Def) else None
    return None


def _pairs(function: Def) -> list[ast.Tuple]:
    """The tuples that it returns itself."""
    found: list[ast.Tuple] = []
    pending: list[ast.AST] = [*function.body]
    while pending:
        node = pending.pop(0)
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
            found.append(node.value)
        if not isinstance(node, Def | ast.Lambda | ast.ClassDef):
            pending += ast.iter_child_nodes(node)
    return found
