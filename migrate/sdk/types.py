"""What an expression can be: an instance, a class, a function, a module, or one of several."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Union

# `path::Class.method` names what the project defines itself; everything else has a dotted name.
OWN = "::"
MAX_BASES = 50
"""How many classes that stand above each other are followed: what is deeper is generated, or goes round in a circle."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A value of a class. Containers and awaitables are instances too: `list`, `dict`, `tuple`, `Awaitable`, `AsyncContext` ..."""

    name: str
    args: tuple[Known | None, ...] = ()


@dataclass(frozen=True, slots=True)
class ClassOf:
    """The class itself."""

    name: str
    args: tuple[Known | None, ...] = ()  # `Server[A, B]`


@dataclass(frozen=True, slots=True)
class Function:
    """A function or method; `bound` is the object that it was taken from."""

    name: str
    bound: Instance | ClassOf | None = None


@dataclass(frozen=True, slots=True)
class ModuleOf:
    """A module; `name` is its dotted name, or a path with `::` for one of the project."""

    name: str


@dataclass(frozen=True, slots=True)
class Either:
    """One of several; `open` when it may be something unknown as well."""

    items: tuple[Known, ...]
    open: bool = False


Known = Union[Instance, ClassOf, Function, ModuleOf, Either]  # noqa: UP007 the names are not defined yet

NONE = Instance("None")
URL = "pydantic.networks.AnyUrl"
ADAPTER = "pydantic.type_adapter.TypeAdapter"
URI = "mcp.types.Uri"
"""What the fields hold that were an `AnyUrl`, and are text now."""
_TOKEN = re.compile(r"([\w.]+|\[|\]|,|\||\.\.\.)")


def either(items: Iterable[Known | None]) -> Known | None:
    """What all of these may be; None is no part of it, so that `x | None` is x."""
    known: list[Known] = []
    unknown = False
    for item in items:
        if item is None:
            unknown = True
        elif isinstance(item, Either):
            known += item.items
            unknown = unknown or item.open
        elif item != NONE:
            known.append(item)
    known = list(dict.fromkeys(known))
    if not known:
        return None if unknown else NONE
    return known[0] if len(known) == 1 and not unknown else Either(tuple(known), unknown)


def members(known: Known | None) -> Iterator[Known]:
    """The single things that something may be."""
    if isinstance(known, Either):
        yield from known.items
    elif known is not None:
        yield known


def is_open(known: Known | None) -> bool:
    """Whether it may be something unknown."""
    return known is None or (isinstance(known, Either) and known.open)


def parse(text: str) -> Known | None:
    """The type that the table of the SDK spells as text; None for `Any`."""
    tokens = [match[1] for match in _TOKEN.finditer(text)]
    found, _ = _union(tokens, 0)
    return found


def _union(tokens: list[str], at: int) -> tuple[Known | None, int]:
    items = []
    while True:
        item, at = _single(tokens, at)
        items.append(item)
        if at >= len(tokens) or tokens[at] != "|":
            return (items[0] if len(items) == 1 else either(items)), at
        at += 1


def _single(tokens: list[str], at: int) -> tuple[Known | None, int]:
    name = tokens[at]
    at += 1
    args: list[Known | None] = []
    if at < len(tokens) and tokens[at] == "[":
        at += 1
        while tokens[at] != "]":
            item, at = _union(tokens, at)
            args.append(item)
            at += tokens[at] == ","
        at += 1
    if name == "type":
        return (ClassOf(args[0].name) if args and isinstance(args[0], Instance) else None), at
    if name in ("Any", "typing.Any", "...", "Callable"):
        return None, at
    return Instance(name, tuple(args)), at
