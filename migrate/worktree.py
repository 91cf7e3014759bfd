"""What git knows about files: their work tree, and whether a rewrite could be undone."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from . import disk

# Command lines have an end; this many paths of any length pass on every system.
_CHUNK = 200


class Ignored(NamedTuple):
    """The line of an ignore file that leaves a path out."""

    file: str
    line: int


class GitError(Exception):
    """Git could not be asked; the text says why."""


def git(root: str, *arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Runs git in a work tree. Raises OSError where there is none.

    The repository's own settings could have it start a program that watches the files; it works without. What it starts yet: filters,
    where only they can tell whether a file has changed, and the hooks of commits.
    """
    return subprocess.run([_program(), "-C", root, "-c", "core.fsmonitor=false", *arguments], input=given, capture_output=True, check=False)


def _program() -> str:
    """Where git lies. The working folder is never asked, as Windows and a dot in PATH would have it: anybody may have put a git there."""
    for folder in filter(os.path.isabs, os.get_exec_path()):
        if (found := shutil.which(os.path.join(folder, "git"))) is not None:
            return found
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "git")


def root_of(folder: str) -> str | None:
    """The root of the work tree that a folder is in, or None outside of git."""
    while True:
        # A file in a linked work tree or a submodule.
        if disk.exists(os.path.join(folder, ".git")):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def tracked(folder: str) -> Iterator[str]:
    """The files below a folder that are in git's index, by absolute path. Raises GitError, also outside of git."""
    root = root_of(folder)
    if root is None:
        raise GitError(f"{folder} is in no git work tree, so nothing tells what is tracked")
    for name in _listed(root, ["ls-files", "-z", "--", _name(folder, root)]):
        yield os.path.normpath(os.path.join(root, os.fsdecode(name)))


def unsaved(locations: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The files, named by absolute path, that git could not give back: changed against the index, or not tracked; with the reason.

    Files outside of git, and files that do not exist, are not among them. Raises GitError.
    """
    trees: defaultdict[str, list[str]] = defaultdict(list)
    for location in locations:
        if os.path.exists(location) and (root := root_of(os.path.dirname(location))) is not None:
            trees[root].append(location)
    for root, files in trees.items():
        for start in range(0, len(files), _CHUNK):
            yield from _unsaved(root, files[start : start + _CHUNK])


def ignored(location: str) -> Ignored | None:
    """Why git would not see a file, there or not; None where it would, or where nobody can tell."""
    answer = _ignored(location)
    disk.note_ignored(location, answer)
    return answer


def _ignored(location: str) -> Ignored | None:
    root = root_of(os.path.dirname(location))
    if root is None:
        return None
    try:
        done = git(root, "check-ignore", "-z", "-v", "--stdin", given=os.fsencode(_name(location, root)))
    except OSError:
        return None
    source, line, pattern, *_ = [*map(os.fsdecode, done.stdout.split(b"\0")), "", "", ""]
    # An empty line and a pattern with `!` say that the file is not left out after all.
    return Ignored(os.path.join(root, source), int(line)) if line and not pattern.startswith("!") else None


def _unsaved(root: str, files: list[str]) -> Iterator[tuple[str, str]]:
    names = {_name(file, root): file for file in files}
    for record in _listed(root, ["ls-files", "-z", "-t", "--modified", "--others", "--", *names]):
        tag, _, told = record.partition(b" ")
        name = os.fsdecode(told)
        yield names.get(name) or os.path.join(root, name), "not tracked" if tag == b"?" else "changed since it was staged"


def _name(location: str, root: str) -> str:
    """A path as git spells it on every system."""
    return os.path.relpath(location, root).replace(os.sep, "/")


def _listed(root: str, command: list[str]) -> Iterator[bytes]:
    """The records that a command of git prints, with zero bytes between them. Raises GitError."""
    try:
        done = git(root, "--literal-pathspecs", *command)
    except OSError as error:
        raise GitError(f"git cannot be run: {(error.strerror or str(error)).lower()}") from error
    if done.returncode:
        raise GitError(done.stderr.decode(errors="replace").strip())
    yield from filter(None, done.stdout.split(b"\0"))
