"""Takes the call around its one argument away: the argument stays, and moves to the left where it had lines of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..sdk.modules import Module
from ..source import Span
from .edits import Edit

_ATOMS = (
    ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.JoinedStr, ast.Dict, ast.List, ast.Set, ast.Tuple, ast.ListComp,
    ast.SetComp, ast.DictComp,
)  # fmt: skip
_BRACKETED = (ast.Call, ast.Dict, ast.List, ast.Set, ast.Tuple, ast.ListComp, ast.SetComp, ast.DictComp, ast.Subscript)
_BINDING = (ast.Attribute, ast.Subscript, ast.Await, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Starred, ast.IfExp)


def unwrapped(call: ast.Call, argument: ast.expr, module: Module) -> Iterator[Edit]:
    """The edits that leave the argument alone; brackets stay where the argument needs them."""
    source, outer, inner = module.source, module.span(call), module.span(argument)
    opening = source.utf8.index(b"(", module.span(call.func).end)
    before, after = source.utf8[opening + 1 : inner.start], source.utf8[inner.end : outer.end - 1]
    if b"#" in before + after or _needs_brackets(call, argument, module):
        yield Edit(Span(outer.start, opening))
        named = next((word for word in call.keywords if word.value is argument), None)
        if named is not None:
            yield Edit(Span(module.span(named).start, inner.start))
        if b"," in after.split(b"#")[0]:
            comma = inner.end + after.index(b",")
            yield Edit(Span(comma, comma + 1))
        return
    yield Edit(Span(outer.start, inner.start))
    yield from _to_the_left(call, argument, module)
    yield Edit(Span(inner.end, outer.end))


def _needs_brackets(call: ast.Call, argument: ast.expr, module: Module) -> bool:
    above = module.parents.get(call)
    if isinstance(argument, ast.GeneratorExp | ast.Yield | ast.YieldFrom | ast.NamedExpr | ast.Lambda):
        return True
    if not isinstance(argument, _ATOMS) and isinstance(above, _BINDING):
        return True
    if isinstance(argument, ast.Constant) and isinstance(argument.value, int | float) and isinstance(above, ast.Attribute):
        return True
    if argument.lineno == argument.end_lineno or isinstance(above, ast.Call | ast.List | ast.Tuple | ast.Dict | ast.keyword):
        return False
    # A bracket of its own holds the lines together.
    head = argument.func if isinstance(argument, ast.Call) else argument.value if isinstance(argument, ast.Subscript) else None
    return not isinstance(argument, _BRACKETED) or (head is not None and head.lineno != head.end_lineno)


def _to_the_left(call: ast.Call, argument: ast.expr, module: Module) -> Iterator[Edit]:
    """Where the argument began a line of its own, its other lines follow it."""
    source = module.source
    if argument.lineno == call.lineno or any(
        isinstance(node, ast.Constant | ast.JoinedStr) and node.lineno != node.end_lineno for node in ast.walk(argument)
    ):
        return
    line = source.utf8[source.line_starts[call.lineno - 1] : source.line_starts[call.lineno]]
    width = argument.col_offset - (len(line) - len(line.lstrip()))
    for number in range(argument.lineno + 1, (argument.end_lineno or 0) + 1):
        start = source.line_starts[number - 1]
        if width > 0 and source.utf8[start : start + width] == b" " * width:
            yield Edit(Span(start, start + width))
