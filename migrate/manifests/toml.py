"""A TOML file with the place of every string in it. What it finds is held against `tomllib`: where both differ, nothing is known.

Neither `tomllib` nor tomlkit tells where a value stands, and a file that is rendered anew could lose its form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .. import tables

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_OTHER = re.compile(r"[^\s,\]}#]+(?: [0-9][^\s,\]}#]*)?")  # numbers, dates (one form has a space), true and false


class Unread(ValueError):
    """A file that is no TOML, or is written in a way that is not followed."""


@dataclass(frozen=True)
class Item:
    """A value: its keys from the root, and where it stands, from the first to behind the last character. Strings have their text."""

    path: tuple[str | int, ...]
    start: int
    end: int
    text: str | None = None  # of a string that is written without escapes on one line
    opened: int = 0  # how many characters open it
    size: int = -1  # how many entries it has, if it is a list or a table in one line
    key: int = 0  # where its own key begins


def items(text: str) -> list[Item]:
    """Every value of the file, in order. Positions count characters. Raises Unread."""
    try:
        document = tables.loads(text)
        found = list(_Scanner(text).document())
    except (ValueError, IndexError, RecursionError) as error:
        raise Unread(str(error)) from error
    for item in found:
        value = _at(document, item.path)
        if item.text is not None and value != item.text:
            raise Unread(f"{item.path} is not followed")
        if item.size >= 0 and not (isinstance(value, list | dict) and (isinstance(value, dict) or len(value) == item.size)):
            raise Unread(f"{item.path} is not followed")
    return found


def _at(document: Any, path: tuple[str | int, ...]) -> Any:
    for part in path:
        try:
            document = document[part]
        except (KeyError, IndexError, TypeError):
            raise Unread(f"{path} is not followed") from None
    return document


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.counts: dict[tuple[str | int, ...], int] = {}

    def document(self) -> Iterator[Item]:
        table: tuple[str | int, ...] = ()
        while True:
            self._skip(_BLANK)
            if self.at >= len(self.text):
                return
            if self.text.startswith("[[", self.at):
                self.at += 2
                keys = self._inside(self._keys())
                number = self.counts[keys] = self.counts.get(keys, -1) + 1
                table = (*keys, number)
                self.at = self.text.index("]]", self.at) + 2
            elif self.text[self.at] == "[":
                self.at += 1
                table = self._inside(self._keys())
                self.at = self.text.index("]", self.at) + 1
            else:
                yield from self._pair(table)

    def _inside(self, keys: tuple[str, ...]) -> tuple[str | int, ...]:
        """The keys of a heading from the root: what stands below a list of tables is in its last one."""
        path: tuple[str | int, ...] = ()
        for number, key in enumerate(keys):
            path = (*path, key)
            if path in self.counts and number < len(keys) - 1:
                path = (*path, self.counts[path])
        return path

    def _pair(self, table: tuple[str | int, ...]) -> Iterator[Item]:
        key = self.at
        path = (*table, *self._keys())
        if self.text[self.at] != "=":
            raise Unread(f"no value for {path}")
        self.at += 1
        self._skip(_SPACE)
        yield from self._value(path, key)

    def _keys(self) -> tuple[str, ...]:
        keys = []
        while True:
            self._skip(_SPACE)
            if self.text[self.at] in "\"'":
                keys.append(self._string((), 0).text or "")
            else:
                keys.append(self._take(_BARE))
            self._skip(_SPACE)
            if self.text[self.at] != ".":
                return tuple(keys)
            self.at += 1

    def _value(self, path: tuple[str | int, ...], key: int) -> Iterator[Item]:
        start = self.at
        match self.text[self.at]:
            case '"' | "'":
                yield self._string(path, key)
            case "[" | "{" as opening:
                self.at += 1
                size = 0
                self._skip(_BLANK)
                while self.text[self.at] != ("]" if opening == "[" else "}"):
                    yield from self._value((*path, size), self.at) if opening == "[" else self._pair(path)
                    size += 1
                    self._skip(_BLANK)
                    if self.text[self.at] == ",":
                        self.at += 1
                    self._skip(_BLANK)
                self.at += 1
                yield Item(path, start, self.at, size=size, key=key)
            case _:
                self._take(_OTHER)
                yield Item(path, start, self.at, key=key)

    def _string(self, path: tuple[str | int, ...], key: int) -> Item:
        start = self.at
        quote = self.text[start]
        opening = quote * 3 if self.text.startswith(quote * 3, start) else quote
        end = start + len(opening)
        while not self.text.startswith(opening, end):
            end += 2 if self.text[end] == "\\" and quote == '"' else 1
            if end > len(self.text):
                raise Unread("a string without end")
        inner = self.text[start + len(opening) : end]
        end += len(opening)
        while len(opening) == 3 and self.text.startswith(quote, end):  # up to two quotes may stand before the end
            end += 1
        self.at = end
        plain = not (quote == '"' and "\\" in inner) and "\n" not in inner
        return Item(path, start, end, inner if plain else None, len(opening), key=key)

    def _skip(self, pattern: re.Pattern[str]) -> None:
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        if found is None:
            raise Unread(f"unexpected {self.text[self.at : self.at + 1]!r} at {self.at}")
        self.at = found.end()
        return found[0]
