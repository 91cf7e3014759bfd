"""What a Python file itself asks for. Nothing is loaded for the many that ask for nothing."""

from __future__ import annotations

from collections.abc import Iterator

from .. import cells
from ..facts.model import Fact, Requirement
from ..source import Source

_MARK = b"# /// script"
_NOTEBOOK = ".ipynb"


def inside(source: Source) -> Iterator[Fact]:
    """The requirements in one Python file."""
    is_setup = source.path.rpartition("/")[2] == "setup.py"
    if _MARK in source.utf8 or is_setup:
        from . import script

        yield from script.setup(source) if is_setup else script.block(source)
    if source.path.endswith(_NOTEBOOK) and b" install" in source.utf8:
        yield from _commands(source)


def _commands(source: Source) -> Iterator[Requirement]:
    """What the commands of a notebook install, as `%pip install mcp`: none that stands in its code."""
    from . import commands

    for fact in commands.read(source.text, source.path):
        if isinstance(fact, Requirement) and cells.lead(source.line(source.position(fact.span.start).line)):
            yield fact
