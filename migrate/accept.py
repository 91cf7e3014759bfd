"""Whether a rewritten file may take the place of the old one: what speaks against it, in one sentence."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from . import cells
from .bystanders import Bystanders
from .facts.mask import parsed
from .facts.model import FileFacts
from .scope import Names, names_of
from .source import Source

if TYPE_CHECKING:
    from .rewrite.tree import Tree


class Acceptance:
    """What one run accepts. It keeps the names of files, since many versions of a file are held against one old text."""

    def __init__(self, bystanders: Bystanders) -> None:
        self.bystanders = bystanders
        self._read = lru_cache(maxsize=64)(_read)

    def objection(self, before: FileFacts, tree: Tree, others: Iterable[FileFacts]) -> str | None:
        """Why the tree's source must not be written; None if nothing speaks against it. `others` are the rest of the project."""
        after = tree.source
        try:
            _ = tree.module
            new, is_newer = self._read(after)
        except (SyntaxError, ValueError, RecursionError) as error:
            return f"the result cannot be parsed: {str(error).splitlines()[0]}"
        try:
            after.encode(after.text)
        except UnicodeEncodeError as error:
            return f"{after.encoding} cannot hold {error.object[error.start : error.end]!r}"
        if torn := cells.objection(before.source.text, after.text):
            return torn
        old, was_newer = self._read(before.source)
        if is_newer and not was_newer:
            return "the result needs a newer Python"
        if undefined := new.undefined - old.undefined:
            return f"{_listed(undefined)} would be undefined"
        # A name that was imported twice before still is when both imports have moved.
        if doubled := {what for (scope, what), more in new.doubled_imports.items() if more > old.doubled(scope, what)}:
            return f"{_listed(doubled)} would be imported twice"
        # Without its last `yield` a function gives its callers something else, for every message.
        if tamed := {name for name, yields in old.functions.items() if yields and not new.functions.get(name, True)}:
            return f"{_listed(tamed)} would be no generator any more"
        if lost := old.bound - new.bound:
            for other in others:
                if wanted := {name for name in lost if f"{before.module}.{name}" in other.imports.values()}:
                    return f"{other.source.path} imports {_listed(wanted)}"
            if taken := lost & self.bystanders.taken_from(before.module):
                return f"another file uses {_listed(taken)}"
        return None

    def names(self, source: Source) -> Names:
        """What a file binds and looks up."""
        return self._read(source)[0]


def _read(source: Source) -> tuple[Names, bool]:
    """The names of a file, and whether its syntax is newer than the running interpreter."""
    tree, is_newer = parsed(source)
    return names_of(tree), is_newer


def _listed(found: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(found))
