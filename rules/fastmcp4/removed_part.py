"""A method or an attribute of `fastmcp` that has gone, with no other that could be written in its place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Standalone, SymbolUse
from ...rule import Context, Finding
from ...sdk import guards


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    # A call is a reading of the method as well.
    if fact.use not in (SymbolUse.READ, SymbolUse.STORE) or not fact.sure or not isinstance(node, ast.Attribute):
        return
    if guards.is_asked(node, node.value, [node.attr], ctx.module, read=False):
        return
    reasons = dict(reason.split() for reason in ctx.entry.data["reasons"])
    yield ctx.finding(fact, hint=ctx.entry.hints[reasons[node.attr]].format())
