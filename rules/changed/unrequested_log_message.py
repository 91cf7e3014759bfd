"""Log messages are sent to clients that did not ask."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Call, Fact
from ...rule import Context, Finding, Severity


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    # A boundary, or code that reads the level of the request, holds back what was not asked for.
    if ctx.wired(fact) or ctx.says(ctx.entry.data["asked"]):
        return
    # The session of SDK v2 does so itself; what is left is that protocol logging is deprecated.
    yield ctx.finding(fact, severity=Severity.WARNING if isinstance(fact, Call) else None)
