"""Makes a server that keeps something about its client right behind the boundary: questions, log level, subscriptions.

`plan` is all or nothing: either every place is understood and has its edits, or the first blocker says which one is not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from ..facts.functions import Module, read
from ..facts.waiters import Doubt, Form, Waiter, waiters
from ..rule import Era
from ..source import Source, Span
from .edits import Edit


@dataclass(frozen=True, slots=True)
class Plan:
    """What has to be edited, and what the edits need.

    `parts` names the parts of the runtime that are used: "ask", "logging", "listen". `before` is the offset at or before
    which the module must define the `Stateless` object, because a module-level statement uses it there.
    """

    edits: tuple[Edit, ...] = ()
    parts: frozenset[str] = frozenset()
    before: int | None = None


@dataclass(frozen=True, slots=True)
class Blocker:
    """The place that keeps the whole server from being wired, and why."""

    span: Span
    reason: str


def plan(source: Source, tree: ast.Module, *, era: Era, boundary: frozenset[str] = frozenset(), handle: str = "MCP") -> Plan | Blocker:
    """The edits beside the two hooks for one module, `tree` being its untouched syntax.

    `boundary` names the dispatchers (dotted inside the module) that get the hooks; what stands above them in the call
    tree is not looked at. `handle` is how the `Stateless` object is called where functions use it.
    """
    module = read(source, tree)
    edits: list[Edit] = []
    parts: set[str] = set()
    for waiter in waiters(module):
        if isinstance(waiter, Doubt):
            return Blocker(*waiter)
        parts.add("ask")
        edits += _asked(waiter, module, era, handle)
    return Plan(tuple(edits), frozenset(parts))


def _asked(waiter: Waiter, module: Module, era: Era, handle: str) -> Iterator[Edit]:
    """The modern way through a waiter: `MCP.ask` in place of sending and waiting."""
    source, body = module.source, waiter.function.node.body
    ask = f"{handle}.ask({module.text(waiter.request.method)}, {_params(waiter, module)})"
    if waiter.envelope:
        ask = f'{{"result": {ask}}}'
    first, last = module.span(body[waiter.start]), module.span(body[waiter.stop - 1])
    indent = _indent(source, first.start)
    match waiter.form:
        case Form.LEAVE:
            statement = f"return {ask}"
        case Form.TAIL:
            inner = module.span(waiter.answer)
            statement = f"{source.slice(Span(last.start, inner.start))}{ask}{source.slice(Span(inner.end, last.end))}"
        case Form.WRAP:
            statement = f"{ast.unparse(waiter.answer)} = {ask}"
    if era is Era.MODERN:
        yield Edit(Span(first.start, last.end), statement)
    elif waiter.form is Form.WRAP:
        yield Edit(
            Span(first.start, first.start), _lines(source, f"if {handle}.modern:", f"    {statement}", "else:", "", indent=indent) + "    "
        )
        yield from _indented(module, Span(first.start, last.end))
    else:
        yield Edit(Span(first.start, first.start), _lines(source, f"if {handle}.modern:", f"    {statement}", "", indent=indent))


def _params(waiter: Waiter, module: Module) -> str:
    params = waiter.request.params
    if params is None:
        return "{}"
    text = module.text(params)
    # A dict may be written over several lines; inside the new call it stays as it is.
    return f"{text} or {{}}" if waiter.request.optional and not isinstance(params, ast.Dict) else text


def _indent(source: Source, offset: int) -> str:
    start = source.line_starts[source.position(offset).line - 1]
    return source.utf8[start:offset].decode("utf-8")


def _lines(source: Source, *lines: str, indent: str) -> str:
    """Lines with this indentation, the first one without: it stands where a statement began."""
    return f"{source.newline}{indent}".join(lines)


def _indented(module: Module, span: Span) -> Iterator[Edit]:
    """One level more for every line that begins inside the span and is not the inside of a string."""
    source = module.source
    inside = [
        module.span(node)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Constant | ast.JoinedStr) and getattr(node, "end_lineno", 0) != getattr(node, "lineno", 0)
    ]
    for start in source.line_starts:
        if span.start < start < span.end and not any(text.start < start < text.end for text in inside):
            yield Edit(Span(start, start), "" if source.utf8[start : start + 1] in (b"\n", b"\r") else "    ")
