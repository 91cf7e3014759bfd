"""`ctx.info(message=...)`, `ctx.info("...", extra=...)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_IDLE = (ast.Constant, ast.Name, ast.Attribute, ast.Dict, ast.List, ast.Tuple, ast.JoinedStr, ast.FormattedValue, ast.expr_context)


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    for word in _words(fact, ctx):
        safe = word.arg == "message" or all(isinstance(inside, _IDLE) for inside in ast.walk(word.value))
        name = word.arg or "**"
        yield ctx.finding(
            fact,
            Applicability.SAFE if safe else Applicability.MANUAL,
            message=ctx.entry.message.replace("{word}", name),
            span=ctx.module.span(word),
        )


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    from ...rewrite import calls

    call = calls.at(tree, fact.span)
    if call is None:
        return
    gone = []
    for word in _words(fact, ctx):
        argument = next(
            (a for a in call.args if (a.keyword.value if a.keyword else None) == word.arg and (word.arg or a.star == "**")), None
        )
        if argument is None:
            continue
        if word.arg == "message":
            start = ctx.module.span(word).start
            yield Edit(Span(start, start + len("message")), "data")
        elif all(isinstance(inside, _IDLE) for inside in ast.walk(word.value)):
            gone.append(argument)
    yield from calls.drop(tree, call, gone)


def keep(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    """The message goes first, without a name: the releases call it differently."""
    from ...rewrite import calls

    call, node = calls.at(tree, fact.span), ctx.module.at(fact.span)
    if call is None or not isinstance(node, ast.Call):
        return
    words = _words(fact, ctx)
    place = 1 if str(fact.key).endswith(".log") else 0
    for word in (word for word in words if word.arg == "message"):
        level = [one for one in node.keywords[: node.keywords.index(word)] if one.arg == "level"]
        if len(node.args) + len(level) != place or node.keywords.index(word) != len(level):
            return
        for one in (*level, word):
            yield Edit(Span(ctx.module.span(one).start, ctx.module.span(one.value).start))
    yield from (edit for edit in fix(fact, tree, ctx) if edit.text != "data")


def _words(fact: Symbol, ctx: Context) -> list[ast.keyword]:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call) or not fact.sure:
        return []
    return [word for word in node.keywords if word.arg not in ctx.entry.data["known"] and (word.arg is not None or _is_extra(word))]


def _is_extra(word: ast.keyword) -> bool:
    """`**extra`, as a name; what another dict holds may be right."""
    return isinstance(word.value, ast.Name) and word.value.id == "extra"
