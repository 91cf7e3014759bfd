"""What `fix --diff` prints: a patch in git's own form, made of bytes so that every encoding passes unharmed."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator

_NO_NEWLINE = b"\\ No newline at end of file\n"


def patch(path: str, before: bytes | None, after: bytes) -> bytes:
    """The patch of one file, to be taken by `git apply`; `before` is None for a new file. Empty if nothing changes."""
    if before == after:
        return b""
    old, new = _name("a/", path), _name("b/", path)
    head = [b"diff --git ", old, b" ", new, b"\n"]
    if before is None:
        head += [b"new file mode 100644\n"]
        # An empty new file has no hunk, and then git wants no names either.
        if not after:
            return b"".join(head)
    head += [b"--- ", b"/dev/null" if before is None else old + _tab(path), b"\n+++ ", new + _tab(path), b"\n"]
    return b"".join([*head, *_hunks(before or b"", after)])


def _hunks(before: bytes, after: bytes) -> Iterator[bytes]:
    lines = difflib.diff_bytes(difflib.unified_diff, _lines(before), _lines(after), lineterm=b"\n")
    for number, line in enumerate(lines):
        if number < 2:  # difflib's own file names
            continue
        yield line
        if not line.endswith(b"\n"):
            yield b"\n" + _NO_NEWLINE


def _lines(data: bytes) -> list[bytes]:
    """Lines as git counts them: they end with a line feed and nothing else."""
    lines = data.split(b"\n")
    return [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _name(prefix: str, path: str) -> bytes:
    raw = os.fsencode(prefix + path)
    if not any(byte < 0x20 or byte in b'"\\\x7f' for byte in raw):
        return raw
    escapes = {ord('"'): b'\\"', ord("\\"): b"\\\\", ord("\n"): b"\\n", ord("\t"): b"\\t", ord("\r"): b"\\r"}
    return b'"' + b"".join(escapes.get(byte) or (b"\\%03o" % byte if byte < 0x20 or byte == 0x7F else bytes([byte])) for byte in raw) + b'"'


def _tab(path: str) -> bytes:
    """Where a name holds spaces, git ends it with a tab."""
    return b"\t" if " " in path else b""
