"""`callback_handler` of a class that derives from `OAuth`, and hooks of message handlers that are gone."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Standalone, SymbolUse
from ...facts.syntax import descend
from ...rule import Context, Finding


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    owner = next((above for above in ctx.module.around(node) if isinstance(above, ast.ClassDef)), None) if node is not None else None
    if fact.use is not SymbolUse.BASE or owner is None:
        return
    for method in owner.body:
        if not isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if fact.key == "fastmcp.client.OAuth":
            if method.name == "callback_handler" and _gives_tuple(method):
                yield ctx.finding(fact, span=ctx.module.name_span(method))
        elif method.name in ctx.entry.data["hooks"]:
            message = ctx.entry.messages["unheard"].replace("{name}", method.name)
            yield ctx.finding(fact, message=message, span=ctx.module.name_span(method), hint=ctx.entry.hints["unheard"])


def _gives_tuple(method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    returned = [node.value for statement in method.body for node in descend(statement) if isinstance(node, ast.Return)]
    promised = ast.unparse(method.returns) if method.returns is not None else ""
    return promised.lower().startswith("tuple") or any(isinstance(value, ast.Tuple) for value in returned)
