"""A test puts something in the place of a function that the code does not call any more."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rule import Context, Finding


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.use is SymbolUse.PATCHED:
        old = str(fact.key).removeprefix("patched.")
        new = dict(pair.split(" -> ") for pair in ctx.entry.data["calls"])[old]
        yield ctx.finding(fact, message=ctx.entry.message.replace("{old}", old.rpartition(".")[2]).replace("{new}", new))
