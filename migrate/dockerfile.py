"""What the COPY and ADD instructions of a Dockerfile take into an image."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import NamedTuple

_COPY = re.compile(r"\s*(?:COPY|ADD)\s+(?P<rest>.+)", re.IGNORECASE | re.DOTALL)
_FLAG = re.compile(r"--(\w+)(?:=(\S+))?\s+")


class Copy(NamedTuple):
    """One instruction: the line that it begins on, and what it copies from the build context."""

    line: int
    sources: tuple[str, ...]


def copies(text: str) -> Iterator[Copy]:
    """The instructions that copy from the build context; what comes from another stage or an address does not."""
    for number, instruction in _instructions(text):
        found = _COPY.fullmatch(instruction)
        if found is None:
            continue
        rest = found["rest"].strip()
        flags = {}
        while flag := _FLAG.match(rest):
            flags[flag[1].lower()] = flag[2]
            rest = rest[flag.end() :]
        sources = _words(rest)[:-1]
        if "from" not in flags and sources and not sources[0].startswith("<<"):
            yield Copy(number, tuple(source for source in sources if "://" not in source))


def missing(found: Iterable[Copy], present: str, absent: str) -> Copy | None:
    """The instruction that copies the file `present` by its own name, where none takes `absent` along; both from the build context."""
    found = list(found)
    if any(_covers(source, absent) for copy in found for source in copy.sources):
        return None
    return next((copy for copy in found if any(_clean(source) == present for source in copy.sources)), None)


def _covers(source: str, path: str) -> bool:
    source = _clean(source)
    if source in ("", "."):
        return True
    pattern = source.split("/")
    parts = path.split("/")
    # A folder takes all that is in it; a star stays inside of one part of a path.
    return len(pattern) <= len(parts) and all(fnmatchcase(part, star) for part, star in zip(parts, pattern, strict=False))


def _clean(source: str) -> str:
    return source.strip("/").removeprefix("./").strip("/")


def _instructions(text: str) -> Iterator[tuple[int, str]]:
    """Each instruction with its line, continued lines joined; comments may stand between these."""
    start, parts = 0, list[str]()
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("#") or (parts and not line.strip()):
            continue
        start = start if parts else number
        parts.append(line.rstrip().removesuffix("\\"))
        if not line.rstrip().endswith("\\"):
            yield start, " ".join(parts)
            parts = []


def _words(rest: str) -> list[str]:
    if rest.startswith("["):
        try:
            return [str(word) for word in json.loads(rest)]
        except ValueError:
            return []
    return rest.split()
