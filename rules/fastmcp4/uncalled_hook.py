"""A class of the project overrides what a server of fastmcp 2 or 3 asked itself, and that of fastmcp 4 does not."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Standalone, SymbolUse
from ...rule import Applicability, Context, Finding
from ...sdk.modules import Def


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    if fact.use not in (SymbolUse.BASE, SymbolUse.SUBSCRIPT, SymbolUse.HEIR):
        return
    node = ctx.module.at(fact.span)
    owner = next((above for above in ctx.module.around(node) if isinstance(above, ast.ClassDef)), None) if node is not None else None
    if owner is None or not any(node is inner for base in owner.bases for inner in (base, *ast.iter_child_nodes(base))):
        return
    hooks = frozenset(ctx.entry.data["hooks"])
    for method in owner.body:
        if isinstance(method, Def) and method.name in hooks:
            message = ctx.entry.message.replace("{name}", method.name)
            yield ctx.finding(fact, Applicability.MANUAL, span=ctx.module.name_span(method), message=message)
