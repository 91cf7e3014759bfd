"""What a run has with its terminal: lines on standard error, progress, colours, signals, and how it ends."""

from __future__ import annotations

import errno
import io
import os
import shutil
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import astuple
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from .report.model import visible

if TYPE_CHECKING:
    from .report.text import Glyphs, Look

# Exit statuses, as ruff's; the last one is the shell's for SIGINT.
CLEAN, FOUND, FAILED, INTERRUPTED = 0, 1, 2, 130

# What a disk says that takes no more of what is printed.
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})

# A run shorter than these seconds shows no progress.
PATIENCE = 1.0


@contextmanager
def guarded() -> Iterator[None]:
    """One line for whatever the user can act on, in place of a traceback.

    What a command loads belongs inside: interrupted or broken there, the library of the command line would exit with 1, for findings.
    """
    try:
        yield
    except KeyboardInterrupt:
        interrupted()
    except BrokenPipeError:
        raise
    except _expected() as error:
        fail(str(error))
    except OSError as error:
        if _is_adrift():
            fail("the working folder is gone, or cannot be read")
        if error.filename is not None or error.errno not in _FULL:
            _report()
        _unprinted(error)
    except Exception:
        _report()


def _is_adrift() -> bool:
    try:
        os.getcwd()
    except OSError:
        return True
    return False


def _report() -> NoReturn:
    # Left alone, Python would exit with 1, which means findings.
    traceback.print_exc()
    fail("internal error, please report it")


def _expected() -> tuple[type[Exception], ...]:
    """What says itself what its user can do. Not loaded before there is an error: that would be a tenth of a short run."""
    from .baseline import BaselineError
    from .config import ConfigError
    from .discover import NotFound
    from .selection import UnknownRule
    from .worktree import GitError

    return BaselineError, ConfigError, GitError, NotFound, UnknownRule


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C, and a request to end, wait until all files of a fix are written: they need each other."""
    asked: list[int] = []
    with _heard(("SIGINT", "SIGTERM", "SIGHUP"), lambda number, frame: asked.append(number)):
        yield
    if signal.SIGINT in asked:
        raise KeyboardInterrupt
    if asked:
        raise SystemExit(128 + asked[0])


@contextmanager
def orderly() -> Iterator[None]:
    """A request to end, as of a runner that cancels its job, unwinds like Ctrl-C, so that nothing is left running."""

    def leave(number: int, frame: object) -> NoReturn:
        raise SystemExit(128 + number)

    with _heard(("SIGTERM", "SIGHUP"), leave):
        yield


@contextmanager
def _heard(names: Iterable[str], handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Has signals handled so. What is ignored, as under nohup, stays ignored."""
    # Only the main thread hears signals.
    may = threading.current_thread() is threading.main_thread()
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)] if may else []
    before = {number: signal.signal(number, handler) for number in numbers if signal.getsignal(number) is not signal.SIG_IGN}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


class Progress:
    """A line on standard error for runs that take long, if that is a terminal."""

    def __init__(self) -> None:
        self.shown = False
        self._next = time.monotonic() + PATIENCE if sys.stderr.isatty() else float("inf")

    def __call__(self, count: int) -> None:
        if time.monotonic() >= self._next:
            self._next += 0.1
            self.shown = True
            print(f"\rfiles read: {count:,}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Takes the line away again."""
        if self.shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def is_colourful() -> bool:
    """Whether standard output wants colours. `NO_COLOR` goes before `FORCE_COLOR`; an empty one says nothing."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (sys.stdout.isatty() and os.environ.get("TERM") != "dumb")


def look() -> Look:
    """How a report looks on standard output: frames of lines where a terminal can show them, and nothing that one cannot elsewhere."""
    from .report.text import ASCII, LINES, Look

    if not sys.stdout.isatty():
        return Look(colour=is_colourful())
    return Look(is_colourful(), LINES if _can_show(LINES) else ASCII, shutil.get_terminal_size().columns)


def traits() -> tuple[object, ...]:
    """All that `look` goes by."""
    wide = sys.stdout.isatty() and shutil.get_terminal_size().columns
    return is_colourful(), wide, sys.stdout.encoding, os.environ.get("TERM")


def _can_show(glyphs: Glyphs) -> bool:
    if os.environ.get("TERM") in ("dumb", "linux"):  # the console of Linux has no such font
        return False
    try:
        "".join(map(str, astuple(glyphs))).encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def width() -> int:
    """The cells of a line of words on standard output, 100 at most, which is what people like to read; 0 where that is no terminal."""
    return min(shutil.get_terminal_size().columns, 100) if sys.stdout.isatty() else 0


def lenient() -> None:
    r"""What an encoding cannot show becomes an escape such as `\u2192`: a pipe of Windows, or a locale of old, never ends a run."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def print_bytes(data: bytes) -> None:
    """Bytes as they are, behind all text that was printed before."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def told() -> None:
    """Sees that what was printed has reached its file, which Python would only find out behind the exit status."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _hush()
    except OSError as error:
        _unprinted(error)


def _unprinted(error: OSError) -> NoReturn:
    _hush()
    fail(f"cannot write to standard output: {(error.strerror or str(error)).lower()}")


def _hush() -> None:
    """Has what is still to be printed go nowhere: Python would try once more at its end, and say so."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def fail(message: str) -> NoReturn:
    """Ends the run over something that its user can act on."""
    say(f"error: {message}")
    raise SystemExit(FAILED)


def interrupted() -> NoReturn:
    """Ends the run as the shell would."""
    say("interrupted")
    raise SystemExit(INTERRUPTED)


def say(message: str) -> None:
    """A line on standard error that names the command."""
    print("\n".join(map(visible, f"mcp-migrate: {message}".split("\n"))), file=sys.stderr)
