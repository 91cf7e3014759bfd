"""`OAuthProxy(base_url=..., issuer_url=...)`, where both differ."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Standalone, SymbolUse
from ...rule import Context, Finding


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call):
        return
    given = {word.arg: ast.unparse(word.value) for word in node.keywords}
    issuer = given.get("issuer_url", "None")
    if issuer not in ("None", given.get("base_url")):
        yield ctx.finding(fact)
