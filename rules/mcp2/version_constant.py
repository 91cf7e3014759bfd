"""`LATEST_PROTOCOL_VERSION`, `SUPPORTED_PROTOCOL_VERSIONS`: what they mean depends on what they are used for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Either, Finding, Import

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_LATEST, _SUPPORTED = "LATEST_PROTOCOL_VERSION", "SUPPORTED_PROTOCOL_VERSIONS"
_HOME = "mcp.types.version"
_CHANGES = frozenset({"append", "extend", "insert", "remove", "pop", "sort", "clear", "reverse"})


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if not _is_meant(fact, ctx):
        return
    nodes = [*_uses(fact, ctx)]
    applicability = Applicability.MANUAL if any(_changes(node, ctx) for node in nodes) else Applicability.SAFE
    yield ctx.finding(fact, applicability)
    if fact.use is SymbolUse.IMPORT:
        # What is meant is decided at each use.
        latest = str(fact.key).endswith(_LATEST)
        for node in nodes:
            message = f"what is meant here is `{_name(node, latest, ctx)}` in version 2 of the SDK"
            yield ctx.finding(fact, applicability, span=ctx.module.span(node), message=message)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    from ...rewrite import renames

    module = ctx.module
    node = module.at(fact.span)
    latest = str(fact.key).endswith(_LATEST)
    if fact.use is SymbolUse.NAME and node is not None:
        name = _name(node, latest, ctx)
        yield Edit(fact.span, _spelled(node, name, ctx))
        yield Import(_HOME, name)
        return
    statement = module.parents.get(node) if node is not None else None
    if not isinstance(node, ast.alias) or not isinstance(statement, ast.ImportFrom):
        return
    local = node.asname or node.name
    shared = renames.is_shared(local, [node], module, ctx.sdk.inference, ctx.project.texts)
    names = {_name(use, latest, ctx) for use in _uses(fact, ctx)} or {
        "LATEST_HANDSHAKE_VERSION" if latest else "HANDSHAKE_PROTOCOL_VERSIONS"
    }
    if shared or node.asname is not None or not _is_plain(statement, ctx) or not [*_uses(fact, ctx)]:
        # One name for all: that of the handshake, as it was.
        name = names.pop() if len(names) == 1 else "HANDSHAKE_PROTOCOL_VERSIONS"
        moved = renames.Move(ast.copy_location(node, node), _HOME, name)
        if shared and node.asname is None:
            yield from renames.replaced(statement, node, lambda use: (local, []), tree, module, ctx.sdk.inference)
            yield Import(_HOME, f"{name} as {local}")
        else:
            yield from renames.moved(statement, [moved], tree, module, ctx.sdk.inference, ctx.project.texts)
        return

    def spell(use: ast.AST) -> tuple[str, list[Import]]:
        name = _name(use, latest, ctx)
        return _spelled(use, name, ctx), [Import(_HOME, name)]

    yield from renames.replaced(statement, node, spell, tree, module, ctx.sdk.inference)


def keep(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import | Either]:
    """Under a name of its own, or that others know, a constant is what it was: that of the handshake."""
    from ...rewrite import renames

    node, module = ctx.module.at(fact.span), ctx.module
    statement = module.parents.get(node) if node is not None else None
    if fact.use is SymbolUse.NAME:
        yield from fix(fact, tree, ctx)
        return
    if not isinstance(node, ast.alias) or not isinstance(statement, ast.ImportFrom) or not _is_plain(statement, ctx):
        return
    if any(_changes(use, ctx) for use in _uses(fact, ctx)):
        return
    local = node.asname or node.name
    shared = renames.is_shared(local, [node], module, ctx.sdk.inference, ctx.project.texts)
    if not shared and node.asname is None and [*_uses(fact, ctx)]:
        yield from fix(fact, tree, ctx)
        return
    latest = str(fact.key).endswith(_LATEST)
    new = "LATEST_HANDSHAKE_VERSION" if latest else "HANDSHAKE_PROTOCOL_VERSIONS"
    yield from renames.moved(statement, [], tree, module, ctx.sdk.inference, ctx.project.texts, also=[node])
    yield Either(Import(_HOME, new), Import("mcp.shared.version", node.name), local, exported=shared)


def _is_meant(fact: Symbol, ctx: Context) -> bool:
    where, _, name = str(fact.key).rpartition(".")
    if fact.use not in (SymbolUse.IMPORT, SymbolUse.NAME) or name not in (_LATEST, _SUPPORTED):
        return False
    # In its new home the name is a word of version 2.
    return ctx.sdk.api.was(where, name) and where != _HOME and not ctx.sdk.is_moved(ctx.file.source.path)


def _is_plain(statement: ast.stmt, ctx: Context) -> bool:
    return ctx.module.parents.get(statement) is ctx.module.tree


def _uses(fact: Symbol, ctx: Context) -> Iterator[ast.AST]:
    node = ctx.module.at(fact.span)
    if fact.use is SymbolUse.NAME and node is not None:
        yield node
    elif isinstance(node, ast.alias):
        yield from ctx.sdk.inference.uses(node, ctx.module)


def _name(node: ast.AST, latest: bool, ctx: Context) -> str:
    """What is meant by a use: the handshake, or every version that there is."""
    if latest:
        return "LATEST_HANDSHAKE_VERSION"
    module = ctx.module
    above = module.parents.get(node)
    statement = module.statement(node)
    if statement is not None and not isinstance(statement, ast.If | ast.While | ast.For | ast.With):
        text = module.text(statement).lower()
    else:
        text = module.text(above).lower() if above is not None and hasattr(above, "lineno") else ""
    if any(word in text for word in ctx.entry.data["header"]):
        return "KNOWN_PROTOCOL_VERSIONS"
    if isinstance(above, ast.Compare | ast.Subscript):
        return "HANDSHAKE_PROTOCOL_VERSIONS"
    return "KNOWN_PROTOCOL_VERSIONS" if isinstance(above, ast.Call) and node in above.args else "HANDSHAKE_PROTOCOL_VERSIONS"


def _spelled(node: ast.AST, name: str, ctx: Context) -> str:
    """A list was added to: `[...] + SUPPORTED_PROTOCOL_VERSIONS`."""
    above = ctx.module.parents.get(node)
    is_list = isinstance(above, ast.BinOp) or (isinstance(above, ast.Attribute) and above.attr == "copy")
    return f"list({name})" if is_list and name.endswith("VERSIONS") else name


def _changes(node: ast.AST, ctx: Context) -> bool:
    """Whether the list is changed in place."""
    above = ctx.module.parents.get(node)
    return (
        (isinstance(above, ast.Attribute) and above.attr in _CHANGES)
        or (isinstance(above, ast.Subscript) and above.value is node and not isinstance(above.ctx, ast.Load))
        or (isinstance(above, ast.AugAssign) and above.target is node)
    )
