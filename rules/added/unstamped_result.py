"""A result lacks `resultType`."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Envelope, Fact, Result
from ...rule import Context, Finding, Severity


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    # A boundary stamps every reply that passes it.
    if ctx.wired(fact):
        return
    if isinstance(fact, Result):
        if not fact.stamped and not _is_stamped_elsewhere(ctx):
            yield ctx.finding(fact, message=_message(fact, ctx), severity=_severity(ctx))
    # Where results are literals they are the places; an envelope counts only in a file that builds none.
    elif isinstance(fact, Envelope) and fact.method != "initialize" and not _has_results(ctx) and not ctx.says(ctx.entry.data["stamp"]):
        yield ctx.finding(fact, severity=_severity(ctx))


def _has_results(ctx: Context) -> bool:
    return any(isinstance(other, Result) for other in ctx.file.facts)


def _is_stamped_elsewhere(ctx: Context) -> bool:
    """Whether the file knows the field but writes it into no literal result: then one place adds it to all."""
    return ctx.says(ctx.entry.data["stamp"]) and not any(isinstance(other, Result) and other.stamped for other in ctx.file.facts)


def _message(result: Result, ctx: Context) -> str:
    if result.key in ctx.entry.data["cacheable"] and not result.cached:
        return ctx.entry.messages["cacheable"]
    return ctx.entry.messages["Result"]


def _severity(ctx: Context) -> Severity | None:
    return Severity.ERROR if ctx.project.offers_modern(ctx.file) else None
