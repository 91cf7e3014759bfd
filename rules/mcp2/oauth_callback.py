"""The `callback_handler` of `OAuthClientProvider`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import
from ...sdk.modules import Def, How, dotted
from ...sdk.types import OWN, Function
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_RESULT = "AuthorizationCodeResult"


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    handed = _handed(fact, ctx)
    if handed is None or (isinstance(handed, ast.Constant) and handed.value is None):
        return
    functions = _functions(handed, ctx)
    if not functions:
        yield ctx.finding(fact, Applicability.MANUAL, span=ctx.module.span(handed))
    elif any(_is_pair(function.returns) or _pairs(function) for function in functions):
        safe = all(_gives_pairs(function) and not _is_called(function, ctx) for function in functions)
        yield ctx.finding(fact, Applicability.SAFE if safe else Applicability.MANUAL, span=ctx.module.span(handed))


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    handed = _handed(fact, ctx)
    functions = _functions(handed, ctx) if handed is not None else []
    if not functions or not all(_gives_pairs(function) and not _is_called(function, ctx) for function in functions):
        return
    module = ctx.module
    for pair in (pair for function in functions for pair in _pairs(function)):
        span, code, state = module.span(pair), module.span(pair.elts[0]), module.span(pair.elts[1])
        yield Edit(Span(span.start, code.start), f"{_RESULT}(code=")
        yield Edit(Span(code.end, state.start), ", state=")
        yield Edit(Span(state.end, span.end), ")")
    yield from (Edit(module.span(function.returns), _RESULT) for function in functions if function.returns is not None)
    yield Import("mcp.client.auth", _RESULT)


def _handed(fact: Symbol, ctx: Context) -> ast.expr | None:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call):
        return None
    place = int(ctx.entry.data["place"][0])
    named = next((keyword.value for keyword in node.keywords if keyword.arg in ctx.entry.data["keywords"]), None)
    starred = any(isinstance(argument, ast.Starred) for argument in node.args)
    return named or (node.args[place] if len(node.args) > place and not starred else None)


def _functions(handed: ast.expr, ctx: Context) -> list[Def]:
    """The functions of this file that are handed over: of one name there may be several, one in each branch."""
    if isinstance(handed, ast.Name):
        bindings = ctx.sdk.inference.bindings(handed.id, handed, ctx.module)
        found = [binding.node for binding in bindings if binding.how is How.DEFINED and isinstance(binding.node, Def)]
        if len(found) > 1:
            return found if len(found) == len(bindings) else []
    known = ctx.sdk.type(handed, ctx.module)
    if isinstance(known, Function) and known.name.startswith(f"{ctx.module.path}{OWN}"):
        one = ctx.module.defined.get(known.name.partition(OWN)[2])
        return [one] if isinstance(one, Def) else []
    return []


def _gives_pairs(function: Def) -> bool:
    """Whether every value that it returns is a pair that is written down there."""
    pairs = _pairs(function)
    whole = all(len(pair.elts) == 2 and not any(isinstance(part, ast.Starred) for part in pair.elts) for pair in pairs)
    return bool(pairs) and whole and len(pairs) == len(_returned(function))


def _pairs(function: Def) -> list[ast.Tuple]:
    return [value for value in _returned(function) if isinstance(value, ast.Tuple)]


def _returned(function: Def) -> list[ast.expr]:
    """What it returns itself."""
    found: list[ast.expr] = []
    pending: list[ast.AST] = [*function.body]
    while pending:
        node = pending.pop(0)
        if isinstance(node, ast.Return) and node.value is not None:
            found.append(node.value)
        if not isinstance(node, Def | ast.Lambda | ast.ClassDef):
            pending += ast.iter_child_nodes(node)
    return found


def _is_pair(annotation: ast.expr | None) -> bool:
    return isinstance(annotation, ast.Subscript) and dotted(annotation.value).rpartition(".")[2] in ("tuple", "Tuple")


def _is_called(function: Def, ctx: Context) -> bool:
    """Whether the project calls it as well, and takes a pair from it."""
    known = (ctx.sdk.type(call.func, module) for module, call in ctx.sdk.callers(function.name))
    return any(one is None or (isinstance(one, Function) and one.name.endswith(function.name)) for one in known)
