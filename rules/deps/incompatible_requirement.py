"""A requirement leaves no room for what mcp 2 needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Fact, Requirement
from ...rewrite import requirements
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding
from ..releases import blocked, floor, is_moving, needs_sdk, raises

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    # Another file may be about another environment; together in one, both are installed.
    if not isinstance(fact, Requirement) or not needs_sdk(ctx.file) or (low := floor(ctx, fact, ctx.file)) is None or not is_moving(ctx):
        return
    applicability, case, reason = raises(fact, low), "", ""
    # Raised for a move that does not come, it would only break what runs today.
    if applicability is Applicability.SAFE and (reason := blocked(ctx)):
        applicability, case = Applicability.MANUAL, "stuck"
    hint = ctx.entry.hints[case or applicability.word].format(low=f"`{fact.key}>={low}`", reason=reason)
    yield ctx.finding(fact, applicability, hint=fact.fixed or hint)


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit]:
    if isinstance(fact, Requirement) and (low := floor(ctx, fact, ctx.file)) is not None:
        yield from requirements.asking(fact, f">={low}")
