"""A text that remembers who has made which part of it, so that it can be told with the changes of some and without those of others."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher

from .source import Span

THERE = -1  # the author of what was there before


@dataclass(slots=True)
class _Piece:
    text: bytes
    made: int = THERE
    gone: int | None = None

    def is_seen(self, authors: Collection[int]) -> bool:
        return (self.made == THERE or self.made in authors) and (self.gone is None or self.gone not in authors)


class Pieces:
    """The pieces of a text. Authors are numbers from 0 on; what one of them did to the work of another links the two."""

    def __init__(self, text: bytes) -> None:
        self._pieces = [_Piece(text)]
        self._leader: dict[int, int] = {}

    def with_work_of(self, authors: Collection[int]) -> bytes:
        """The text as it would be if only these authors had changed it."""
        return b"".join(piece.text for piece in self._pieces if piece.is_seen(authors))

    @property
    def text(self) -> bytes:
        """The text with the work of all."""
        return b"".join(piece.text for piece in self._pieces if piece.gone is None)

    def leader(self, author: int) -> int:
        """Equal for all authors whose work hangs together."""
        while (above := self._leader.get(author, author)) != author:
            author = above
        return author

    def link(self, one: int, other: int) -> None:
        """Says that the work of two authors hangs together."""
        first, second = sorted((self.leader(one), self.leader(other)))
        self._leader[second] = first

    def edit(self, edits: Iterable[tuple[Span, bytes, int]]) -> None:
        """Makes edits (span in the text with the work of all, new bytes, author), which must not overlap."""
        # From the end on, so that the spans of those that are still to come stay true; of insertions at one place the last comes first.
        ordered = sorted(edits, key=lambda edit: edit[0])
        for span, new, author in reversed(ordered):
            start = self._cut(span.start)
            end = self._cut(span.end) if span.end > span.start else start
            for piece in self._pieces[start:end]:
                if piece.gone is None:
                    piece.gone = author
                    if piece.made != THERE:
                        self.link(author, piece.made)
            if new:
                before, after = self._seen_before(start), self._seen_after(end)
                if span.start == span.end and before is not None and after is not None and before.made == after.made != THERE:
                    self.link(author, before.made)
                self._pieces.insert(end, _Piece(new, author))

    def become(self, text: bytes, author: int) -> None:
        """Makes the text what it should be, by changes that are small and the author's."""
        old = self.text.splitlines(keepends=True)
        new = text.splitlines(keepends=True)
        starts = [0]
        for line in old:
            starts.append(starts[-1] + len(line))
        changes = []
        for kind, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if kind != "equal":
                changes.append((*_trimmed(starts[first], b"".join(old[first:last]), b"".join(new[start:end])), author))
        self.edit(changes)

    def _cut(self, offset: int) -> int:
        """The number of the piece that begins at an offset of the text with the work of all, behind what is gone before it."""
        at = 0
        for number, piece in enumerate(self._pieces):
            if piece.gone is not None:
                continue
            if at == offset:
                return number
            if at < offset < at + len(piece.text):
                inner = offset - at
                self._pieces[number : number + 1] = [
                    _Piece(piece.text[:inner], piece.made, piece.gone),
                    _Piece(piece.text[inner:], piece.made, piece.gone),
                ]
                return number + 1
            at += len(piece.text)
        return len(self._pieces)

    def _seen_before(self, number: int) -> _Piece | None:
        return next((piece for piece in reversed(self._pieces[:number]) if piece.gone is None), None)

    def _seen_after(self, number: int) -> _Piece | None:
        return next((piece for piece in self._pieces[number:] if piece.gone is None), None)


def _trimmed(at: int, old: bytes, new: bytes) -> tuple[Span, bytes]:
    """A change without the bytes that both ends have in common."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return Span(at + head, at + len(old) - tail), new[head : len(new) - tail]
