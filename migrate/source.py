"""One file as text: decoding, newlines, UTF-8 byte offsets and positions."""

from __future__ import annotations

import codecs
import io
import os
import tokenize
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

_LONG = 4096  # bytes of a line that are not looked through again and again
_INNER = bytes(range(0x80, 0xC0))  # bytes of UTF-8 that no character begins with


class Span(NamedTuple):
    """A half-open range of UTF-8 byte offsets into `Source.utf8`."""

    start: int
    end: int

    def contains(self, other: Span) -> bool:
        return self.start <= other.start and other.end <= self.end


class Position(NamedTuple):
    """A 1-based line and a 1-based column in characters; only reports speak of these."""

    line: int
    column: int


@dataclass(frozen=True)
class Source:
    """A decoded file. `text` keeps its newlines; `path` is relative to the run's root, with forward slashes."""

    path: str
    text: str
    encoding: str = "utf-8"
    bom: bool = False

    @cached_property
    def utf8(self) -> bytes:
        return self.text.encode("utf-8")

    @cached_property
    def line_starts(self) -> list[int]:
        """The byte offset at which each line begins; the first is 0."""
        lines = self.utf8.splitlines(keepends=True)
        starts = [0, *accumulate(map(len, lines))]
        return starts if not lines or lines[-1].endswith((b"\n", b"\r")) else starts[:-1]

    @cached_property
    def _is_ascii(self) -> bool:
        return len(self.utf8) == len(self.text)

    @cached_property
    def _long(self) -> dict[int, str]:
        return {}

    @cached_property
    def _counted(self) -> dict[int, list[int]]:
        """By the row of a long line, how many characters stand before each `_LONG` bytes of it."""
        return {}

    @cached_property
    def newline(self) -> str:
        """The newline that this file uses most; the platform's own never matters."""
        crlf = self.utf8.count(b"\r\n")
        lone_cr = self.utf8.count(b"\r") - crlf
        lone_lf = self.utf8.count(b"\n") - crlf
        if crlf > lone_lf and crlf >= lone_cr:
            return "\r\n"
        return "\r" if lone_cr > lone_lf else "\n"

    def offset(self, line: int, column: int) -> int:
        """The byte offset of ast's (1-based line, 0-based UTF-8 column)."""
        return self.line_starts[line - 1] + column

    def position(self, offset: int) -> Position:
        row = bisect_right(self.line_starts, offset) - 1
        start = self.line_starts[row]
        if self._is_ascii:
            return Position(row + 1, min(offset, len(self.utf8)) - start + 1)
        known = 0
        if offset - start > _LONG:
            # All findings of a line of a megabyte would count its characters from the first.
            marks = self._counted.setdefault(row, [0])
            while len(marks) <= (offset - start) // _LONG:
                at = start + (len(marks) - 1) * _LONG
                marks.append(marks[-1] + _characters(self.utf8[at : at + _LONG]))
            known = marks[(offset - start) // _LONG]
            start += (offset - start) // _LONG * _LONG
        return Position(row + 1, known + _characters(self.utf8[start:offset]) + 1)

    def line(self, number: int) -> str:
        """The text of a 1-based line without its newline."""
        if number in self._long:
            return self._long[number]
        start = self.line_starts[number - 1]
        end = self.line_starts[number] if number < len(self.line_starts) else len(self.utf8)
        text = self.utf8[start:end].decode("utf-8", "replace").rstrip("\r\n")
        if len(text) > _LONG:
            self._long[number] = text  # each of its findings shows it
        return text

    def slice(self, span: Span) -> str:
        return self.utf8[span.start : span.end].decode("utf-8")

    def encode(self, text: str) -> bytes:
        """`text` as the bytes that belong into this file.

        Raises UnicodeEncodeError when the file's own encoding cannot hold a character.
        """
        data = text.encode(self.encoding)
        return codecs.BOM_UTF8 + data if self.bom else data


def is_test(path: str) -> bool:
    """Whether a file is named as tests are."""
    # By text: rules ask this at each fact, and a path object costs ten times as much.
    folder, _, name = path.rpartition("/")
    return name.startswith(("test_", "conftest")) or os.path.splitext(name)[0].endswith("_test") or "tests" in folder.split("/")


def _characters(data: bytes) -> int:
    """How many characters begin in a piece of UTF-8."""
    return len(data.translate(None, _INNER))


def decode(path: str, data: bytes) -> Source:
    """Reads the bytes of a Python file as Python would: BOM, PEP 263 cookie, UTF-8 otherwise.

    Raises SyntaxError for a declared encoding that is unknown, wrong or cannot be written back, and UnicodeDecodeError for bytes that
    do not fit it.
    """
    bom = data.startswith(codecs.BOM_UTF8)
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    body = data[len(codecs.BOM_UTF8) :] if bom else data
    encoding = "utf-8" if encoding == "utf-8-sig" else encoding
    try:
        text = body.decode(encoding)
        faithful = encoding == "utf-8" or text.encode(encoding) == body
    except UnicodeDecodeError:
        raise
    except (LookupError, UnicodeError, ValueError) as error:
        # Codecs such as rot13 are known, and are none of text; some say in words of their own what they do not read.
        raise SyntaxError(f"unusable encoding: {encoding}: {error}") from None
    if not faithful:
        raise SyntaxError(f"unusable encoding: {encoding} does not give back the bytes of this file")
    return Source(path, text, encoding, bom)
