"""A `timedelta` where version 2 counts in seconds."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite import compat
from ...rewrite.edits import Edit
from ...rewrite.quotes import fitting
from ...rule import Applicability, Context, Finding, Import, NewFile
from ...sdk.modules import Binding, How
from ...sdk.types import NONE, Instance
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_MADE = "timeouts of the SDK are seconds in version 2, and this `timedelta` is handed to it"
_NUMBERS = frozenset({"int", "float"})
_UNITS = ("days", "seconds", "microseconds", "milliseconds", "minutes", "hours", "weeks")


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    for value in _timeouts(fact, ctx):
        if _is_kept(value, ctx):
            continue
        yield ctx.finding(fact, Applicability.SAFE if _is_delta(value, ctx) else Applicability.UNSAFE, span=ctx.module.span(value))
        if (made := _made(value, ctx)) is not None and not ctx.keeps:
            yield ctx.finding(fact, Applicability.SAFE, span=ctx.module.span(made), message=_MADE)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    for value in _timeouts(fact, ctx):
        span = ctx.module.span(value)
        text = ctx.module.text(value)
        if (seconds := _seconds(value, ctx)) is not None:
            yield Edit(span, seconds)
        elif _is_delta(value, ctx):
            simple = isinstance(value, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
            yield Edit(Span(span.start, span.end), f"{text if simple else f'({text})'}.total_seconds()")
        elif isinstance(value, ast.Name | ast.Attribute) and (mark := fitting(value, ctx.module)) is not None:
            # A number may come here too, and None.
            yield Edit(span, f"{text}.total_seconds() if hasattr({text}, {mark}total_seconds{mark}) else {text}")


def keep(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import | NewFile]:
    """The time is handed over as either release counts it."""
    for value in _timeouts(fact, ctx):
        if not compat.obstacle(ctx) and not _is_kept(value, ctx):
            yield from compat.around(ctx, ctx.module.span(value), "timeout")


def _is_kept(value: ast.expr, ctx: Context) -> bool:
    return ctx.module.text(value).startswith(f"{compat.NAME}.timeout(")


def _timeouts(fact: Symbol, ctx: Context) -> Iterator[ast.expr]:
    """The arguments that are, or may be, time differences."""
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call):
        return
    found = [keyword.value for keyword in node.keywords if keyword.arg in ctx.entry.data["keywords"]]
    for entry in ctx.entry.data["places"]:
        name, _, place = entry.partition(" ")
        if name == fact.key and len(node.args) > int(place) and not any(isinstance(argument, ast.Starred) for argument in node.args):
            found.append(node.args[int(place)])
    for value in found:
        known = ctx.sdk.type(value, ctx.module)
        plain = known == NONE or (isinstance(known, Instance) and known.name in _NUMBERS)
        if not plain and not _is_converted(value) and (_is_delta(value, ctx) or _may_be_delta(value, ctx)):
            yield value


def _made(value: ast.expr, ctx: Context) -> ast.expr | None:
    """Where the time difference is made that a name stands for."""
    found = ctx.sdk.inference.bindings(value.id, value, ctx.module) if isinstance(value, ast.Name) else []
    made = found[0].value if len(found) == 1 and found[0].how is How.VALUE and not found[0].path else None
    return made if isinstance(made, ast.Call) and _is_delta(made, ctx) else None


def _is_converted(value: ast.expr) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == "total_seconds" for node in ast.walk(value))


def _is_delta(value: ast.expr, ctx: Context) -> bool:
    match value:
        case ast.Call(func=ast.Name(id=name)):
            return any(binding.target == "datetime.timedelta" for binding in ctx.sdk.inference.bindings(name, value, ctx.module))
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="timedelta")):
            return any(binding.target == "datetime" for binding in ctx.sdk.inference.bindings(name, value, ctx.module))
        case ast.Name(id=name):
            bindings = ctx.sdk.inference.bindings(name, value, ctx.module)
            return bool(bindings) and all(_binds_delta(binding, value, ctx) for binding in bindings)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _is_delta(left, ctx) or _is_delta(right, ctx)
        case ast.BinOp(left=left, op=ast.Div() | ast.FloorDiv(), right=right):
            return _is_delta(left, ctx) and not _is_delta(right, ctx)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            return _is_delta(left, ctx) and _is_delta(right, ctx)
    return False


def _binds_delta(binding: Binding, use: ast.expr, ctx: Context) -> bool:
    """By its value, by an annotation, or by all that a loop goes over."""
    given = binding.value
    if given is None or given is use or any(inner is use for inner in ast.walk(given)):
        return False
    if binding.how is How.ITEM and isinstance(given, ast.Tuple | ast.List) and not binding.path:
        return bool(given.elts) and all(_is_delta(one, ctx) for one in given.elts)
    named = ast.unparse(given) in ("timedelta", "datetime.timedelta")
    return named or (isinstance(given, ast.Call | ast.BinOp) and not binding.path and _is_delta(given, ctx))


def _may_be_delta(value: ast.expr, ctx: Context) -> bool:
    """Whether the file works with time differences at all, and this is a name that may hold one."""
    return isinstance(value, ast.Name | ast.Attribute) and "timedelta" in ctx.file.source.text


def _seconds(value: ast.expr, ctx: Context) -> str | None:
    """The number of seconds of `timedelta(minutes=2)`; an expression inside stays one where it counts seconds."""
    if not isinstance(value, ast.Call) or not _is_delta(value, ctx):
        return None
    if not value.args and len(value.keywords) == 1 and value.keywords[0].arg == "seconds":
        return ctx.module.text(value.keywords[0].value)
    named: dict[str | None, ast.expr] = {keyword.arg: keyword.value for keyword in value.keywords}
    named.update(zip(_UNITS, value.args, strict=False))
    numbers = {}
    for name, node in named.items():
        if name not in _UNITS or not isinstance(node, ast.Constant) or not isinstance(node.value, int | float):
            return None
        numbers[name] = node.value
    total = timedelta(**numbers).total_seconds()
    return str(int(total)) if total == int(total) else str(total)
