"""What of a fix goes together: packages, the files of one that belong to no other, and the commits that each of them gets."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from . import disk
from .files import Change
from .project import Project
from .rule import Group

if TYPE_CHECKING:
    from .series import Stage

# What stands at the top of something that is installed on its own.
_TOPS = ("pyproject.toml", "setup.py", "setup.cfg", "Pipfile", "requirements.txt")


class Part(NamedTuple):
    """The files that one commit changes, and what it does."""

    group: Group
    changes: list[Change]
    applied: Mapping[str, Counter[str]]  # path -> rule id -> fixes made


class Unit(NamedTuple):
    """Packages (their folders, from the run's root) whose changes need each other, and their commits in order."""

    folders: tuple[str, ...]
    parts: list[Part]


class Packages:
    """Where the packages of a run begin. `root` is the folder that paths are relative to."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._known: dict[str, str] = {"": ""}

    def of(self, path: str) -> str:
        """The folder of the package that a file belongs to; "" for what lies in no folder that is one."""
        return self._of_folder(path.rpartition("/")[0])

    def _of_folder(self, folder: str) -> str:
        if folder not in self._known:
            place = os.path.join(self.root, folder)
            is_top = any(disk.is_file(os.path.join(place, name)) for name in _TOPS)
            # A folder called `requirements` with files of the kind is none.
            self._known[folder] = folder if is_top else self._of_folder(folder.rpartition("/")[0])
        return self._known[folder]


def units(
    changes: Sequence[Change],
    stages: Iterable[Stage],
    before: Project,
    after: Project,
    packages: Packages,
    encode: Callable[[str, str], bytes],
) -> list[Unit]:
    """The changes by packages that do not need each other, those in the root last; each with its commits.

    `encode` gives the bytes that a file (path) has with a text.
    """
    stages = list(stages)
    found = []
    for folders in _together([change.path for change in changes], before, after, packages):
        mine = {change.path: change for change in changes if packages.of(change.path) in folders}
        found.append(Unit(tuple(sorted(folders)), list(_parts(mine, stages, encode))))
    return sorted(found, key=lambda unit: ("" in unit.folders, unit.folders))


def needing(path: str, others: Iterable[str], before: Project, after: Project) -> list[str]:
    """Those of the other changed files that have to be written when this one is, or the other way round."""
    return [
        other
        for other in others
        if other in (*before.imports(path), *before.importers(path), *after.imports(path), *after.importers(path))
        or other in _asking(path, after)
        or path in _asking(other, after)
    ]


def _together(paths: Sequence[str], before: Project, after: Project, packages: Packages) -> list[set[str]]:
    """Folders of packages in sets that need each other."""
    sets: list[set[str]] = []
    for path in paths:
        # A package with changes of its own is linked with those that it imports from, and with what asks for the SDK for it.
        linked = {packages.of(other) for other in (path, *needing(path, paths, before, after))}
        touched = [one for one in sets if one & linked]
        sets = [one for one in sets if not one & linked]
        sets.append(linked.union(*touched))
    return sets


def _asking(path: str, project: Project) -> Collection[str]:
    """The files beside the code that ask for the SDK for a file: those in the nearest folder that has some."""
    if path in project.manifests:
        return ()
    folder = path
    while folder:
        folder = folder.rpartition("/")[0]
        if found := [other for other in project.manifests if other.rpartition("/")[0] == folder]:
            return found
    return ()


def _parts(mine: Mapping[str, Change], stages: Iterable[Stage], encode: Callable[[str, str], bytes]) -> Iterable[Part]:
    now = {path: change.before for path, change in mine.items()}
    for stage in stages:
        changes = []
        for path, text in stage.texts.items():
            if path in mine:
                data = mine[path].after if text is None else encode(path, text)
                if data != now[path]:
                    changes.append(mine[path]._replace(before=now[path], after=data))
                    now[path] = data
        if changes:
            # New files first: what is written later may need them.
            changes.sort(key=lambda change: (change.before is not None, change.path))
            yield Part(stage.group, changes, {path: rules for path, rules in stage.applied.items() if path in mine})
