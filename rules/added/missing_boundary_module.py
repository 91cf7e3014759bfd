"""The boundary module is missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Fact, Import
from ...rewrite import servers
from ...rule import Applicability, Context, Finding, NewFile

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    imports = [other for other in ctx.project.of(ctx.file.source.path, Import) if other.key in ctx.entry.data["module"]]
    # One finding tells it, though a package may import the module in two ways.
    if fact in imports[:1] and servers.is_missing(ctx.project, ctx.file.source.path):
        yield ctx.finding(fact, Applicability.SAFE)


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[NewFile]:
    if (new := servers.boundary_module(ctx.project, ctx.file.source.path, ctx.era)) is not None:
        yield new
