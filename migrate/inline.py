"""A script that carries modules inside that `fix` has written, each between two marks, as a function that keeps its names to itself.

Such a script is read as several files, the script with imports in place of the blocks, and the modules beside it: nothing else has
to know. What is written puts them together again.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import PurePosixPath
from typing import NamedTuple, TypeGuard

from .facts.gates import (
    BOUNDARY_MODULE,
    CLIENT_MODULE,
    COMPAT_MODULE,
    CONNECTION_MODULE,
    HANDLER_MODULE,
    QUESTION_MODULE,
    ROUND_MODULE,
    SESSION_MODULE,
    SOCKET_MODULE,
)
from .rewrite.edits import Edit, apply
from .rewrite.module import again
from .source import Source, Span

MODULES = (
    BOUNDARY_MODULE,
    CLIENT_MODULE,
    HANDLER_MODULE,
    QUESTION_MODULE,
    ROUND_MODULE,
    CONNECTION_MODULE,
    SOCKET_MODULE,
    SESSION_MODULE,
    COMPAT_MODULE,
)
"""The file names of what can be inside."""
SHARED = frozenset({HANDLER_MODULE, QUESTION_MODULE, ROUND_MODULE})
"""Those whose state all files of a server share: only a script that is the server alone can have them inside."""
_STEMS = "|".join(name.removesuffix(".py") for name in MODULES)
_BLOCK = re.compile(
    rf"^# \[(?P<stem>{_STEMS})\] parts: (?P<parts>[a-z_ ]*); digest: (?P<digest>[0-9a-f]{{16}})\r?\n(?P<body>.*?)^# \[/(?P=stem)\]",
    re.MULTILINE | re.DOTALL,
)
_SEAL = re.compile(r"^# parts: (?P<parts>[a-z_ ]*); digest: [0-9a-f]{16}\n", re.MULTILINE)
_INDENT = "    "


@dataclass(frozen=True, slots=True)
class Carried:
    """A module that a script carries, as it was read; without a block it has only to be put in."""

    module: str
    block: str = ""


class Joined(NamedTuple):
    """A script with its blocks, and the edits of the script that put them there, one block after the other."""

    source: Source
    steps: tuple[tuple[Edit, ...], ...]

    def span(self, span: Span) -> Span:
        """Where a span of the script lies in the whole text."""
        for edits in self.steps:
            moved = [edit for edit in edits if edit.span.end <= span.start]
            by = sum(len(edit.text.encode()) - (edit.span.end - edit.span.start) for edit in moved)
            span = Span(span.start + by, span.end + by)
        return span


def module_beside(path: str, name: str) -> str:
    """The path that a module of a script has, as far as the rest of a run can see."""
    return str(PurePosixPath(path).with_name(name))


def split(source: Source) -> tuple[Source, Mapping[str, Carried]] | None:
    """The script without its blocks, and what it carries by file name; None for any other file."""
    carried: dict[str, Carried] = {}
    text, at = source.text, 0
    while "# [mcp_" in text and (found := _BLOCK.search(text, at)) is not None:
        stem, at = found["stem"], found.end()
        names = re.search(rf"^(?P<names>\w[\w, ]*) = _{stem}\(\)", found["body"], re.MULTILINE)
        if names is None or f"{stem}.py" in carried:
            continue
        plain = f"import {stem}" if names["names"] == stem else f"from {stem} import {names['names']}"
        text, at = f"{text[: found.start()]}{plain}{text[found.end() :]}", found.start()
        # A block that somebody has changed stays as it is: its text has no parts.
        ours = found["digest"] == _digest(found["parts"], found["body"])
        module = again(f"{stem}.py", found["parts"].split(), source.newline) if ours else None
        carried[f"{stem}.py"] = Carried(found["body"] if module is None else module, found[0])
    return (replace(source, text=text), carried) if carried else None


def join(script: Source, modules: Mapping[str, str], carried: Mapping[str, Carried]) -> Joined | None:
    """The script with these modules (texts by file name) inside, in place of their imports; None where one file cannot say that."""
    source, steps = script, []
    for name, module in modules.items():
        edits = _joined(source, name.removesuffix(".py"), module, carried[name])
        if edits is None:
            return None
        source = replace(source, text=apply(source.utf8, edits).decode("utf-8"))
        steps.append(tuple(edits))
    try:
        ast.parse(source.text)
    except SyntaxError:
        return None
    return Joined(source, tuple(steps))


def _joined(script: Source, stem: str, module: str, carried: Carried) -> list[Edit] | None:
    try:
        tree = ast.parse(script.text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    imports = [node for node in tree.body if _is_import(node, stem)]
    if len(imports) != 1 or not _is_named_once(script, tree, stem, imports[0]):
        return None
    (node,) = imports
    names = [alias.name for alias in node.names]
    block = carried.block if carried.block and module == carried.module else _block(stem, module, names)
    block = block.replace("\r\n", "\n").replace("\n", script.newline)
    return _in_place(script, node, block) if carried.block else _moved(script, node, tree.body, block)


def _is_import(node: ast.stmt, stem: str) -> TypeGuard[ast.Import | ast.ImportFrom]:
    """Whether this is one plain line that takes names of the module, or the module itself."""
    match node:
        case ast.ImportFrom(module=module, names=names, level=level):
            return (module or "") == stem and level < 2 and not any(alias.asname for alias in names)
        case ast.Import(names=[alias]):
            return alias.name == stem and not alias.asname
    return False


def _is_named_once(script: Source, tree: ast.Module, stem: str, found: ast.stmt) -> bool:
    """Whether nothing else is called as the module is, or imports it: elsewhere it would find no file."""
    if isinstance(found, ast.ImportFrom):
        return len(re.findall(rf"\b_?{stem}\b(?!\.py)", script.text)) == 1
    if re.search(rf"\b_{stem}\b", script.text):
        return False
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names) | ast.ImportFrom(names=names) if node is not found:
                if any(alias.name.partition(".")[0] == stem for alias in names) or getattr(node, "module", None) == stem:
                    return False
            case ast.Constant(value=str(text)) if text == stem or text.startswith(f"{stem}."):
                return False
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name) if name == stem:
                return False
    return True


def _in_place(script: Source, node: ast.stmt, block: str) -> list[Edit]:
    return [Edit(_span(script, node), block)]


def _moved(script: Source, node: ast.Import | ast.ImportFrom, body: list[ast.stmt], block: str) -> list[Edit]:
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


def _block(stem: str, module: str, names: Iterable[str]) -> str:
    plain = module.replace("\r\n", "\n").replace("\r", "\n")
    seal = _SEAL.search(plain)
    text = _SEAL.sub("", plain).replace("from __future__ import annotations\n\n", "", 1)
    tight = re.sub(r"\n{3,}", "\n\n", _quoted(text).rstrip("\n"))
    inner = _deeper(tight)
    given = ", ".join(names)
    returned = f"{_INDENT}return {given}"
    if given == stem:  # used as a module
        returned = f"{_INDENT}from types import SimpleNamespace\n\n{_INDENT}return SimpleNamespace(**locals())"
    body = f"def _{stem}():\n{inner}\n\n{returned}\n\n\n{given} = _{stem}()\n"
    parts = seal["parts"] if seal else ""
    return f"# [{stem}] parts: {parts}; digest: {_digest(parts, body)}\n{body}# [/{stem}]"


def _deeper(text: str) -> str:
    return "\n".join(f"{_INDENT}{line}" if line else line for line in text.split("\n"))


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


def _digest(parts: str, body: str) -> str:
    plain = body.replace("\r\n", "\n").replace("\r", "\n")
    return hashlib.sha256(f"{parts}\n{plain}".encode()).hexdigest()[:16]
