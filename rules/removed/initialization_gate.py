"""Requests wait for the handshake."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Fact, Gate
from ...rule import Context, Finding


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    # The wiring of the boundary takes the gates along; what stands behind one is open to the new requests.
    if isinstance(fact, Gate) and not ctx.wired(fact):
        message = ctx.entry.messages.get(fact.expects) or ctx.entry.messages.get(str(fact.key))
        yield ctx.finding(fact, message=message, hint=ctx.entry.hints.get(str(fact.key), ""))
