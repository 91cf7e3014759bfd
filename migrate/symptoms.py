"""What users see when a peer, or an SDK, is of the other era: texts of errors with their cause, what to do, and the rules behind it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import yaml

from .catalog import PACKAGE, CatalogError, Loader

_FILE = "symptoms.yaml"
_TEXTS = ("id", "says", "seen", "cause", "do")


@dataclass(frozen=True, slots=True)
class Symptom:
    """A text that users see. `like` is a regular expression for what stands for it where names vary; `rules` are ids."""

    id: str
    says: str
    seen: str
    cause: str
    do: str
    rules: tuple[str, ...]
    like: str = ""


@cache
def load() -> tuple[Symptom, ...]:
    """All symptoms, as their file has them. Raises CatalogError for what is not written as they are."""
    return tuple(map(_symptom, yaml.load(files(PACKAGE).joinpath(_FILE).read_text(encoding="utf-8"), Loader=Loader)))


def find(text: str) -> tuple[Symptom, ...]:
    """The symptoms that a text shows: for each of its lines those that explain most of it. A part of a symptom's text is enough, too."""
    lines = [_plain(line) for line in text.splitlines()]
    found = {symptom.id: symptom for line in [*lines, _plain(text)] for symptom in _best(line)}
    return tuple(found.values())


def _best(line: str) -> list[Symptom]:
    shares = [(_share(symptom, line), symptom) for symptom in load()] if len(line) > 2 else []
    most = max((share for share, _ in shares), default=_NOTHING)
    return [symptom for share, symptom in shares if share == most and share != _NOTHING]


_NOTHING = (False, 0)


def _share(symptom: Symptom, line: str) -> tuple[bool, int]:
    """Whether a line holds the very text of a symptom, and how many characters they have in common."""
    says, folded = _plain(symptom.says).casefold(), line.casefold()
    if says in folded:
        return True, len(says)
    # What varies are names, whose case tells them apart.
    if symptom.like and (found := re.search(symptom.like, line)):
        return False, len(found[0])
    return False, len(folded) if folded in says else 0


def _plain(text: str) -> str:
    """A text without what differs from one place to the next: the kind of quotes, and spaces."""
    return " ".join(text.replace('"', "'").split())


def _symptom(raw: object) -> Symptom:
    if not isinstance(raw, dict) or raw.keys() - {*_TEXTS, "rules", "like"} or not {*_TEXTS, "rules"} <= raw.keys():
        raise CatalogError(f"{_FILE}: {raw!r} has not the fields of a symptom")
    texts = {name: " ".join(str(raw[name]).split()) for name in _TEXTS}
    like = raw.get("like", "")
    return Symptom(**texts, rules=tuple(raw["rules"]), like=like.replace('"', "'"))
