"""A variable sets what `fastmcp` 4 does not read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Fact, Remark
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding
from ..releases import lines

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_BANNER = ("FASTMCP_SHOW_CLI_BANNER", "FASTMCP_SHOW_SERVER_BANNER")


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    if not isinstance(fact, Remark) or not lines(ctx):
        return
    for line in ctx.entry.data["gone"]:
        name, reason = line.split()
        if fact.text == name or fact.text.startswith(f"{name}_"):
            applicability = Applicability.SAFE if fact.text == _BANNER[0] else Applicability.MANUAL
            yield ctx.finding(fact, applicability, hint=ctx.entry.hints[reason])
            return


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit]:
    if isinstance(fact, Remark) and fact.text == _BANNER[0]:
        yield Edit(fact.span, _BANNER[1])
