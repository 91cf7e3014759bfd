"""What `check` said the last time, for as long as everything that it has looked at is as it was.

A run is known by its version, its settings and its place; what it has seen of the disk is known by size and times, as in ruff, and
by its content where these differ. Nothing of a cache is ever executed, and one that cannot be read is none.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from . import __version__, disk, files
from .disk import Noted, Trace

FOLDER = "MCP_MIGRATE_CACHE_DIR"
"""The variable that names another folder than the platform's."""
_FORMAT = 2
_SUFFIX = ".run"
# The folder may be one that somebody has named and that holds other things, such as installers that end in `.run` as well.
_OURS = re.compile(r"[0-9a-f]{32}\.run|\.[0-9a-f]{32}\.run\.[0-9a-f]{8}")
_KEPT = 30 * 24 * 3600  # seconds that a run is kept for after it was last asked for
# File systems tell times apart from 10 ms up to 2 s: what changed later than this many ns before a run may have changed once more.
_TICK = 2_000_000_000


@dataclass(frozen=True)
class Said:
    """What a run has told: a text for each file that was asked for, or for standard output, lines for standard error, its exit status.

    Which files these are only the command line says, never what was kept.
    """

    texts: Sequence[str]
    lines: Sequence[str]
    status: int


def folder() -> Path | None:
    """Where runs are kept; nowhere for a user without a home, whose cache would lie in the working folder."""
    if named := os.environ.get(FOLDER):
        return Path(named).absolute()
    from platformdirs import user_cache_path

    try:
        place = user_cache_path("mcp-migrate", appauthor=False)
    except RuntimeError:  # as newer releases say it
        return None
    return place if place.is_absolute() else None


def key(*wishes: object) -> str | None:
    """The name of a run with these wishes in this folder: no other release, Python or set of packages has the same.

    None where that cannot be told, as in a package that is no folder.
    """
    try:
        told = (_FORMAT, *_tool(), os.getcwd(), os.path.realpath(os.curdir), *wishes)
    except OSError:
        return None
    return disk.digest("\0".join(map(str, told)).encode("utf-8", "surrogatepass"))


def load(name: str) -> Said | None:
    """What the run of this name has said, if all that it saw is still the same."""
    if (place := folder()) is None:
        return None
    file = place / f"{name}{_SUFFIX}"
    try:
        # What another user has put there is not believed.
        if hasattr(os, "geteuid") and file.stat().st_uid != os.geteuid():
            return None
        first, _, rest = file.read_bytes().partition(b"\n")
        if first.decode("ascii", "replace") != disk.digest(rest):
            return None
        known = json.loads(rest)
        if not _is_unchanged(known):
            return None
        said = Said([*map(str, known["texts"])], [*map(str, known["lines"])], int(known["status"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    with contextlib.suppress(OSError):
        os.utime(file)
    return said


def store(name: str, said: Said, trace: Trace, began: int) -> None:
    """Keeps what a run has said that began at a time (ns). Where nothing can be written, nothing is kept."""
    if not trace.whole or (place := folder()) is None:
        return
    known = {
        "began": began,
        "texts": said.texts,
        "lines": said.lines,
        "status": said.status,
        "files": _by_folder(trace.files),
        "folders": _by_folder(trace.folders),
        "above": _by_folder(trace.above),
        "kinds": trace.kinds,
        "links": trace.links,
        "ignored": trace.ignored,
    }
    with contextlib.suppress(OSError, UnicodeError):
        _write(place, name, json.dumps(known, separators=(",", ":")).encode("ascii"))


def clear() -> int:
    """Deletes all runs, and the folder if nothing else is in it; how many there were. Raises OSError."""
    place, count = folder(), 0
    if place is None or not place.is_dir():
        return 0
    for file in _ours(place):
        file.unlink(missing_ok=True)
        count += file.suffix == _SUFFIX
    with contextlib.suppress(OSError):
        place.rmdir()
    return count


def _write(place: Path, name: str, data: bytes) -> None:
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    files.put(place / f"{name}{_SUFFIX}", disk.digest(data).encode("ascii") + b"\n" + data, mode=0o600)
    for old in _ours(place):
        with contextlib.suppress(OSError):
            if old.stat().st_mtime < time.time() - _KEPT:
                old.unlink()


def _ours(place: Path) -> Iterator[Path]:
    """The runs in a folder, and the drafts that killed ones have left."""
    yield from (file for file in place.iterdir() if _OURS.fullmatch(file.name))


def _tool() -> Iterator[object]:
    yield from (__version__, sys.version, sys.prefix)
    # What is installed beside this package; and its own files, on which somebody may be at work. 900 of them cost 4 ms.
    for place in sys.path:
        if os.path.basename(place) in ("site-packages", "dist-packages"):
            with contextlib.suppress(OSError):
                yield os.stat(place).st_mtime_ns
    rules = find_spec(f"{__package__}.rules")
    for place in (os.path.dirname(__file__), *(rules.submodule_search_locations or () if rules else ())):
        yield from _files(place)


def _files(folder: str) -> Iterator[object]:
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        if entry.is_dir():
            if entry.name != "__pycache__":
                yield from _files(entry.path)
        else:
            status = entry.stat(follow_symlinks=False)
            yield from (entry.path, status.st_size, status.st_mtime_ns)


def _by_folder(noted: dict[str, Noted]) -> dict[str, dict[str, list[Any]]]:
    """The notes by folder and name, which takes a third of the room."""
    found: dict[str, dict[str, list[Any]]] = {}
    for path, note in noted.items():
        above, name = os.path.split(path)
        found.setdefault(above, {})[name] = [*note.stamp, note.digest]
    return found


def _is_unchanged(known: dict[str, Any]) -> bool:
    sure = known["began"] - _TICK
    for above, names in known["folders"].items():
        for name, (*stamp, digest) in names.items():
            path = os.path.join(above, name)
            if not _is_stamped(path, stamp, sure) and disk.listing(disk.scan(path)) != digest:
                return False
    for above, names in known["above"].items():
        for name, (*stamp, digest) in names.items():
            path = os.path.join(above, name)
            if not _is_stamped(path, stamp, sure):
                from .manifests.files import TOPS, installs

                with disk.traced() as trace:
                    disk.above(path, installs, TOPS)
                if trace.above[path].digest != digest:
                    return False
    for above, names in known["files"].items():
        prefix = os.path.join(above, "")
        for name, (*stamp, digest) in names.items():
            path = prefix + name
            if not _is_stamped(path, stamp, sure) and disk.digest(disk.read(path)) != digest:
                return False
    if any(os.path.realpath(path) != place for path, place in known["links"].items()):
        return False
    if any(disk.kind(path) != kind for path, kind in known["kinds"].items()):
        return False
    if known["ignored"]:
        from .worktree import ignored

        return all(repr(ignored(path)) == answer for path, answer in known["ignored"].items())
    return True


def _is_stamped(path: str, stamp: list[int], sure: int) -> bool:
    """Whether a file or folder has surely not changed: its stamp is the same, and older than the run that has seen it."""
    status = os.stat(path)
    return [*disk.stamp(status)] == stamp and status.st_mtime_ns < sure and status.st_ctime_ns < sure
