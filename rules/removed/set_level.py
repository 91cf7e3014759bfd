"""Code still answers or sends `logging/setLevel`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Call, Fact
from ...rewrite.edits import Edit
from ...rule import Context, Finding, Need
from .. import asked, clientside, legacy

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    if isinstance(fact, Call) and asked.is_of_fastmcp(fact, ctx):
        return
    yield from clientside.check(fact, ctx) if clientside.sends_otherwise(fact, ctx) else legacy.check(fact, ctx)


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit | Need]:
    yield from clientside.fix(fact, tree, ctx) if clientside.sends_otherwise(fact, ctx) else legacy.fix(fact, tree, ctx)
