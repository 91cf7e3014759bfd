"""`callback_handler` of a class that derives from `OAuth`, and hooks of message handlers that are gone."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Standalone
from ...facts.syntax import descend
from ...rule import Context, Finding
from .. import derived


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    for method in derived.methods(fact, ctx):
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
