"""`await ctx.info(...)`, told once a file."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...facts.model import Symbol, SymbolUse
from ...rule import Applicability, Context, Finding


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.use is not SymbolUse.CALL:
        return
    calls = ctx.project.remember(f"modern logs of {ctx.file.source.path}", partial(_calls, ctx))
    if calls and calls[0] == fact:
        hint = ctx.entry.hints["several"].replace("{count}", str(len(calls))) if len(calls) > 1 else ""
        yield ctx.finding(fact, Applicability.MANUAL, hint=hint)


def _calls(ctx: Context) -> list[Symbol]:
    """The calls of the file that the rule is about."""
    keys = ctx.entry.match["Symbol"]
    return [one for one in ctx.project.of(ctx.file.source.path, Symbol) if one.use is SymbolUse.CALL and one.key in keys]
