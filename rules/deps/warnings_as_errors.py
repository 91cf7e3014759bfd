"""Warnings are errors in tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Fact, FileFacts, Remark, Symbol, SymbolUse
from ...rewrite import requirements
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding
from ..releases import blocked, is_about, is_moving

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    if not isinstance(fact, Remark) or not is_moving(ctx):
        return
    found = _warning(ctx)
    # The filter names a class of mcp 2: without that, no test would start.
    if found is None or not fact.entry or blocked(ctx):
        yield ctx.finding(fact)
        return
    file, call = found
    place = f"{file.source.path}:{file.source.position(call.span.start).line}"
    name = str(call.key).rpartition(".")[2]
    yield ctx.finding(fact, Applicability.SAFE, hint=ctx.entry.hints["warns"].format(name=name, place=place))


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit]:
    if isinstance(fact, Remark) and fact.entry:
        yield from requirements.also(fact, ctx.entry.data["filter"])


def _warning(ctx: Context) -> tuple[FileFacts, Symbol] | None:
    """A call of the code here that mcp 2 warns about."""
    names = {*ctx.entry.data["deprecated"]}
    for file, fact in ctx.project.facts(Symbol):
        called = isinstance(fact, Symbol) and fact.use is SymbolUse.CALL and fact.sure and fact.key in names
        if called and is_about(ctx, ctx.file.source.path, file.source.path):
            return file, fact  # type: ignore[return-value]
    return None
