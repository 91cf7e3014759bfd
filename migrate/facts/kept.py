"""Keeps what was read of the first servers of a run until their proof asks for it: to parse and read them again took 5 % of a `check`.

Trees are kept until the files are linked: whoever asks for types or proofs then holds those that it needs. To parse these again took 15 %.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Generic, TypeVar

from ..source import Source
from .functions import Module
from .names import Names

if TYPE_CHECKING:
    from .code import Unit

# Trees are the largest thing in memory, some forty bytes for each byte of text; what is read after this much is read again.
_MOST = 1_000_000

_MOST_TREES = 8_000_000

# What is read of modules for proofs takes some forty bytes for each byte of text as well.
_MOST_UNITS = 4_000_000

K = TypeVar("K")
V = TypeVar("V")


class _Store(Generic[K, V]):
    """What is kept by a key, each for the one who takes it, as long as there is room for so many bytes of text."""

    def __init__(self, most: int) -> None:
        self.room = most
        self.held: dict[K, tuple[V, int]] = {}

    def keep(self, key: K, value: V, size: int) -> None:
        self.take(key)
        if size <= self.room:
            self.room -= size
            self.held[key] = value, size

    def take(self, key: K) -> V | None:
        """Nobody gets it twice."""
        value, size = self.held.pop(key, (None, 0))
        self.room += size
        return value

    def clear(self) -> None:
        for key in [*self.held]:
            self.take(key)


class _Recent(Generic[K, V]):
    """What was asked for last, as long as there is room for so many bytes of text."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.held: dict[K, tuple[V, int]] = {}

    def get(self, key: K) -> V | None:
        if key not in self.held:
            return None
        self.held[key] = found = self.held.pop(key)
        return found[0]

    def put(self, key: K, value: V, size: int) -> None:
        self.held[key] = value, size
        self.room -= size
        while self.room < 0 and len(self.held) > 1:
            self.room += self.held.pop(next(iter(self.held)))[1]


_trees: _Store[Source, ast.Module] = _Store(_MOST_TREES)
units: _Recent[tuple[str, Source], Unit] = _Recent(_MOST_UNITS)
"""Modules as proofs read them, for `code.unit_of`. Proofs ask for the same ones again, and a large project has hundreds of files that
import each other: with room for 64 modules, `fix` of 2,000 files parsed 250 of them three times in each round."""
_kept: _Store[tuple[str, Source], tuple[Module, Names]] = _Store(_MOST)


def keep(module: Module, names: Names) -> None:
    """Keeps a module for the one who takes it, as long as there is room."""
    _kept.keep((names.module, module.source), (module, names), len(module.source.utf8))


def take(name: str, source: Source) -> tuple[Module, Names] | None:
    """What was kept of a module."""
    return _kept.take((name, source))


def keep_tree(source: Source, tree: ast.Module) -> None:
    """Keeps the tree of a file for the one who takes it, as long as there is room."""
    _trees.keep(source, tree, len(source.utf8))


def drop_trees() -> None:
    """Lets go of the trees that nobody else holds."""
    _trees.clear()
