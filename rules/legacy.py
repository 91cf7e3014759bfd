"""What rules about removed methods have in common: legacy code, and what each era makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..facts.model import Constant, Dispatcher, Fact, Handler, Shape
from ..rewrite.edits import Edit
from ..rule import Applicability, Context, Era, Finding, Need, Severity

if TYPE_CHECKING:
    from ..rewrite.tree import Tree

# A pattern that also covers other methods, or a type that describes one, has no branch of its own to take away.
_SHARED = frozenset({Shape.SUBSTRING, Shape.PREFIX, Shape.TYPE})
_HANDSHAKE = frozenset({"initialize", "notifications/initialized"})


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    """A finding at a removed method, unless a boundary keeps modern requests away from it."""
    if ctx.settled(fact):
        return
    # The places that use a constant are findings themselves; the name alone breaks nothing.
    if isinstance(fact, Constant):
        yield ctx.finding(fact, severity=Severity.NOTE)
    elif _is_removable(fact, ctx) and (work := _work(fact, ctx)):
        yield ctx.finding(fact, hint=work)
    elif _is_removable(fact, ctx):
        yield ctx.finding(fact, Applicability.SAFE, hint=ctx.entry.hints["removed"])
    else:
        yield ctx.finding(fact, hint=ctx.entry.hints["alone"] if isinstance(fact, Handler) and not _is_routed(ctx) else "")


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit | Need]:
    """Takes the handler away where only 2026-07-28 is served; in the dual era the boundary does the work."""
    # A check imports this module as well, and LibCST takes longer to load than most checks take.
    from ..rewrite import handlers

    if isinstance(fact, Handler) and _is_removable(fact, ctx) and not _work(fact, ctx):
        edits = list(handlers.remove(fact, tree))
        if edits:
            # Together or not at all: an older client is told that it is not served, and never left without an answer.
            yield from handlers.refuse_legacy(tree, ctx.file.makes)
            yield from edits


def _is_routed(ctx: Context) -> bool:
    """Whether a dispatcher is known in this file, or in one beside it in the import graph: its finding tells what can be done."""
    path = ctx.file.source.path
    near = (path, *ctx.project.imports(path), *ctx.project.importers(path))
    return ctx.project.remember(f"routed beside {path}", lambda: any(ctx.project.of(one, Dispatcher) for one in near))


def _work(fact: Fact, ctx: Context) -> str:
    """What others need of the handshake; the other methods are only answered."""
    if fact.key not in _HANDSHAKE:
        return ""
    # Rules that only check never get here, and what reads whole servers takes longer to load than most checks take.
    from ..rewrite import servers

    found = servers.handshake_work(ctx.project, ctx.file.source.path)
    if found is None:
        return ""
    source = found.place.unit.module.source
    line = source.position(found.place.unit.module.span(found.node).start).line
    return f"not deleted: {found.reason} ({'' if source.path == ctx.file.source.path else f'{source.path}, '}line {line})"


def _is_removable(fact: Fact, ctx: Context) -> bool:
    # Without a boundary nothing would answer in its place, so the handler stays until there is one.
    if ctx.era is not Era.MODERN or not isinstance(fact, Handler) or fact.shape in _SHARED or fact.negated:
        return False
    return ctx.wired(fact) and ctx.project.refuses_legacy(ctx.file) and not _is_half(ctx)


def _is_half(ctx: Context) -> bool:
    """Whether a boundary stands before one transport only: the loop beside the endpoints has these handlers and nothing else."""
    from ..rewrite import servers

    path = ctx.file.source.path
    wired = (fact for fact in ctx.project.of(path, Dispatcher) if ctx.wired(fact))
    return any(answer.wiring is None for fact in wired for answer in servers.told(fact, ctx.project, path, ctx.era))
