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


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    """A finding at a removed method, unless a boundary keeps modern requests away from it."""
    if ctx.settled(fact):
        return
    # The places that use a constant are findings themselves; the name alone breaks nothing.
    if isinstance(fact, Constant):
        yield ctx.finding(fact, severity=Severity.NOTE)
    elif _is_removable(fact, ctx):
        yield ctx.finding(fact, Applicability.SAFE, hint=ctx.entry.hints["removed"])
    else:
        yield ctx.finding(fact, hint=ctx.entry.hints["alone"] if isinstance(fact, Handler) and not _is_routed(ctx) else "")


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit | Need]:
    """Takes the handler away where only 2026-07-28 is served; in the dual era the boundary does the work."""
    # A check imports this module as well, and LibCST takes longer to load than most checks take.
    from ..rewrite import handlers

    if isinstance(fact, Handler) and _is_removable(fact, ctx):
        yield from handlers.remove(fact, tree)


def _is_routed(ctx: Context) -> bool:
    """Whether a dispatcher is known in this file, or in one beside it in the import graph: its finding tells what can be done."""
    path = ctx.file.source.path
    near = (path, *ctx.project.imports(path), *ctx.project.importers(path))
    return any(isinstance(fact, Dispatcher) for one in near for fact in ctx.project.files[one].facts)


def _is_removable(fact: Fact, ctx: Context) -> bool:
    # Without a boundary nothing would answer in its place, so the handler stays until there is one.
    return ctx.era is Era.MODERN and isinstance(fact, Handler) and fact.shape not in _SHARED and not fact.negated and ctx.wired(fact)
