"""Code uses what a session keeps."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Fact, Header, HeaderUse
from ...rule import Context, Finding
from .. import hosted

_GIVES = frozenset({HeaderUse.READ, HeaderUse.ALIAS})


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    # One header leads to all that hangs on it.
    headers = [h for h in ctx.project.of(ctx.file.source.path, Header) if h.key == fact.key and h.use in _GIVES]
    if not headers or min(headers, key=lambda header: header.span) is not fact or (model := hosted.sessionless(ctx)) is None:
        return
    # Rules that only check never get here, and what rewrites takes longer to load than most checks take.
    from ...rewrite import absent

    told: set[int] = set()
    lasting = hosted.sessionless(ctx, lasting=True)
    for use in (*absent.needed(model), *(absent.lost(lasting) if lasting is not None else ())):
        module = use.place.unit.module
        if module.source.path == ctx.file.source.path and use.node.lineno not in told:
            told.add(use.node.lineno)
            message = ctx.entry.message.replace("{name}", ast.unparse(use.node).replace("{", "{{").replace("}", "}}"))
            yield ctx.finding(fact, message=message, span=module.span(use.node), hint=ctx.entry.hints["lost"])
