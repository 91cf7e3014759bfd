"""`create_connected_server_and_client_session(server)` in tests."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite import calls, compat, renames
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import, NewFile
from ...sdk.modules import Def, Module
from ...sdk.types import Instance
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_FUNCTION = "mcp.shared.memory.create_connected_server_and_client_session"
_CLIENT = Instance("mcp.client.client.Client")


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.key != _FUNCTION or fact.use is not SymbolUse.IMPORT:
        return
    hint = "" if all(map(_is_plain, _made(ctx))) else ctx.entry.hints["manual"]
    hint = hint or ("" if _is_called(fact, ctx) else ctx.entry.hints["value"]) or ("" if _fits(ctx) else ctx.entry.hints["session"])
    yield ctx.finding(fact, Applicability.MANUAL if hint else Applicability.SAFE, hint=hint or ctx.entry.hints["safe"])


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    from ...rewrite import cut

    module = ctx.module
    alias = module.at(fact.span)
    statement = module.parents.get(alias) if alias is not None else None
    if not isinstance(alias, ast.alias) or not isinstance(statement, ast.ImportFrom):
        return
    if not all(map(_is_plain, _made(ctx))) or not _is_called(fact, ctx) or not _fits(ctx):
        return
    yield from renames.moved(statement, [renames.Move(alias, "mcp", "Client")], tree, module, ctx.sdk.inference, ctx.project.texts)
    for call in _made(ctx):
        node = calls.at(tree, module.span(call))
        if node is None:
            continue
        for argument, name in zip(calls.positional(node)[1:], ctx.entry.data["parameters"][1:], strict=False):
            yield calls.named(tree, argument, name)
        yield from calls.add(tree, node, ['mode="legacy"'])
    for call in _asked("get_server_capabilities", ctx):
        assert isinstance(call.func, ast.Attribute)
        yield Edit(Span(module.attribute_span(call.func).start, module.span(call).end), "server_capabilities")
    for call in _asked("initialize", ctx):
        waited = module.parents.get(call)
        whole = tree.statement(module.span(call))
        if isinstance(module.parents.get(waited or call), ast.Expr) and whole is not None:
            yield from cut.statement(tree, whole)
        elif isinstance(waited, ast.Await) and isinstance(call.func, ast.Attribute):
            # `Client` has made the handshake, and its session keeps what came of it.
            yield Edit(module.span(waited), f"{module.text(call.func.value)}.session.initialize_result")


def keep(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import | NewFile]:
    if not compat.obstacle(ctx):
        yield from compat.taken(fact, "create_connected_server_and_client_session", tree, ctx)


def _made(ctx: Context) -> list[ast.Call]:
    def made() -> list[ast.Call]:
        return [call for call in ctx.module.of(ast.Call) if isinstance(call, ast.Call) and _calls(call, ctx)]

    return ctx.project.remember(f"sessions in memory of {ctx.module.path}", made)


def _calls(call: ast.Call, ctx: Context) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id if isinstance(call.func, ast.Name) else ""
    targets = {name}
    if isinstance(call.func, ast.Name):
        targets |= {binding.target for binding in ctx.sdk.inference.bindings(name, call.func, ctx.module)}
    return _FUNCTION in targets


def _is_called(fact: Symbol, ctx: Context) -> bool:
    """Whether the function is called wherever it is named: `Client` in its place makes no handshake that another place counts on."""
    module = ctx.module
    alias = module.at(fact.span)
    name = (alias.asname or alias.name) if isinstance(alias, ast.alias) else ""
    made = {call.func for call in _made(ctx)}
    uses = (node for node in module.names.get(name, ()) if node not in made)
    if isinstance(alias, ast.alias) and renames.is_shared(name, [alias], module, ctx.sdk.inference, ctx.project.texts):
        return False  # others take it from here, and call it as before
    return not any(_FUNCTION in {one.target for one in ctx.sdk.inference.bindings(name, node, module)} for node in uses)


def _fits(ctx: Context) -> bool:
    """Whether a `Client` can do all that is wanted of what is made, here or where it is handed on to."""
    return ctx.project.remember(f"a client does for {ctx.module.path}", partial(_does, ctx))


def _does(ctx: Context) -> bool:
    names = {name for call in _made(ctx) if (name := _bound(call, ctx.module))}
    handed = len(names) < len(_made(ctx)) or any(_is_handed(node, names, ctx.module) for node in ctx.module.nodes)
    if any(_is_beyond(node, ctx.module, ctx, handed=handed) for node in ctx.module.nodes):
        return False
    others = _others(ctx) if handed else ()
    return not any(_is_beyond(node, other, ctx, handed=True) for other in others for node in other.nodes)


def _bound(call: ast.Call, module: Module) -> str:
    """The name in `async with call as name`."""
    item = module.parents.get(call)
    return item.optional_vars.id if isinstance(item, ast.withitem) and isinstance(item.optional_vars, ast.Name) else ""


def _is_handed(node: ast.AST, names: set[str], module: Module) -> bool:
    return (
        isinstance(node, ast.Name)
        and node.id in names
        and isinstance(node.ctx, ast.Load)
        and not isinstance(module.parents.get(node), ast.Attribute)
    )


def _others(ctx: Context) -> Iterator[Module]:
    """The files that may get it by an import or, from a `conftest.py`, as a fixture."""
    path = ctx.file.source.path
    folder = path.removesuffix("conftest.py") if path.endswith("conftest.py") else None
    wanted = [word.encode() for word in ctx.entry.data["sessions_only"]]
    for other in {*ctx.project.importers(path), *(one for one in ctx.project.files if folder is not None and one.startswith(folder))} - {
        path
    }:
        if any(word in ctx.project.files[other].source.utf8 for word in wanted):
            yield ctx.sdk.module_at(other)


def _is_beyond(node: ast.AST, module: Module, ctx: Context, *, handed: bool) -> bool:
    """Whether something is asked for that a session has and a `Client` has not."""
    if not isinstance(node, ast.Attribute):
        return False
    call = module.parents.get(node)
    paged = node.attr.startswith("list_") and isinstance(call, ast.Call) and any(word.arg == "params" for word in call.keywords)
    if node.attr not in ctx.entry.data["sessions_only"] and not paged:
        return False
    known = ctx.sdk.type(node.value, module)
    if known == _CLIENT:
        return node.attr != "initialize" or not isinstance(call, ast.Call)
    return handed and (known is None or _is_parameter(node.value, module))


def _is_parameter(node: ast.expr, module: Module) -> bool:
    around = next((one for one in module.around(node) if isinstance(one, Def)), None)
    return (
        around is not None
        and isinstance(node, ast.Name)
        and node.id in {one.arg for one in ast.walk(around.args) if isinstance(one, ast.arg)}
    )


def _is_plain(call: ast.Call) -> bool:
    """Whether the server is the first argument, and nothing is hidden behind a star."""
    return bool(call.args) and not any(isinstance(a, ast.Starred) for a in call.args) and all(word.arg for word in call.keywords)


def _asked(method: str, ctx: Context) -> Iterator[ast.Call]:
    """`session.initialize()` and the like on such a client."""
    for call in ctx.module.calls.get(method, ()):
        if isinstance(call.func, ast.Attribute) and ctx.sdk.type(call.func.value, ctx.module) == _CLIENT:
            yield call
