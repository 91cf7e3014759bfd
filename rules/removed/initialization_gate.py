"""Requests wait for the handshake."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Fact
from ...rule import Context, Finding


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    # The wiring of the boundary takes the gates along; what stands behind one is open to the new requests.
    if not ctx.wired(fact):
        yield ctx.finding(fact, message=ctx.entry.messages.get(str(fact.key)), hint=ctx.entry.hints.get(str(fact.key), ""))
