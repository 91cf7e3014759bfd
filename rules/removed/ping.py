"""Code still answers or sends `ping`."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import Fact
from ...rewrite.edits import Edit
from ...rewrite.tree import Tree
from ...rule import Context, Finding, Need
from .. import legacy


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    yield from legacy.check(fact, ctx)


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit | Need]:
    yield from legacy.fix(fact, tree, ctx)
