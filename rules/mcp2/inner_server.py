"""`server._mcp_server`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite import compat
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_NEW = "_lowlevel_server"
_OLD = "_mcp_server"


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if ctx.keeps and compat.has_server(ctx.project) and not compat.obstacle(ctx):
        return  # the class that servers are made of then has it with either release
    if fact.use in (SymbolUse.READ, SymbolUse.STORE, SymbolUse.GETATTR):
        yield ctx.finding(fact, Applicability.SAFE if fact.sure else Applicability.UNSAFE)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    node, module = ctx.module.at(fact.span), ctx.module
    if isinstance(node, ast.Attribute):
        yield Edit(module.attribute_span(node), _NEW)
    elif isinstance(node, ast.Call) and len(node.args) > 1:
        yield Edit(module.span(node.args[1]), module.text(node.args[1]).replace(_OLD, _NEW))


def keep(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    yield from ()  # an edit of its own would be right for one release only
