"""Something is kept by the session object, which is another one for each request."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rule import Applicability, Context, Finding
from ..kept import is_kept, same


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is SymbolUse.READ and isinstance(node, ast.Attribute) and any(is_kept(one, ctx.module) for one in same(node, ctx)):
        yield ctx.finding(fact, Applicability.MANUAL)
