"""`McpError(ErrorData(...))`, also as `super().__init__(ErrorData(...))` of a class that derives from it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite import compat
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import, NewFile
from ...sdk.modules import Module
from ...sdk.types import ClassOf, Instance
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_ERROR = "mcp.shared.exceptions.McpError"
_DATA = Instance("mcp.types.ErrorData")


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    error = _error(fact, ctx)
    if error is not None:
        yield ctx.finding(fact, Applicability.SAFE if [*_edits(fact, error, ctx)] else Applicability.MANUAL)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    error = _error(fact, ctx)
    if error is not None:
        yield from _edits(fact, error, ctx)


def keep(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import | NewFile]:
    """The same `ErrorData`, handed over as either release wants it."""
    error, node, module = _error(fact, ctx), ctx.module.at(fact.span), ctx.module
    if error is None or not isinstance(node, ast.Call) or compat.obstacle(ctx) or ctx.sdk.type(error, module) != _DATA:
        return
    if node.keywords:
        yield Edit(Span(module.span(node.keywords[0]).start, module.span(error).start))
    if str(fact.key).endswith(".__init__"):
        span = module.span(error)
        yield Edit(Span(span.start, span.start), f"*{compat.NAME}.error_arguments(")
        yield Edit(Span(span.end, span.end), ")")
    elif ctx.sdk.type(node.func, module) == ClassOf(_ERROR):
        yield Edit(module.span(node.func), f"{compat.NAME}.error")
    else:
        name = module.text(node.func)
        end = module.span(error).end
        yield Edit(module.span(node.func), f"{compat.NAME}.error")
        yield Edit(Span(end, end), f", {name}")
    yield from compat.needs(ctx, fact.span, "errors")


def _error(fact: Symbol, ctx: Context) -> ast.expr | None:
    """The one argument, where the call has the shape of version 1."""
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call):
        return None
    match node:
        case ast.Call(args=[error], keywords=[]) if not isinstance(error, ast.Starred):
            # Another class may have given the base its own way to be made; what is no `ErrorData` is left alone.
            known = ctx.sdk.type(error, ctx.module)
            return error if known is None or known == _DATA else None
        case ast.Call(args=[], keywords=[ast.keyword(arg="error", value=error)]):
            return error
    return None


def _edits(fact: Symbol, error: ast.expr, ctx: Context) -> Iterator[Edit]:
    module = ctx.module
    node = module.at(fact.span)
    assert isinstance(node, ast.Call)
    span = module.span(error)
    named = node.keywords[0] if node.keywords else None
    start = module.span(named).start if named is not None else span.start
    if isinstance(error, ast.Call) and ctx.sdk.type(error, module) == _DATA and not error.args and all(word.arg for word in error.keywords):
        opening = module.source.utf8.index(b"(", module.span(error.func).end) + 1
        if _stands_alone(node, error, module):
            yield from _unwrapped(node, error, opening, module)
        else:
            yield Edit(Span(start, opening))
            yield Edit(Span(span.end - 1, _behind(node, span.end, module) if _ends_with_comma(error, module) else span.end))
    elif str(fact.key).endswith(".__init__"):
        if isinstance(error, ast.Name):
            yield Edit(Span(start, span.end), ", ".join(f"{part}={error.id}.{part}" for part in ("code", "message", "data")))
    elif isinstance(node.func, ast.Name | ast.Attribute):
        end = module.span(node.func).end
        yield Edit(Span(end, end), ".from_error_data")
        if named is not None:
            yield Edit(Span(start, span.start))


def _stands_alone(call: ast.Call, error: ast.Call, module: Module) -> bool:
    """Whether the inner call has lines of its own, and its arguments too: then all of these go, and the arguments move to the left."""
    if not error.keywords or module.parents.get(error) is not call:
        return False
    first, last = error.keywords[0], error.keywords[-1].value
    lines = [call.lineno, error.lineno, first.lineno]
    long = any(isinstance(node, ast.Constant | ast.JoinedStr) and node.lineno != node.end_lineno for node in ast.walk(error))
    ends = [last.end_lineno or 0, error.end_lineno or 0, call.end_lineno or 0]
    return lines == sorted({*lines}) and ends == sorted({*ends}) and not long and first.col_offset > error.col_offset


def _unwrapped(call: ast.Call, error: ast.Call, opening: int, module: Module) -> Iterator[Edit]:
    source = module.source
    yield Edit(Span(source.line_starts[error.lineno - 1], source.line_starts[error.lineno]))
    width = error.keywords[0].col_offset - error.col_offset
    for line in range(error.lineno + 1, error.end_lineno or 0):
        start = source.line_starts[line - 1]
        if source.utf8[start : start + width].strip() == b"" and b"\n" not in source.utf8[start : start + width]:
            yield Edit(Span(start, start + width))
    closing = error.end_lineno or 0
    yield Edit(Span(source.line_starts[closing - 1], source.line_starts[closing]))


def _ends_with_comma(call: ast.Call, module: Module) -> bool:
    last = module.span(call.keywords[-1].value).end if call.keywords else module.span(call).start
    return b"," in module.source.utf8[last : module.span(call).end - 1]


def _behind(call: ast.Call, end: int, module: Module) -> int:
    """Behind the comma that follows the argument, if there is one: two in a row are none."""
    rest = module.source.utf8[end : module.span(call).end - 1]
    return end + rest.index(b",") + 1 if b"," in rest else end
