"""`lifespan=` on a server that is run over streamable HTTP."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rule import Applicability, Context, Finding
from ...sdk.options import served_over
from ...sdk.servers import part

_MANAGER = "mcp.server.streamable_http_manager.StreamableHTTPSessionManager"


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call):
        return
    word = next((word for word in node.keywords if word.arg == "lifespan"), None)
    if word is None or (isinstance(word.value, ast.Constant) and word.value.value is None):
        return
    if part(fact) == "":
        server = next((server for server in ctx.sdk.servers if server.call is node), None)
        found = server is not None and "streamable-http" in served_over(server, ctx.sdk)
    else:
        # Only where the server is handed to a manager by name is it known to be served so.
        found = any(_manages(node, path, ctx) for path in ctx.project.files)
    if found:
        yield ctx.finding(fact, Applicability.MANUAL, span=ctx.module.span(word))


def _manages(node: ast.Call, path: str, ctx: Context) -> bool:
    for fact in ctx.sdk.symbols(path):
        if fact.key == _MANAGER and fact.use is SymbolUse.CALL:
            return True
    file = ctx.project.files[path]
    return b"StreamableHTTPSessionManager(" in file.source.utf8 and path == ctx.file.source.path
