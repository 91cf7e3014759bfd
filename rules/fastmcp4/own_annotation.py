"""`@mcp.tool(annotations={"my-key": True})`, of which `fastmcp` keeps the fields of the protocol alone since 4."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...facts.model import Standalone, SymbolUse
from ...rule import Context, Finding

# Code that asks annotations for what is no attribute of theirs: `tool.annotations.model_dump()`, `getattr(tool.annotations, name)`.
_READ = re.compile(rb"\bannotations\.(?:model_extra|model_dump|get)\b|getattr\([\w.]*\bannotations,")


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call):
        return
    for word in node.keywords:
        if word.arg == "annotations":
            for value in _values(word.value, ctx):
                yield from _finding(fact, word, value, ctx)


def _finding(fact: Standalone, word: ast.keyword, value: ast.expr | None, ctx: Context) -> Iterator[Finding]:
    span = ctx.module.span(word)
    if isinstance(value, ast.Constant | ast.Call) and not _is_copy(value):
        return  # nothing, or an object of a class that says itself what it keeps
    literal = value.keys if isinstance(value, ast.Dict) else [None]
    keys = [key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None for key in literal]
    own = [f"`{key}`" for key in keys if key is not None and key not in ctx.entry.data["known"]]
    if own:
        yield ctx.finding(fact, span=span, message=ctx.entry.message.replace("{what}", ", ".join(own)))
    elif None in keys and ctx.project.remember("annotations are read by name", lambda: _are_read(ctx)):
        what = "annotations of one's own"
        yield ctx.finding(fact, span=span, message=ctx.entry.message.replace("{what}", what), hint=ctx.entry.hints["unknown"])


def _are_read(ctx: Context) -> bool:
    return any(_READ.search(file.source.utf8) for file in ctx.project.files.values())


def _values(value: ast.expr, ctx: Context) -> Iterator[ast.expr | None]:
    """The expression, or all that a name may stand for; None for what is not known."""
    if not isinstance(value, ast.Name):
        yield value
        return
    bindings = ctx.sdk.inference.bindings(value.id, value, ctx.module)
    yield from (None if one.path else one.value for one in bindings)
    if not bindings:
        yield None


def _is_copy(value: ast.expr) -> bool:
    """Whether this is `dict(...)` of something."""
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "dict"
