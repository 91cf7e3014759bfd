"""`logging.getLogger("httpx")` in a file that opens connections of the SDK."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rule import Applicability, Context, Finding


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.use is not SymbolUse.IMPORT or b"getLogger" not in ctx.file.source.utf8 or not _is_first(fact, ctx):
        return
    newer = dict(pair.split(" -> ") for pair in ctx.entry.data["loggers"])
    asked = dict(_loggers(ctx))
    for node, name in asked.items():
        new = newer.get(name)
        if new is not None and new not in asked.values():
            message = ctx.entry.message.replace("{word}", name).replace("{new}", new)
            yield ctx.finding(fact, Applicability.MANUAL, message=message, span=ctx.module.span(node))


def _is_first(fact: Symbol, ctx: Context) -> bool:
    """Whether no other import of the file tells the same; nothing is to tell where the file is made for version 2 already."""
    if ctx.sdk.is_moved(ctx.file.source.path):
        return False
    keys = ctx.entry.match["Symbol"]
    imports = (one for one in ctx.project.of(ctx.file.source.path, Symbol) if one.use is SymbolUse.IMPORT and one.key in keys)
    return all(fact.span <= one.span for one in imports)


def _loggers(ctx: Context) -> Iterator[tuple[ast.AST, str]]:
    for node in ctx.module.nodes:
        match node:
            case ast.Call(func=ast.Attribute(attr="getLogger") | ast.Name(id="getLogger"), args=[ast.Constant(value=str(name))]):
                yield node, name
