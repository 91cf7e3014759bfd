"""`resource.uri.host`: URIs were URLs of pydantic, and are plain text now."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import
from ...sdk.urls import made, spelled
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_USES = (SymbolUse.READ, SymbolUse.GETATTR)


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.use in _USES:
        yield ctx.finding(
            fact,
            Applicability.SAFE if fact.sure else Applicability.UNSAFE,
            message=f"`{str(fact.key).rpartition('.')[2]}` is read of a URI, which is plain text in version 2 of the SDK",
        )


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    node = ctx.module.at(fact.span)
    subject = node.value if isinstance(node, ast.Attribute) else node.args[0] if isinstance(node, ast.Call) and node.args else None
    if subject is None:
        return
    span = ctx.module.span(subject)
    name = spelled(ctx.module, ctx.sdk.inference)
    # What is read with a default may be read of nothing at all.
    before, after = f"{name or 'AnyUrl'}(", ")"
    if isinstance(node, ast.Call) and len(node.args) > 2:
        before, after = made(subject, name or "AnyUrl", ctx.module, ctx.sdk.inference)
    yield Edit(Span(span.start, span.start), before)
    yield Edit(Span(span.end, span.end), after)
    if not name:
        yield Import("pydantic", "AnyUrl")
