"""`ctx.session_id` or `ctx.session` as the key of what a server keeps."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Standalone, SymbolUse
from ...rule import Context, Finding
from ..kept import is_kept, same


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is SymbolUse.READ and isinstance(node, ast.Attribute) and any(is_kept(one, ctx.module) for one in same(node, ctx)):
        yield ctx.finding(fact)
