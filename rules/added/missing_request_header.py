"""HTTP requests go out or come in without `Mcp-Method` and `Mcp-Name`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Fact, Header, HeaderUse
from ...rewrite.edits import Edit
from ...rule import Context, Finding, Need
from .. import clientside

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_USED = frozenset({HeaderUse.READ, HeaderUse.WRITE, HeaderUse.ALIAS})


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    if ctx.wired(fact):
        return
    headers = [other for other in ctx.file.facts if isinstance(other, Header) and other.use in _USED]
    if any(other.key in ctx.entry.data["stamp"] for other in headers):
        return
    # One finding tells it for the whole file.
    if fact == next((other for other in headers if other.key == fact.key), None):
        yield from clientside.check(fact, ctx)


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit | Need]:
    yield from clientside.fix(fact, tree, ctx)
