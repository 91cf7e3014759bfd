"""Puts bytes on disk: a file is replaced whole or not at all, a new one never overwrites another, files go together."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple


class Change(NamedTuple):
    """New bytes for a file; `before` is None for one that does not exist yet. `path` is the run's, `location` is where it lies."""

    path: str
    location: str
    before: bytes | None
    after: bytes


class NotWritten(Exception):
    """Changes that could not be made; the text says which one was in the way, and why."""


def write_together(changes: Iterable[Change]) -> None:
    """Makes changes that need each other, in order. Raises NotWritten, and then all files are as they were."""
    made: list[Change] = []
    for change in changes:
        try:
            (create if change.before is None else write)(Path(change.location), change.after)
        except OSError as error:
            for earlier in reversed(made):
                _take_back(earlier)
            raise NotWritten(f"cannot write {change.location}: {(error.strerror or str(error)).lower()}") from error
        made.append(change)


def restore(changes: Iterable[Change]) -> None:
    """Gives files back the bytes that they had before, and takes new ones away, whatever has become of them meanwhile. Raises OSError."""
    for change in changes:
        if change.before is not None:
            write(Path(change.location), change.before)
        elif os.path.lexists(change.location):
            os.unlink(change.location)


def _take_back(change: Change) -> None:
    if change.before is None:
        os.unlink(change.location)
    else:
        write(Path(change.location), change.before)


def write(path: Path, data: bytes) -> None:
    """Replaces a file's content in one step; mode and owner stay, and a link still leads where it led.

    Raises OSError, and then, as when interrupted, leaves the file as it was and nothing beside it.
    """
    target = Path(os.path.realpath(path))
    before = target.stat()
    if not os.access(target, os.W_OK):
        # A rename only asks the folder; somebody has made this file read-only on purpose.
        raise PermissionError(13, "Permission denied", str(path))
    # A name may be as long as a file system takes.
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", dir=target.parent)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.chmod(name, stat.S_IMODE(before.st_mode))
            if hasattr(os, "chown") and (before.st_uid, before.st_gid) != (os.stat(name).st_uid, os.stat(name).st_gid):
                os.chown(name, before.st_uid, before.st_gid)
            os.fsync(file.fileno())
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def create(path: Path, data: bytes) -> None:
    """Writes a file that must not exist. Raises FileExistsError and other OSErrors, and leaves no half of it behind."""
    with open(path, "xb") as file:
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            file.close()
            os.unlink(path)
            raise
