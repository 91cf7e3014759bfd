"""What `explain` says: a rule, or the symptoms that a text shows."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ..rule import Entry
from .text import FIXES, Line, paint

if TYPE_CHECKING:
    from ..symptoms import Symptom


def rule(entry: Entry, *, width: int = 0, colour: bool = False) -> str:
    """Why a rule is there, and what to write instead; in lines of `width` cells where that is not 0."""
    lines: list[Line] = [
        [(f"{entry.id} {entry.name}", "bold"), (f" ({entry.severity.word}, {FIXES[entry.fix]})", "")],
        [],
        *_told("", f"{entry.title}.", width),
        [],
        *_told("Why:", entry.why, width),
        [],
        *_told("Instead:", entry.instead, width),
    ]
    if entry.spec != "none":
        lines += [[], *_told("Source:", entry.spec, width)]
    return paint(lines, colour=colour)


def symptoms(found: Iterable[Symptom], names: Mapping[str, str], *, width: int = 0, colour: bool = False) -> str:
    """Where each is seen, its cause, what to do, and its rules; `names` has the rules' names by their ids."""
    lines: list[Line] = []
    for symptom in found:
        lines += [[]] if lines else []
        lines += [[(symptom.says, "bold")], [], *_told("Seen:", f"{symptom.seen}.", width), *_told("Cause:", symptom.cause, width)]
        lines += _told("What to do:", symptom.do, width)
        if symptom.rules:
            rules = ", ".join(f"{rule} {names[rule]}" for rule in symptom.rules)
            lines += _told("Rules:", f"{rules}; `mcp-migrate explain {symptom.rules[0]}` says more", width)
    return paint(lines, colour=colour)


def _told(head: str, text: str, width: int) -> list[Line]:
    text = f"{head} {text.strip()}".strip()
    wrapped = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) if width else [text]
    first = wrapped[0].removeprefix(head)
    return [[(head, "bold"), (first, "")], *([(line, "")] for line in wrapped[1:])]
