"""Names that are imported from elsewhere: the edits at an import, at a dotted use, in a text."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..facts.model import Defined, SymbolUse
from ..rule import Context, Either, Entry, Import
from ..source import Span
from .edits import Edit
from .lines import indent_of

if TYPE_CHECKING:
    from .renames import Move
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
            yield from named(fact, here, new, ctx)
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
    yield from renames.moved(statement, found, tree, module, ctx.sdk.inference, ctx.project.texts)


def named(fact: Defined, here: Place, new: Place, ctx: Context) -> Iterator[Edit | Import]:
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


def is_exported(alias: ast.alias, ctx: Context) -> bool:
    """Whether others may take an imported name from this file, or nothing in it uses the name."""
    from . import renames

    shared = renames.is_shared(alias.asname or alias.name, [alias], ctx.module, ctx.sdk.inference, ctx.project.texts)
    return shared or not any(ctx.sdk.inference.uses(alias, ctx.module))


def idle(fact: Defined, ctx: Context) -> ast.ImportFrom | None:
    """The import that gives a name which nothing uses, here or elsewhere, as far as can be seen; None where something may."""
    from . import renames

    module = ctx.module
    alias = module.at(fact.span)
    statement = module.parents.get(alias) if isinstance(alias, ast.alias) else None
    if not isinstance(alias, ast.alias) or not isinstance(statement, ast.ImportFrom) or module.package:
        return None
    # Who says that a linter is to leave it alone, or names it as it is named, wants others to have it.
    lines = (module.source.line(row) for row in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))
    if alias.asname == alias.name or any("noqa" in line or "F401" in line for line in lines):
        return None
    if any(isinstance(above, ast.Try | ast.If) for above in module.around(statement)):
        return None
    name = alias.asname or alias.name
    starred = ctx.project.remember("starred", lambda: {star for file in ctx.project.files.values() for star in file.stars})
    if module.name in starred or renames.is_shared(name, [alias], module, ctx.sdk.inference, ctx.project.texts):
        return None
    return None if [*renames.uses(name, [alias], module, ctx.sdk.inference)] else statement


def gone(fact: Defined, tree: Tree, ctx: Context) -> Iterator[Edit]:
    """Takes an import out that nothing uses."""
    from . import renames

    alias, statement = ctx.module.at(fact.span), idle(fact, ctx)
    if statement is not None and isinstance(alias, ast.alias):
        yield from renames.taken_out(statement, {alias}, tree, ctx.module)


def kept(
    statement: ast.ImportFrom, plain: Sequence[Move], guarded: Sequence[tuple[ast.alias, Either]], tree: Tree, ctx: Context
) -> Iterator[Edit | Import | Either]:
    """An import whose names come from places that both releases have, or from either by a guard."""
    from . import imports, renames

    module = ctx.module
    above = module.source.line(statement.lineno - 1) if statement.lineno > 1 else ""
    whole = len(guarded) + len(plain) == len(statement.names) and above.lstrip().startswith("#")
    if module.parents.get(statement) is module.tree and not whole:
        gone = [alias for alias, _ in guarded]
        yield from renames.moved(statement, plain, tree, module, ctx.sdk.inference, ctx.project.texts, also=gone, anew=True)
        yield from (need for _, need in guarded)
        return
    if not guarded:
        yield from renames.moved(statement, plain, tree, module, ctx.sdk.inference, ctx.project.texts)
        return
    # Elsewhere, and below a remark of its own, all stands where the import stood, under the names that it had.
    dealt = {*(alias for alias, _ in guarded), *(move.alias for move in plain)}
    newline, start = module.source.newline, module.span(statement).start
    indent = indent_of(module.source, start)
    left = ", ".join(module.text(one) for one in statement.names if one not in dealt)
    lines = [f"from {statement.module} import {left}"] if left else []
    for move in plain:
        local = move.alias.asname or move.alias.name
        lines.append(f"from {move.module} import {move.name}{'' if local == move.name else f' as {local}'}")
    needs = [((need.new.module, need.new.name), (need.old.module, need.old.name), need.local) for _, need in guarded]
    text = imports.written(needs, newline, tree.module.default_indent, indent).removesuffix(newline)
    yield Edit(module.span(statement), "".join(f"{line}{newline}{indent}" for line in lines) + text[len(indent) :])


def _is_moved(old: str, new: str, entry: Entry) -> bool:
    return any(old == f"{one}{old[len(one) :]}" and new == f"{other}{old[len(one) :]}" for one, other in pairs(entry, "modules"))
