"""A variable sets what only mcp 1 read."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Fact
from ...rule import Context, Finding
from ..releases import is_moving, uses_fastmcp_of_sdk


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    if is_moving(ctx) and uses_fastmcp_of_sdk(ctx):
        yield ctx.finding(fact)
