"""What Python files themselves ask for: the call of `setup`, and the block of a script (PEP 723)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from ..facts.mask import parse
from ..facts.model import Fact, Place, Requirement
from ..source import Source, Span
from .entries import Where, requirement
from .lines import script_block
from .pyproject import read_script
from .toml import Unread

_LISTS = {"install_requires": Place.DEPENDENCY, "tests_require": Place.GROUP, "setup_requires": Place.GROUP}


def block(source: Source) -> Iterator[Fact]:
    """What a script's own block asks for."""
    found = script_block(source.text)
    if found is None:
        return
    start = len(source.text[: found[0]].encode("utf-8"))
    try:
        facts = list(read_script(found[1]))
    except Unread:
        return
    for fact in facts:
        if isinstance(fact, Requirement):
            # The blank at the start of a new line stands for the `#` of the comment.
            entry = tuple((start + at, re.sub(r"(\r?\n) ", r"\1#", text)) for at, text in fact.entry)
            yield replace(
                fact,
                span=_moved(fact.span, start),
                versions=_moved(fact.versions, start),
                brackets=_moved(fact.brackets, start),
                scope=f"script.{fact.scope}",
                entry=entry,
            )


def setup(source: Source) -> Iterator[Requirement]:
    """What the call of `setup` names in literals, or in a list that a name is bound to."""
    tree = parse(source)[0]
    bound = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute) and _last_name(node.func) == "setup":
            for keyword in node.keywords:
                value = bound.get(keyword.value.id, keyword.value) if isinstance(keyword.value, ast.Name) else keyword.value
                if keyword.arg in _LISTS:
                    yield from _listed(source, value, _LISTS[keyword.arg], keyword.arg)
                elif keyword.arg == "extras_require" and isinstance(value, ast.Dict):
                    for listed in value.values:
                        yield from _listed(source, listed, Place.EXTRA, keyword.arg)
                elif keyword.arg == "python_requires" and (held := _plain(source, value)) is not None:
                    yield Requirement(held[0], "python", "python_requires", specifier=held[1], versions=held[0])


def _last_name(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


def _listed(source: Source, value: ast.expr, place: Place, section: str) -> Iterator[Requirement]:
    if not isinstance(value, ast.List | ast.Tuple):
        return
    entry = _behind(source, value)
    for item in value.elts:
        if (held := _plain(source, item)) is not None:
            found = requirement(held[1], held[0].start, Where(place, section))
            if found is not None:
                yield replace(found, entry=entry)


def _plain(source: Source, node: ast.expr) -> tuple[Span, str] | None:
    """A string that is written as it is, and where its text stands."""
    if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        return None
    span = _span(source, node)
    written = source.slice(span)
    if len(written) < 2 or written[1:-1] != node.value or written[0] not in "\"'" or written[0] * 3 == written[:3]:
        return None
    return Span(span.start + 1, span.end - 1), node.value


def _behind(source: Source, held: ast.List | ast.Tuple) -> tuple[tuple[int, str], ...]:
    if not held.elts or _plain(source, held.elts[-1]) is None:
        return ()
    last = _span(source, held.elts[-1])
    quote = chr(source.utf8[last.start])
    line = source.line(held.elts[-1].lineno)
    indent = line[: len(line) - len(line.lstrip())]
    if held.elts[-1].lineno == held.lineno or not line.lstrip().startswith(quote):
        return ((last.end, f", {quote}{{}}{quote}"),)
    rest = re.match(rb"[ \t]*,[ \t]*(?:#[^\r\n]*)?", source.utf8[last.end :])
    entry = f"{source.newline}{indent}{quote}{{}}{quote}"
    if rest is not None:
        return ((last.end + rest.end(), f"{entry},"),)
    comment = re.match(rb"[ \t]*#[^\r\n]*", source.utf8[last.end :])
    return ((last.end, ","), (last.end + (comment.end() if comment else 0), entry))


def _moved(span: Span, by: int) -> Span:
    return Span(span.start + by, span.end + by)


def _span(source: Source, node: ast.AST) -> Span:
    assert isinstance(node, ast.expr | ast.stmt)
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return Span(source.offset(node.lineno, node.col_offset), source.offset(node.end_lineno, node.end_col_offset))
