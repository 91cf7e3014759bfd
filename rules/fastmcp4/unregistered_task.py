"""`@mcp.tool(task=True)` on a server that has no extension for tasks."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Standalone, SymbolUse
from ...rule import Context, Finding


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call):
        return
    for word in node.keywords:
        plain = isinstance(word.value, ast.Constant) and word.value.value in (False, None)
        if word.arg == "task" and not plain and not _is_registered(ctx):
            yield ctx.finding(fact, span=ctx.module.span(word))


def _is_registered(ctx: Context) -> bool:
    """Whether some code of the project registers the extension."""
    return bool(ctx.project.texts.saying(b"TasksExtension"))
