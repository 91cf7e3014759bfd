"""The deprecated protocol logging is used."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Fact
from ...rule import Context, Finding


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    # What the handshake of older clients declares is none of this revision's.
    if not ctx.settled(fact):
        yield ctx.finding(fact)
