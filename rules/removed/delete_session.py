"""The endpoint ends sessions on DELETE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Fact
from ...rewrite.edits import Edit
from ...rule import Context, Finding, Need
from .. import routes

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    yield from routes.check(fact, ctx)


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit | Need]:
    yield from routes.fix(fact, tree, ctx)
