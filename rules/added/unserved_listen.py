"""Changes are promised, but `subscriptions/listen` is not served."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from ...facts.gates import BOUNDARY_MODULE
from ...facts.model import Fact, Send
from ...rule import Context, Finding, Severity


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    if isinstance(fact, Send):
        # No client announces these, so what a module further back sends is the server's as well.
        if ctx.wired(Fact(fact.span, fact.key)) and _is_untold(ctx):
            yield ctx.finding(fact, severity=Severity.NOTE, hint=ctx.entry.hints["untold"])
    # A boundary serves it; and a server that is not modern at all has a finding for that.
    elif not ctx.wired(fact) and ctx.project.offers_modern(ctx.file) and not ctx.says(ctx.entry.data["served"]):
        yield ctx.finding(fact)


def _is_untold(ctx: Context) -> bool:
    """Whether the boundary of the file has no part in what it announces."""
    boundary = ctx.project.files.get(str(PurePosixPath(ctx.file.source.path).with_name(BOUNDARY_MODULE)))
    return boundary is not None and not any(word.encode() in boundary.source.utf8 for word in ctx.entry.data["listens"])
