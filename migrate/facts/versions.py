"""What a version specifier admits, as the interval between its bounds; holes (`!=`) are left out of account."""

from __future__ import annotations

import re
from typing import NamedTuple

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion
from packaging.version import Version as Version  # for those who compare

_NUMBERS = re.compile(r"\d+(?:\.\d+)*")


class Bounds(NamedTuple):
    """The versions that a specifier admits. None for no bound."""

    low: Version | None = None
    high: Version | None = None
    low_is_in: bool = True
    high_is_in: bool = False

    def reaches(self, version: Version) -> bool:
        """Whether it admits this version or a later one."""
        return self.high is None or self.high > version or (self.high == version and self.high_is_in)

    def begins_before(self, version: Version) -> bool:
        return self.low is None or self.low < version


def bounds(specifier: str) -> Bounds | None:
    """The bounds of a specifier; None for text that is none."""
    try:
        parts = list(SpecifierSet(specifier))
    except InvalidSpecifier:
        return None
    found = Bounds()
    for part in parts:
        try:
            found = _narrowed(found, part.operator, part.version)
        except InvalidVersion:
            return None
    return found


def normalized(name: str) -> str:
    """The name of a distribution as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def from_poetry(text: str) -> str | None:
    """A constraint of poetry, or of a Pipfile, as PEP 440 spells it; None for one that is more than a list of comparisons."""
    if "||" in text or "|" in text:
        return None
    out = []
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        if part == "*":
            continue
        if part[0] in "^~" and not part.startswith("~="):
            numbers = _NUMBERS.match(part[1:].strip())
            if numbers is None:
                return None
            release = [int(number) for number in numbers[0].split(".")]
            out += [f">={part[1:].strip()}", f"<{_after(release, caret=part[0] == '^')}"]
        elif part[0].isdigit():
            out.append(f"=={part}")
        else:
            out.append(part.replace(" ", ""))
    specifier = ",".join(out)
    return specifier if bounds(specifier) is not None else None


def _after(release: list[int], *, caret: bool) -> str:
    """The first version that `^1.2` or `~1.2` leaves out."""
    last = len(release) - 1
    place = next((number for number, part in enumerate(release) if part), last) if caret else min(1, last)
    return ".".join(map(str, [*release[:place], release[place] + 1]))


def _narrowed(found: Bounds, operator: str, text: str) -> Bounds:
    if operator == "!=":
        return found
    if text.endswith(".*") or operator == "~=":
        release = [int(number) for number in text.removesuffix(".*").split(".")] if text.endswith(".*") else [*Version(text).release[:-1]]
        low = Version(text.removesuffix(".*"))
        return _below(_from(found, low, is_in=True), _first_of(".".join(map(str, [*release[:-1], release[-1] + 1]))), is_in=False)
    version = Version(text)
    if operator in ("==", "==="):
        return _below(_from(found, version, is_in=True), version, is_in=True)
    if operator in (">", ">="):
        return _from(found, version, is_in=operator == ">=")
    if operator == "<":
        return _below(found, version if version.is_prerelease else _first_of(version.base_version), is_in=False)
    return _below(found, version, is_in=True)


def _first_of(release: str) -> Version:
    """The first version that belongs to a release: `<2` leaves out 2.0b1 as well."""
    return Version(f"{release}.dev0")


def _from(found: Bounds, low: Version, *, is_in: bool) -> Bounds:
    return found._replace(low=low, low_is_in=is_in) if found.low is None or low > found.low else found


def _below(found: Bounds, high: Version, *, is_in: bool) -> Bounds:
    return found._replace(high=high, high_is_in=is_in) if found.high is None or high < found.high else found
