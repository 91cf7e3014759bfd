"""`lifespan=` on a server that is run over streamable HTTP."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rule import Applicability, Context, Finding
from ...sdk.options import served_over


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call):
        return
    word = next((word for word in node.keywords if word.arg == "lifespan"), None)
    if word is None or (isinstance(word.value, ast.Constant) and word.value.value is None):
        return
    server = ctx.sdk.servers.at(node)
    if server is not None and "streamable-http" in served_over(server, ctx.sdk):
        yield ctx.finding(fact, Applicability.MANUAL, span=ctx.module.span(word))
