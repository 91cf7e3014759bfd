"""`@mcp.tool(annotations={"my-key": True})`, of which `fastmcp` keeps the fields of the protocol alone since 4."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...facts.model import Standalone, SymbolUse
from ...rule import Context, Finding
from ...sdk.types import Instance, members

_SERVER = "fastmcp.FastMCP"
_TOOLS = re.compile(r"(?:mcp\.types|fastmcp\.tools(?:\.\w+)*)\.\w*Tool")
# Code that asks annotations for what is no attribute of theirs: `tool.annotations.model_dump()`, `getattr(tool.annotations, name)`.
_READ = re.compile(rb"\bannotations\.(?:model_extra|model_dump|get)\b|getattr\([\w.]*\bannotations,")


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is SymbolUse.IMPORT:
        yield from _reads(fact, ctx)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call) or str(fact.key) == _SERVER:
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


def _reads(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    """`getattr(tool.annotations, name, False)` in a file that imports the server, unless the name is one of the protocol's."""
    for node in ctx.module.calls.get("getattr", ()):
        match node.args:
            case [subject, name, *_] if not (isinstance(name, ast.Constant) and _snake(name.value) in map(_snake, ctx.entry.data["known"])):
                if _is_of_tool(subject, ctx):
                    yield ctx.finding(fact, span=ctx.module.span(node), message=ctx.entry.messages["read"], hint=ctx.entry.hints["read"])


def _snake(name: object) -> str:
    return re.sub("([A-Z])", lambda found: f"_{found[1].lower()}", str(name))


def _is_of_tool(node: ast.expr, ctx: Context) -> bool:
    """Whether these are the annotations of a tool, also by a name that they were given."""
    if isinstance(node, ast.Name):
        bindings = ctx.sdk.inference.bindings(node.id, node, ctx.module)
        return len(bindings) == 1 and isinstance(bindings[0].value, ast.Attribute) and _is_of_tool(bindings[0].value, ctx)
    if not isinstance(node, ast.Attribute) or node.attr != "annotations":
        return False
    found = [*members(ctx.sdk.type(node.value, ctx.module))]
    return bool(found) and all(isinstance(one, Instance) and _TOOLS.fullmatch(one.name) is not None for one in found)


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
