"""`AuthSettings(issuer_url="https://host")`: the URL had a slash behind it in version 1."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rule import Applicability, Context, Finding

_BARE = re.compile(r"https?://[\w.-]+(?::\d+)?", re.ASCII)


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call) or ctx.sdk.is_moved(ctx.file.source.path):
        return
    bare = next((one for word in node.keywords for one in _literals(word.value) if _BARE.fullmatch(str(one.value))), None)
    if bare is not None:
        message = f"version 1 of the SDK wrote this URL as `{bare.value!s}/`, and version 2 leaves it as it stands"
        yield ctx.finding(fact, Applicability.MANUAL, span=ctx.module.span(bare), message=message)


def _literals(node: ast.expr) -> Iterator[ast.Constant]:
    """The texts that are given for a URL, alone, in a list, or to the class of URLs."""
    match node:
        case ast.Constant(value=str()):
            yield node
        case ast.List(elts=elements) | ast.Call(args=elements, keywords=[]):
            for element in elements:
                yield from _literals(element)
