"""What a Python file itself asks for. Nothing is loaded for the many that ask for nothing."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts.model import Fact
from ..source import Source

_MARK = b"# /// script"


def inside(source: Source) -> Iterator[Fact]:
    """The requirements in one Python file."""
    is_setup = source.path.rpartition("/")[2] == "setup.py"
    if _MARK in source.utf8 or is_setup:
        from . import script

        yield from script.setup(source) if is_setup else script.block(source)
