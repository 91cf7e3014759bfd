"""`ctx.get_state(...)` and `ctx.set_state(...)` without `await`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import takewhile
from typing import TYPE_CHECKING

from ...facts.code import last
from ...facts.model import Standalone, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_WAITING = frozenset({"gather", "create_task", "ensure_future", "wait_for", "run", "run_until_complete", "shield"})


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is SymbolUse.CALL and isinstance(node, ast.Call) and fact.sure and not _is_waited_for(node, ctx):
        yield ctx.finding(fact, Applicability.SAFE if _may_wait(node, ctx) else Applicability.MANUAL)


def fix(fact: Standalone, tree: Tree, ctx: Context) -> Iterator[Edit]:
    node = ctx.module.at(fact.span)
    if not isinstance(node, ast.Call) or _is_waited_for(node, ctx) or not _may_wait(node, ctx):
        return
    # `await` binds less tightly than what stands behind the call: `(await ctx.get_state(key))["x"]`.
    above = ctx.module.parents.get(node)
    bound = (isinstance(above, ast.Attribute | ast.Subscript) and above.value is node) or (
        isinstance(above, ast.Call) and above.func is node
    )
    yield Edit(Span(fact.span.start, fact.span.start), "(await " if bound else "await ")
    if bound:
        yield Edit(Span(fact.span.end, fact.span.end), ")")


def _is_waited_for(node: ast.Call, ctx: Context) -> bool:
    """Whether it, or the name that it is given, is waited for or handed to something that may wait for it."""
    match ctx.module.parents.get(node):
        case ast.Assign(targets=[ast.Name(id=name)]):
            scope = ctx.module.scope(node)
            return any(_is_handed(use, ctx) for use in ctx.module.loads.get(name, ()) if ctx.module.scope(use) is scope)
    return _is_handed(node, ctx)


def _is_handed(node: ast.expr, ctx: Context) -> bool:
    if isinstance(ctx.module.parents.get(node), ast.Await):
        return True
    within = takewhile(lambda above: not isinstance(above, ast.stmt), ctx.module.around(node))
    return any(isinstance(above, ast.Call) and last(above.func) in _WAITING for above in within)


def _may_wait(node: ast.Call, ctx: Context) -> bool:
    inner: ast.AST = node
    for above in ctx.module.around(node):
        # Defaults and decorators run where the function is made.
        is_inside = not isinstance(above, ast.AsyncFunctionDef | ast.FunctionDef) or inner in above.body
        if isinstance(above, ast.AsyncFunctionDef) and is_inside:
            return True
        if isinstance(above, ast.FunctionDef | ast.Lambda | ast.ClassDef) and is_inside:
            return False
        if isinstance(above, ast.GeneratorExp):
            return False
        inner = above
    return False
