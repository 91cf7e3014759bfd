"""`class Session(BaseSession[...])`: a session that the project makes itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.gates import SESSION_MODULE
from ...facts.model import Symbol, SymbolUse
from ...rewrite import connections, homes
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import, NewFile
from ...sdk import typed
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_MODULE = SESSION_MODULE.removesuffix(".py")


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    derived = _is_derived(ctx)
    if fact.use is not SymbolUse.IMPORT or (fact.key != connections.SESSION and not derived):
        return
    if not derived and _names(fact, ctx) is not None:
        yield ctx.finding(fact, Applicability.SAFE, hint=ctx.entry.hints["named"])
        return
    reason = connections.obstacle(ctx, connections.SESSION)
    taken = derived and not reason and _alias(fact, ctx) is not None
    yield ctx.finding(fact, Applicability.SAFE if taken else Applicability.MANUAL, hint=reason)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import | NewFile]:
    from ...rewrite import renames

    alias = _alias(fact, ctx)
    if alias is None:
        return
    if not _is_derived(ctx):
        yield from _named(fact, alias, tree, ctx)
        return
    if connections.obstacle(ctx, connections.SESSION):
        return
    for span in renames.uses(alias.asname or alias.name, [alias], ctx.module, ctx.sdk.inference):
        yield from connections.edits(ctx, span, connections.SESSION, alias.name)


def _named(fact: Symbol, alias: ast.alias, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    """Where a class is only named, for what a value may be, the two that version 1 derived from it say the same."""
    from ...rewrite import renames

    statement = ctx.module.parents.get(alias)
    names = _names(fact, ctx)
    if not isinstance(statement, ast.ImportFrom) or names is None:
        return
    classes = [place.rpartition(".") for place in ctx.entry.data["derived"]]
    needs = [Import(module, name) for module, _, name in classes]
    text = " | ".join(name for _, _, name in classes)
    for name in names:
        above = ctx.module.parents.get(name)
        if isinstance(above, ast.Subscript) and above.value is name:
            yield Edit(Span(ctx.module.span(name).end, ctx.module.span(above).end))
    yield from renames.replaced(statement, alias, lambda _: (text, needs), tree, ctx.module, ctx.sdk.inference)


def _names(fact: Symbol, ctx: Context) -> list[ast.Name] | None:
    """All that stands for the class here, where each only says of what class a value is, and no class of the project derives from it."""
    alias = _alias(fact, ctx)
    if alias is None or fact.key != connections.SESSION or _derives_anywhere(ctx):
        return None
    if any(homes.is_taken(ctx.module, place.rpartition(".")[2]) for place in ctx.entry.data["derived"]):
        return None
    local = alias.asname or alias.name
    # In a text nobody looks for what stands in brackets behind a name.
    if any(isinstance(node, ast.Constant) and isinstance(node.value, str) and f"{local}[" in node.value for node in ctx.module.nodes):
        return None
    names = [*ctx.sdk.inference.uses(alias, ctx.module)]
    return names if all(typed.is_for_types(name, ctx.module) for name in names) else None


def _derives_anywhere(ctx: Context) -> bool:
    """Whether a class of the project has the base class, or had it before it was fixed."""
    if any(path.rpartition("/")[2] == SESSION_MODULE for path in ctx.project.files):
        return True
    return any(_is_base(fact, path, ctx) for path in ctx.sdk.near for fact in ctx.project.of(path, Symbol))


def _is_derived(ctx: Context) -> bool:
    """Whether a class of the file has the base class: what else is done with it is about its inner parts."""
    path = ctx.file.source.path
    top = ctx.module.scopes[ctx.module.tree].bindings
    if any(binding.target.rpartition(".")[2] == _MODULE for binding in top.get(_MODULE, ())):
        return True  # the other name of the import waits for its turn
    return any(_is_base(one, path, ctx) for one in ctx.project.of(path, Symbol))


def _is_base(fact: Symbol, path: str, ctx: Context) -> bool:
    """Whether this is `class Session(BaseSession[...])`, with or without brackets."""
    if fact.key != connections.SESSION or fact.use not in (SymbolUse.BASE, SymbolUse.SUBSCRIPT):
        return False
    module = ctx.sdk.module_at(path)
    node = module.at(fact.span)
    above = module.parents.get(node) if node is not None else None
    return fact.use is SymbolUse.BASE or (isinstance(above, ast.ClassDef) and node in above.bases)


def _alias(fact: Symbol, ctx: Context) -> ast.alias | None:
    """The import, where all that takes the name from it is code of this file."""
    from ...rewrite.renames import is_shared

    node = ctx.module.at(fact.span)
    if not isinstance(node, ast.alias) or not isinstance(ctx.module.parents.get(node), ast.ImportFrom):
        return None
    return None if is_shared(node.asname or node.name, [node], ctx.module, ctx.sdk.inference, ctx.project.texts) else node
