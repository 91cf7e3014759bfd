"""A retired error code is used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import CodeUse, ErrorCode, Fact
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Era, Finding
from ...source import Source, Span
from ..meaning import Meaning, meaning

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_EQUAL = re.compile(rb"(==|!=)\s*$")
_CASE = re.compile(rb"\bcase\s+$")
_MORE = re.compile(rb"\s*(==|!=|<|>|in\b|is\b|not\b|\|)")
_NAME = re.compile(r"[A-Za-z_][\w.]*")


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    if not isinstance(fact, ErrorCode):
        return
    old, _ = ctx.entry.data["renumber"]
    if fact.key == old:
        yield from _missing_resource(fact, ctx)
    # What an older server sends may still be recognised.
    elif fact.use is not CodeUse.COMPARE and not ctx.settled(fact):
        yield ctx.finding(fact, message=ctx.entry.messages.get(fact.use.value))


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit]:
    if not isinstance(fact, ErrorCode) or meaning(fact, ctx.file.source) is Meaning.OTHER:
        return
    _, new = ctx.entry.data["renumber"]
    match fact.use:
        case CodeUse.COMPARE:
            edit = _accept_both(fact.span, ctx.file.source, new)
            if edit is not None:
                yield edit
        case CodeUse.SEND if ctx.era is Era.MODERN and _is_renumbered_here(fact, ctx):
            yield Edit(fact.span, new)
        case CodeUse.CONSTANT if ctx.era is Era.MODERN and _is_sent_only(fact, ctx):
            yield Edit(fact.span, new)


def _missing_resource(code: ErrorCode, ctx: Context) -> Iterator[Finding]:
    what = meaning(code, ctx.file.source)
    # A gate, and an own error, have rules of their own.
    if what in (Meaning.GATE, Meaning.OTHER):
        return
    message = ctx.entry.messages.get(code.use.value)
    if code.use is CodeUse.COMPARE:
        yield from _recognised(code, what, message, ctx)
        return
    if ctx.settled(code) or (code.use is CodeUse.CONSTANT and _is_recognised_only(code, ctx)):
        return
    if what is Meaning.UNCLEAR:
        yield ctx.finding(code, message=message, hint=ctx.entry.hints["unclear"])
    elif ctx.era is Era.DUAL:
        yield ctx.finding(code, message=message, hint=ctx.entry.hints["sent"])
    elif code.use is CodeUse.SEND or _is_sent_only(code, ctx):
        yield ctx.finding(code, Applicability.SAFE, message=message, hint=ctx.entry.hints["renumbered"])
    else:
        yield ctx.finding(code, message=message, hint=ctx.entry.hints["roles" if any(_uses(code, ctx)) else "unused"])


def _recognised(code: ErrorCode, what: Meaning, message: str | None, ctx: Context) -> Iterator[Finding]:
    _, new = ctx.entry.data["renumber"]
    if new in code.beside or _stands_beside(code.span, ctx.file.source, new):
        return
    if _accept_both(code.span, ctx.file.source, new) is None:
        yield ctx.finding(code, message=message)
    else:
        sure = Applicability.SAFE if what is Meaning.RESOURCE else Applicability.UNSAFE
        yield ctx.finding(code, sure, message=message, hint=ctx.entry.hints["both"])


def _accept_both(span: Span, source: Source, new: str) -> Edit | None:
    """`== -32002` as a test for both codes; None for a form that is not provably the whole right-hand side."""
    # What stands directly before is enough; the whole text would be searched anew for every code.
    start = max(0, span.start - 200)
    if _CASE.search(source.utf8, start, span.start):
        return Edit(Span(span.end, span.end), f" | {new}")
    operator = _EQUAL.search(source.utf8, start, span.start)
    if operator is None or _MORE.match(source.utf8, span.end):
        return None
    word = "in" if operator[1] == b"==" else "not in"
    return Edit(Span(operator.start(), span.end), f"{word} ({source.slice(span)}, {new})")


def _stands_beside(span: Span, source: Source, new: str) -> bool:
    """Whether the same line, or the same few lines of a collection, already knows the new code."""
    start = source.utf8.rfind(b"\n", 0, span.start) + 1
    end = source.utf8.find(b"\n", span.end)
    line = source.utf8[start : end if end >= 0 else None]
    return new.encode() in line or b"INVALID_PARAMS" in line


def _is_renumbered_here(code: ErrorCode, ctx: Context) -> bool:
    """Whether this is a number, or a name that keeps the old one because it is recognised elsewhere."""
    name = _short(ctx.file.source.slice(code.span))
    if name is None:
        return True
    constants = [other for other, _ in ctx.project.codes.get((code.key, name), ()) if other.use is CodeUse.CONSTANT]
    return constants != [] and not any(_is_sent_only(constant, ctx) for constant in constants)


def _is_sent_only(constant: ErrorCode, ctx: Context) -> bool:
    """Whether every use of the constant in the project sends it as a missing resource."""
    uses = list(_uses(constant, ctx))
    return (
        bool(uses)
        and all(use.use is CodeUse.SEND and meaning(use, source) is Meaning.RESOURCE for use, source in uses)
        and _mentions(constant, ctx) == len(uses)
    )


def _is_recognised_only(constant: ErrorCode, ctx: Context) -> bool:
    """Whether the constant is only compared with; then the comparisons are the places to mend."""
    uses = _uses(constant, ctx)
    first = next(uses, None)
    return first is not None and first[0].use is CodeUse.COMPARE and all(use.use is CodeUse.COMPARE for use, _ in uses)


def _uses(constant: ErrorCode, ctx: Context) -> Iterator[tuple[ErrorCode, Source]]:
    name = _short(constant.name)
    if name is not None:
        yield from ((code, source) for code, source in ctx.project.codes.get((constant.key, name), ()) if code.use is not CodeUse.CONSTANT)


def _mentions(constant: ErrorCode, ctx: Context) -> int:
    """How often the project names the constant, where it is neither defined, imported nor exported."""
    name = _short(constant.name)
    count = 0
    for path, file in ctx.project.files.items():
        for line in file.source.text.splitlines() if name and ctx.project.says(path, name.encode()) else ():
            if name and name in line and not re.match(rf"\s*(from|import)\b|\s*[\"']?{name}[\"']?\s*(,|\)|:|=[^=]|$)|\s*#", line):
                count += len(re.findall(rf"\b{name}\b", line))
    return count


def _short(name: str) -> str | None:
    return name.rpartition(".")[2] if _NAME.fullmatch(name) else None
