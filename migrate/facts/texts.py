"""Which files of a project say a word, or import a name: looked for once, however many facts, servers or functions ask."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TypeVar

from .model import FileFacts

T = TypeVar("T")
_SCANS = 20  # names that are looked for file by file, before an index is made of all: a second for 2,000 files
_NAME = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*", re.ASCII)
_PLAIN = re.compile(r"[\w.-]+")  # what the next one finds all of
_QUOTED = re.compile(rb"\"(?=([\w.\x80-\xff-]+)\")|'(?=([\w.\x80-\xff-]+)')", re.ASCII)
_STAR = re.compile(r"^[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]*\*", re.MULTILINE)


class Texts:
    """Some files, which do not change; answers are paths, in the order of the files."""

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        self.files = files
        self._saying: dict[bytes, tuple[str, ...]] = {}
        self._naming: dict[str, tuple[str, ...]] = {}

    def saying(self, word: bytes) -> tuple[str, ...]:
        """The files whose text contains these bytes. For words of the code that asks: each costs a look at all files."""
        if word not in self._saying:
            self._saying[word] = tuple(path for path, file in self.files.items() if word in file.source.utf8)
        return self._saying[word]

    def naming(self, name: str) -> tuple[str, ...]:
        """The files that hold a name as a whole, in code or in texts. For names of the project, which may be as many as its files."""
        if name not in self._naming:
            if len(self._naming) < _SCANS:
                word = re.compile(rb"(?<![\w\x80-\xff])%s(?![\w\x80-\xff])" % re.escape(name.encode()), re.ASCII)
                found = tuple(path for path in self.saying(name.encode()) if word.search(self.files[path].source.utf8))
            else:
                found = tuple(self._names.get(name.encode(), ()))
            self._naming[name] = found
        return self._naming[name]

    def quoting(self, dotted: str) -> tuple[str, ...]:
        """The files that hold a dotted name in quotes."""
        if _PLAIN.fullmatch(dotted):
            return tuple(self._quoted.get(dotted.encode(), ()))
        quoted = {path for mark in "\"'" for path in self.saying(f"{mark}{dotted}{mark}".encode())}
        return tuple(path for path in self.files if path in quoted)

    def importing(self, target: str) -> tuple[str, ...]:
        """The files that import a name, given with its module, or a module."""
        return tuple(self._imports.get(target, ()))

    def importing_of(self, module: str) -> tuple[str, ...]:
        """The files that import a module, something of it, or all of a module of its last name."""
        found = {*self._below.get(module, ()), *self._stars.get(module.rpartition(".")[2], ())}
        return tuple(sorted(found, key=self._places.__getitem__))

    def importing_like(self, name: str) -> tuple[str, ...]:
        """The files that import something whose dotted name has this part."""
        return tuple(self._parts.get(name, ()))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {path: number for number, path in enumerate(self.files)}

    @cached_property
    def _names(self) -> dict[bytes, list[str]]:
        return self._by(lambda file: _NAME.findall(file.source.utf8))

    @cached_property
    def _quoted(self) -> dict[bytes, list[str]]:
        return self._by(lambda file: (text for pair in _QUOTED.findall(file.source.utf8) if b"." in (text := pair[0] or pair[1])))

    @cached_property
    def _imports(self) -> dict[str, list[str]]:
        return self._by(lambda file: file.imports.values())

    @cached_property
    def _below(self) -> dict[str, list[str]]:
        return self._by(lambda file: (above for target in file.imports.values() for above in _prefixes(target)))

    @cached_property
    def _stars(self) -> dict[str, list[str]]:
        return self._by(lambda file: (module.rpartition(".")[2] for module in _STAR.findall(file.source.text)))

    @cached_property
    def _parts(self) -> dict[str, list[str]]:
        return self._by(lambda file: (part for target in (*file.imports.values(), *file.stars, *file.hidden) for part in target.split(".")))

    def _by(self, words: Callable[[FileFacts], Iterable[T]]) -> dict[T, list[str]]:
        found: dict[T, list[str]] = defaultdict(list)
        for path, file in self.files.items():
            for word in {*words(file)}:
                found[word].append(path)
        return {**found}


def _prefixes(dotted: str) -> Iterable[str]:
    """The name, and those of all that is above it."""
    while dotted:
        yield dotted
        dotted = dotted.rpartition(".")[0]
