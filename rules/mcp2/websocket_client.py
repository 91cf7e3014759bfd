"""`websocket_client(url)`: a transport that version 2 has not."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite import connections
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import, NewFile

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.use not in (SymbolUse.IMPORT, SymbolUse.NAME, SymbolUse.TEXT):
        return
    reason = connections.obstacle(ctx, connections.SOCKET)
    if reason or not _uses(fact, ctx):
        yield ctx.finding(fact, Applicability.MANUAL, hint=reason)
    else:
        yield ctx.finding(fact, Applicability.SAFE)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import | NewFile]:
    if not connections.obstacle(ctx, connections.SOCKET):
        for node in _uses(fact, ctx):
            yield from connections.edits(ctx, ctx.module.span(node), connections.SOCKET)


def _uses(fact: Symbol, ctx: Context) -> list[ast.expr]:
    """Where an imported name is used, if that is all that anybody takes of it."""
    from ...rewrite.renames import is_shared

    module, node = ctx.module, ctx.module.at(fact.span)
    if fact.use is SymbolUse.NAME:
        return [node] if isinstance(node, ast.Attribute) else []
    if not isinstance(node, ast.alias) or not isinstance(module.parents.get(node), ast.ImportFrom):
        return []
    local = node.asname or node.name
    if is_shared(local, [node], module, ctx.sdk.inference, ctx.project.texts):
        return []
    found: list[ast.expr] = []
    for one in module.of(ast.Name):
        if isinstance(one, ast.Name) and one.id == local and isinstance(one.ctx, ast.Load):
            bindings = ctx.sdk.inference.bindings(local, one, module)
            if bindings and all(binding.node is node for binding in bindings):
                found.append(one)
    return found
