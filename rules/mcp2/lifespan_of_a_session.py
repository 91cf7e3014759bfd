"""A lifespan is entered once for the whole server, where version 1 entered it for each session over HTTP."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...project import Project, is_test
from ...rewrite import adapters
from ...rule import Applicability, Context, Finding

_SERVES = ("StreamableHTTPSessionManager", ".streamable_http_app", ".run_streamable_http_async")


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call) or is_test(ctx.file.source.path):
        return
    given = next((word.value for word in node.keywords if word.arg == "lifespan"), None)
    if given is None or (isinstance(given, ast.Constant) and given.value is None):
        return
    if adapters.is_from_1(ctx) and _serves_http(ctx.project):
        yield ctx.finding(fact, Applicability.MANUAL)


def _serves_http(project: Project) -> bool:
    return any(
        str(fact.key).endswith(_SERVES) or (str(fact.key).endswith("FastMCP.run") and b"streamable-http" in file.source.utf8)
        for path, file in project.files.items()
        if not is_test(path)
        for fact in project.of(path, Symbol)
        if fact.use in (SymbolUse.CALL, SymbolUse.IMPORT)
    )
