"""`fastmcp.settings.decorator_mode` and others that have gone."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Standalone, SymbolUse
from ...rule import Context, Finding


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    if fact.use is not SymbolUse.NAME or not str(fact.key).startswith("fastmcp.settings."):
        return
    reason = dict(line.split() for line in ctx.entry.data["gone"]).get(str(fact.key))
    if reason is not None:
        yield ctx.finding(fact, hint=ctx.entry.hints[reason])
