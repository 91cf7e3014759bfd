"""Revisions are ordered as text."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Fact, Version, VersionUse
from ...rule import Context, Finding


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    if isinstance(fact, Version) and fact.use is VersionUse.ORDER:
        yield ctx.finding(fact)
