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
from collections.abc import Callable, Sequence
from typing import NoReturn, TypeVar

T = TypeVar("T")

_MOST = 8  # processes; each may need a good part of the memory of this one
_NUMBER = struct.Struct("=i")
_ROOM = 10_000  # numbers that a pipe takes at once: it holds 64 KiB


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
    copies: list[tuple[int, int]] = []
    at, to = os.pipe()
    try:
        shared = numbers[:_ROOM] if many > 1 else []
        os.write(to, b"".join(map(_NUMBER.pack, shared)))
        os.close(to)
        for _ in range(min(many, len(shared)) - 1):
            copies.append(_copy(work, at))
        while (number := _next(at)) is not None:
            found[number] = work(number)
        for _, results in copies:
            found |= _received(results)
        for number in numbers:
            if number not in found:
                found[number] = work(number)
    finally:
        os.close(at)
        for copy, results in copies:
            os.close(results)
            os.kill(copy, signal.SIGKILL)  # which has ended, unless we were told to
            os.waitpid(copy, 0)
    return found


def _next(at: int) -> int | None:
    # All was written at once, in pieces of this size, which a pipe never takes apart.
    data = os.read(at, _NUMBER.size)
    return int(_NUMBER.unpack(data)[0]) if data else None


def _copy(work: Callable[[int], object], at: int) -> tuple[int, int]:
    """A copy of this process that works, and where its results come from."""
    results, to = os.pipe()
    if copy := os.fork():
        os.close(to)
        return copy, results
    _serve(work, at, to)


def _serve(work: Callable[[int], object], at: int, to: int) -> NoReturn:
    """What a copy does. It ends at once, whatever happens: all that this process has begun is not its own to end."""
    try:
        # Ctrl-C reaches all processes, and is told by one.
        for told in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(told, signal.SIG_DFL)
        gc.freeze()  # to look through what it shares with others would copy it
        found: list[bytes] = []
        while (number := _next(at)) is not None:
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
