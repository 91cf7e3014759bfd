"""Text made to fit where it goes: whole lines, indentation, pieces that move to another depth."""

from __future__ import annotations

import ast
import re
import textwrap
import tokenize
from bisect import bisect_right
from collections.abc import Iterator
from typing import Protocol

from ..facts.functions import Def, Module
from ..facts.syntax import descend
from ..source import Source, Span
from .edits import Edit

WIDTH = 100
# What a text of several lines has: three quotes, a line that ends in a backslash, or an expression inside that goes on.
_OVER_LINES = re.compile(rb"\"\"\"|'''|\\[\r\n]|[fFtT][rR]?[\"'][^\r\n]*\{")


class Spanned(Protocol):
    """A module of either wing that reads: its text, and where its nodes are."""

    @property
    def source(self) -> Source: ...

    def span(self, node: ast.expr | ast.stmt) -> Span: ...


class Parsed(Spanned, Protocol):
    """Such a module with its statements."""

    @property
    def tree(self) -> ast.Module: ...


def line_start(source: Source, offset: int) -> int:
    """The offset at which the line of an offset begins."""
    return source.line_starts[bisect_right(source.line_starts, offset) - 1]


def next_line(source: Source, offset: int) -> int:
    """The offset at which the line after the one of an offset begins, or the end of the file."""
    row = bisect_right(source.line_starts, offset)
    return source.line_starts[row] if row < len(source.line_starts) else len(source.utf8)


def above_remarks(source: Source, offset: int) -> int:
    """The offset at which the line of an offset begins, or the comment that stands directly above it, at its depth.

    A comment that opens the file says something about all of it, and one that opens a cell goes with what comes after it.
    """
    row = source.position(offset).line
    indent = indent_of(source, offset)
    first = row
    while first > 1 and (line := source.line(first - 1)).startswith(f"{indent}#") and not line[len(indent) + 1 :].lstrip().startswith("%%"):
        first -= 1
    return source.line_starts[(first if first > 1 else row) - 1]


def indent_of(source: Source, offset: int) -> str:
    """The white space that the line of an offset begins with."""
    text = source.line(source.position(offset).line)
    return text[: len(text) - len(text.lstrip())]


def step_of(module: Parsed) -> str:
    """One level of indentation, as this file has it."""
    for node in descend(module.tree):
        if isinstance(node, Def | ast.ClassDef | ast.If | ast.For | ast.While | ast.Try | ast.With) and node.body[0].lineno > node.lineno:
            outer, inner = indent_of(module.source, module.span(node).start), indent_of(module.source, module.span(node.body[0]).start)
            if inner.startswith(outer) and len(inner) > len(outer):
                return inner[len(outer) :]
    return "    "


def block(source: Source, text: str) -> str:
    """Text with the newlines of the file."""
    return text.replace("\n", source.newline)


def above(module: Spanned, node: ast.stmt, text: str) -> Edit:
    """Whole lines before a statement, at its depth. A decorated definition begins at its first decorator."""
    source, start = module.source, start_of(module, node)
    lines = textwrap.indent(text, indent_of(source, start))
    at = line_start(source, start)
    return Edit(Span(at, at), block(source, lines))


def below(module: Spanned, node: ast.stmt, text: str) -> Edit:
    """Whole lines after a statement, at its depth."""
    source, span = module.source, module.span(node)
    lines = textwrap.indent(text, indent_of(source, span.start))
    at = next_line(source, span.end)
    ends_open = at == len(source.utf8) and not source.utf8.endswith((b"\n", b"\r"))
    return Edit(Span(at, at), block(source, ("\n" if ends_open else "") + lines))


def start_of(module: Spanned, node: ast.stmt) -> int:
    """Where a statement begins; a decorated one at its first `@`."""
    if isinstance(node, Def | ast.ClassDef) and node.decorator_list:
        return module.source.utf8.rindex(b"@", 0, module.span(node.decorator_list[0]).start)
    return module.span(node).start


def deeper(module: Module, first: ast.stmt, last: ast.stmt, step: str) -> list[Edit]:
    """One level more for the lines of some statements, but for the first line and the insides of texts."""
    source = module.source
    start, end = module.span(first).start, module.span(last).end
    texts = [*_long_texts(source, Span(start, end))]
    return [
        Edit(Span(at, at), step)
        for at in source.line_starts
        if start < at < end and not _is_in(texts, at) and source.utf8[at : at + 1] not in (b"\n", b"\r")
    ]


def _is_in(texts: list[Span], offset: int) -> bool:
    """Whether an offset lies inside a string, where white space counts."""
    return any(span.start < offset < span.end for span in texts)


def _long_texts(source: Source, within: Span) -> Iterator[Span]:
    """The strings of several lines, if there are some within the span; pieces that Python joins are strings of their own."""
    # To read a module into tokens for each of its gates was a third of what a wiring costs; most have nothing to tell.
    if not _OVER_LINES.search(source.utf8, *within):
        return
    open_at: list[int] = []
    lines = source.text.splitlines(keepends=True)

    def offset(row: int, column: int) -> int:
        return source.offset(row, len(lines[row - 1][:column].encode()))

    for token in tokenize.generate_tokens(iter(lines).__next__):
        name = tokenize.tok_name[token.type]
        if name == "STRING" and token.start[0] != token.end[0]:
            yield Span(offset(*token.start), offset(*token.end))
        elif name in {"FSTRING_START", "TSTRING_START"}:
            open_at.append(offset(*token.start))
        elif name in {"FSTRING_END", "TSTRING_END"}:
            yield Span(open_at.pop(), offset(*token.end))


def moved(module: Module, node: ast.expr) -> str | None:
    """The text of an expression as it stands at the left margin; None where that would change a text inside it.

    A piece of several lines that no bracket of its own holds together gets parentheses.
    """
    source, span = module.source, module.span(node)
    text = source.slice(span).replace("\r\n", "\n").replace("\r", "\n")
    if "\n" not in text:
        return text
    starts = [at for at in source.line_starts if span.start < at < span.end]
    texts = [*_long_texts(source, span)]
    if any(_is_in(texts, at) for at in starts):
        return None
    indent = indent_of(source, span.start)
    lines = [line.removeprefix(indent) for line in text.split("\n")]
    made = "\n".join(lines)
    return (
        made
        if isinstance(node, ast.Dict | ast.List | ast.Call | ast.Set | ast.DictComp | ast.ListComp | ast.SetComp)
        else f"(\n{textwrap.indent(textwrap.dedent(made).strip(), step_of(module))}\n)"
    )


def call(name: str, arguments: list[str], step: str) -> str:
    """A call, on one line if it fits; `step` is one level of indentation."""
    flat = f"{name}({', '.join(arguments)})"
    if len(flat) <= WIDTH and "\n" not in flat:
        return flat
    return f"{name}(\n" + "".join(textwrap.indent(argument, step) + ",\n" for argument in arguments) + ")"


def opening_brace(source: Source, at: int) -> str:
    """A brace for a dict or a set that begins at this byte: behind that of an f-string, two in a row are one of its text."""
    return " {" if source.utf8[at - 1 : at] == b"{" else "{"


def enclosing_parentheses(source: Source, span: Span) -> Span:
    """The span with the parentheses that are directly around it, if there are some."""
    text = source.utf8
    before, after = text[: span.start].rstrip(), text[span.end :]
    gap = len(after) - len(after.lstrip())
    if before.endswith(b"(") and after.lstrip().startswith(b")"):
        return Span(len(before) - 1, span.end + gap + 1)
    return span
