"""An HTTP transport is served by hand, past the session manager."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rule import Applicability, Context, Finding


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.use in (SymbolUse.CALL, SymbolUse.BASE) and not str(fact.key).endswith("__init__"):
        yield ctx.finding(fact, Applicability.MANUAL)
