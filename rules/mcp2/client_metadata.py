"""`validate_scope` and `validate_redirect_uri` of what a client registers with."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rule import Applicability, Context, Finding


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.use is SymbolUse.CALL:
        yield ctx.finding(fact, Applicability.MANUAL)
