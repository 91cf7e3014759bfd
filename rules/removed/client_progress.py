"""A server awaits progress notifications of its client."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Dispatcher, Fact
from ...rule import Context, Finding


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    if ctx.settled(fact):
        return
    # A client reads the progress of its server as before; only a server's branch is dead.
    if any(isinstance(other, Dispatcher) and fact.key in other.methods for other in ctx.file.facts):
        yield ctx.finding(fact)
