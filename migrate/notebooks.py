"""Jupyter notebooks: the code of their cells as one module, and a changed module back into its cells, where no other byte is touched."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import NamedTuple, TypeAlias

from . import cells
from .facts.mask import parse
from .facts.vocabulary import may_speak
from .source import Position, Source

SUFFIX = ".ipynb"
_BOM = b"\xef\xbb\xbf"
_VERSION = 4
_PYTHON = frozenset({"python", "ipython", "python3", "ipython3"})
_IMPORT = re.compile(rb"(?:from|import)[ \t]+(?:fast)?mcp\b")
_WRITES = re.compile(r"\s*%%(?:writefile|file)[ \t]+(?P<more>-a[ \t]+|--append[ \t]+)?(?P<name>[\w./-]+\.py)[ \t]*(?:\r?\n|\Z)")
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_ESCAPE = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]+")


class NoNotebook(ValueError):
    """A file that cannot be read as a notebook; the text says why."""


class Text(NamedTuple):
    """A string of the file: the bytes that it takes with its quotes, and what it says."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Cell:
    """A cell of Python code. `number` counts all cells of the notebook, from 1 on; `code` is as it is read: with its commands hidden."""

    number: int
    strings: tuple[Text, ...]
    code: str
    error: SyntaxError | None = None  # why it cannot be read

    @cached_property
    def text(self) -> str:
        return "".join(string.text for string in self.strings)


class Change(NamedTuple):
    """New bytes for some of the file's."""

    start: int
    end: int
    data: bytes


class Place(NamedTuple):
    """A place in a cell, and where that is in the file."""

    cell: int
    position: Position
    raw: Position


@dataclass(frozen=True)
class Notebook:
    """What a notebook runs, or what it writes into one file (`%%writefile`), as a module. Its cells are those that hold code of it.

    `file` is the path of the notebook; `path` is that as well, or one below it for what is written.
    """

    file: str
    path: str
    data: bytes
    cells: tuple[Cell, ...]

    @cached_property
    def source(self) -> Source:
        """All cells as one module."""
        return Source(self.path, cells.join([cell.code for cell in self.cells]))

    def place(self, position: Position) -> Place:
        """Where a place of the module is."""
        cell, first = self._cell_at(position.line)
        line = self.source.line(position.line)
        lead = len(cells.lead(line))
        inside = Position(position.line - first + 1, max(1, position.column - lead))
        return Place(cell.number, inside, self._raw(cell, inside))

    @staticmethod
    def shown(line: str) -> str:
        """A line of the module as it stands in its cell."""
        return line[len(cells.lead(line)) :]

    def edits(self, text: str) -> Iterator[Change]:
        """What puts the code of a changed module into its cells. Lines that stay keep their bytes, and so does all else."""
        for cell, part in zip(self.cells, cells.split(text), strict=True):
            code = cells.restored(part)
            if not cell.text.endswith("\n"):
                code = code.rstrip("\r\n")
            if code != cell.text:
                yield from self._edits(cell, code)

    # Positions

    def _cell_at(self, line: int) -> tuple[Cell, int]:
        """The cell of a line of the module, and the line that it begins at; a border belongs to the cell before it."""
        first = 1
        for cell in self.cells[:-1]:
            behind = first + max(1, len(cells.lines_of(cell.code)))
            if line <= behind:
                return cell, first
            first = behind + 1
        return self.cells[-1], first

    def _raw(self, cell: Cell, inside: Position) -> Position:
        lines = cells.lines_of(cell.text)
        before = sum(map(len, lines[: inside.line - 1])) + inside.column - 1
        offset = self._offset(cell, before)
        start = self.data.rfind(b"\n", 0, offset) + 1
        return Position(self.data.count(b"\n", 0, offset) + 1, len(self.data[start:offset].decode("utf-8", "replace")) + 1)

    def _offset(self, cell: Cell, number: int) -> int:
        """Where a character of a cell stands in the file."""
        for string in cell.strings:
            if number < len(string.text) or string is cell.strings[-1]:
                return self._offsets(string)[min(number, len(string.text))]
            number -= len(string.text)
        raise AssertionError("a cell of code has text")

    def _offsets(self, string: Text) -> list[int]:
        """Where each character of a string stands, and its closing quote."""
        offsets = []
        at = string.start + 1
        for found in _ESCAPE.finditer(self.data, at, string.end - 1):
            if found[0].startswith(b"\\"):
                offsets.append(found.start())
                continue
            at = found.start()
            for char in found[0].decode("utf-8"):
                offsets.append(at)
                at += len(char.encode("utf-8"))
        return [*offsets, string.end - 1]

    # Writing

    def _edits(self, cell: Cell, code: str) -> Iterator[Change]:
        old, new = cells.lines_of(cell.text), cells.lines_of(code)
        listed = [string.text for string in cell.strings] == old
        if not listed and len(cell.strings) > 1:
            yield Change(cell.strings[0].start, cell.strings[-1].end, self._between(cell).join(map(self._quoted, new or [""])))
            return
        offsets = [] if listed else self._offsets(cell.strings[0])
        at = [0]
        for line in old:
            at.append(at[-1] + len(line))
        for kind, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if kind == "equal":
                continue
            if not listed:
                yield Change(offsets[at[first]], offsets[at[last]], b"".join(self._quoted(line)[1:-1] for line in new[start:end]))
                continue
            said = [self._quoted(line) for line in new[start:end]]
            between = self._between(cell)
            if last > first and said:
                yield Change(cell.strings[first].start, cell.strings[last - 1].end, between.join(said))
            elif said and first:
                yield Change(cell.strings[first - 1].end, cell.strings[first - 1].end, b"".join(between + line for line in said))
            elif said:
                yield Change(cell.strings[0].start, cell.strings[0].start, b"".join(line + between for line in said))
            elif last < len(cell.strings):
                yield Change(cell.strings[first].start, cell.strings[last].start, b"")
            elif first:
                yield Change(cell.strings[first - 1].end, cell.strings[last - 1].end, b"")
            else:
                yield Change(cell.strings[0].start, cell.strings[-1].end, b'""')

    def _between(self, cell: Cell) -> bytes:
        """What stands between two lines of a list."""
        if len(cell.strings) > 1:
            return self.data[cell.strings[0].end : cell.strings[1].start]
        line = self.data.rfind(b"\n", 0, cell.strings[0].start) + 1
        indent = self.data[line : cell.strings[0].start]
        newline = b"\r\n" if self.data[line - 2 : line] == b"\r\n" else b"\n"
        return b", " if indent.strip() else b"," + newline + indent

    def _quoted(self, text: str) -> bytes:
        return json.dumps(text, ensure_ascii=self._is_ascii).encode("utf-8")

    @cached_property
    def _is_ascii(self) -> bool:
        """Whether the file escapes everything outside of ASCII."""
        return self.data.isascii() and re.search(rb"\\u(?!00[01])[0-9a-fA-F]{4}", self.data) is not None


def is_notebook(path: str) -> bool:
    """Whether a file is a notebook."""
    return path.endswith(SUFFIX)


def written(data: bytes, changes: Iterable[Change]) -> bytes:
    """The file with these changes."""
    for change in sorted(changes, reverse=True):
        data = data[: change.start] + change.data + data[change.end :]
    return data


def read(path: str, data: bytes) -> list[Notebook]:
    """The modules of a notebook that may hold protocol code; none for any other. Raises NoNotebook for one that is broken."""
    imports = _IMPORT.search(data) is not None
    if not imports and not may_speak(data):
        return []
    try:
        try:
            document = json.loads(data.removeprefix(_BOM).decode("utf-8"))
        except UnicodeDecodeError as error:
            raise NoNotebook(f"not utf-8: byte 0x{error.object[error.start]:02x} at offset {error.start}") from None
        except RecursionError:
            raise NoNotebook("nested too deeply") from None
        except ValueError as error:
            raise NoNotebook(f"not a notebook: {error}") from None
        if not isinstance(document, dict) or not isinstance(document.get("nbformat"), int):
            raise NoNotebook("not a notebook: it names no `nbformat`")
        if document["nbformat"] < _VERSION:
            raise NoNotebook(
                f"a notebook of format {document['nbformat']}; `jupyter nbconvert --to notebook` makes one of format {_VERSION} of it"
            )
        if not isinstance(document.get("cells"), list):
            raise NoNotebook("not a notebook: it has no `cells`")
    except NoNotebook:
        if imports:  # of one that only mentions the protocol, nobody wants to hear
            raise
        return []
    if not _is_python(document):
        return []
    return [module for module in _modules(path, data) if module.cells and may_speak(module.source.utf8)]


def _is_python(document: dict[str, object]) -> bool:
    metadata = document.get("metadata")
    told = metadata if isinstance(metadata, dict) else {}
    for group, key in (("language_info", "name"), ("kernelspec", "language")):
        entry = told.get(group)
        language = entry.get(key) if isinstance(entry, dict) else None
        if isinstance(language, str):
            return language.lower() in _PYTHON
    return True


def _modules(path: str, data: bytes) -> Iterator[Notebook]:
    """What a notebook runs, and each file of Python that it writes."""
    run: list[Cell] = []
    files: dict[str, list[Cell]] = {}
    hidden = 0
    for number, strings in _cells(data):
        text = "".join(string.text for string in strings)
        target = _WRITES.match(text)
        if target is not None:
            listed = files.setdefault(target["name"], [])
            if not target["more"]:
                listed.clear()  # the last one is what stays; the others cannot be told from notes
            if (rest := cells.readable(text[target.end() :], hidden + 1)) is not None:
                listed.append(Cell(number, strings, cells.hidden(target[0], hidden) + rest))
                hidden += 1 + cells.count(rest)
                continue
        code = cells.readable(text, hidden)
        run.append(Cell(number, strings, cells.hidden(text, hidden) if code is None else code, _error(text) if code is None else None))
        hidden += len(cells.lines_of(text)) if code is None else cells.count(code)
    yield Notebook(path, path, data, tuple(run))
    for name, listed in files.items():
        below = "/".join(part for part in name.split("/") if part not in ("", ".", ".."))
        yield Notebook(path, f"{path}/{below}", data, tuple(listed))


def _cells(data: bytes) -> Iterator[tuple[int, tuple[Text, ...]]]:
    """The strings of each cell of code that is not empty, with its number."""
    top = _tree(data)
    assert isinstance(top, dict)
    listed = top["cells"]
    assert isinstance(listed, list)
    for number, cell in enumerate(listed, start=1):
        if isinstance(cell, dict) and _text(cell.get("cell_type")) == "code":
            source = cell.get("source")
            strings = tuple(one for one in (source if isinstance(source, list) else [source]) if isinstance(one, Text))
            if any(string.text.strip() for string in strings):
                yield number, strings


def _error(text: str) -> SyntaxError | None:
    """Why a cell cannot be read; None for one that has nothing to do with the protocol."""
    if not may_speak(text.encode("utf-8", "replace")):
        return None
    try:
        parse(Source("", text))
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError) as error:
        return SyntaxError(str(error))
    return None


def _text(node: _Node) -> str:
    return node.text if isinstance(node, Text) else ""


_Node: TypeAlias = "Text | dict[str, _Node] | list[_Node] | None"


def _tree(data: bytes) -> _Node:
    """What a file of JSON says, which must be sound, with the places of its strings; numbers and constants are left out."""
    top: list[_Node] = []
    stack: list[list[_Node] | dict[str, _Node]] = [top]
    keys: list[str | None] = [None]

    def put(node: _Node) -> None:
        inside = stack[-1]
        if isinstance(inside, list):
            inside.append(node)
        else:
            key = keys[-1]
            assert key is not None
            inside[key] = node
            keys[-1] = None

    for found in _TOKEN.finditer(data, len(_BOM) * data.startswith(_BOM)):
        token = found[0]
        match token:
            case b"{" | b"[":
                node: dict[str, _Node] | list[_Node] = {} if token == b"{" else []
                put(node)
                stack.append(node)
                keys.append(None)
            case b"}" | b"]":
                stack.pop()
                keys.pop()
            case b"," | b":":
                continue
            case _ if token.startswith(b'"'):
                if isinstance(stack[-1], dict) and keys[-1] is None:
                    keys[-1] = json.loads(token)
                else:
                    # What a picture says is nothing that anybody asks for.
                    put(Text(found.start(), found.end(), json.loads(token)))
            case _:
                put(None)
    return top[0]


def broken(notebook: Notebook) -> Iterable[tuple[int, SyntaxError]]:
    """The cells that cannot be read, each by the line of the module that it begins at."""
    line = 1
    for cell in notebook.cells:
        if cell.error is not None:
            yield line, cell.error
        line += max(1, len(cells.lines_of(cell.code))) + 1
