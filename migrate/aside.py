"""Work for many files that copies of this process share, on Linux: a copy has all that was read and proven, and nothing is handed to it.

A copy of a process of 2 GB is made in 0.05 s. Elsewhere all is done in this process: there is no `fork`, or libraries do not bear it.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import struct
import sys
import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import NamedTuple, NoReturn, TypeVar

T = TypeVar("T")

_MOST = 8  # processes; each may need a good part of the memory of this one
_NUMBER = struct.Struct("=i")
_ENDING = frozenset({signal.SIGINT, signal.SIGTERM, *((signal.SIGHUP,) if hasattr(signal, "SIGHUP") else ())})


class _Copy(NamedTuple):
    process: int
    results: int  # the end of a pipe that its results come from


def processes() -> int:
    """How many processes may share work: one for each core that this one may use, and one alone where copies cannot be made."""
    # A copy has none of the other threads, but all the locks that they hold.
    if sys.platform != "linux" or threading.active_count() > 1:
        return 1
    return min(len(os.sched_getaffinity(0)), _MOST)


def share(work: Callable[[int], T], numbers: Sequence[int], many: int) -> dict[int, T]:
    """What `work` gives for each number, which are taken in their order by this process and its copies, `many` in all.

    A number whose copy has ended before its time, or could not hand over what it has, is worked on here.
    """
    found: dict[int, T] = {}
    copies: list[_Copy] = []
    at, to = os.pipe()
    try:
        count = 0
        if many > 1:
            # A pipe holds 16,000 numbers, or 1,000 for a user who has many; the others are left for this process.
            os.set_blocking(to, False)
            count = os.write(to, b"".join(map(_NUMBER.pack, numbers))) // _NUMBER.size
        os.close(to)
        with suppress(OSError):  # no more processes, or open files, are allowed: those that there are do all
            for _ in range(min(many, count) - 1):
                copies.append(_copy(work, at))
        while (number := _next(at)) is not None:
            found[number] = work(number)
        for copy in copies:
            found |= _received(copy.results)
        for number in numbers:
            if number not in found:
                found[number] = work(number)
    finally:
        os.close(at)
        for copy in copies:
            os.close(copy.results)
            # Where the system does not keep what has ended for those who ask, there is nothing to end either.
            with suppress(ProcessLookupError, ChildProcessError):
                if os.waitpid(copy.process, os.WNOHANG) == (0, 0):
                    os.kill(copy.process, signal.SIGKILL)
                    os.waitpid(copy.process, 0)
    return found


def _next(at: int) -> int | None:
    # All was written at once, in pieces of this size, which a pipe never takes apart.
    data = os.read(at, _NUMBER.size)
    return int(_NUMBER.unpack(data)[0]) if data else None


def _copy(work: Callable[[int], object], at: int) -> _Copy:
    """A copy of this process that works."""
    results, to = os.pipe()
    parent = os.getpid()
    # Until the copy knows that it is one, Ctrl-C would have it go on as this process does.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        if not (process := os.fork()):
            _serve(work, at, to, parent, blocked)
    except OSError:
        os.close(results)
        raise
    finally:
        os.close(to)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    return _Copy(process, results)


def _serve(work: Callable[[int], object], at: int, to: int, parent: int, blocked: Collection[int]) -> NoReturn:
    """What a copy does. It ends at once, whatever happens: all that this process has begun is not its own to end."""
    try:
        # Ctrl-C reaches all processes, and is told by one.
        for ending in _ENDING:
            signal.signal(ending, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        gc.freeze()  # to look through what it shares with others would copy it
        found: list[bytes] = []
        while os.getppid() == parent and (number := _next(at)) is not None:  # nobody asks for more when that one has been ended
            try:
                found.append(pickle.dumps((number, work(number)), pickle.HIGHEST_PROTOCOL))
            except Exception:
                continue
        with os.fdopen(to, "wb") as stream:
            pickle.dump(found, stream, pickle.HIGHEST_PROTOCOL)
    finally:
        os._exit(0)


def _received(results: int) -> dict[int, T]:
    """What a copy has handed over; nothing from one that has been ended."""
    with os.fdopen(results, "rb", closefd=False) as stream:
        data = stream.read()
    try:
        return dict(pickle.loads(one) for one in pickle.loads(data))
    except (EOFError, pickle.UnpicklingError):
        return {}
