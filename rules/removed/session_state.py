"""Code uses what a session keeps."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Dispatcher, Fact, Header, HeaderUse
from ...rule import Context, Era, Finding
from ...source import Span
from .. import hosted

_GIVES = frozenset({HeaderUse.READ, HeaderUse.ALIAS})


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    told: set[int] = set()
    for span, name in _lost(fact, ctx):
        line = ctx.file.source.position(span.start).line
        if line not in told:
            told.add(line)
            message = ctx.entry.message.replace("{name}", " ".join(name.split()).replace("{", "{{").replace("}", "}}"))
            yield ctx.finding(fact, message=message, span=span, hint=ctx.entry.hints["lost"])


def _lost(fact: Fact, ctx: Context) -> Iterator[tuple[Span, str]]:
    """What of this file only a session could keep, before a boundary stands there and behind it."""
    path = ctx.file.source.path
    if isinstance(fact, Dispatcher) and not ctx.wired(fact):
        if fact is next(iter(ctx.project.of(path, Dispatcher)), None):
            # Most files never get here, and what follows sessions takes longer to load than most checks take.
            from ...rewrite import servers

            yield from (found[1:] for answer in servers.answers(ctx.project, path, ctx.era) for found in answer.lost if found[0] == path)
    elif _leads(fact, ctx):
        from ...facts.lost import lost
        from ...rewrite import absent

        model, lasting = hosted.sessionless(ctx), hosted.sessionless(ctx, lasting=True)
        needed = absent.needed(model) if model is not None and isinstance(fact, Header) else ()
        for use in (*needed, *(lost(lasting) if lasting is not None else ())):
            module = use.place.unit.module
            if module.source.path == path:
                yield module.span(use.node), module.text(use.node)


def _leads(fact: Fact, ctx: Context) -> bool:
    """Whether this is the one fact of its file that stands for all that hangs on a session."""
    path = ctx.file.source.path
    headers = [header for header in ctx.project.of(path, Header) if header.key == "mcp-session-id" and header.use in _GIVES]
    if headers:
        return min(headers, key=lambda header: header.span) is fact
    # Without older clients no header is left, but a session may be made for each request.
    first = next(iter(ctx.project.of(path, Dispatcher)), None)
    return fact is first and ctx.era is Era.MODERN and ctx.wired(fact) and hosted.is_hosted(ctx)
