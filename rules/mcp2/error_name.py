"""`type(error).__name__ == "McpError"`: the class has another name now."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import FileFacts, Symbol, SymbolUse
from ...facts.syntax import descend
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding
from ...sdk.modules import Module
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_NAMES = frozenset({"__name__", "__qualname__"})


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.TEXT or node is None or ctx.sdk.is_moved(ctx.file.source.path):
        return
    compared = next((above for above in ctx.module.around(node) if isinstance(above, ast.Compare)), None)
    if compared is None or ctx.module.statement(compared) is not ctx.module.statement(node):
        return
    if any(isinstance(inner, ast.Constant) and inner.value == "MCPError" for inner in descend(compared)):
        return
    if any(isinstance(inner, ast.Attribute) and inner.attr in _NAMES for inner in descend(compared)) and not _has_namesake(ctx):
        yield ctx.finding(fact, Applicability.SAFE)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    text = ctx.module.source.slice(fact.span)
    yield Edit(fact.span, text.replace("McpError", "MCPError"))


def keep(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    """Either name."""
    node, module = ctx.module.at(fact.span), ctx.module
    above = module.parents.get(node) if node is not None else None
    text = module.source.slice(fact.span)
    names = f"{text}, {text.replace('McpError', 'MCPError')}"
    match above:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() as test], comparators=[one]) if one is node:
            yield Edit(Span(module.span(left).end, fact.span.end), f" {'in' if isinstance(test, ast.Eq) else 'not in'} ({names})")
        case ast.Tuple() | ast.List() | ast.Set() if _is_looked_in(above, module):
            yield Edit(fact.span, names)


def _is_looked_in(node: ast.expr, module: Module) -> bool:
    """Whether a collection is only asked for what it holds, and may hold more."""
    match module.parents.get(node):
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[one]):
            return one is node
    return False


def _has_namesake(ctx: Context) -> bool:
    """Whether another class of this name is made or used in the project, which may be meant."""
    if ctx.project.texts.saying(b"class McpError"):
        return True
    likely = (ctx.project.files[path] for path in ctx.project.texts.saying(b"McpError"))
    return ctx.project.remember("another McpError", lambda: any(map(_imports_namesake, likely)))


def _imports_namesake(file: FileFacts) -> bool:
    return any(target.endswith(".McpError") and not target.startswith("mcp.") for target in file.imports.values())
