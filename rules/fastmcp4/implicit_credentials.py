"""`GitHubProvider()`, which had its settings from variables of the environment."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Standalone, SymbolUse
from ...rule import Context, Finding


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call):
        return
    if node.args or any(word.arg is None for word in node.keywords):
        return
    given = {word.arg for word in node.keywords}
    needed = dict(line.split(" ", 1) for line in ctx.entry.data["needs_of"])[str(fact.key).rpartition(".")[2]].split()
    missing = ", ".join(f"`{name}`" for name in needed if name not in given)
    if missing:
        message = ctx.entry.message.replace("{missing}", missing)
        yield ctx.finding(fact, message=message, hint=ctx.entry.hints["manual"].format(missing=missing))
