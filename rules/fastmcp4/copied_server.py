"""`await server.import_server(child, prefix=...)`, which is `mount` now."""

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

_TAKEN = frozenset({"server", "prefix"})


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is SymbolUse.CALL and isinstance(node, ast.Call):
        yield ctx.finding(fact, Applicability.UNSAFE if _is_plain(fact, node, ctx) else Applicability.MANUAL)


def fix(fact: Standalone, tree: Tree, ctx: Context) -> Iterator[Edit]:
    node, call = ctx.module.at(fact.span), calls.at(tree, fact.span)
    if not isinstance(node, ast.Call) or call is None or not _is_plain(fact, node, ctx) or not isinstance(node.func, ast.Attribute):
        return
    waited = ctx.module.parents[node]
    if isinstance(waited, ast.Await):
        yield Edit(ctx.module.span(waited)._replace(end=fact.span.start))
    yield Edit(ctx.module.attribute_span(node.func), "mount")
    argument = calls.keyword(call, "prefix")
    if argument is not None:
        yield calls.renamed(tree, argument, "namespace")


def _is_plain(fact: Standalone, node: ast.Call, ctx: Context) -> bool:
    """Whether it is a statement of its own that is waited for, with arguments that `mount` takes."""
    waited = ctx.module.parents.get(node)
    alone = isinstance(waited, ast.Await) and isinstance(ctx.module.parents.get(waited), ast.Expr)
    # Long ago the prefix came first.
    turned = bool(node.args) and isinstance(node.args[0], ast.Constant | ast.JoinedStr)
    return fact.sure and alone and not turned and len(node.args) <= 2 and all(word.arg in _TAKEN for word in node.keywords)
