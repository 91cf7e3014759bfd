"""Who feeds a dispatcher: modules that import one, though they hold no word of the protocol themselves.

`from app.server import handle` and a loop over standard input, or `app.include_router(mcp.router)`.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from .facts.model import FileFacts, Role
from .facts.vocabulary import SERVER_REQUESTS
from .source import is_test

Module = tuple[str, ...]
"""The parts of a module's path from the run's root, without `__init__`."""

_ROUTES = frozenset({Role.COMPARE, Role.CASE, Role.KEY, Role.STORE, Role.MEMBER, Role.DECORATOR, Role.ARGUMENT, Role.METHOD_NAME})
# Each begins with a word, which is searched for four times as fast as the beginning of a line; that is asked for afterwards.
_FROM = re.compile(rb"from[ \t]+([\w.]+)[ \t]+import[ \t]*(\([^)]*\)|[^#\r\n]*)")
_IMPORT = re.compile(rb"import(?:(?<=\nimport)|(?<=[\n \t][ \t]import)|(?<=\Aimport))[ \t]+([\w., \t]+)")
_NAME = re.compile(r"(\w+)(?:\s+as\s+\w+)?")


class Feeders:
    """The modules that hold dispatchers, and which files import them."""

    def __init__(self, dispatchers: Iterable[FileFacts]) -> None:
        self._ends: defaultdict[str, set[Module]] = defaultdict(set)
        for facts in dispatchers:
            module = module_of(facts.source.path)
            if module:
                self._ends[module[-1]].add(module)
        # `src` is left out of the names of modules.
        self._heads = {module[0] for ending in self._ends.values() for module in ending}
        self._everywhere = "src" in self._heads
        self._stems = re.compile(b"|".join(re.escape(os.fsencode(stem)) for stem in self._ends))

    def __bool__(self) -> bool:
        return bool(self._ends)

    def named_in(self, path: str, data: bytes, *, tests: bool = False) -> bool:
        """Whether a file imports one of the dispatchers' modules, as far as its text shows. Tests count if they are wanted."""
        if is_test(path) and not tests:
            return False
        here = tuple(path.split("/")[:-1])
        if not self._everywhere and here[:1] and here[0] not in self._heads and not any(os.fsencode(head) in data for head in self._heads):
            return False  # from another folder than theirs, only whole names reach them
        return any(self._is_one(dots, name, here) for dots, name in _imports(data, self._stems))

    def _is_one(self, dots: int, name: Module, here: Module) -> bool:
        whole = (*here[: len(here) - dots + 1], *name) if dots else name
        ending = self._ends.get(whole[-1], ()) if whole else ()
        if dots:
            return whole in ending
        return any(module[-len(name) :] == name and _lies_below(here, module[: -len(name)]) for module in ending)


def dispatches(facts: FileFacts) -> bool:
    """Whether a file seems to route requests to handlers; linking decides."""
    if is_test(facts.source.path):
        return False
    routed = {use.value for use in facts.uses if use.role in _ROUTES and isinstance(use.value, str)}
    return len(routed & SERVER_REQUESTS) > 1


def module_of(path: str) -> Module:
    """The module that a file is, by its place."""
    parts = PurePosixPath(path).with_suffix("").parts
    return parts[:-1] if parts[-1:] == ("__init__",) else parts


def _lies_below(folder: Module, root: Module) -> bool:
    """Whether a file in the folder can import from this root: a program beside `src` does when it is installed."""
    root = root[:-1] if root[-1:] == ("src",) else root
    return folder[: len(root)] == root


def _imports(data: bytes, stems: re.Pattern[bytes]) -> Iterator[tuple[int, Module]]:
    """The modules that the text may import, with the dots of a relative one, by statements that may name one of the stems."""
    for match in _IMPORT.finditer(data):
        if stems.search(match[1]) and _begins_line(data, match.start()):
            for name in match[1].decode("ascii", "replace").split(","):
                yield 0, tuple(name.split()[0].split(".")) if name.strip() else ()
    for match in _FROM.finditer(data):
        # `from . import b` names no module: it is the package around the file.
        if (match[1][:1] == b"." or stems.search(match[0])) and _begins_line(data, match.start()):
            text = match[1].decode("ascii", "replace")
            dots = len(text) - len(text.lstrip("."))
            parts = tuple(part for part in text.split(".") if part)
            yield dots, parts
            # `from a import b` may mean the module `a.b`.
            for name in _NAME.finditer(match[2].decode("ascii", "replace")):
                yield dots, (*parts, name[1])


def _begins_line(data: bytes, start: int) -> bool:
    return not data[data.rfind(b"\n", 0, start) + 1 : start].strip(b" \t")
