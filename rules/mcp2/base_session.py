"""`class Session(BaseSession[...])`: a session that the project makes itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.gates import SESSION_MODULE
from ...facts.model import Symbol, SymbolUse
from ...rewrite import connections
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import, NewFile

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_MODULE = SESSION_MODULE.removesuffix(".py")


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    derived = _is_derived(ctx)
    if fact.use is not SymbolUse.IMPORT or (fact.key != connections.SESSION and not derived):
        return
    reason = connections.obstacle(ctx, connections.SESSION)
    taken = derived and not reason and _alias(fact, ctx) is not None
    yield ctx.finding(fact, Applicability.SAFE if taken else Applicability.MANUAL, hint=reason)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import | NewFile]:
    from ...rewrite import renames

    alias = _alias(fact, ctx)
    if alias is None or not _is_derived(ctx) or connections.obstacle(ctx, connections.SESSION):
        return
    for span in renames.uses(alias.asname or alias.name, [alias], ctx.module, ctx.sdk.inference):
        yield from connections.edits(ctx, span, connections.SESSION, alias.name)


def _is_derived(ctx: Context) -> bool:
    """Whether a class of the file has the base class: what else is done with it is about its inner parts."""
    facts = ctx.project.of(ctx.file.source.path, Symbol)
    top = ctx.module.scopes[ctx.module.tree].bindings
    if any(binding.target.rpartition(".")[2] == _MODULE for binding in top.get(_MODULE, ())):
        return True  # the other name of the import waits for its turn
    return any(one.use in (SymbolUse.BASE, SymbolUse.SUBSCRIPT) and one.key == connections.SESSION for one in facts)


def _alias(fact: Symbol, ctx: Context) -> ast.alias | None:
    """The import, where all that takes the name from it is code of this file."""
    from ...rewrite.renames import is_shared

    node = ctx.module.at(fact.span)
    if not isinstance(node, ast.alias) or not isinstance(ctx.module.parents.get(node), ast.ImportFrom):
        return None
    others = [file for path, file in ctx.project.files.items() if path != ctx.file.source.path]
    return None if is_shared(node.asname or node.name, [node], ctx.module, ctx.sdk.inference, others) else node
