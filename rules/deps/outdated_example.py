"""An example in a document imports what mcp 2 does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Fact, Remark
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding
from ...source import Span
from ..releases import blocked, is_moving

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

# All that an example may do with the server for two names to be the whole difference: make it, by its name, and decorate.
_PLAIN = re.compile(
    r"from mcp\.server\.fastmcp import (?:FastMCP|Context|Image)(?:, ?(?:FastMCP|Context|Image))*[ \t]*(?:#.*)?"
    r"|\w+ = FastMCP\((?:\"[^\"]*\"|'[^']*')?\)[ \t]*(?:#.*)?"
)


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    if isinstance(fact, Remark) and is_moving(ctx):
        safe = _is_plain(ctx.file.source.slice(fact.around)) and not blocked(ctx)
        yield ctx.finding(fact, Applicability.SAFE if safe else Applicability.MANUAL)


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit]:
    if not isinstance(fact, Remark):
        return
    module, new_module, name, new_name = ctx.entry.data["renamed"]
    text = ctx.file.source.slice(fact.around).encode("utf-8")
    for old, new in ((module, new_module), (name, new_name)):
        for found in re.finditer(rb"\b%s\b" % re.escape(old.encode()), text):
            yield Edit(Span(fact.around.start + found.start(), fact.around.start + found.end()), new)


def _is_plain(code: str) -> bool:
    """Whether every line that names the class is one of those that mean the same with the new name."""
    lines = [line.strip() for line in code.splitlines() if re.search(r"\bFastMCP\b|mcp\.server\.fastmcp", line)]
    return bool(lines) and all(_PLAIN.fullmatch(line) for line in lines)
