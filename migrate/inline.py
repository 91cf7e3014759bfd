"""A script that carries its boundary module inside, between two marks, as a function that keeps its names to itself.

Such a script is read as two files, the script with an import in place of the block, and the module beside it: nothing else has to
know. What is written puts them together again.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import PurePosixPath
from typing import NamedTuple

from .facts.gates import BOUNDARY_MODULE
from .rewrite.edits import Edit, apply
from .rewrite.module import Part, complete, render
from .source import Source, Span

_STEM = BOUNDARY_MODULE.removesuffix(".py")
_FUNCTION = f"_{_STEM}"
_BLOCK = re.compile(
    rf"^# \[{_STEM}\] parts: (?P<parts>[a-z_ ]*); digest: (?P<digest>[0-9a-f]{{16}})\r?\n(?P<body>.*?)^# \[/{_STEM}\]",
    re.MULTILINE | re.DOTALL,
)
_NAMES = re.compile(rf"^(?P<names>\w[\w, ]*) = {_FUNCTION}\(\)", re.MULTILINE)
_SEAL = re.compile(r"^# parts: (?P<parts>[a-z_ ]*); digest: [0-9a-f]{16}\n", re.MULTILINE)
_INDENT = "    "


@dataclass(frozen=True, slots=True)
class Carried:
    """The boundary module that a script carries, as it was read; without a block it has only to be put in."""

    module: str
    block: str = ""


class Joined(NamedTuple):
    """A script with its block, and the edits of the script that put it there."""

    source: Source
    edits: tuple[Edit, ...]

    def span(self, span: Span) -> Span:
        """Where a span of the script lies in the whole text."""
        moved = [edit for edit in self.edits if edit.span.end <= span.start]
        by = sum(len(edit.text.encode()) - (edit.span.end - edit.span.start) for edit in moved)
        return Span(span.start + by, span.end + by)


def module_beside(path: str) -> str:
    """The path that the module of a script has, as far as the rest of a run can see."""
    return str(PurePosixPath(path).with_name(BOUNDARY_MODULE))


def split(source: Source) -> tuple[Source, Carried] | None:
    """The script without its block, and what it carries; None for any other file."""
    found = _BLOCK.search(source.text) if f"# [{_STEM}]" in source.text else None
    names = _NAMES.search(found["body"]) if found else None
    if found is None or names is None:
        return None
    script = f"{source.text[: found.start()]}from {_STEM} import {names['names']}{source.text[found.end() :]}"
    # A block that somebody has changed stays as it is: its text has no parts.
    parts = _parts(found["parts"]) if found["digest"] == _digest(found["parts"], found["body"]) else None
    module = found["body"] if parts is None else render(parts, source.newline)
    return replace(source, text=script), Carried(module, found[0])


def join(script: Source, module: str, carried: Carried) -> Joined | None:
    """The script with the module inside, in place of its import; None where that cannot be said in one file."""
    try:
        body = ast.parse(script.text).body
    except (SyntaxError, ValueError, RecursionError):
        return None
    imports = [node for node in body if isinstance(node, ast.ImportFrom) and (node.module or "").rpartition(".")[2] == _STEM]
    if len(imports) != 1 or any(alias.asname for alias in imports[0].names) or _mentioned(script) != 1:
        return None
    (node,) = imports
    block = carried.block if carried.block and module == carried.module else _block(module, [alias.name for alias in node.names])
    block = block.replace("\r\n", "\n").replace("\n", script.newline)
    edits = _in_place(script, node, block) if carried.block else _moved(script, node, body, block)
    text = apply(script.utf8, edits).decode("utf-8")
    try:
        ast.parse(text)
    except SyntaxError:
        return None
    return Joined(replace(script, text=text), tuple(edits))


def _mentioned(script: Source) -> int:
    """How often the module is named: an import of it elsewhere would find no file; two functions of one name would be one too many."""
    return len(re.findall(rf"\b_?{_STEM}\b(?!\.py)", script.text))


def _in_place(script: Source, node: ast.stmt, block: str) -> list[Edit]:
    return [Edit(_span(script, node), block)]


def _moved(script: Source, node: ast.ImportFrom, body: list[ast.stmt], block: str) -> list[Edit]:
    """Behind all imports, before the first statement that uses what was imported."""
    names = {alias.name for alias in node.names}
    users = (one for one in body if one is not node and any(isinstance(n, ast.Name) and n.id in names for n in ast.walk(one)))
    first = next(users, None)
    if first is None or first.lineno <= node.lineno:
        return _in_place(script, node, block)
    lines = [script.line(number) for number in range(1, len(script.line_starts) + 1)]
    row = min([first.lineno, *(decorator.lineno for decorator in getattr(first, "decorator_list", ()))]) - 1
    row -= sum(1 for _ in takewhile(lambda line: line.startswith("#"), reversed(lines[:row])))
    blank = sum(1 for _ in takewhile(lambda line: not line.strip(), reversed(lines[:row])))
    newline = script.newline
    at = script.line_starts[row]
    start, end = node.lineno - 1, (node.end_lineno or node.lineno)
    if end < len(lines) and not lines[end].strip():
        start -= sum(1 for _ in takewhile(lambda line: not line.strip(), reversed(lines[:start])))
    return [
        Edit(Span(script.line_starts[start], script.line_starts[end])),
        Edit(Span(at, at), f"{newline * max(0, 2 - blank)}{block}{newline * 2}"),
    ]


def _span(script: Source, node: ast.stmt) -> Span:
    end = script.offset(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
    return Span(script.offset(node.lineno, node.col_offset), end)


def _block(module: str, names: Iterable[str]) -> str:
    plain = module.replace("\r\n", "\n").replace("\r", "\n")
    seal = _SEAL.search(plain)
    text = _SEAL.sub("", plain).replace("from __future__ import annotations\n\n", "", 1)
    tight = re.sub(r"\n{3,}", "\n\n", _quoted(text).rstrip("\n"))
    inner = "\n".join(f"{_INDENT}{line}" if line else line for line in tight.split("\n"))
    given = ", ".join(names)
    body = f"def {_FUNCTION}():\n{inner}\n\n{_INDENT}return {given}\n\n\n{given} = {_FUNCTION}()\n"
    parts = seal["parts"] if seal else ""
    return f"# [{_STEM}] parts: {parts}; digest: {_digest(parts, body)}\n{body}# [/{_STEM}]"


def _quoted(text: str) -> str:
    """The text with annotations as texts where they name what is defined later: a function cannot put off reading its annotations."""
    source = Source(BOUNDARY_MODULE, text)
    body = ast.parse(text).body
    defined = {name: number for number, node in enumerate(body) for name in _bound(node)}
    edits = []
    for number, statement in enumerate(body):
        for annotation in _annotations(statement):
            named = {node.id for node in ast.walk(annotation) if isinstance(node, ast.Name)}
            if any(defined.get(name, -1) >= number for name in named):
                start = source.offset(annotation.lineno, annotation.col_offset)
                end = source.offset(annotation.end_lineno or 0, annotation.end_col_offset or 0)
                edits.append(Edit(Span(start, end), f'"{ast.unparse(annotation)}"'))
    return apply(source.utf8, edits).decode("utf-8")


def _bound(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name


def _annotations(statement: ast.stmt) -> Iterator[ast.expr]:
    for node in ast.walk(statement):
        match node:
            case ast.arg(annotation=ast.expr() as found) | ast.AnnAssign(annotation=found):
                yield found
            case ast.FunctionDef(returns=ast.expr() as found) | ast.AsyncFunctionDef(returns=ast.expr() as found):
                yield found


def _parts(names: str) -> frozenset[Part] | None:
    known = {part.value for part in Part}
    return complete(map(Part, names.split())) if {*names.split()} <= known else None


def _digest(parts: str, body: str) -> str:
    plain = body.replace("\r\n", "\n").replace("\r", "\n")
    return hashlib.sha256(f"{parts}\n{plain}".encode()).hexdigest()[:16]
