"""`ctx.set_state(...)` for a later call, which finds nothing on a connection of the revision."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

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
    others = _places(ctx)[_SET if fact.key == _GET else _GET]
    here = _function(node, ctx.module)
    if fact.key == _SET and _is_for_request(node):
        return
    handed = [place for one in ([*others] if key is None else [None, key]) if (place := others.get(one)) is not None]
    # What the same function, or the middleware of the same request, has put there is still there.
    if any(here in place.functions or place.hooked for place in handed) or _is_hook(node, ctx.module):
        return
    if handed:
        yield ctx.finding(fact)


@dataclass
class _Place:
    """Where a key is read, or written: in which functions, and whether one of these is middleware."""

    functions: set[str] = field(default_factory=set)
    hooked: bool = False


def _places(ctx: Context) -> dict[str, dict[str | None, _Place]]:
    """The keys that the project reads and writes; None for those that are not written down."""

    def found() -> dict[str, dict[str | None, _Place]]:
        out: dict[str, dict[str | None, _Place]] = {_SET: {}, _GET: {}}
        for path in ctx.sdk.near:
            module = ctx.sdk.module_at(path)
            for fact in ctx.project.of(path, Standalone):
                node = module.at(fact.span)
                if fact.key in out and fact.use is SymbolUse.CALL and isinstance(node, ast.Call):
                    place = out[str(fact.key)].setdefault(_key(node), _Place())
                    place.functions.add(_function(node, module))
                    place.hooked = place.hooked or _is_hook(node, module)
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
