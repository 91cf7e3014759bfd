"""`(await ctx.read_resource(uri))[0]`, and loops over it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Standalone, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding
from ...sdk.modules import Binding
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is SymbolUse.CALL and isinstance(node, ast.Call) and fact.sure:
        yield from (ctx.finding(fact, Applicability.SAFE, span=ctx.module.span(place)) for place in _places(node, ctx))


def fix(fact: Standalone, tree: Tree, ctx: Context) -> Iterator[Edit]:
    from ...rewrite.lines import enclosing_parentheses

    node = ctx.module.at(fact.span)
    if not isinstance(node, ast.Call):
        return
    for place in _places(node, ctx):
        span = ctx.module.span(place)
        if isinstance(place, ast.Await | ast.NamedExpr):
            outer = enclosing_parentheses(ctx.module.source, span)
            if outer == span or _are_of_call(outer, place, ctx):
                yield Edit(Span(span.start, span.start), "(")
                yield Edit(Span(span.end, span.end), ").contents")
            else:
                yield Edit(Span(outer.end, outer.end), ".contents")
        else:
            yield Edit(Span(span.end, span.end), ".contents")


def _are_of_call(around: Span, place: ast.expr, ctx: Context) -> bool:
    """Whether the parentheses around an expression are those of the call that it is the only argument of."""
    above = ctx.module.parents.get(place)
    return isinstance(above, ast.Call) and above.func is not place and around.end == ctx.module.span(above).end


def _places(node: ast.Call, ctx: Context) -> Iterator[ast.expr]:
    """Where the result, or the name that it alone is given, is used as a list."""
    module = ctx.module
    waited = module.parents.get(node)
    if not isinstance(waited, ast.Await):
        return
    if _is_list(waited, ctx):
        yield waited
    above = module.parents.get(waited)
    match above:
        case (
            ast.Assign(targets=[ast.Name() as target])
            | ast.AnnAssign(target=ast.Name() as target)
            | ast.NamedExpr(target=ast.Name() as target)
        ):
            pass
        case _:
            return
    if isinstance(above, ast.NamedExpr) and _is_list(above, ctx):
        yield above
    for other in module.reads(target.id, module.scope(target)):
        given = ctx.sdk.inference.bindings(target.id, other, module)
        if given and all(_source(binding) is waited for binding in given) and _is_list(other, ctx):
            yield other


def _source(binding: Binding) -> ast.AST | None:
    """What a name is given, also where its type is written down."""
    return binding.node.value if isinstance(binding.node, ast.AnnAssign) else binding.value


def _is_list(node: ast.expr, ctx: Context) -> bool:
    match ctx.module.parents.get(node):
        case ast.Subscript(value=value):
            return value is node
        case ast.For(iter=iterated) | ast.comprehension(iter=iterated):
            return iterated is node
        case ast.Starred(ctx=ast.Load()):
            return True
        case ast.Assign(targets=[ast.Tuple() | ast.List()], value=value):
            return value is node
        case ast.Call(func=ast.Name(id="len" | "list" | "next" | "iter" | "enumerate" | "sorted"), args=[first, *_]):
            return first is node
    return False
