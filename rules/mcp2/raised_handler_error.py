"""A server is told to raise what its handlers raise."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rewrite import adapters
from ...rule import Applicability, Context, Finding


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call) or not adapters.is_from_1(ctx):
        return
    named = next((word.value for word in node.keywords if word.arg == "raise_exceptions"), None)
    given = named if named is not None else node.args[3] if len(node.args) > 3 else None
    if given is not None and not (isinstance(given, ast.Constant) and not given.value):
        yield ctx.finding(fact, Applicability.MANUAL)
