"""Code reads or writes the `Mcp-Session-Id` header."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Fact, Header, HeaderUse
from ...rule import Context, Finding, Severity

# A name or a list of names does nothing by itself.
_NAMES = frozenset({HeaderUse.CONSTANT, HeaderUse.LIST})


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    if not isinstance(fact, Header) or ctx.settled(fact):
        return
    yield ctx.finding(fact, severity=Severity.NOTE if fact.use in _NAMES else None)
