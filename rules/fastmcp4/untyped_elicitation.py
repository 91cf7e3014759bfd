"""`ctx.elicit(message)` without `response_type`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Standalone, SymbolUse
from ...rule import Applicability, Context, Finding


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is SymbolUse.CALL and isinstance(node, ast.Call) and fact.sure and (_lacks(node) or _none(node) is not None):
        yield ctx.finding(fact, Applicability.MANUAL)


def _lacks(node: ast.Call) -> bool:
    open_ended = any(isinstance(one, ast.Starred) for one in node.args) or any(word.arg is None for word in node.keywords)
    return not open_ended and len(node.args) < 2 and all(word.arg != "response_type" for word in node.keywords)


def _none(node: ast.Call) -> ast.expr | None:
    """The `None` that is given for it."""
    given = next((word.value for word in node.keywords if word.arg == "response_type"), node.args[1] if len(node.args) > 1 else None)
    return given if isinstance(given, ast.Constant) and given.value is None else None
