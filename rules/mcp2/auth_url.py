"""`AuthSettings(issuer_url="https://host")`: the URL had a slash behind it in version 1."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_PLAIN = re.compile(r"(['\"])[^'\"]+\1")  # no prefix, one part, one quote on each side
_BARE = re.compile(r"https?://[\w.-]+(?::\d+)?", re.ASCII)


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    bare = [*_bare(fact, ctx)]
    relied = [one for one in bare if _is_compared(one, ctx)]
    unsure = next((one for one in bare if one not in relied), None)
    for one in (*relied, *([unsure] if unsure is not None else ())):
        message = f"version 1 of the SDK wrote this URL as `{one.value!s}/`, and version 2 leaves it as it stands"
        sure = Applicability.SAFE if one in relied else Applicability.MANUAL
        yield ctx.finding(fact, sure, span=ctx.module.span(one), message=message)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    for one in _bare(fact, ctx):
        if _is_compared(one, ctx):
            end = ctx.module.span(one).end - 1
            yield Edit(Span(end, end), "/")


def _bare(fact: Symbol, ctx: Context) -> Iterator[ast.Constant]:
    """The URLs without a path that are given to one of these classes as texts; an `AnyHttpUrl` has its slash in both versions."""
    node = ctx.module.at(fact.span)
    if fact.use is SymbolUse.CALL and isinstance(node, ast.Call) and not ctx.sdk.is_moved(ctx.file.source.path):
        words = [word for word in node.keywords if word.arg in ctx.entry.data["urls"]]
        yield from (one for word in words for one in _literals(word.value) if _BARE.fullmatch(str(one.value)))


def _literals(node: ast.expr) -> Iterator[ast.Constant]:
    """The texts that are given for a URL, alone or in a list."""
    match node:
        case ast.Constant(value=str()):
            yield node
        case ast.List(elts=elements):
            for element in elements:
                yield from _literals(element)


def _is_compared(url: ast.Constant, ctx: Context) -> bool:
    """Whether the same function compares something with the text that version 1 made of a URL, and nothing with the one without a slash.

    With the slash given, all stays as it was; elsewhere somebody may be glad to be rid of it.
    """
    module = ctx.module
    if not _PLAIN.fullmatch(module.text(url)):
        return False
    function = module.function(url)
    if function is None:
        return False
    compared = {other.value for node in ast.walk(function) for other in _compared(node) if isinstance(other, ast.Constant)}
    return f"{url.value!s}/" in compared and url.value not in compared


def _compared(node: ast.AST) -> Iterator[ast.expr]:
    """Both sides of `==`, also as `assertEqual`."""
    match node:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            yield from (left, right)
        case ast.Call(func=ast.Attribute(attr="assertEqual"), args=[left, right, *_]):
            yield from (left, right)
