"""`ctx.set_state(...)` for a later call, which finds nothing on a connection of the revision."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Standalone, SymbolUse
from ...rule import Context, Finding
from ...sdk.modules import Module

_SET, _GET = "fastmcp.Context.set_state", "fastmcp.Context.get_state"
_HOOKS = ("on_", "__call__")


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call) or not fact.sure:
        return
    key = _key(node)
    places = _places(ctx)
    others = places[_SET if fact.key == _GET else _GET]
    here = _function(node, ctx.module)
    if fact.key == _SET and _is_for_request(node):
        return
    # What the same function, or the middleware of the same request, has put there is still there.
    handed = [place for place in others if key is None or place[0] in (None, key)]
    if any(place[1] == here or place[2] for place in handed) or _is_hook(node, ctx.module):
        return
    if handed:
        yield ctx.finding(fact)


def _places(ctx: Context) -> dict[str, list[tuple[str | None, str, bool]]]:
    """The keys that the project reads and writes, each with the function around it and whether that is middleware."""

    def found() -> dict[str, list[tuple[str | None, str, bool]]]:
        out: dict[str, list[tuple[str | None, str, bool]]] = {_SET: [], _GET: []}
        for path in ctx.project.files:
            module = ctx.sdk.module_at(path)
            for fact in ctx.project.of(path, Standalone):
                node = module.at(fact.span)
                if fact.key in out and fact.use is SymbolUse.CALL and isinstance(node, ast.Call):
                    out[str(fact.key)].append((_key(node), _function(node, module), _is_hook(node, module)))
        return out

    return ctx.project.remember("state of fastmcp", found)


def _function(node: ast.Call, module: Module) -> str:
    function = module.function(node)
    return f"{module.path}:{module.qualified(function)}" if function is not None else module.path


def _is_hook(node: ast.Call, module: Module) -> bool:
    function = module.function(node)
    return function is not None and function.name.startswith(_HOOKS)


def _key(node: ast.Call) -> str | None:
    given = next((word.value for word in node.keywords if word.arg == "key"), node.args[0] if node.args else None)
    return given.value if isinstance(given, ast.Constant) and isinstance(given.value, str) else None


def _is_for_request(node: ast.Call) -> bool:
    return any(word.arg == "serializable" and isinstance(word.value, ast.Constant) and word.value.value is False for word in node.keywords)
