"""A client sends requests without their metadata."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Fact, Send
from ...rewrite.edits import Edit
from ...rule import Context, Finding, Need
from .. import clientside

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    if ctx.says(ctx.entry.data["stamp"]):
        return
    # Requests are built in one place or mended in one place: the first of them tells enough.
    asked = (other for other in ctx.file.facts if isinstance(other, Send) and other.key in ctx.entry.match["Send"])
    if fact == next((other for other in asked if not clientside.is_done(other, ctx)), None):
        yield from clientside.check(fact, ctx)


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit | Need]:
    yield from clientside.fix(fact, tree, ctx)
