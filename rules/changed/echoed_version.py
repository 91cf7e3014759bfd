"""The handshake echoes whatever version the client names."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Fact
from ...rule import Context, Finding


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    if not ctx.settled(fact):
        yield ctx.finding(fact)
