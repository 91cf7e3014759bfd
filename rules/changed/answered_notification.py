"""Notifications are answered."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Fact
from ...rule import Context, Finding


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    # Who reads the messages may stand in another file, and pass on requests only.
    importers = ctx.project.importers(ctx.file.source.path)
    apart = [word.encode() for word in ctx.entry.data["apart"]]
    if not ctx.wired(fact) and not any(ctx.project.says(path, word) for path in importers for word in apart):
        yield ctx.finding(fact)
