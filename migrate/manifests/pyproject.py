"""pyproject.toml, Pipfile, pixi.toml, and the tables of the same form in scripts (PEP 723): what they ask for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..facts.model import Fact, Place, Remark, Requirement
from ..facts.versions import from_poetry, normalized
from ..source import Span
from . import toml
from .entries import Where, requirement
from .offsets import Offsets
from .toml import Item

Path = tuple[str | int, ...]
_NEWLINE = re.compile(r"\r?\n")
# Lists of requirements by their path; a star is any one key.
_LISTS: tuple[tuple[tuple[str, ...], Place], ...] = (
    (("project", "dependencies"), Place.DEPENDENCY),
    (("project", "optional-dependencies", "*"), Place.EXTRA),
    (("dependency-groups", "*"), Place.GROUP),
    (("tool", "uv", "dev-dependencies"), Place.GROUP),
    (("tool", "uv", "constraint-dependencies"), Place.CONSTRAINT),
    (("tool", "uv", "override-dependencies"), Place.CONSTRAINT),
    (("tool", "uv", "build-constraint-dependencies"), Place.CONSTRAINT),
    (("tool", "pdm", "dev-dependencies", "*"), Place.GROUP),
    (("tool", "pdm", "resolution", "overrides"), Place.CONSTRAINT),
    (("tool", "hatch", "envs", "*", "dependencies"), Place.GROUP),
    (("tool", "hatch", "envs", "*", "extra-dependencies"), Place.GROUP),
    (("tool", "rye", "dev-dependencies"), Place.GROUP),
)
# Tables from a name to a version, or to a table that has one.
_TABLES: tuple[tuple[tuple[str, ...], Place], ...] = (
    (("tool", "poetry", "dependencies"), Place.DEPENDENCY),
    (("tool", "poetry", "dev-dependencies"), Place.GROUP),
    (("tool", "poetry", "group", "*", "dependencies"), Place.GROUP),
    (("packages",), Place.DEPENDENCY),
    (("dev-packages",), Place.GROUP),
    (("pypi-dependencies",), Place.DEPENDENCY),
    (("feature", "*", "pypi-dependencies"), Place.GROUP),
    (("tool", "pixi", "pypi-dependencies"), Place.DEPENDENCY),
    (("tool", "pixi", "feature", "*", "pypi-dependencies"), Place.GROUP),
)
_PIPFILE_TABLES = frozenset({"packages", "dev-packages"})
_SCRIPT = ((("dependencies",), Place.DEPENDENCY),)
_PYTEST = (("tool", "pytest", "ini_options", "filterwarnings"), ("tool", "pytest", "filterwarnings"))


def read(text: str, name: str) -> Iterator[Fact]:
    """The facts of one file. Raises toml.Unread."""
    items = toml.items(text)
    offset = Offsets(text)
    reader = _Reader(text, offset, items)
    yield from reader.lists(_LISTS)
    yield from reader.tables([(path, place) for path, place in _TABLES if (path[0] in _PIPFILE_TABLES) == (name == "Pipfile")])
    yield from reader.python((("project", "requires-python"), ("tool", "poetry", "dependencies", "python")))
    yield from reader.warnings()


def read_script(text: str) -> Iterator[Fact]:
    """The facts of a script's block, given as TOML. Raises toml.Unread."""
    reader = _Reader(text, Offsets(text), toml.items(text))
    yield from reader.lists(_SCRIPT)
    yield from reader.python((("requires-python",),))


class _Reader:
    def __init__(self, text: str, offset: Offsets, items: Iterable[Item]) -> None:
        self.text, self.offset = text, offset
        self.items = list(items)
        self.by_path = {item.path: item for item in self.items}
        self.sourced = {
            normalized(str(item.path[3])) for item in self.items if item.path[:3] == ("tool", "uv", "sources") and item.path[3:]
        }

    def span(self, start: int, end: int) -> Span:
        return Span(self.offset(start), self.offset(end))

    def lists(self, lists: Iterable[tuple[tuple[str, ...], Place]]) -> Iterator[Requirement]:
        lists = tuple(lists)
        for item in self.items:
            if item.text is None or not isinstance(item.path[-1], int):
                continue
            place = next((place for pattern, place in lists if _fits(item.path[:-1], pattern)), None)
            if place is None:
                continue
            where = Where(place, ".".join(map(str, item.path[:-1])))
            found = requirement(item.text, self.offset(item.start + item.opened), where)
            if found is not None and found.key in self.sourced:
                found = replace(found, fixed="`tool.uv.sources` says where it comes from")
            if found is not None:
                yield replace(found, entry=self._behind(item.path[:-1]))

    def tables(self, tables: Iterable[tuple[tuple[str, ...], Place]]) -> Iterator[Requirement]:
        """Names with a version: `mcp = "^1.9"`, `mcp = {version = "^1.9", extras = ["cli"]}`, or a table of its own."""
        for pattern, place in tables:
            size = len(pattern)
            last: dict[Path, Item] = {}
            for item in self.items:
                if len(item.path) == size + 1 and _fits(item.path[:size], pattern):
                    last[item.path[:size]] = item
            for item in self.items:
                if len(item.path) <= size or not _fits(item.path[:size], pattern):
                    continue
                name = str(item.path[size])
                below = item.path[size + 1 :]
                table = item.path[:size]
                entry = self._line_behind(last[table]) if table in last else ()
                if name != "python" and (below == () or (below[-1:] == ("version",) and len(below) < 3)) and item.text is not None:
                    yield from self._of_table(name, item, (*item.path[: size + 1], *below[:-1]), place, entry)

    def _of_table(self, name: str, item: Item, path: Path, place: Place, entry: tuple[tuple[int, str], ...]) -> Iterator[Requirement]:
        specifier = from_poetry(item.text or "")
        if specifier is None:
            return
        extras = self.by_path.get((*path, "extras"))
        names = [self.by_path.get((*path, "extras", number)) for number in range(extras.size if extras else 0)]
        start = item.start + item.opened
        yield Requirement(
            span=self.span(start, start + len(item.text or "")),
            key=normalized(name),
            scope=".".join(map(str, path[:-1])),
            specifier=specifier,
            extras=tuple(one.text for one in names if one is not None and one.text is not None),
            place=place,
            versions=self.span(start, start + len(item.text or "")),
            brackets=self.span(extras.start, extras.end) if extras else Span(0, 0),
            spelling="poetry",
            entry=entry,
        )

    def python(self, paths: Iterable[Path]) -> Iterator[Requirement]:
        for path in paths:
            item = self.by_path.get(path)
            poetry = path[-1] == "python"
            if item is not None and item.text is not None:
                specifier = from_poetry(item.text) if poetry else item.text.strip()
                span = self.span(item.start + item.opened, item.start + item.opened + len(item.text))
                if specifier is not None:
                    yield Requirement(
                        span=span,
                        key="python",
                        scope=".".join(map(str, path)),
                        specifier=specifier,
                        versions=span,
                        spelling="poetry" if poetry else "pep508",
                    )

    def warnings(self) -> Iterator[Remark]:
        for path in _PYTEST:
            held = [item for item in self.items if item.path == path or item.path[:-1] == path]
            entries = [(line.strip(), item) for item in held for line in (item.text or "").splitlines()]
            if any("MCPDeprecationWarning" in entry for entry, _ in entries):
                continue
            for entry, item in entries:
                if entry == "error":
                    start = item.start + item.opened + (item.text or "").index("error")
                    span, scope = self.span(start, start + len("error")), ".".join(map(str, path))
                    yield Remark(span, "warnings", scope, "filterwarnings", entry=self._behind(path))

    def _behind(self, path: Path) -> tuple[tuple[int, str], ...]:
        """What puts another string behind the last one of a list, in the list's own form."""
        held = self.by_path.get(path)
        if held is None or held.size < 1:
            return ()
        last = self.by_path.get((*path, held.size - 1))
        if last is None or last.text is None:
            return ()
        quote = self.text[last.start]
        # `]` is the last character of the list; between it and the last string stand a comma, comments and newlines.
        rest = self.text[last.end : held.end - 1]
        comma = re.match(r"[ \t]*,", rest)
        line = self.text.rfind("\n", 0, last.start) + 1
        indent = self.text[line : last.start]
        if indent.strip(" \t#") or not _NEWLINE.search(self.text[held.start : held.end]):  # on the line of others
            if comma:
                return ((self.offset(last.end + comma.end()), f" {quote}{{}}{quote}{',' if held.size > 1 or comma else ''}"),)
            return ((self.offset(last.end), f", {quote}{{}}{quote}"),)
        newline = "\r\n" if "\r\n" in self.text else "\n"
        entry = f"{newline}{indent}{quote}{{}}{quote}"
        # A comment at the end of the line belongs to the entry that it stands behind.
        end = re.match(r"[ \t]*,?[ \t]*(?:#[^\r\n]*)?", rest)
        behind = last.end + (end.end() if end else 0)
        if comma:
            return ((self.offset(behind), f"{entry},"),)
        return ((self.offset(last.end), ","), (self.offset(behind), entry))

    def _line_behind(self, last: Item) -> tuple[tuple[int, str], ...]:
        """What puts another line behind the last one of a table."""
        line = self.text.rfind("\n", 0, last.key) + 1
        if self.text[line : last.key].strip():
            return ()
        newline = "\r\n" if "\r\n" in self.text else "\n"
        end = re.compile(r"[ \t]*(?:#[^\r\n]*)?").match(self.text, last.end)
        return ((self.offset(end.end() if end else last.end), f'{newline}{self.text[line : last.key]}{{}} = "*"'),)


def _fits(path: Path, pattern: tuple[str, ...]) -> bool:
    return len(path) == len(pattern) and all(want in ("*", part) for part, want in zip(path, pattern, strict=True))
