"""A requirement names the extra `ws`, which mcp 2 does not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Fact, Requirement
from ...rewrite import requirements
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding
from ..releases import blocked, is_moving

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    if not isinstance(fact, Requirement) or not {*fact.extras} & {*ctx.entry.data["gone_extras"]} or not is_moving(ctx):
        return
    if fact.fixed or (reason := blocked(ctx)):
        yield ctx.finding(fact, hint=fact.fixed or reason)
    else:
        yield ctx.finding(fact, Applicability.SAFE)


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit]:
    if isinstance(fact, Requirement):
        yield from requirements.without_extras(fact, ctx.entry.data["gone_extras"])
