"""A request is cancelled by hand."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rule import Applicability, Context, Finding


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.use is SymbolUse.CALL and not ctx.sdk.is_moved(ctx.file.source.path):
        yield ctx.finding(fact, Applicability.MANUAL)
