"""`FastMCP(on_duplicate_tools=..., on_duplicate_resources=..., on_duplicate_prompts=...)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Standalone, SymbolUse
from ...rewrite import calls
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_KINDS = ("on_duplicate_tools", "on_duplicate_resources", "on_duplicate_prompts")
_DEFAULT = "'warn'"


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is SymbolUse.CALL and isinstance(node, ast.Call) and (found := _given(node)):
        yield ctx.finding(fact, _applicability(found, node))


def fix(fact: Standalone, tree: Tree, ctx: Context) -> Iterator[Edit]:
    node, call = ctx.module.at(fact.span), calls.at(tree, fact.span)
    if not isinstance(node, ast.Call) or call is None or not (found := _given(node)) or _applicability(found, node) is Applicability.MANUAL:
        return
    first, *rest = [argument for word in found if (argument := calls.keyword(call, word.arg or "")) is not None]
    yield calls.renamed(tree, first, "on_duplicate")
    yield from calls.drop(tree, call, rest)


def _given(node: ast.Call) -> list[ast.keyword]:
    return [word for word in node.keywords if word.arg in _KINDS]


def _applicability(found: list[ast.keyword], node: ast.Call) -> Applicability:
    values = {ast.unparse(word.value) for word in found}
    if len(values) > 1 or any(word.arg == "on_duplicate" for word in node.keywords):
        return Applicability.MANUAL
    return Applicability.SAFE if len(found) == len(_KINDS) or values == {_DEFAULT} else Applicability.UNSAFE
