"""`tool.meta["_fastmcp"]`, which is `tool.meta["fastmcp"]` now."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Standalone, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_OLD = "_fastmcp"


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    if _is_first(fact, ctx):
        # A server of the project moves along; without one, a client may speak to servers that stay with fastmcp 2.
        applicability = Applicability.SAFE if ctx.sdk.standalone_servers else Applicability.UNSAFE
        yield from (ctx.finding(fact, applicability, span=ctx.module.span(key)) for key in _keys(ctx))


def fix(fact: Standalone, tree: Tree, ctx: Context) -> Iterator[Edit]:
    if _is_first(fact, ctx):
        for key in _keys(ctx):
            span = ctx.module.span(key)
            yield Edit(span, ctx.module.text(key).replace(_OLD, "fastmcp"))


def _is_first(fact: Standalone, ctx: Context) -> bool:
    """Whether this is the first use in the file: what is read of metadata is told once."""
    if b"_fastmcp" not in ctx.file.source.utf8 or fact.use is SymbolUse.IMPORT:
        return False
    keys = ctx.entry.match["Standalone"]
    return (
        next((one for one in ctx.project.of(ctx.file.source.path, Standalone) if one.key in keys and one.use is not SymbolUse.IMPORT), None)
        == fact
    )


def _keys(ctx: Context) -> Iterator[ast.Constant]:
    """The key where it is asked for of something that is called `meta`."""
    for node in ctx.module.of(ast.Constant):
        if isinstance(node, ast.Constant) and node.value == _OLD:
            match ctx.module.parents.get(node):
                case ast.Subscript(value=subject, slice=index) if index is node and _is_meta(subject):
                    yield node
                case ast.Call(func=ast.Attribute(attr="get", value=subject), args=[first, *_]) if first is node and _is_meta(subject):
                    yield node


def _is_meta(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name in ("meta", "_meta") or (isinstance(node, ast.BoolOp) and _is_meta(node.values[0]))
