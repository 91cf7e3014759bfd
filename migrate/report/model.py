"""What every report is made from: findings at their lines and columns, and what a run saw besides.

The only place that turns spans into positions.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ..rule import Applicability, Entry, Era, Finding, Severity
from ..source import Position, Source

if TYPE_CHECKING:
    from ..notebooks import Notebook

# A frame shows what a finding is about; a class of 200 lines would hide the rest of the report.
MAX_FRAME = 6

_REMEDIES = {
    Applicability.SAFE: "`mcp-migrate fix` does this.",
    Applicability.UNSAFE: "`mcp-migrate fix --unsafe-fixes` does this; look at the result.",
    Applicability.MANUAL: "Only a human can decide this.",
}


@dataclass(frozen=True, slots=True)
class Place:
    """A finding at its place. Lines and columns are 1-based, columns in characters; the end is exclusive.

    `lines` is the source text from `line` on, at most `MAX_FRAME` lines; `fingerprint` stays when other lines of the file change.
    """

    rule: str
    name: str
    severity: Severity
    applicability: Applicability
    message: str
    hint: str
    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    lines: tuple[str, ...]
    fingerprint: str
    cell: int | None = None  # of a notebook, from 1 on; `line` and `column` are inside of it
    raw: tuple[Position, Position] | None = None  # where it stands in the file of the notebook
    document: bool = False  # whether it is about an example in a document

    @property
    def line_of(self) -> str:
        """The line in words, with its path."""
        cell = "" if self.cell is None else f"cell {self.cell}:"
        return f"{self.path}:{cell}{self.line}"

    @property
    def spot(self) -> str:
        """The place in words, with its path."""
        return f"{self.line_of}:{self.column}"

    @property
    def in_file(self) -> tuple[Position, Position]:
        """Where it begins and ends in the file, for programs that open this themselves."""
        return self.raw or (Position(self.line, self.column), Position(self.end_line, self.end_column))

    @property
    def remedy(self) -> str:
        """What settles it, as a sentence."""
        remedy = _REMEDIES[self.applicability]
        return remedy.replace("fix", "fix --docs", 1) if self.document else remedy

    @property
    def fix(self) -> bool:
        return self.applicability is not Applicability.MANUAL


@dataclass(frozen=True, slots=True)
class Seen:
    """A file that speaks MCP: by which words it shows that, and which functions already stand behind a boundary."""

    path: str
    evidence: tuple[str, ...] = ()
    boundary: tuple[str, ...] = ()


class Silenced(NamedTuple):
    """A comment that silences findings. `line` is 1-based; `rules` as it spells them, None for all; `reason` may be empty."""

    path: str
    line: int
    rules: tuple[str, ...] | None
    reason: str
    findings: int


class Stale(NamedTuple):
    """A finding that the baseline accepts, and that is gone."""

    path: str
    rule: str


@dataclass(frozen=True, slots=True)
class Report:
    """One run of `check`, or what is left after one of `fix`."""

    era: Era
    places: tuple[Place, ...] = ()
    entries: Mapping[str, Entry] = field(default_factory=dict)  # the rule of every id that may occur
    checked: int = 0  # files that were read
    seen: tuple[Seen, ...] = ()
    suppressed: int = 0
    suppressions: tuple[Silenced, ...] = ()
    baselined: int = 0
    least: Mapping[str, Severity | None] = field(default_factory=dict)  # by path, from which severity on a finding is a failure
    stale: tuple[Stale, ...] = ()  # entries of the baseline that nothing answers to any more
    held: bool = False  # whether fixes of what was found have only not been made because --paths names few files

    @property
    def by_severity(self) -> Counter[Severity]:
        return Counter(place.severity for place in self.places)

    @property
    def by_applicability(self) -> Counter[Applicability]:
        return Counter(place.applicability for place in self.places)

    @property
    def fixable(self) -> Counter[str]:
        """How many findings of each rule have an edit."""
        return Counter(place.rule for place in self.places if place.fix)

    @property
    def by_rule(self) -> list[tuple[str, int]]:
        """Ids with how often they were found, the most frequent first."""
        return sorted(Counter(place.rule for place in self.places).items(), key=lambda item: (-item[1], item[0]))


def place(
    findings: Sequence[Finding],
    fingerprints: Iterable[str],
    sources: Mapping[str, Source],
    show: Callable[[str], str],
    notebooks: Mapping[str, Notebook] = MappingProxyType({}),
) -> tuple[Place, ...]:
    """Findings as places, sorted by path and position. `show` says how the user would spell a path."""
    places = [
        _in_cell(_place(finding, mark, sources.get(finding.path), show), notebooks.get(finding.path), show)
        for finding, mark in zip(findings, fingerprints, strict=True)
    ]
    return tuple(
        sorted(places, key=lambda it: (it.path, it.cell or 0, it.line, it.column, it.end_line, it.end_column, it.rule, it.message, it.hint))
    )


def stale(report: Report, limit: int = 3) -> str:
    """What of the baseline is gone, as a phrase that names the first ones."""
    counts = Counter(report.stale)
    names = [f"{one.path} {one.rule}{f' ({number})' if number > 1 else ''}" for one, number in sorted(counts.items())]
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return f"{len(report.stale)} of the baseline without a finding any more (write it anew): {', '.join(names[:limit])}{more}"


def visible(text: str) -> str:
    r"""Text that cannot paint a terminal: control, format and surrogate characters become escapes such as `\x1b`, a tab four spaces."""
    if text.isprintable():
        return text
    return "".join(_visible(char) for char in text)


def coded(text: str) -> str:
    """Text as code in Markdown, whatever it holds: the marks around it are longer than any inside."""
    text = visible(text)
    marks = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    pad = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{marks}{pad}{text}{pad}{marks}"


def _place(finding: Finding, fingerprint: str, source: Source | None, show: Callable[[str], str]) -> Place:
    start = end = Position(1, 1)
    lines: tuple[str, ...] = ()
    if source is not None:
        start = source.position(finding.span.start)
        end = source.position(max(finding.span))
        lines = tuple(source.line(number) for number in range(start.line, min(end.line, start.line + MAX_FRAME - 1) + 1))
    return Place(
        rule=finding.rule,
        name=finding.name,
        severity=finding.severity,
        applicability=finding.applicability,
        message=finding.message,
        hint=finding.hint,
        path=show(finding.path),
        line=start.line,
        column=start.column,
        end_line=end.line,
        end_column=end.column,
        lines=lines,
        fingerprint=fingerprint,
        document=finding.document,
    )


def _in_cell(place: Place, notebook: Notebook | None, show: Callable[[str], str]) -> Place:
    """A place of a notebook's code, which is one module, in its cell."""
    if notebook is None:
        return place
    start = notebook.place(Position(place.line, place.column))
    end = notebook.place(Position(place.end_line, place.end_column))
    return replace(
        place,
        path=show(notebook.file),
        cell=start.cell,
        line=start.position.line,
        column=start.position.column,
        end_line=end.position.line,
        end_column=end.position.column,
        lines=tuple(notebook.shown(line) for line in place.lines),
        raw=(start.raw, end.raw),
    )


def _visible(char: str) -> str:
    if char == "\t":
        return "    "
    if char.isprintable() or unicodedata.category(char) == "Zs":
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
