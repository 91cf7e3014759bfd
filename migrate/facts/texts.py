"""Which files of a project say a word: looked for once, however many facts, servers or functions ask."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

from .model import FileFacts

_SCANS = 20  # names that are looked for file by file, before an index is made of all: a second for 2,000 files
_NAME = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*", re.ASCII)


class Texts:
    """The texts of some files, which do not change; answers are paths, in the order of the files."""

    def __init__(self, files: Mapping[str, FileFacts]) -> None:
        self.files = files
        self._saying: dict[bytes, tuple[str, ...]] = {}
        self._naming: dict[str, tuple[str, ...]] = {}
        self._index: dict[bytes, list[str]] | None = None

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

    @property
    def _names(self) -> dict[bytes, list[str]]:
        if self._index is None:
            self._index = defaultdict(list)
            for path, file in self.files.items():
                for name in {*_NAME.findall(file.source.utf8)}:
                    self._index[name].append(path)
        return self._index
