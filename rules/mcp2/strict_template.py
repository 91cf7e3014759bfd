"""Resource templates whose parameters name files, or stand side by side."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...facts.model import Symbol
from ...rule import Applicability, Context, Finding, Severity
from ...sdk.handlers import Handler, registered

_NAME = re.compile(r"\{(\w+)\}")


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    for handler in registered(node, ctx.sdk):
        if handler.kind != "resource" or not handler.uri:
            continue
        if "}{" in handler.uri:
            yield ctx.finding(
                fact,
                Applicability.MANUAL,
                message="version 2 does not take a template whose placeholders touch each other",
                severity=Severity.ERROR,
                hint=ctx.entry.hints["adjacent"],
            )
        for name in _NAME.findall(handler.uri):
            if name in ctx.entry.data["words"] or _is_path(name, handler, ctx):
                yield ctx.finding(
                    fact,
                    Applicability.MANUAL,
                    message=ctx.entry.message.replace("{name}", name),
                    hint=ctx.entry.hints["manual"].replace("{name}", name),
                )


def _is_path(name: str, handler: Handler, ctx: Context) -> bool:
    """Whether the function makes a path of the parameter."""
    for node in ast.walk(handler.function):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""
            if called in ctx.entry.data["joined"] and any(isinstance(a, ast.Name) and a.id == name for a in node.args):
                # `", ".join(name)` is no path.
                return not (called == "join" and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Constant))
    return False
