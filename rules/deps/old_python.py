"""A project allows a Python that mcp 2 does not run on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Fact, Requirement
from ...rewrite import requirements
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding
from ..releases import blocked, bounds, is_moving, needs_sdk, needs_standalone

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    if not isinstance(fact, Requirement) or not needs_sdk(ctx.file) or not is_moving(ctx):
        return
    from ...facts.versions import Version

    low = _lowest(ctx)
    limits = bounds(fact.specifier)
    # Without a lower bound a project says nothing about old ones.
    if limits is None or limits.low is None or limits.low >= Version(low):
        return
    can = limits.reaches(Version(low)) and requirements.raised(ctx.file.source.slice(fact.versions), low) is not None
    applicability = Applicability.SAFE if can and not blocked(ctx) else Applicability.MANUAL
    package = ("fastmcp 3.4" if ctx.keeps else "fastmcp 4") if needs_standalone(ctx.file, always=True) else "mcp 2"
    yield ctx.finding(fact, applicability, message=ctx.entry.message.replace("{low}", low).replace("{package}", package))


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit]:
    if isinstance(fact, Requirement):
        text = requirements.raised(ctx.file.source.slice(fact.versions), _lowest(ctx))
        if text is not None:
            yield Edit(fact.versions, text)


def _lowest(ctx: Context) -> str:
    """The oldest Python of what the file asks for; fastmcp 3, which stays where 4 does not run, takes that of the SDK."""
    (low,) = ctx.entry.data["python_of_fastmcp" if needs_standalone(ctx.file, always=True) and not ctx.keeps else "python"]
    return low
