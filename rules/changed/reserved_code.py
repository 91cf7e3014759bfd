"""An own error uses a code of the specification."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.model import CodeUse, ErrorCode, Fact, Gate
from ...rule import Context, Finding
from ..meaning import Meaning, meaning, spoken


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    # Recognising a peer's code is not sending one.
    if not isinstance(fact, ErrorCode) or fact.use is CodeUse.COMPARE or not isinstance(fact.key, str):
        return
    if _is_shared(fact, ctx) or _is_reserved(fact, ctx):
        yield ctx.finding(fact)


def _is_shared(code: ErrorCode, ctx: Context) -> bool:
    """Whether this is -32002 with a meaning of its own."""
    if code.key not in ctx.entry.data["shared"]:
        return False
    match meaning(code, ctx.file.source):
        case Meaning.OTHER:
            return True
        case Meaning.GATE:
            # The gate has a finding; only a code that is sent from somewhere else needs one here.
            return not ctx.settled(code) and not any(isinstance(other, Gate) and other.scope == code.scope for other in ctx.file.facts)
    return False


def _is_reserved(code: ErrorCode, ctx: Context) -> bool:
    """Whether this is a code of the specification's block that it has not defined, or not so."""
    first, last = ctx.entry.data["reserved"]
    if not int(first) <= int(str(code.key)) <= int(last) or code.key in ctx.entry.data["retired"]:
        return False
    words = ctx.entry.data.get(str(code.key))
    text = spoken(code, ctx.file.source)
    # A defined code whose words nobody wrote down has the benefit of the doubt.
    return words is None or (text != "" and not any(word in text for word in words))
