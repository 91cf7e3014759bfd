"""The handshake echoes whatever version the client names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Fact
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Era, Finding, Need
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    yield ctx.finding(fact, Applicability.SAFE if _is_bounded_here(ctx) else Applicability.MANUAL)


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit | Need]:
    from ...rewrite import servers

    handle = next((name for name in sorted(ctx.file.makes) if name.isidentifier()), None)
    path = ctx.file.source.path
    if handle is not None and _is_bounded_here(ctx) and servers.is_ours(ctx.project, path):
        yield Edit(Span(fact.span.start, fact.span.start), f"{handle}.handshake(")
        yield Edit(Span(fact.span.end, fact.span.end), ")")
        if (new := servers.boundary_module(ctx.project, path, ctx.era)) is not None:
            yield new


def _is_bounded_here(ctx: Context) -> bool:
    # Where only 2026-07-28 is served, the handshake goes as a whole.
    return ctx.era is Era.DUAL and bool(ctx.file.boundary)
