"""A server sends a request to its client."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Call, Constant, Fact, Send
from ...rule import Context, Finding, Severity
from .. import asked


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    # Behind a boundary the same call becomes an `input_required` result, in both eras.
    if ctx.settled(fact) or (isinstance(fact, Send) and ctx.wired(fact)):
        return
    if isinstance(fact, Call) and asked.is_told(fact, ctx):
        return
    # The names live on as values of `inputRequests`: code that reads or writes those needs them.
    if not isinstance(fact, Call) and ctx.says(ctx.entry.data["answered"]):
        return
    yield ctx.finding(fact, severity=Severity.NOTE if isinstance(fact, Constant) else None)
