"""`MultiAuth(server=..., verifiers=[...])`, whose sources have names since `fastmcp` 4."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Standalone, SymbolUse
from ...rule import Context, Finding


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    # What names a source is written for release 4.
    named = isinstance(node, ast.Call) and any(
        word.arg == "server_source_id" or isinstance(word.value, ast.Dict | ast.DictComp) for word in node.keywords
    )
    if fact.use is SymbolUse.CALL and isinstance(node, ast.Call) and not named:
        yield ctx.finding(fact)
