"""Puts bytes on disk: a file is replaced whole or not at all, a new one never overwrites another, files go together."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

# What a folder says that takes no new file, though the one in it may be written to; the last is a file that is mounted by itself.
_NO_ROOM_BESIDE = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV})


class Change(NamedTuple):
    """New bytes for a file; `before` is None for one that does not exist yet. `path` is the run's, `location` is where it lies."""

    path: str
    location: str
    before: bytes | None
    after: bytes


class NotWritten(Exception):
    """Changes that could not be made; the text says which one was in the way, and why."""


def write_together(changes: Iterable[Change]) -> list[Change]:
    """Makes changes that need each other, in order, and tells which. Raises NotWritten, and then all files are as they were.

    All of them lie on the disk under other names before the first takes its place, so a full disk is told by then. A file that
    somebody has changed since it was read is left alone, and one that says already what it should is done: another run was faster.
    """
    made: list[Change] = []
    with contextlib.ExitStack() as temporaries:
        ready: list[tuple[Change, str]] = []
        change = None
        try:
            for change in changes:
                if not _is_made(change):
                    ready.append((change, temporaries.enter_context(_beside(Path(change.location), change.after))))
            for change, temporary in ready:
                if not _is_made(change):
                    (_appear if change.before is None else os.replace)(temporary, change.location)
                    made.append(change)
        except OSError as error:
            assert change is not None
            left = [earlier.location for earlier in reversed(made) if not _is_taken_back(earlier)]
            more = f"; {', '.join(left)} could not be written back" if left else ""
            raise NotWritten(f"cannot write {change.location}: {(error.strerror or str(error)).lower()}{more}") from error
    return made


def restore(changes: Iterable[Change]) -> None:
    """Gives files back the bytes that they had before, and takes new ones away, whatever has become of them meanwhile. Raises OSError."""
    for change in changes:
        if change.before is not None:
            write(Path(change.location), change.before)
        elif os.path.lexists(change.location):
            os.unlink(change.location)


def write(path: Path, data: bytes) -> None:
    """Replaces a file's content in one step; mode and owner stay, and a link still leads where it led.

    Raises OSError, and then, as when interrupted, leaves the file as it was and nothing beside it.
    """
    target = Path(os.path.realpath(path))
    target.stat()
    with _beside(target, data) as temporary:
        os.replace(temporary, target)


def create(path: Path, data: bytes) -> None:
    """Writes a file that must not exist. Raises FileExistsError and other OSErrors, and leaves no half of it behind."""
    if os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    with _beside(path, data) as temporary:
        _appear(temporary, str(path))


def put(path: Path, data: bytes, *, mode: int = 0o666) -> None:
    """Writes a report or a list of our own, whatever stood there. Raises OSError.

    A file is replaced whole or not at all, except in a folder that takes no other; a pipe or a device is written to. `mode` is that
    of a new file, as far as the user's mask lets it be.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        return _pour(path, data)
    try:
        with _beside(target, data, mode) as temporary:
            os.replace(temporary, target)
    except OSError as error:
        if error.errno not in _NO_ROOM_BESIDE or not os.access(target, os.W_OK):
            raise
        _pour(target, data)


@contextlib.contextmanager
def _beside(target: Path, data: bytes, mode: int = 0o666) -> Iterator[str]:
    """The name of a new file in the same folder that holds these bytes, and has the mode and the owner of the one that it is for.

    It is gone in the end, unless it has taken that one's place.
    """
    before = target.stat() if target.exists() else None
    if before is not None and not os.access(target, os.W_OK):
        # A rename only asks the folder; somebody has made this file read-only on purpose.
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
    # A name may be as long as a file system takes.
    name = str(target.with_name(f".{target.name[:40]}.{os.urandom(4).hex()}"))
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(name, flags, mode if before is None else 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if before is not None:
                os.chmod(name, stat.S_IMODE(before.st_mode))
                if hasattr(os, "chown") and (before.st_uid, before.st_gid) != (os.stat(name).st_uid, os.stat(name).st_gid):
                    os.chown(name, before.st_uid, before.st_gid)
            os.fsync(file.fileno())
        yield name
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)


def _appear(temporary: str, target: str) -> None:
    """Gives a file its name if no other has it: a second name is made in one step, and only where there is none."""
    try:
        os.link(temporary, target, follow_symlinks=False)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError):
        # A file system without second names: the name is taken first, and the content follows in one step.
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        try:
            os.replace(temporary, target)
        except BaseException:
            os.unlink(target)
            raise


def _pour(path: Path, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


def _is_made(change: Change) -> bool:
    """Whether the file says already what it should. Raises OSError where it says neither that nor what it said when it was read."""
    try:
        # What is no file any more, such as a link or a pipe, is not looked into.
        regular = stat.S_ISREG(os.lstat(change.location).st_mode)
    except FileNotFoundError:
        if change.before is None:
            return False
        raise
    found = Path(change.location).read_bytes() if regular else None
    if found == change.after:
        return True
    if change.before is None:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), change.location)
    if found != change.before:
        raise OSError(errno.EAGAIN, "it has changed since it was read", change.location)
    return False


def _is_taken_back(change: Change) -> bool:
    """Whether a file is as it was before again; not where somebody has changed it meanwhile, or the disk does not take it."""
    try:
        if Path(change.location).read_bytes() != change.after:
            return False
        restore([change])
    except OSError:
        return False
    return True
