"""Who calls a function, and who calls that: up to where messages come in."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from .code import Code, Place


def climb(code: Code, start: Place, ends: Callable[[Place], bool] = lambda place: False) -> Iterator[Place]:
    """A function, what calls it, and what calls that; methods of objects whose class is not known by their name."""
    seen = [start]
    for one in seen:
        yield one
        if one.function is None or ends(one):
            continue
        for caller in (*(call.place for call in code.callers(one)), *by_name(code, one)):
            if caller not in seen:
                seen.append(caller)


def by_name(code: Code, target: Place) -> Iterator[Place]:
    """Functions that call a method of this name on an object whose class is not known."""
    assert target.function
    if not target.function.owner:
        return
    for unit in code.around(target.unit):
        for place, node in unit.mentions.get(target.function.short, ()):
            match node.func:
                case ast.Attribute(attr=attr) if attr == target.function.short and code.target(node.func, place) is None:
                    yield place
