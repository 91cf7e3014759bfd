"""`await ctx.info(...)`: told once for a file."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rule import Context, Finding


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    calls = [
        other
        for other in ctx.project.of(ctx.file.source.path, Symbol)
        if other.use is SymbolUse.CALL and other.key in ctx.entry.match["Symbol"]
    ]
    if calls and fact == calls[0]:
        count = len({call.span for call in calls})
        yield ctx.finding(fact, message=ctx.entry.message.replace("{count}", "once" if count == 1 else f"{count} times"))
