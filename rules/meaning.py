"""What an error code is used for, as the words beside it tell."""

from __future__ import annotations

import re
from enum import Enum

from ..facts.model import ErrorCode
from ..source import Source

_WORDS = re.compile(r"[^A-Za-z]+|(?<=[a-z])(?=[A-Z])")
_GATE = re.compile(
    r"\bnot (yet )?(been )?(initiali[sz]ed|ready)|uninitiali[sz]ed|handshake|(before|until|must|require[sd]?|first) .*initiali[sz]"
)
_ABSENT = re.compile(
    r"not found|no such|does not exist|doesn t exist|not exist|unknown|missing|not available|could not be found|cannot find|notfound"
)
_RESOURCE = re.compile(r"\bresources?\b|\buri\b|resourcenotfound")
_PEER = re.compile(r"\b(session|user|server|client|account|token|tenant)s?\b")
_THING = re.compile(r"\b(tool|prompt|method|task|job|agent|project|key|model|command|function)s?\b")


class Meaning(str, Enum):
    """What -32002 stands for at a place."""

    RESOURCE = "resource"  # a resource that does not exist: what the specification meant
    GATE = "gate"  # refused because nobody said initialize
    OTHER = "other"
    UNCLEAR = "unclear"


def meaning(code: ErrorCode, source: Source) -> Meaning:
    """What the message, the constant's name or the method around tells about a -32002."""
    text = spoken(code, source)
    if _GATE.search(text):
        return Meaning.GATE
    absent = _ABSENT.search(text) is not None
    peer = _PEER.search(text) is not None
    other = peer or _THING.search(text) is not None
    if absent and _RESOURCE.search(text):
        return Meaning.RESOURCE
    # Then the only words are the name of the function, which may be called anything.
    silent = _is_scope_only(code)
    # Whatever is missing where a resource is read, a key of a store for one, is that resource.
    if code.method == "resources/read" and ((absent and not peer) or (not other and (silent or "uri" in text.split()))):
        return Meaning.RESOURCE
    if silent or not text or (absent and not other):
        return Meaning.UNCLEAR
    return Meaning.OTHER


def spoken(code: ErrorCode, source: Source) -> str:
    """The words around a code: its message, the constant's name, and how the code itself is spelled."""
    parts = (code.text, code.name, _name(source.slice(code.span)))
    return " ".join(word.lower() for part in parts for word in _WORDS.split(part) if word)


def _name(text: str) -> str:
    # int("-32002") and 0x7d02 are spellings of the number, not words about it.
    return text if re.fullmatch(r"[A-Za-z_][\w.]*", text) else ""


def _is_scope_only(code: ErrorCode) -> bool:
    return not code.name and code.text == code.scope.rpartition(".")[2]
