"""One requirement as PEP 508 spells it, inside of a file that has a form of its own."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..facts.model import Place, Requirement
from ..facts.versions import bounds, normalized
from ..source import Span

_REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)[ \t]*(?P<extras>\[[^\]\n]*\])?[ \t]*"
    r"(?:\((?P<inside>[^()\n]*)\)|(?P<versions>[=<>!~][^;#@\n]*?)?)[ \t]*(?P<rest>[;@].*)?"
)


@dataclass(frozen=True)
class Where:
    """What all entries of one list share."""

    place: Place
    section: str = ""
    quote: str = ""
    fixed: str = ""


def requirement(text: str, start: int, where: Where) -> Requirement | None:
    """The requirement that `text` is, found at the byte `start`; None for text that is none. It must be ASCII up to its marker."""
    found = _REQUIREMENT.fullmatch(text.rstrip())
    if found is None or not text[: found.start("rest") if found["rest"] else len(text)].isascii():
        return None
    inside = "inside" if found["inside"] is not None else "versions"
    specifier = (found[inside] or "").strip()
    if bounds(specifier) is None:
        return None
    name_end = found.end("name")
    brackets = found.span("extras") if found["extras"] else (name_end, name_end)
    if found[inside]:
        begin = found.start(inside) + len(found[inside]) - len(found[inside].lstrip())
        versions = (begin, begin + len(specifier))
    else:
        versions = (brackets[1], brackets[1])
    reference = (found["rest"] or "").startswith("@")
    return Requirement(
        span=Span(start, start + len(text.rstrip().encode("utf-8"))),
        key=normalized(found["name"]),
        scope=where.section,
        specifier="".join(specifier.split()),
        extras=tuple(extra.strip() for extra in (found["extras"] or "[]")[1:-1].split(",") if extra.strip()),
        place=where.place,
        versions=Span(start + versions[0], start + versions[1]),
        brackets=Span(start + brackets[0], start + brackets[1]),
        quote=where.quote,
        fixed=where.fixed or ("it names a place, not a version" if reference else ""),
    )
