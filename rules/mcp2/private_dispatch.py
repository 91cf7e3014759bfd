"""Private parts of a low-level server are used, or overridden in a class that derives from it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rewrite import adapters
from ...rule import Applicability, Context, Finding
from ...sdk.modules import Def

_PRIVATE = frozenset(
    {"_handle_message", "_handle_request", "_handle_notification", "_tool_cache", "_get_cached_tool_definition", "_make_error_result"}
)


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    name = str(fact.key).rpartition(".")[2]
    if fact.key == adapters.SERVER:
        base = ctx.module.at(fact.span)
        owner = ctx.module.parents.get(base) if base is not None and fact.use is SymbolUse.BASE else None
        if isinstance(owner, ast.ClassDef):
            for node in owner.body:
                if isinstance(node, Def) and node.name in _PRIVATE:
                    message = f"version 2 of the SDK never calls `{node.name}` of a server"
                    yield ctx.finding(fact, Applicability.MANUAL, message=message, span=ctx.module.name_span(node))
    elif fact.use in (SymbolUse.READ, SymbolUse.STORE, SymbolUse.GETATTR):
        yield ctx.finding(fact, Applicability.MANUAL, message=f"version 2 of the SDK has no `Server.{name}`")
