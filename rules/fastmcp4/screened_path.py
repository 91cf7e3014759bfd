"""`@mcp.resource("files://{path*}")`, whose values are looked at before the function is called."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...facts.model import Standalone, SymbolUse
from ...rule import Context, Finding

_PATH = re.compile(r"\{(\w+)\*\}")


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call) or any(word.arg == "security" for word in node.keywords):
        return
    given = next((word.value for word in node.keywords if word.arg == "uri"), node.args[0] if node.args else None)
    if isinstance(given, ast.Constant) and isinstance(given.value, str):
        for found in _PATH.finditer(given.value):
            message = ctx.entry.message.replace("{path}", found[1])
            yield ctx.finding(fact, message=message, hint=ctx.entry.hints["manual"].format(path=found[1]))
