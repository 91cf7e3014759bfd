"""An action goes on although nobody could be asked."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Fact
from ...rule import Context, Finding


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    # A boundary is no excuse: older clients that cannot ask still get the action for nothing.
    yield ctx.finding(fact)
