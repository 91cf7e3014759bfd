"""Nothing answers `server/discover`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...facts.model import Dispatcher, Fact
from ...rewrite import servers
from ...rewrite.edits import Edit
from ...rewrite.servers import Answer
from ...rewrite.tree import Tree
from ...rule import Applicability, Context, Finding, Import, Need, Severity
from ...source import Source, Span


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    if not isinstance(fact, Dispatcher) or "server/discover" in fact.methods:
        return
    path = ctx.file.source.path
    # Behind a boundary for one transport it may have endpoints, or a loop, without one.
    if not ctx.wired(fact) and not servers.answers(ctx.project, path, ctx.era):
        yield ctx.finding(fact, hint=ctx.entry.hints["unknown"])
    yield from (_finding(fact, answer, ctx) for answer in servers.told(fact, ctx.project, path, ctx.era))


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit | Need]:
    answer = servers.answer_at(ctx.project, ctx.file.source.path, fact.span.start, ctx.era)
    if answer is not None and answer.wiring is not None:
        yield from servers.edits(ctx.project, answer, ctx.era)
        yield from (Import(*wanted) for wanted in sorted(answer.wiring.imports))


def _finding(fact: Dispatcher, answer: Answer, ctx: Context) -> Finding:
    if answer.wiring is None:
        place = ctx.project.files[answer.path].source.position(answer.at.start)
        where = f"line {place.line}" if answer.path == ctx.file.source.path else f"{answer.path}:{place.line}"
        hint = ctx.entry.hints["blocked"].format(reason=answer.reason, place=where)
        hint = f"{hint}; {answer.way_out}" if answer.way_out else hint
        span = answer.at if answer.path == ctx.file.source.path and answer.at.end else None
        return ctx.finding(fact, span=span, hint=hint, severity=None if answer.served else Severity.NOTE)
    # The fix stands where the messages enter, which may be in another file than the handlers.
    entry = Dispatcher(answer.span, "server", function=answer.function)
    source = ctx.project.files[answer.path].source
    hint = "" if answer.named else ctx.entry.hints["nameless"]
    return replace(ctx.finding(entry, Applicability.SAFE, span=_head(answer.span, source) or fact.span, hint=hint), path=answer.path)


def _head(span: Span, source: Source) -> Span | None:
    """The line that a function begins with; None for the code of a module."""
    line = source.line(source.position(span.start).line).strip()
    return Span(span.start, span.start + len(line.encode())) if span.start else None
