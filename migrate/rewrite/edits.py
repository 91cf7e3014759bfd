"""Edits as values: spans of a file and their new text, and how several of them become one new text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..source import Span


class Edit(NamedTuple):
    """Replaces the bytes of `span` (UTF-8 offsets) by `text`; an empty span inserts."""

    span: Span
    text: str = ""


def overlaps(one: Span, other: Span) -> bool:
    """Whether two edits touch common bytes. Two insertions at one place do not; they apply in order."""
    if one.start == one.end or other.start == other.end:
        return one.start < other.start < one.end or other.start < one.start < other.end
    return one.start < other.end and other.start < one.end


def compose(groups: Iterable[Sequence[Edit]]) -> tuple[list[Edit], list[int]]:
    """Takes whole groups of edits in order, each only if none of its edits overlaps one that was taken before.

    Returns the edits to apply, and the numbers of the groups that have to wait for the next round.
    """
    taken: list[Edit] = []
    waiting: list[int] = []
    for number, group in enumerate(groups):
        new = [edit for edit in group if edit not in taken]
        if any(overlaps(edit.span, other.span) for edit in new for other in taken):
            waiting.append(number)
        else:
            taken.extend(new)
    return taken, waiting


def apply(text: bytes, edits: Iterable[Edit]) -> bytes:
    """The text with all edits made. They must not overlap; insertions at one place keep their order."""
    out: list[bytes] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        if edit.span.start < at:
            raise ValueError(f"edits overlap at byte {edit.span.start}")
        out += [text[at : edit.span.start], edit.text.encode("utf-8")]
        at = edit.span.end
    return b"".join([*out, text[at:]])
