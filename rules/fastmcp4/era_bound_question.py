"""`ctx.elicit(...)`, which needs a connection of an earlier revision."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Standalone, SymbolUse
from ...rule import Context, Finding

_VERSION = "protocol_version"


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is SymbolUse.CALL and isinstance(node, ast.Call) and fact.sure and not _asks_for_version(node, ctx):
        yield ctx.finding(fact)


def _asks_for_version(node: ast.Call, ctx: Context) -> bool:
    """Whether the function around it knows the revision of the connection, and may ask in another way."""
    function = ctx.module.function(node)
    return function is not None and any(isinstance(inner, ast.Attribute) and inner.attr == _VERSION for inner in ast.walk(function))
