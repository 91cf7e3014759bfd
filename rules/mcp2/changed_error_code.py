"""`error.error.code == 408`, `-32002`, `0`, "Timed out while waiting": what version 2 says otherwise."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import
from ...sdk.modules import Def, dotted

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_TIMEOUT, _NOT_FOUND, _UNKNOWN = 408, -32002, 0
_COMPARED = (ast.Eq, ast.NotEq, ast.In, ast.NotIn)


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    hints = ctx.entry.hints
    if ctx.sdk.is_moved(ctx.file.source.path):
        return
    if str(fact.key).endswith(".get_resource"):
        if _is_caught(fact, ctx):
            yield ctx.finding(fact, hint=hints["lookup"], message="a resource that does not exist is no ValueError in version 2 of the SDK")
        return
    if fact.use is SymbolUse.TEXT:
        node = ctx.module.at(fact.span)
        if node is not None and isinstance(ctx.module.parents.get(node), ast.Compare | ast.Call):
            yield ctx.finding(fact, hint=hints["text"])
        return
    if fact.use is not SymbolUse.READ:
        return
    for node in _codes(fact, ctx):
        value = _value(node)
        if value == _TIMEOUT and not _knows(fact, "REQUEST_TIMEOUT", -32001, ctx):
            yield ctx.finding(fact, Applicability.UNSAFE if fact.sure else Applicability.MANUAL, hint=hints["timeout"])
        elif value == _NOT_FOUND and not _knows(fact, "INVALID_PARAMS", -32602, ctx):
            yield ctx.finding(fact, hint=hints["not_found"])
        elif value == _UNKNOWN and not _knows(fact, "INTERNAL_ERROR", -32603, ctx):
            yield ctx.finding(fact, hint=hints["unknown"])


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    if fact.use is SymbolUse.READ:
        for node in _codes(fact, ctx):
            if _value(node) == _TIMEOUT:
                yield Edit(ctx.module.span(node), "REQUEST_TIMEOUT")
                yield Import("mcp.types", "REQUEST_TIMEOUT")


def _codes(fact: Symbol, ctx: Context) -> Iterator[ast.expr]:
    """What the code is compared with."""
    node = ctx.module.at(fact.span)
    above = ctx.module.parents.get(node) if node is not None else None
    if isinstance(above, ast.Compare) and all(isinstance(op, _COMPARED) for op in above.ops):
        for side in (above.left, *above.comparators):
            if side is not node:
                yield from side.elts if isinstance(side, ast.Tuple | ast.List | ast.Set) else [side]


def _value(node: ast.expr) -> int | None:
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return -value
        case ast.Attribute() if dotted(node).endswith(("codes.REQUEST_TIMEOUT", "HTTPStatus.REQUEST_TIMEOUT")):
            return _TIMEOUT
    return None


def _knows(fact: Symbol, name: str, code: int, ctx: Context) -> bool:
    """Whether the function looks for the new code as well."""
    node = ctx.module.at(fact.span)
    above: ast.AST | None = (
        next((one for one in ctx.module.around(node) if isinstance(one, Def | ast.Module)), None) if node is not None else None
    )
    return above is not None and any(
        (isinstance(inner, ast.Name) and inner.id == name)
        or (isinstance(inner, ast.Attribute) and inner.attr == name and _value(inner) is None)
        or (isinstance(inner, ast.UnaryOp | ast.Constant) and _value(inner) == code)
        for inner in ast.walk(above)
    )


def _is_caught(fact: Symbol, ctx: Context) -> bool:
    """Whether a call of the resource manager stands in a `try` that catches ValueError."""
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or node is None or "resource_manager" not in str(fact.key):
        return False
    child: ast.AST = node
    for above in ctx.module.around(node):
        if isinstance(above, ast.Try) and child in above.body:
            caught = [handler.type for handler in above.handlers if handler.type is not None]
            names = {dotted(item) for one in caught for item in (one.elts if isinstance(one, ast.Tuple) else [one])}
            return "ValueError" in names and not names & {"Exception", "ResourceNotFoundError", "ResourceError"}
        if isinstance(above, Def):
            return False
        child = above
    return False
