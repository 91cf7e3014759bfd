"""Code uses what a session keeps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.functions import read
from ...facts.mask import parse
from ...facts.model import Dispatcher, Fact, Gate, Header, HeaderUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Era, Finding, Need
from ...source import Span
from .. import hosted

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_GIVES = frozenset({HeaderUse.READ, HeaderUse.ALIAS})


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    told: set[int] = set()
    for span, name in _lost(fact, ctx):
        line = ctx.file.source.position(span.start).line
        if line not in told:
            told.add(line)
            message = ctx.entry.message.replace("{name}", " ".join(name.split()).replace("{", "{{").replace("}", "}}"))
            yield ctx.finding(fact, message=message, span=span, hint=ctx.entry.hints["lost"])
    if ctx.era is Era.DUAL and _marks(fact, ctx):
        module = read(ctx.file.source, parse(ctx.file.source)[0])
        for use in hosted.spared(ctx):
            assert use.place.function
            message = ctx.entry.message.replace("{name}", use.place.name)
            known = hosted.question(use.place.function, module, ctx) is not None
            hint = ctx.entry.hints["spared" if known else "kept"]
            yield ctx.finding(
                fact, Applicability.SAFE if known else Applicability.MANUAL, message=message, span=module.span(use.node), hint=hint
            )


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit | Need]:
    """Keeps requests of this revision from code that only keeps book of sessions."""
    from ...rewrite import sessions

    module = read(tree.source, parse(tree.source)[0])
    for use in hosted.spared(ctx) if ctx.era is Era.DUAL and _marks(fact, ctx) else ():
        assert use.place.function
        if (asked := hosted.question(use.place.function, module, ctx)) is not None:
            yield from sessions.passed_by(use, use.place.unit.module, asked[0], gone=False)
            yield from asked[1]


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


def _marks(fact: Fact, ctx: Context) -> bool:
    """Whether this is the one fact of a file with sessions that stands for its book-keeping, behind a boundary that is made elsewhere."""
    if not isinstance(fact, Header | Gate) or not ctx.wired(fact) or ctx.file.makes or not hosted.is_hosted(ctx):
        return False
    path = ctx.file.source.path
    headers = [header for header in ctx.project.of(path, Header) if header.key == "mcp-session-id" and header.use in _GIVES]
    gates = [gate for gate in ctx.project.of(path, Gate) if gate.key == "session"]
    return fact is min([*headers, *gates], key=lambda one: one.span, default=None)


def _leads(fact: Fact, ctx: Context) -> bool:
    """Whether this is the one fact of its file that stands for all that hangs on a session."""
    path = ctx.file.source.path
    headers = [header for header in ctx.project.of(path, Header) if header.key == "mcp-session-id" and header.use in _GIVES]
    if headers:
        return min(headers, key=lambda header: header.span) is fact
    # Without older clients no header is left, but a session may be made for each request.
    first = next(iter(ctx.project.of(path, Dispatcher)), None)
    return fact is first and ctx.era is Era.MODERN and ctx.wired(fact) and hosted.is_hosted(ctx)
