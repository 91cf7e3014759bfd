"""Keeps what was read of the first servers of a run until their proof asks for it: to parse and read them again took 5 % of a `check`.

The trees of files that import the SDK are kept until their types are asked for: to parse these again took 8 %.
"""

from __future__ import annotations

import ast

from ..source import Source
from .functions import Module
from .names import Names

# Trees are the largest thing in memory, some forty bytes for each byte of text; what is read after this much is read again.
_MOST = 1_000_000

# Every tree that is kept is asked for, unless a run ends before that.
_MOST_TREES = 8_000_000

_trees: dict[Source, ast.Module] = {}
_kept: dict[tuple[str, Source], tuple[Module, Names]] = {}


def keep(module: Module, names: Names) -> None:
    """Keeps a module for the one who takes it, as long as there is room."""
    if len(module.source.utf8) + sum(len(source.utf8) for _, source in _kept) <= _MOST:
        _kept[names.module, module.source] = module, names


def take(name: str, source: Source) -> tuple[Module, Names] | None:
    """What was kept of a module; nobody gets it twice."""
    return _kept.pop((name, source), None)


def keep_tree(source: Source, tree: ast.Module) -> None:
    """Keeps the tree of a file for the one who takes it, as long as there is room."""
    if len(source.utf8) + sum(len(one.utf8) for one in _trees) <= _MOST_TREES:
        _trees[source] = tree


def take_tree(source: Source) -> ast.Module | None:
    """The tree that was kept of a file; nobody gets it twice."""
    return _trees.pop(source, None)
