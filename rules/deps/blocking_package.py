"""Another requirement keeps mcp below 2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Fact, Requirement
from ...rewrite import requirements
from ...rewrite.edits import Edit
from ...rule import Aim, Applicability, Context, Finding
from ...sdk.majors import Major
from ..releases import STANDALONE, caps, major, raised, runs_on

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    # What brings `fastmcp` has a rule of its own: its code is moved as well.
    if (
        not isinstance(fact, Requirement)
        or fact.key in STANDALONE
        or (reason := caps(ctx, fact)) is None
        or major(ctx) not in (Major.ONE, Major.EITHER)
    ):
        return
    can = raised(ctx, fact) is not None and not fact.fixed and ctx.aim is Aim.MOVE
    applicability = Applicability.SAFE if can else Applicability.MANUAL
    python = runs_on(ctx, fact) if can else ""
    hint = ctx.entry.hints["python"].format(python=python) if python else fact.fixed
    yield ctx.finding(fact, applicability, message=ctx.entry.message.replace("{reason}", reason), hint=hint)


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit]:
    if isinstance(fact, Requirement) and (specifier := raised(ctx, fact)) is not None:
        yield from requirements.asking(fact, specifier)
