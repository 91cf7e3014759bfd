"""`def connect(factory: Callable[[..., timedelta | None], ClientSession] = ClientSession)`: a class as a value."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rule import Applicability, Context, Finding

_NO_MAKERS = frozenset({"cast", "Mock", "MagicMock", "AsyncMock"})


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    alias = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.IMPORT or not isinstance(alias, ast.alias) or ctx.sdk.is_moved(ctx.file.source.path):
        return
    if "timedelta" not in ctx.file.source.text:
        return
    local = alias.asname or alias.name
    for node in ctx.module.loads.get(local, ()):
        if _is_value(node, ctx):
            bindings = ctx.sdk.inference.bindings(local, node, ctx.module)
            if bindings and all(binding.node is alias for binding in bindings):
                yield ctx.finding(fact, Applicability.MANUAL, span=ctx.module.span(node))


def _is_value(node: ast.Name, ctx: Context) -> bool:
    """Whether a class stands for itself: as the default of a parameter, or as an argument of something that is no test of types."""
    match ctx.module.parents.get(node):
        case ast.arguments(defaults=defaults, kw_defaults=named):
            return node in defaults or node in named
        case ast.keyword():
            return True
        case ast.Call(func=ast.Name(id=name)) if hasattr(builtins, name) or name in _NO_MAKERS:
            return False
        case ast.Call(args=args):
            return node in args
        case ast.BoolOp() | ast.IfExp():
            return True
    return False
