"""Takes away what deleted code has left empty: tests before nothing, headings above nothing, headers that nothing fills."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from ..facts.idle import Idle
from ..facts.mask import parse
from ..source import Source, Span
from . import cut, idle
from .decided import only_looks
from .edits import Edit
from .lazy import cst
from .tree import Tree

# `# -- HTTP+SSE -----`, or a line of its own above and below the words.
_RULE = re.compile(r"([-=#*~_─═])\1{2,}")
_EMPTY = frozenset({"{}", "dict()"})
# What a reply is made with: none of it wants headers.
_REPLIES = frozenset(
    {
        "aiohttp",
        "django",
        "falcon",
        "fastapi",
        "flask",
        "litestar",
        "quart",
        "rest_framework",
        "sanic",
        "sse_starlette",
        "starlette",
        "werkzeug",
    }
)


def hollows(
    before: Source, tree: Tree, mentioned: Collection[str] = (), handed: Mapping[str, Idle] = MappingProxyType({})
) -> Iterator[list[Edit]]:
    """The edits for each thing that the way from `before` to the tree has left empty. Both have to be readable without a mask.

    `mentioned` are the names that other files mention, `handed` what does nothing any more in them, by its dotted name here.
    """
    yield from idle.uses(before, tree, mentioned, handed)
    yield from _tests(before, tree)
    yield from _headings(before, tree.source)
    yield from _headers(before, tree)


# -- tests ---------------------------------------------------------------------
def _tests(before: Source, tree: Tree) -> Iterator[list[Edit]]:
    """`if method != "initialize": pass`, where the test does nothing but look."""
    known = Counter(ast.unparse(node) for node in _idle(before))
    for node in _idle(tree.source):
        start = tree.source.offset(node.lineno, node.col_offset)
        found = tree.node(cst.If, Span(start, tree.source.offset(node.end_lineno or 0, node.end_col_offset or 0)))
        if known[ast.unparse(node)] == 0 and found is not None and only_looks(tree, found.test):
            yield list(cut.branch(tree, found))


def _idle(source: Source) -> Iterator[ast.If]:
    for node in ast.walk(parse(source)[0]):
        match node:
            case ast.If(body=[ast.Pass()], orelse=[]):
                yield node


# -- headings ------------------------------------------------------------------
class _Heading(NamedTuple):
    """A comment that is drawn as a heading, with what stands below it up to the next one or the end of the block."""

    text: str
    first: int  # rows, from 0
    end: int  # where the next thing begins
    is_empty: bool


def _headings(before: Source, now: Source) -> Iterator[list[Edit]]:
    filled = Counter(heading.text for heading in _drawn(before) if not heading.is_empty)
    held = Counter(heading.text for heading in _drawn(now) if not heading.is_empty)
    for heading in _drawn(now):
        if heading.is_empty and held[heading.text] < filled[heading.text]:
            starts = [*now.line_starts, len(now.utf8)]
            yield [Edit(Span(starts[heading.first], starts[heading.end]))]


def _drawn(source: Source) -> Iterator[_Heading]:
    lines = source.text.splitlines(keepends=True)
    comments = _comment_rows(source)
    if comments is None or len(lines) > len(source.line_starts):
        return
    row = 0
    while row < len(lines):
        if row not in comments:
            row += 1
            continue
        first, column = row, comments[row]
        while row < len(lines) and comments.get(row) == column:
            row += 1
        text = "".join(lines[first:row])
        if not _RULE.search(text):
            continue
        below = row
        while below < len(lines) and not lines[below].strip():
            below += 1
        ends = below == len(lines) or _indent(lines[below]) < column
        follows = not ends and comments.get(below) == column and _RULE.search(lines[below]) is not None
        # At the end of a block the gap below belongs to what follows it, otherwise to the next heading.
        yield _Heading(text, _above(lines, first) if ends else first, row if ends and below < len(lines) else below, ends or follows)


def _above(lines: list[str], row: int) -> int:
    while row and not lines[row - 1].strip():
        row -= 1
    return row


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _comment_rows(source: Source) -> dict[int, int] | None:
    """The rows that hold nothing but a comment, with the column where it begins."""
    found: dict[int, int] = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
            if token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip():
                found[token.start[0] - 1] = token.start[1]
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return None
    return found


# -- headers -------------------------------------------------------------------
def _headers(before: Source, tree: Tree) -> Iterator[list[Edit]]:
    """`headers = {}` for replies, where only deleted code put anything in: a reply without them says the same."""
    if "headers" not in tree.source.text:
        return
    was = dict(_functions(parse(before)[0]))
    module = parse(tree.source)[0]
    made_by = _frameworks(module)
    for name, function in _functions(module):
        if name in was and (made := _never_filled(function)) is not None and _is_filled(was[name]):
            calls = [node for node in ast.walk(function) if isinstance(node, ast.Call) if any(_is_handed(k) for k in node.keywords)]
            named = sum(isinstance(node, ast.Name) and node.id == "headers" for node in ast.walk(function))
            if calls and named == len(calls) + 1 and all(_root(call.func) in made_by for call in calls):
                yield _without_headers(made, calls, tree)


def _frameworks(module: ast.Module) -> frozenset[str]:
    """The names that imports of web frameworks give, and nothing else in the file does."""
    given: Counter[str] = Counter()
    known: set[str] = set()
    for node in ast.walk(module):
        match node:
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                home = node.module if isinstance(node, ast.ImportFrom) and not node.level else None
                for alias in names:
                    given[name := alias.asname or alias.name.partition(".")[0]] += 1
                    if (home or (alias.name if isinstance(node, ast.Import) else "")).partition(".")[0] in _REPLIES:
                        known.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                given[name] += 1
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                given[name] += 1
    return frozenset(name for name in known if given[name] == 1)


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _functions(module: ast.Module) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node


def _never_filled(function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.Assign | ast.AnnAssign | None:
    """The one statement that makes empty headers."""
    for node in function.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="headers")], value=value) | ast.AnnAssign(target=ast.Name(id="headers"), value=value):
                return node if value is not None and ast.unparse(value) in _EMPTY else None
    return None


def _is_filled(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    for node in ast.walk(function):
        match node:
            case ast.Subscript(value=ast.Name(id="headers"), ctx=ast.Store()):
                return True
            case ast.Assign(targets=[ast.Name(id="headers")], value=value) if ast.unparse(value) not in _EMPTY:
                return True
    return False


def _is_handed(keyword: ast.keyword) -> bool:
    return keyword.arg == "headers" and isinstance(keyword.value, ast.Name) and keyword.value.id == "headers"


def _without_headers(made: ast.Assign | ast.AnnAssign, calls: list[ast.Call], tree: Tree) -> list[Edit]:
    def span(node: ast.stmt | ast.expr) -> Span:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return Span(tree.source.offset(node.lineno, node.col_offset), tree.source.offset(node.end_lineno, node.end_col_offset))

    start = span(made).start
    line = tree.statement(Span(start, start + 1))
    if line is None:
        return []
    edits = list(cut.statement(tree, line))
    for call in calls:
        node = tree.node(cst.Call, span(call))
        if node is None:
            return []
        edits += cut.argument(tree, node, next(at for at, a in enumerate(node.args) if a.keyword and a.keyword.value == "headers"))
    return edits
