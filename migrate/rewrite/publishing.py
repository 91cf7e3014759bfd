"""Tells clients of 2026-07-28 what has changed, beside what tells those with a session."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts.functions import Module
from ..facts.publications import Publication, publications
from .edits import Edit
from .lines import above, line_start


def published(module: Module, handle: str) -> Iterator[Edit]:
    """One `MCP.publish` for each change that is announced; none where one of them could not be followed.

    Without any the boundary claims neither `listChanged` nor `subscribe`: nobody waits for what never comes.
    """
    source, edits = module.source, []
    for found in publications(module):
        if not isinstance(found, Publication):
            return
        start = module.span(found.before).start
        if source.utf8[line_start(source, start) : start].strip():
            return
        edits.append(above(module, found.before, f"{handle}.publish({found.message})\n"))
    yield from edits
