"""From paths to files: what a run reads, in which order, and what it leaves out."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from . import disk

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

SUFFIXES = (".py", ".pyw")

# Folders that hold no source of the project's own; ruff's list and the caches of our neighbours.
DEFAULT_EXCLUDES = frozenset(
    {
        ".bzr", ".direnv", ".eggs", ".git", ".git-rewrite", ".hg", ".hypothesis", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pants.d",
        ".pyenv", ".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".tox", ".venv", ".vscode", "__pycache__", "__pypackages__", "_build",
        "buck-out", "build", "dist", "node_modules", "site-packages", "venv",
    }
)  # fmt: skip

# Not before what has a meaning of its own at the start of a pattern, or is a class of characters: there it takes that meaning away.
_BACKSLASH = re.compile(r"\\(?![#! \[\]])")


class File(NamedTuple):
    """A file to read. `path` is relative to the run's root, with forward slashes; `location` is absolute."""

    path: str
    location: str


class Unreadable(NamedTuple):
    """A file or folder that could not be read, and why."""

    path: str
    reason: str


class NotFound(Exception):
    """A path that was named but does not exist."""


@dataclass(frozen=True)
class Exclude:
    """Patterns in .gitignore's syntax, relative to the folder `base`; a `!pattern` takes a default back in."""

    patterns: tuple[str, ...] = ()
    base: str = "."


def with_slashes(patterns: Iterable[str]) -> Iterator[str]:
    """Patterns as they are in .gitignore files, where users of Windows have put backslashes between folders."""
    return (_BACKSLASH.sub("/", pattern) if os.sep != "/" else pattern for pattern in patterns)


def leaves_out(exclude: Exclude, location: str) -> bool:
    """Whether patterns leave out a file (absolute path), or a folder around it."""
    layer = _layer(exclude.base, with_slashes(exclude.patterns))
    parts = location[len(layer.base) :].split(os.sep)
    if not location.startswith(layer.base):
        return False
    folders = (f"{layer.base}{os.sep.join(parts[:end])}" for end in range(1, len(parts)))
    return bool(layer.decides(location, folder=False)) or any(layer.decides(folder, folder=True) for folder in folders)


def root_of(paths: Sequence[str]) -> str:
    """The folder that a run's paths are relative to: the working folder, unless a path lies outside of it. Raises NotFound."""
    here, common = os.getcwd(), common_folder(paths)
    return here if f"{common}{os.sep}".startswith(here.rstrip(os.sep) + os.sep) else common


def common_folder(paths: Sequence[str]) -> str:
    """The innermost folder that holds all paths. Raises NotFound where there is none."""
    folders = [path if disk.is_dir(path) else os.path.dirname(path) for path in map(os.path.abspath, paths)]
    try:
        return os.path.commonpath(folders)
    except ValueError as error:  # two drives of Windows
        raise NotFound(f"these paths have no folder in common: {', '.join(paths)}") from error


def relative_to(location: str, folder: str) -> str:
    """The path of a file from a folder, with forward slashes; absolute where none leads there, as to another drive of Windows."""
    try:
        return _posix(os.path.relpath(location, folder))
    except ValueError:
        return _posix(location)


def find(
    paths: Iterable[str],
    root: str,
    *,
    exclude: Iterable[Exclude] = (),
    respect_gitignore: bool = True,
    also: Callable[[str], bool] = lambda path: False,
) -> Iterator[File | Unreadable]:
    """Every file of the paths once, in the order of the paths and sorted by name inside of each.

    A file that is named is always taken. In folders the walk takes Python files and those that are wanted `also`, follows no
    symbolic link, and enters nothing that .gitignore files or `exclude` leave out. 6,800 files in
    1,560 folders cost 0.04 CPU s, with a .gitignore of 55 patterns 0.24 s.
    Raises NotFound for a path that does not exist, before anything is yielded for it.
    """
    seen: set[str] = set()
    prefix = root.rstrip(os.sep) + os.sep
    excluded = [_layer(patterns.base, with_slashes(patterns.patterns)) for patterns in exclude if patterns.patterns]
    for path in paths:
        start = os.path.abspath(path)
        if not disk.lexists(start):
            raise NotFound(f"no such file or folder: {path}")
        found: Iterable[File | Unreadable] = [File("", start)]
        if disk.is_dir(start):
            layers = _layers_above(start) if respect_gitignore else []
            found = _walk(start, layers, excluded, respect_gitignore, also)
        for item in found:
            where = item.location if isinstance(item, File) else item.path
            if where in seen:
                continue
            seen.add(where)
            name = _posix(where[len(prefix) :] if where.startswith(prefix) else where)
            yield File(name, where) if isinstance(item, File) else Unreadable(name or ".", item.reason)


def read(file: File) -> bytes | Unreadable:
    """The bytes of a file."""
    try:
        return disk.read(file.location)
    except OSError as error:
        return Unreadable(file.path, _reason(error))


def leads_out(location: str, root: str) -> bool:
    """Whether a file is a link to somewhere outside of a folder; without a folder, any link."""
    found = disk.real(location)
    if not os.path.islink(location):
        return False
    return not root or not found.startswith(disk.real(root).rstrip(os.sep) + os.sep)


Homes = dict[str, "tuple[tuple[str, dict[str, str]], ...]"]
"""By folder: those around it where packages are installed, the innermost first, with what was installed there, and with what."""


def package_of(path: str, root: str, homes: Homes) -> str:
    """The package that a file (a path from `root`) was installed with, as the folder of its RECORD; "" for other files.

    A file is meant by its whole path: wheels bring `tests` or `src` along, and a project has folders of these names beside what is
    installed, or in the same folder. `homes` keeps what was found out of each folder.
    """
    for folder, recorded in _homes(path.rpartition("/")[0], root, homes):
        inside = path[len(folder) + 1 :] if folder else path
        if inside in recorded:
            return recorded[inside]
    return ""


def _homes(folder: str, root: str, homes: Homes) -> tuple[tuple[str, dict[str, str]], ...]:
    if folder not in homes:
        location = os.path.join(root, folder)
        try:
            found = [name for name in disk.names(location) if name.endswith(".dist-info")]
        except OSError:
            found = []
        recorded = {path: f"{folder}/{info}" for info in found for path in _recorded(os.path.join(location, info, "RECORD"))}
        outer = _homes(folder.rpartition("/")[0], root, homes) if folder else ()
        homes[folder] = ((folder, recorded), *outer) if recorded else outer
    return homes[folder]


def _recorded(location: str) -> Iterator[str]:
    """The modules that were installed, as paths from the folder; nothing where that is not told."""
    data = read(File(location, location)) if disk.is_file(location) else b""
    if not isinstance(data, Unreadable):
        for line in data.decode("utf-8-sig", "replace").splitlines():
            path = line[1:].partition('"')[0] if line.startswith('"') else line.partition(",")[0]
            path = path.replace("\\", "/").removeprefix("./")  # the wheels of some tools of Windows
            if path.endswith(SUFFIXES):
                yield path


def above(path: str, wanted: Callable[[str], bool], ends: frozenset[str]) -> Iterator[tuple[str, list[str]]]:
    """The folders from a path (a file's own, else its own folder) upwards, each with the names of its wanted files.

    The last one is the first that holds one of the files or folders `ends`.
    """
    folder = path if disk.is_dir(path) else os.path.dirname(path)
    while True:
        try:
            names = disk.above(folder, wanted, ends)
        except OSError:
            return
        yield folder, [name for name in names if wanted(_posix(os.path.join(folder, name)))]
        outer = os.path.dirname(folder)
        if outer == folder or not ends.isdisjoint(names):
            return
        folder = outer


class _Layer(NamedTuple):
    """The patterns of one file, and the folder that they are relative to (with its final separator)."""

    base: str
    spec: GitIgnoreSpec

    def decides(self, path: str, *, folder: bool) -> bool | None:
        if not path.startswith(self.base):
            return None
        return self.spec.check_file(_posix(path[len(self.base) :]) + ("/" if folder else "")).include


def _walk(
    start: str, layers: list[_Layer], excluded: list[_Layer], respect_gitignore: bool, also: Callable[[str], bool]
) -> Iterator[File | Unreadable]:
    """Depth first with a stack of its own. Layers are searched from the nearest .gitignore outwards: the first that decides wins."""
    stack: list[tuple[str, list[_Layer]]] = [(start, layers)]
    while stack:
        folder, layers = stack.pop()
        try:
            entries = disk.scan(folder)
        except OSError as error:
            yield Unreadable(folder, _reason(error))
            continue
        if respect_gitignore and any(entry.name == ".gitignore" for entry in entries):
            layers = [*_layer_of(folder, os.path.join(folder, ".gitignore")), *layers]
        inner: list[tuple[str, list[_Layer]]] = []
        for entry in entries:
            if entry.is_symlink():
                continue
            if entry.is_dir():
                if not _left_out(entry.path, entry.name, layers, excluded, folder=True):
                    inner.append((entry.path, layers))
            elif (entry.name.endswith(SUFFIXES) or also(_posix(entry.path))) and not _left_out(
                entry.path, entry.name, layers, excluded, folder=False
            ):
                yield File("", entry.path)
        stack += reversed(inner)


def _left_out(path: str, name: str, layers: list[_Layer], excluded: list[_Layer], *, folder: bool) -> bool:
    by_user = _decision(excluded, path, folder=folder) if excluded else None
    if by_user is not None:
        return by_user
    return (folder and name in DEFAULT_EXCLUDES) or bool(layers and _decision(layers, path, folder=folder))


def _decision(layers: list[_Layer], path: str, *, folder: bool) -> bool | None:
    return next((decision for layer in layers if (decision := layer.decides(path, folder=folder)) is not None), None)


def _layers_above(start: str) -> list[_Layer]:
    """The ignore files between the work tree's root and `start`, nearest first; none if they leave out `start` itself, which was named."""
    folders = [Path(start), *Path(start).parents]
    top = next((number for number, folder in enumerate(folders) if disk.exists(str(folder / ".git"))), None)
    if top is None:
        return []
    layers = [layer for folder in folders[1 : top + 1] for layer in _layer_of(str(folder), str(folder / ".gitignore"))]
    layers += _layer_of(str(folders[top]), str(folders[top] / ".git" / "info" / "exclude"))
    return [] if any(_decision(layers, str(folder), folder=True) for folder in folders[:top]) else layers


def _layer_of(base: str, ignore_file: str) -> list[_Layer]:
    data = read(File(ignore_file, ignore_file))
    if isinstance(data, Unreadable):
        return []
    lines = data.decode("utf-8", "replace").splitlines()
    return [_layer(base, lines)] if any(line.strip() and not line.startswith("#") for line in lines) else []


def _layer(base: str, lines: Iterable[str]) -> _Layer:
    # Costs 15 ms to import, so only a tree that has patterns pays for it.
    from pathspec import GitIgnoreSpec

    return _Layer(os.path.abspath(base).rstrip(os.sep) + os.sep, GitIgnoreSpec.from_lines(lines))


def _posix(path: str) -> str:
    return path.replace(os.sep, "/") if os.sep != "/" else path


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
