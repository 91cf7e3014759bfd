"""`async with stdio_client(...) as (read, write)`, `async with ClientSession(read, write) as session`, `await session.initialize()`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import
from ...source import Span
from ..folding import Fold, fold

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.use is SymbolUse.CALL and isinstance(fold(fact, ctx), Fold):
        yield ctx.finding(fact, Applicability.UNSAFE)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    from ...rewrite import cut

    found = fold(fact, ctx)
    # Another rule opens the transport as version 2 does, and then it is the turn of this one.
    if not isinstance(found, Fold) or not found.server:
        return
    module, source = ctx.module, ctx.module.source
    call = found.session.context_expr
    assert isinstance(call, ast.Call)
    assert found.session.optional_vars is not None
    words = "".join(f", {module.text(keyword)}" for keyword in call.keywords)
    made = f"Client({found.server}{words}) as {module.text(found.session.optional_vars)}"
    yield Import("mcp", "Client")
    start = module.span(found.transport.context_expr).start
    if found.transport in found.inner.items:
        yield Edit(Span(start, module.span(found.session.optional_vars).end), made)
    else:
        assert found.transport.optional_vars is not None
        yield Edit(Span(start, module.span(found.transport.optional_vars).end), made)
        first, last = found.inner.body[0], found.inner.body[-1]
        begin = source.line_starts[found.inner.lineno - 1]
        yield Edit(Span(begin, source.line_starts[first.lineno - 1]))
        width = first.col_offset - found.inner.col_offset
        for line in range(first.lineno, (last.end_lineno or 0) + 1):
            at = source.line_starts[line - 1]
            if found.handshake.lineno <= line <= (found.handshake.end_lineno or 0) and len(found.inner.body) > 1:
                continue
            if not source.utf8[at : at + width].strip() and b"\n" not in source.utf8[at : at + width]:
                yield Edit(Span(at, at + width))
    whole = tree.statement(module.span(found.handshake))
    if whole is not None and len(found.inner.body) > 1:
        if found.transport in found.inner.items:
            yield from cut.statement(tree, whole)
        else:
            yield Edit(Span(source.line_starts[found.handshake.lineno - 1], source.line_starts[found.handshake.end_lineno or 0]))
