"""What changes from one run of a server to the next: ids, times, addresses, ports."""

from __future__ import annotations

import re

CHANGING = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|\b[0-9a-f]{12,64}\b"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d)?"
    r"|\b\d{2}:\d{2}:\d{2}\b"
    r"|\b1[6-9]\d{8,11}(\.\d+)?\b"
    r"|0x[0-9a-f]+"
    r"|(?<=127\.0\.0\.1:)\d+|(?<=localhost:)\d+"
)


def masked(text: str) -> str:
    """A text without what changes from run to run."""
    return CHANGING.sub("*", text)


def same(one: str, other: str) -> bool:
    """Whether two texts differ in nothing else."""
    return masked(one) == masked(other)
