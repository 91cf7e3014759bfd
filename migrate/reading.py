"""The reading half of a run: paths to a linked project, with a finding for everything that could not be read."""

from __future__ import annotations

import os
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
    unparsed: Mapping[str, Source]  # the text of files that could be decoded, but no more
    checked: int

    @property
    def sources(self) -> Mapping[str, Source]:
        """The text of every file that has one, for positions and comments."""
        return {**self.unparsed, **{path: file.source for path, file in self.project.files.items()}}


def gather(found: Iterable[tuple[File, bytes] | Unreadable]) -> Reading:
    """Links the files that may hold protocol code."""
    facts: list[FileFacts] = []
    data: dict[str, bytes] = {}
    locations: dict[str, str] = {}
    unreadable: list[Finding] = []
    unparsed: dict[str, Source] = {}
    packages: set[str] = set()
    for item in found:
        if isinstance(item, Unreadable):
            unreadable.append(house.finding(house.UNREADABLE, item.path, item.reason))
            continue
        file, raw = item
        locations[file.path] = file.location
        if not may_speak(raw):
            continue
        source = None
        try:
            source = decode(file.path, raw)
            facts.append(facts_of(source))
            data[file.path] = raw
            if os.path.isfile(os.path.join(os.path.dirname(file.location), "__init__.py")):
                packages.add(os.path.dirname(file.path))
        # A null byte is a ValueError before Python 3.12, absurd nesting a MemoryError in some places of the parser.
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            unreadable.append(house.unreadable(file.path, error, source))
            if source is not None:
                unparsed[file.path] = source
    return Reading(Project.link(facts, frozenset(packages)), data, locations, tuple(unreadable), unparsed, len(locations))
