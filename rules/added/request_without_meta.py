"""A client sends requests without their metadata."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Fact, Send
from ...rule import Context, Finding


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    if ctx.says(ctx.entry.data["stamp"]):
        return
    # Requests are built in one place or mended in one place: the first tells enough.
    if fact == next(other for other in ctx.file.facts if isinstance(other, Send) and other.key in ctx.entry.match["Send"]):
        yield ctx.finding(fact)
