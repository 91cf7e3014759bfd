"""`on_initialize` of middleware, and hooks that see more messages than before."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Standalone
from ...rule import Applicability, Context, Finding, Severity
from .. import derived

_EVERY = ("on_message", "on_request", "on_notification")


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    for method in derived.methods(fact, ctx):
        if method.name == "on_initialize":
            yield ctx.finding(fact, span=ctx.module.name_span(method))
        elif method.name in _EVERY and _counts(method):
            message = ctx.entry.messages["every"].replace("{name}", method.name)
            yield ctx.finding(
                fact,
                Applicability.MANUAL,
                message=message,
                severity=Severity.NOTE,
                span=ctx.module.name_span(method),
                hint=ctx.entry.hints["every"],
            )


def _counts(method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether it counts or refuses, and does not ask which message it has."""
    nodes = [*ast.walk(method)]
    asked = any(isinstance(node, ast.Attribute) and node.attr in ("method", "type") for node in nodes)
    return not asked and any(isinstance(node, ast.AugAssign | ast.Raise) for node in nodes)
