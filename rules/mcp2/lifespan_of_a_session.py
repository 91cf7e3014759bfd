"""A lifespan is entered once for the whole server, where version 1 entered it for each session over HTTP."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rewrite import adapters
from ...rule import Applicability, Context, Finding


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call) or adapters.is_in_test(ctx):
        return
    given = next((word.value for word in node.keywords if word.arg == "lifespan"), None)
    if given is None or (isinstance(given, ast.Constant) and given.value is None):
        return
    if adapters.is_from_1(ctx) and adapters.serves_http(ctx.project):
        yield ctx.finding(fact, Applicability.MANUAL)
