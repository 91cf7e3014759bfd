"""A result lacks `resultType`."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Envelope, Fact, Result
from ...rule import Context, Finding, Severity


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    # A boundary stamps every reply that passes it.
    if ctx.wired(fact):
        return
    modern = ctx.project.offers_modern(ctx.file)
    severity = Severity.ERROR if modern else None
    if isinstance(fact, Result):
        # Before the migration one place a method tells enough; after it each forgotten one counts.
        if not fact.stamped and not _is_stamped_elsewhere(ctx) and (modern or _is_first(fact, ctx)):
            yield ctx.finding(fact, message=_message(fact, ctx), severity=severity)
    # Where results are literals they are the places; an envelope counts only where none are built.
    elif isinstance(fact, Envelope) and fact.method != "initialize" and not any(_results_near(ctx)) and not _knows_stamp(ctx):
        yield ctx.finding(fact, severity=severity)


def _is_stamped_elsewhere(ctx: Context) -> bool:
    """Whether the file knows the field but writes it into no literal result: then one place adds it to all."""
    return _knows_stamp(ctx) and not any(other.stamped for other in _results(ctx))


def _is_first(result: Result, ctx: Context) -> bool:
    return result == next(other for other in _results(ctx) if other.key == result.key and not other.stamped)


def _results(ctx: Context) -> Iterator[Result]:
    return iter(ctx.project.of(ctx.file.source.path, Result))


def _results_near(ctx: Context) -> Iterator[Result]:
    """The results of this file and of those that it imports: what it puts into its envelopes."""
    for path in (ctx.file.source.path, *ctx.project.imports(ctx.file.source.path)):
        yield from ctx.project.of(path, Result)


def _knows_stamp(ctx: Context) -> bool:
    return ctx.says(ctx.entry.data["stamp"])


def _message(result: Result, ctx: Context) -> str:
    lacks_hints = result.key in ctx.entry.data["cacheable"] and not result.cached
    return ctx.entry.messages["cacheable" if lacks_hints else "Result"]
