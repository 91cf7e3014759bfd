"""`await ctx.info(...)`, told once a file."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rule import Applicability, Context, Finding


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.use is not SymbolUse.CALL:
        return
    keys = ctx.entry.match["Symbol"]
    calls = [other for other in ctx.file.facts if isinstance(other, Symbol) and other.use is SymbolUse.CALL and other.key in keys]
    if calls and calls[0] == fact:
        hint = ctx.entry.hints["several"].replace("{count}", str(len(calls))) if len(calls) > 1 else ""
        yield ctx.finding(fact, Applicability.MANUAL, hint=hint)
