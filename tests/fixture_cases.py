"""The fixtures of the rules: small programs whose lines say which findings stand on them.

    fixtures/<pack>/<rule>/<case>/before.py        or a folder before/ for several files
    fixtures/<pack>/<rule>/<case>/after.py         what `fix` makes of it in the dual era; absent: nothing changes
    fixtures/<pack>/<rule>/<case>/after_modern.py  the same with --era modern, where that differs
    fixtures/<pack>/<rule>/<case>/after_unsafe.py  what --unsafe-fixes adds to the dual era, where there is something to add

A folder may hold dependency files as well; the marks are comments there, too.

A mark ends the line that a finding of the fixture's rule starts on: `# expect: MCP103 manual`, or `# expect modern: MCP103 safe`
where only one era has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from mcp_migrate.rule import Era

FIXTURES = Path(__file__).parent.parent / "fixtures"
# Whole servers and clients have tests of their own, and these packs have no rules.
OTHERS = frozenset({"servers", "clients", "both", "both_fastmcp"})
_MARK = re.compile(r"\s*#\s*expect(?: (dual|modern))?: (MCP\d{3}) (safe|unsafe|manual)(?=\s*(#|$))")


class Mark(NamedTuple):
    """A finding that a line announces."""

    path: str
    line: int
    rule: str
    applicability: str


@dataclass(frozen=True)
class Case:
    """One fixture."""

    pack: str
    rule: str
    name: str
    folder: Path

    @property
    def id(self) -> str:
        return f"{self.pack}-{self.rule}-{self.name}"

    def before(self) -> dict[str, str]:
        return _texts(self.folder, "before")

    def after(self, era: Era) -> dict[str, str]:
        """What `fix` must make of it."""
        stems = ["after_modern", "after", "before"] if era is Era.MODERN else ["after", "before"]
        return next(texts for stem in stems if (texts := _texts(self.folder, stem)))

    def after_unsafe(self) -> dict[str, str]:
        """What `fix --unsafe-fixes` must make of it; empty where that is not shown."""
        return _texts(self.folder, "after_unsafe")


def cases() -> Iterator[Case]:
    for folder in sorted(FIXTURES.glob("*/*/*")):
        if folder.is_dir() and folder.parent.parent.name not in OTHERS:
            yield Case(folder.parent.parent.name, folder.parent.name, folder.name, folder)


def marks(texts: dict[str, str], era: Era) -> list[Mark]:
    """What the lines of a program announce for one era."""
    return sorted(
        Mark(path, number, found[2], found[3])
        for path, text in texts.items()
        for number, line in enumerate(text.split("\n"), 1)
        for found in _MARK.finditer(line)
        if found[1] in (None, era.value)
    )


def plain(text: str) -> str:
    """The program without its marks, as documentation shows it."""
    return "\n".join(_MARK.sub("", line) for line in text.split("\n"))


def _texts(folder: Path, stem: str) -> dict[str, str]:
    single = folder / f"{stem}.py"
    if single.exists():
        return {"server.py": single.read_bytes().decode("utf-8")}
    paths = sorted(path for path in (folder / stem).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder / stem).as_posix(): path.read_bytes().decode("utf-8") for path in paths}
