"""`create_connected_server_and_client_session(server)` in tests."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite import calls
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import
from ...sdk.types import Instance

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_FUNCTION = "mcp.shared.memory.create_connected_server_and_client_session"
_CLIENT = Instance("mcp.client.client.Client")


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.key != _FUNCTION or fact.use is not SymbolUse.IMPORT:
        return
    yield ctx.finding(fact, Applicability.SAFE if all(map(_is_plain, _made(ctx))) else Applicability.MANUAL)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    from ...rewrite import cut, renames

    module = ctx.module
    alias = module.at(fact.span)
    statement = module.parents.get(alias) if alias is not None else None
    if not isinstance(alias, ast.alias) or not isinstance(statement, ast.ImportFrom) or not all(map(_is_plain, _made(ctx))):
        return
    others = [file for path, file in ctx.project.files.items() if path != ctx.file.source.path]
    yield from renames.moved(statement, [renames.Move(alias, "mcp", "Client")], tree, module, ctx.sdk.inference, others)
    for call in _made(ctx):
        node = calls.at(tree, module.span(call))
        if node is None:
            continue
        for argument, name in zip(calls.positional(node)[1:], ctx.entry.data["parameters"][1:], strict=False):
            yield calls.named(tree, argument, name)
        yield from calls.add(tree, node, ['mode="legacy"'])
    for call in _handshakes(ctx):
        waited = module.parents.get(call)
        whole = tree.statement(module.span(call))
        if isinstance(module.parents.get(waited or call), ast.Expr) and whole is not None:
            yield from cut.statement(tree, whole)
        elif isinstance(waited, ast.Await) and isinstance(call.func, ast.Attribute):
            # `Client` has made the handshake, and its session keeps what came of it.
            yield Edit(module.span(waited), f"{module.text(call.func.value)}.session.initialize_result")


def _made(ctx: Context) -> list[ast.Call]:
    return [call for call in ctx.module.nodes if isinstance(call, ast.Call) and _calls(call, ctx)]


def _calls(call: ast.Call, ctx: Context) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id if isinstance(call.func, ast.Name) else ""
    targets = {name}
    if isinstance(call.func, ast.Name):
        targets |= {binding.target for binding in ctx.sdk.inference.bindings(name, call.func, ctx.module)}
    return _FUNCTION in targets


def _is_plain(call: ast.Call) -> bool:
    """Whether the server is the first argument, and nothing is hidden behind a star."""
    return bool(call.args) and not any(isinstance(a, ast.Starred) for a in call.args) and all(word.arg for word in call.keywords)


def _handshakes(ctx: Context) -> Iterator[ast.Call]:
    """`session.initialize()` on such a client."""
    for call in ctx.module.calls.get("initialize", ()):
        if isinstance(call.func, ast.Attribute) and ctx.sdk.type(call.func.value, ctx.module) == _CLIENT:
            yield call
