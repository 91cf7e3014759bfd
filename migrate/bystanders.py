"""The files of a run that hold no protocol code, but may use names of files that do. Read as text, and only when a name goes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property

_WORD = re.compile(r"[A-Za-z_]\w*")
_ATTRIBUTE = re.compile(r"\.\s*([A-Za-z_]\w*)")


class Bystanders:
    """What the other files say, as far as a deletion has to know. `contents` is asked at most once, and again after `renew`."""

    def __init__(self, contents: Callable[[], Iterable[bytes]]) -> None:
        self._contents = contents

    def renew(self) -> None:
        """Forgets what was read: some of these files are none of the others any more."""
        for name in ("attributes", "_texts", "_taken"):
            self.__dict__.pop(name, None)

    def taken_from(self, module: str) -> frozenset[str]:
        """The names that they import from a module, or reach through its name; of a star import, every word that follows."""
        last = module.rpartition(".")[2]
        # Modules of one name are many in a large run, and each file that loses a name asks for its own, whenever a result is tried.
        if last not in self._taken:
            self._taken[last] = self._taken_by(last)
        return self._taken[last]

    def _taken_by(self, last: str) -> frozenset[str]:
        stem = re.escape(last)
        imported = re.compile(rf"\bfrom\s+[\w.]*\b{stem}\s+import\s+(\([^)]*\)|[^\n]*)")
        reached = re.compile(rf"\b{stem}\s*[.:]\s*([A-Za-z_]\w*)")
        names: set[str] = set()
        for text in self._texts:
            if last not in text:
                continue
            for found in imported.findall(text):
                names.update(_WORD.findall(text if "*" in found else found))
            names.update(reached.findall(text))
        return frozenset(names)

    @cached_property
    def attributes(self) -> frozenset[str]:
        """Everything that they reach through a dot."""
        return frozenset(name for text in self._texts for name in _ATTRIBUTE.findall(text))

    @cached_property
    def _taken(self) -> dict[str, frozenset[str]]:
        return {}

    @cached_property
    def _texts(self) -> list[str]:
        # Names are ASCII nearly always, and the encodings of Python files agree on ASCII.
        return [content.decode("utf-8", "replace") for content in self._contents()]
