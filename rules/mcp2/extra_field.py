"""A keyword of a protocol type that is no field of it: version 1 sent it along."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rule import Context, Finding

# They left out what they did not know in version 1 as well.
_STRICT = frozenset({"mcp.types.RequestParams", "mcp.types.PaginatedRequestParams", "mcp.types.NotificationParams"})


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.use is not SymbolUse.CALL or not isinstance(fact.key, str) or not fact.key.startswith("mcp.types."):
        return
    api = ctx.sdk.api
    fields = api.fields(fact.key)
    old = api.old["classes"].get(fact.key, {})
    node = ctx.module.at(fact.span)
    if fields is None or "model" not in old or fact.key in _STRICT or not isinstance(node, ast.Call):
        return
    # A class of the project's own may have fields of its own.
    called = getattr(ctx.sdk.type(node.func, ctx.module), "name", "")
    if called != fact.key or ctx.sdk.is_moved(ctx.file.source.path):
        return
    extra = [f"`{word.arg}`" for word in node.keywords if word.arg is not None and word.arg not in fields]
    if extra:
        which = "which is no field" if len(extra) == 1 else "which are no fields"
        message = f"version 2 of the SDK drops {', '.join(extra)}, {which} of `{{fact.key}}`"
        yield ctx.finding(fact, span=ctx.module.span(node.func), message=message)
