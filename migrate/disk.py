"""What a run sees of the disk. Every look is noted in the open trace, so that it can be told later whether another run would see the same.

A function of this module answers as its namesake of `os` or `os.path` does, and raises what that raises.
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from hashlib import sha256
from typing import NamedTuple


class Stamp(NamedTuple):
    """What changes with the content of a file or folder: bytes, and the times of its last change and of its last change of status in ns.

    Files that were written at once, as by a checkout, may have the same of both: where a link is led elsewhere, or a folder takes
    another's name, the number of the file tells them apart.
    """

    size: int
    changed: int
    status: int
    number: int


class Noted(NamedTuple):
    """What a file or folder was like when it was read, and a digest of what it held."""

    stamp: Stamp
    digest: str


@dataclass
class Trace:
    """Everything that was seen since the trace was opened, by absolute path."""

    files: dict[str, Noted] = field(default_factory=dict)
    folders: dict[str, Noted] = field(default_factory=dict)
    above: dict[str, Noted] = field(default_factory=dict)  # folders around the project, of which few names count
    kinds: dict[str, str] = field(default_factory=dict)  # what a path was asked for: see `kind`
    links: dict[str, str] = field(default_factory=dict)  # where paths really lie
    ignored: dict[str, str] = field(default_factory=dict)  # what git has said of a path
    whole: bool = True  # False: something was seen that nothing here could tell again, such as a file without permission


_TRACE: ContextVar[Trace | None] = ContextVar("trace", default=None)
MAX_SIZE = 100_000_000  # bytes: what is longer is no code, and a file with holes may be longer than all memory
_BINARY = getattr(os, "O_BINARY", 0)


@contextmanager
def traced() -> Iterator[Trace]:
    """Notes what is seen until the end of the block."""
    trace = Trace()
    token = _TRACE.set(trace)
    try:
        yield trace
    finally:
        _TRACE.reset(token)


def untraceable() -> None:
    """What was just seen does not show in files and folders, so no trace of it is whole."""
    if (trace := _TRACE.get()) is not None:
        trace.whole = False


def note_ignored(location: str, answer: object) -> None:
    """Notes what git has said of a path, which goes by more files than anybody can name."""
    if (trace := _TRACE.get()) is not None:
        trace.ignored[location] = repr(answer)


def read(location: str) -> bytes:
    """The bytes of a regular file. Raises OSError, also for a pipe or a device, which would block the run or never end."""
    try:
        status = os.stat(location)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(0, "not a regular file")
        if status.st_size > MAX_SIZE:
            raise OSError(0, f"longer than {MAX_SIZE // 1_000_000} million bytes")
        # One call for the whole of a small file, where an object of `open` makes four: a third of the time.
        descriptor = os.open(location, os.O_RDONLY | _BINARY)
        try:
            data = os.read(descriptor, status.st_size)
            # A file may change meanwhile, or come in pieces.
            while len(data) != status.st_size and (more := os.read(descriptor, 1 << 20)):
                data += more
        finally:
            os.close(descriptor)
    except OSError as error:
        _note_failure(location, error)
        raise
    if (trace := _TRACE.get()) is not None:
        trace.files[_whole(location)] = Noted(stamp(status), digest(data))
    return data


def drain(location: str) -> bytes:
    """What comes out of a pipe, or whatever else was named. Raises OSError."""
    untraceable()
    with open(location, "rb") as stream:
        return stream.read()


def text(location: str) -> str:
    """The text of a file in UTF-8, whatever ends its lines. Raises OSError and UnicodeDecodeError."""
    return io.StringIO(read(location).decode("utf-8"), newline=None).read()


def scan(folder: str) -> list[os.DirEntry[str]]:
    """What a folder holds, by name."""
    try:
        status = os.stat(folder) if _TRACE.get() else None
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        _note_failure(folder, error)
        raise
    if status is not None and (trace := _TRACE.get()) is not None:
        trace.folders[_whole(folder)] = Noted(stamp(status), listing(entries))
    return entries


def names(folder: str) -> list[str]:
    """The names in a folder, sorted."""
    return [entry.name for entry in scan(folder)]


def above(folder: str, wanted: Callable[[str], bool], ends: Collection[str]) -> list[str]:
    """The names in a folder around the project that are among the `ends`, or whose path is wanted.

    What else comes and goes there is nothing to the run.
    """
    try:
        status = os.stat(folder)
        found = sorted(name for name in os.listdir(folder) if name in ends or wanted(os.path.join(folder, name).replace(os.sep, "/")))
    except OSError as error:
        _note_failure(folder, error)
        raise
    if (trace := _TRACE.get()) is not None:
        trace.above[_whole(folder)] = Noted(stamp(status), digest("\0".join(found).encode("utf-8", "surrogateescape")))
    return found


def is_file(location: str) -> bool:
    """Whether there is a regular file, or a link to one."""
    return _asked(location, os.path.isfile(location))


def is_dir(location: str) -> bool:
    """Whether there is a folder, or a link to one."""
    return _asked(location, os.path.isdir(location))


def exists(location: str) -> bool:
    """Whether something is there; a link that leads nowhere is nothing."""
    return _asked(location, os.path.exists(location))


def lexists(location: str) -> bool:
    """Whether something is there, be it a link that leads nowhere."""
    return _asked(location, os.path.lexists(location))


def real(location: str) -> str:
    """Where a path lies when all links are followed."""
    place = os.path.realpath(location)
    if (trace := _TRACE.get()) is not None:
        trace.links[_whole(location)] = place
    return place


def kind(location: str) -> str:
    """What there is at a path, as far as the questions of this module can tell it apart; "" for nothing."""
    if not os.path.lexists(location):
        return ""
    return "file" if os.path.isfile(location) else "folder" if os.path.isdir(location) else "there" if os.path.exists(location) else "link"


def stamp(status: os.stat_result) -> Stamp:
    return Stamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()[:32]


def listing(entries: list[os.DirEntry[str]]) -> str:
    """A digest of what a folder holds: names, and what is a folder or a link."""
    marks = ("@" if entry.is_symlink() else "/" if entry.is_dir() else "" for entry in entries)
    text = "\0".join(f"{entry.name}{mark}" for entry, mark in zip(entries, marks, strict=True))
    return digest(text.encode("utf-8", "surrogateescape"))


def _asked(location: str, answer: bool) -> bool:
    _note_kind(location)
    return answer


def _note_failure(location: str, error: OSError) -> None:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        _note_kind(location)
    else:
        untraceable()


def _note_kind(location: str) -> None:
    if (trace := _TRACE.get()) is not None:
        path = _whole(location)
        found = kind(path)
        # Of nothing, the listing of the folder says it as well.
        if found or os.path.dirname(path) not in trace.folders:
            trace.kinds[path] = found


def _whole(location: str) -> str:
    return location if os.path.isabs(location) else os.path.abspath(location)
