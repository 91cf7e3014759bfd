"""A cacheable result lacks its cache hints."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Fact, Result
from ...rule import Context, Finding


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    # Whoever stamps results knows the revision; one that is not stamped has a finding already.
    if isinstance(fact, Result) and fact.stamped and not fact.cached and not ctx.wired(fact):
        yield ctx.finding(fact)
