"""`fastmcp dev server.py`, which is `fastmcp dev inspector server.py` now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Fact, Remark
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding
from ...source import Span
from ..releases import lines

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    if isinstance(fact, Remark) and lines(ctx):
        yield ctx.finding(fact, Applicability.SAFE if fact.text == "fastmcp dev" else Applicability.MANUAL)


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit]:
    if isinstance(fact, Remark) and fact.text == "fastmcp dev":
        yield Edit(Span(fact.span.end, fact.span.end), " inspector")
