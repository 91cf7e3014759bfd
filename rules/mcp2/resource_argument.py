"""`FileResource(is_binary=...)`, and arguments of resource classes that nobody knows."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_IDLE = (ast.Constant, ast.Name, ast.Attribute, ast.Dict, ast.List, ast.Tuple, ast.expr_context)


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.use is SymbolUse.READ and str(fact.key).endswith(".is_binary"):
        yield ctx.finding(
            fact,
            Applicability.SAFE if fact.sure else Applicability.UNSAFE,
            message="a file resource has an encoding instead of `is_binary` in version 2",
        )
        return
    for word in _words(fact, ctx):
        if word.arg in ctx.entry.data["binary"]:
            known = isinstance(word.value, ast.Constant) and isinstance(word.value.value, bool)
            applicability = Applicability.SAFE if known else Applicability.MANUAL
        else:
            applicability = Applicability.SAFE if _is_idle(word) else Applicability.MANUAL
        yield ctx.finding(
            fact,
            applicability,
            message=ctx.entry.message.replace("{word}", str(word.arg)),
            span=ctx.module.span(word),
            hint="" if word.arg in ctx.entry.data["binary"] or _is_idle(word) else "version 1 did not look at it; leave it out",
        )


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    from ...rewrite import calls

    call, node = calls.at(tree, fact.span), ctx.module.at(fact.span)
    if isinstance(node, ast.Attribute):
        yield Edit(fact.span, f"({ctx.module.text(node.value)}.encoding is None)")
    if call is None or not isinstance(node, ast.Call):
        return
    gone = []
    for word in _words(fact, ctx):
        argument = calls.keyword(call, str(word.arg))
        if argument is None:
            continue
        if word.arg not in ctx.entry.data["binary"]:
            if _is_idle(word):
                gone.append(argument)
        elif isinstance(word.value, ast.Constant) and (word.value.value is True or _is_other_than_text(node)):
            yield Edit(ctx.module.span(word), "encoding=None")
        elif isinstance(word.value, ast.Constant):
            gone.append(argument)
    yield from calls.drop(tree, call, gone)


def _is_other_than_text(node: ast.Call) -> bool:
    """Whether version 1 sent the file as bytes whatever was said, by its type."""
    mime = next((word.value for word in node.keywords if word.arg == "mime_type"), None)
    return isinstance(mime, ast.Constant) and not str(mime.value).startswith("text/")


def _is_idle(word: ast.keyword) -> bool:
    return all(isinstance(inside, _IDLE) for inside in ast.walk(word.value))


def _words(fact: Symbol, ctx: Context) -> list[ast.keyword]:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call) or not fact.sure:
        return []
    name = str(fact.key).replace("mcp.server.fastmcp.", "mcp.server.mcpserver.")
    fields = ctx.sdk.api.fields(name)
    return [word for word in node.keywords if word.arg is not None and fields is not None and word.arg not in fields]
