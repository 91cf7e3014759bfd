"""Changes are promised, but `subscriptions/listen` is not served."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Fact
from ...rule import Context, Finding


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    # A boundary serves it; and a server that is not modern at all has a finding for that.
    if not ctx.wired(fact) and ctx.project.offers_modern(ctx.file) and not ctx.says(ctx.entry.data["served"]):
        yield ctx.finding(fact)
