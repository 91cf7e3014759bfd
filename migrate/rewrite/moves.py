"""Names that are imported from elsewhere: the edits at an import, at a dotted use, in a text."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..facts.model import Defined, SymbolUse
from ..rule import Context, Entry, Import
from ..source import Span
from .edits import Edit

if TYPE_CHECKING:
    from .tree import Tree


class Place(NamedTuple):
    """Where a name is imported from."""

    module: str
    name: str

    @property
    def dotted(self) -> str:
        return f"{self.module}.{self.name}" if self.name else self.module


def moved(
    fact: Defined, here: Place, new: Place, tree: Tree, ctx: Context, successor: Callable[[Place], Place | None]
) -> Iterator[Edit | Import]:
    """Everything that one use of a name takes to come from its new place."""
    match fact.use:
        case SymbolUse.TEXT:
            text = ctx.module.source.slice(fact.span)
            quote = len(text) - len(text.lstrip("rRuU'\""))
            yield Edit(Span(fact.span.start + quote, fact.span.start + quote + len(str(fact.key))), new.dotted)
        case SymbolUse.NAME:
            yield from _named(fact, here, new, ctx)
        case SymbolUse.IMPORT:
            yield from _imported(fact, new, tree, ctx, successor)


def moved_module(name: str, entry: Entry) -> str:
    """The module that holds what another one held, as the entry says."""
    for old, new in pairs(entry, "modules"):
        if name == old or name.startswith(f"{old}."):
            return f"{new}{name[len(old) :]}"
    return name


def pairs(entry: Entry, word: str) -> Iterator[tuple[str, str]]:
    """`old -> new` of an entry's data."""
    for pair in entry.data[word]:
        old, _, new = pair.partition(" ->")
        yield old, new.strip()


def _imported(fact: Defined, new: Place, tree: Tree, ctx: Context, successor: Callable[[Place], Place | None]) -> Iterator[Edit | Import]:
    from . import renames

    module = ctx.module
    alias = module.at(fact.span)
    statement = module.parents.get(alias) if alias is not None else None
    if isinstance(statement, ast.Import) and isinstance(alias, ast.alias):
        yield Edit(Span(fact.span.start, fact.span.start + len(alias.name)), new.dotted)
        return
    if not isinstance(statement, ast.ImportFrom) or statement.module is None:
        return
    found = []
    for one in statement.names:
        here = Place(statement.module, one.name)
        there = successor(here)
        if there is not None and there != here:
            found.append(renames.Move(one, there.module, there.name))
    others = [file for path, file in ctx.project.files.items() if path != ctx.file.source.path]
    yield from renames.moved(statement, found, tree, module, ctx.sdk.inference, others)


def _named(fact: Defined, here: Place, new: Place, ctx: Context) -> Iterator[Edit | Import]:
    """`types.Content`, `mcp.server.fastmcp.FastMCP`: the last part changes, and what stands before it where the module does."""
    node = ctx.module.at(fact.span)
    if not isinstance(node, ast.Attribute):
        return
    same = new.module == here.module or _is_moved(here.module, new.module, ctx.entry)
    if not isinstance(node.value, ast.Name | ast.Attribute):
        # `import_module("...").FastMCP`: the text is a finding of its own.
        if same:
            yield Edit(ctx.module.attribute_span(node), new.name)
        return
    base = ctx.module.text(node.value)
    if same or base == here.module.rpartition(".")[2]:
        # The import of the module is a finding of its own, and takes its name along.
        if base == here.module and here.module != new.module:
            yield Edit(ctx.module.span(node.value), new.module)
        if node.attr != new.name:
            yield Edit(ctx.module.attribute_span(node), new.name)
    else:
        yield Edit(fact.span, new.name)
        yield Import(new.module, new.name)


def _is_moved(old: str, new: str, entry: Entry) -> bool:
    return any(old == f"{one}{old[len(one) :]}" and new == f"{other}{old[len(one) :]}" for one, other in pairs(entry, "modules"))
