"""The experimental API for tasks is used."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rule import Applicability, Context, Finding


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.use in (SymbolUse.READ, SymbolUse.GETATTR):
        yield ctx.finding(fact, Applicability.MANUAL)
