"""Requests wait for the handshake."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Fact
from ...rule import Context, Finding


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    # The wiring of the boundary takes the gates along; what stands behind one is open to the new requests.
    if not ctx.wired(fact):
        message = "this ends when the first message is not the one of the handshake" if fact.key == "first-message" else None
        yield ctx.finding(
            fact,
            message=message,
            hint="the boundary opens it, see the finding about `server/discover`" if fact.key == "initialized" else "",
        )
