"""From positions in characters, as parsers tell them, to the byte offsets of facts."""

from __future__ import annotations

from itertools import accumulate


class Offsets:
    """The byte offset of every character of a text; a text of ASCII costs nothing."""

    def __init__(self, text: str) -> None:
        self._starts = None if text.isascii() else [0, *accumulate(len(char.encode("utf-8")) for char in text)]

    def __call__(self, position: int) -> int:
        return position if self._starts is None else self._starts[position]
