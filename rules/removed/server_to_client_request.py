"""A server sends a request to its client."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Call, Constant, Fact
from ...rule import Context, Finding, Severity


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    if ctx.settled(fact):
        return
    # The names live on as values of `inputRequests`: code that reads or writes those needs them.
    if not isinstance(fact, Call) and ctx.says(ctx.entry.data["answered"]):
        return
    yield ctx.finding(fact, severity=Severity.NOTE if isinstance(fact, Constant) else None)
