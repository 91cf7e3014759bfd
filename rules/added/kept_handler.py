"""A comment keeps a handler that no request reaches."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Fact
from ...rule import Context, Era, Finding


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    # In the dual era older clients, and probes, still reach it.
    if ctx.era is not Era.MODERN or not ctx.wired(fact):
        return
    source = ctx.file.source
    line = source.line(source.position(fact.span.start).line)
    if any(word in line for word in ctx.entry.data["comment"]):
        yield ctx.finding(fact)
