"""Code uses what a session keeps."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Dispatcher, Fact, Header, HeaderUse
from ...rule import Context, Era, Finding
from .. import hosted

_GIVES = frozenset({HeaderUse.READ, HeaderUse.ALIAS})


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    if not _leads(fact, ctx):
        return
    # Most files never get here, and what follows sessions takes longer to load than most checks take.
    from ...rewrite import absent

    told: set[int] = set()
    model, lasting = hosted.sessionless(ctx), hosted.sessionless(ctx, lasting=True)
    needed = absent.needed(model) if model is not None and isinstance(fact, Header) else ()
    for use in (*needed, *(absent.lost(lasting) if lasting is not None else ())):
        module = use.place.unit.module
        if module.source.path == ctx.file.source.path and use.node.lineno not in told:
            told.add(use.node.lineno)
            message = ctx.entry.message.replace("{name}", ast.unparse(use.node).replace("{", "{{").replace("}", "}}"))
            yield ctx.finding(fact, message=message, span=module.span(use.node), hint=ctx.entry.hints["lost"])


def _leads(fact: Fact, ctx: Context) -> bool:
    """Whether this is the one fact of its file that stands for all that hangs on a session."""
    if isinstance(fact, Header):
        # One header leads to all that hangs on it.
        headers = [h for h in ctx.project.of(ctx.file.source.path, Header) if h.key == fact.key and h.use in _GIVES]
        return bool(headers) and min(headers, key=lambda header: header.span) is fact
    # Without older clients no header is left, but a session may be made for each request.
    first = next(iter(ctx.project.of(ctx.file.source.path, Dispatcher)), None)
    return fact is first and ctx.era is Era.MODERN and ctx.wired(fact) and hosted.is_hosted(ctx)
