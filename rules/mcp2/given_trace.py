"""`session.call_tool(name, arguments, meta=...)` in a project that knows `traceparent`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rule import Context, Finding

_KEYS = (b'"traceparent"', b"'traceparent'")


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call) or ctx.sdk.is_moved(ctx.file.source.path):
        return
    given = next((word.value for word in node.keywords if word.arg == "meta"), None)
    if given is None or not _knows_traces(ctx):
        return
    # A dict that is written here shows whether a trace is in it.
    shown = isinstance(given, ast.Dict) and all(isinstance(key, ast.Constant) and key.value != "traceparent" for key in given.keys)
    if not isinstance(given, ast.Constant) and not shown:
        yield ctx.finding(fact, span=ctx.module.span(given))


def _knows_traces(ctx: Context) -> bool:
    return any(ctx.project.texts.saying(key) for key in _KEYS)
