"""`ctx.request_context.lifespan_context.db` of a parameter that is annotated `Context`, without the type of the lifespan."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import
from ...sdk.modules import How
from ...sdk.types import ClassOf
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_OF_DICTS = frozenset(dir(dict))


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    annotation = _annotation(fact, ctx)
    if annotation is None or ctx.sdk.is_moved(ctx.file.source.path):
        return
    # Both ends: a type checker speaks of the parameter, and of what is read.
    yield ctx.finding(fact, Applicability.UNSAFE)
    yield ctx.finding(fact, Applicability.UNSAFE, span=ctx.module.span(annotation))


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    annotation = _annotation(fact, ctx)
    if annotation is not None:
        end = ctx.module.span(annotation).end
        yield Edit(Span(end, end), "[Any]")
        yield Import("typing", "Any")


def _annotation(fact: Symbol, ctx: Context) -> ast.expr | None:
    """The `Context` of the parameter whose lifespan is asked for an attribute."""
    module = ctx.module
    node = module.at(fact.span)
    above = module.parents.get(node) if node is not None else None
    read = module.parents.get(above) if isinstance(above, ast.Attribute) and above.attr == "lifespan_context" else None
    if fact.use is not SymbolUse.READ or not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return None
    if not isinstance(read, ast.Attribute) or read.attr in _OF_DICTS:
        return None
    bindings = ctx.sdk.inference.bindings(node.value.id, node.value, module)
    if len(bindings) != 1 or bindings[0].how is not How.PARAMETER or not isinstance(bindings[0].value, ast.Name | ast.Attribute):
        return None
    known = ctx.sdk.type(bindings[0].value, module)
    return bindings[0].value if isinstance(known, ClassOf) and known.name.endswith(".Context") else None
