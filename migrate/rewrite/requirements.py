"""Edits of requirements, in the spelling of the place where each one stands."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from ..facts.model import Remark, Requirement
from ..source import Span
from .edits import Edit

_LOW = re.compile(r"(?P<operator>>=|>|\^)(?P<space>\s*)(?P<version>\d+(?:\.\d+)*)")


def asking(asked: Requirement, specifier: str) -> Iterator[Edit]:
    """The requirement with another specifier."""
    # A bare word that holds `<` would be taken for the name of a file by a shell, and a comma for the end of an entry by YAML.
    if asked.quote:
        yield Edit(Span(asked.span.start, asked.span.start), asked.quote)
    yield Edit(asked.versions, specifier)
    if asked.quote:
        yield Edit(Span(asked.span.end, asked.span.end), asked.quote)


def without_extras(asked: Requirement, gone: Collection[str]) -> Iterator[Edit]:
    """The requirement without some of its extras."""
    kept = [extra for extra in asked.extras if extra not in gone]
    if asked.spelling == "poetry":
        yield Edit(asked.brackets, f"[{', '.join(f'{chr(34)}{extra}{chr(34)}' for extra in kept)}]")
    else:
        yield Edit(asked.brackets, f"[{','.join(kept)}]" if kept else "")


def raised(text: str, floor: str) -> str | None:
    """A specifier with a higher lower bound and all else as it was; None where it has none of its own."""
    found = _LOW.search(text)
    if found is None:
        return None
    operator = ">=" if found["operator"] == ">" else found["operator"]
    return f"{text[: found.start()]}{operator}{found['space']}{floor}{text[found.end() :]}"


def also(asked: Requirement | Remark, names: Sequence[str]) -> Iterator[Edit]:
    """More entries, without a version, behind the last one of the same list."""
    # Where the last entry has no separator behind it, the first of the two insertions is one.
    *first, (at, text) = asked.entry
    for place, separator in first:
        yield Edit(Span(place, place), separator)
    yield Edit(Span(at, at), "".join(separator for _, separator in first).join(text.replace("{}", name) for name in names))
