"""`class AppContext(Context)`, and `AppContext()`: a base whose members have changed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rule import Applicability, Context, Finding
from ...sdk.types import OWN, ClassOf, members

_MADE = "this makes a context by hand: its base takes `mcp_server` for `fastmcp` in version 2, and keeps its parts under other names"


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if ctx.sdk.is_moved(ctx.file.source.path):
        return
    node = ctx.module.at(fact.span)
    if fact.use is SymbolUse.BASE:
        yield ctx.finding(fact, Applicability.MANUAL)
    elif fact.use is SymbolUse.CALL and isinstance(node, ast.Call):
        made = members(ctx.sdk.type(node.func, ctx.module))
        if any(isinstance(one, ClassOf) and OWN in one.name for one in made):
            yield ctx.finding(fact, Applicability.MANUAL, message=_MADE)
