"""The handshake offers 2026-07-28."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Fact, Version, VersionUse
from ...rule import Context, Finding


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    if isinstance(fact, Version) and fact.use in (VersionUse.REPLY, VersionUse.DEFAULT):
        yield ctx.finding(fact)
