"""An example in a document imports what mcp 2 does not have."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Fact
from ...rule import Context, Finding
from ..releases import is_moving


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    if is_moving(ctx):
        yield ctx.finding(fact)
