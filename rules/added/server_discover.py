"""Nothing answers `server/discover`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...facts.model import Dispatcher, Fact
from ...rewrite import servers
from ...rewrite.edits import Edit
from ...rewrite.servers import Answer
from ...rewrite.tree import Tree
from ...rule import Applicability, Context, Finding, Import, Need


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    if not isinstance(fact, Dispatcher) or ctx.wired(fact) or "server/discover" in fact.methods:
        return
    found = servers.answers(ctx.project, ctx.file.source.path, ctx.era)
    if not found:
        yield ctx.finding(fact, hint="no function was found that takes a message and routes it by its method")
    for answer in found:
        if servers.is_for(fact, answer, ctx.project, ctx.file.source.path, ctx.era):
            yield _finding(fact, answer, ctx)


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit | Need]:
    for answer in servers.answers(ctx.project, ctx.file.source.path, ctx.era):
        if answer.wiring is not None and answer.path == ctx.file.source.path and answer.span.start == fact.span.start:
            yield from servers.edits(ctx.project, answer, ctx.era)
            yield from (Import(*wanted) for wanted in sorted(answer.wiring.imports))


def _finding(fact: Dispatcher, answer: Answer, ctx: Context) -> Finding:
    if answer.wiring is None:
        place = ctx.project.files[answer.path].source.position(answer.at.start)
        where = f"line {place.line}" if answer.path == ctx.file.source.path else f"{answer.path}:{place.line}"
        way_out = f"; {answer.way_out}" if answer.way_out else ""
        return ctx.finding(fact, hint=f"not wired: {answer.reason} ({where}){way_out}")
    # The fix stands where the messages enter, which may be in another file than the handlers.
    entry = Dispatcher(answer.span, "server", methods=fact.methods)
    return replace(
        ctx.finding(entry, Applicability.SAFE, span=answer.span if answer.path != ctx.file.source.path else fact.span), path=answer.path
    )
