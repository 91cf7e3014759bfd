"""The reading half of a run: paths to a linked project, with a finding for everything that could not be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from . import house
from .discover import File, Unreadable
from .facts.model import FileFacts
from .facts.vocabulary import may_speak
from .project import Project
from .project import read as facts_of
from .rule import Finding
from .source import Source, decode


@dataclass(frozen=True)
class Reading:
    """What a run has read. Only files that may hold protocol code are decoded; `checked` counts the others too."""

    project: Project
    data: Mapping[str, bytes]  # the bytes on disk of each decoded file
    locations: Mapping[str, str]  # where each file lies that was found
    unreadable: tuple[Finding, ...]
    checked: int

    @property
    def sources(self) -> Mapping[str, Source]:
        return {path: file.source for path, file in self.project.files.items()}


def gather(found: Iterable[tuple[File, bytes] | Unreadable]) -> Reading:
    """Links the files that may hold protocol code."""
    facts: list[FileFacts] = []
    data: dict[str, bytes] = {}
    locations: dict[str, str] = {}
    unreadable: list[Finding] = []
    for item in found:
        if isinstance(item, Unreadable):
            unreadable.append(house.finding(house.UNREADABLE, item.path, item.reason))
            continue
        file, raw = item
        locations[file.path] = file.location
        if may_speak(raw):
            understood = understand(file.path, raw)
            if isinstance(understood, Finding):
                unreadable.append(understood)
            else:
                facts.append(understood)
                data[file.path] = raw
    return Reading(Project.link(facts), data, locations, tuple(unreadable), len(locations))


def understand(path: str, data: bytes) -> FileFacts | Finding:
    """The facts of one file, or a finding that says why there are none."""
    source = None
    try:
        source = decode(path, data)
        return facts_of(source)
    # A null byte is a ValueError before Python 3.12, absurd nesting a MemoryError in some places of the parser.
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return house.unreadable(path, error, source)
