"""Facts about the code around questions to the client: actions that go on unasked, and work that a second round repeats."""

from __future__ import annotations

from collections.abc import Iterator

from .asking import asking
from .consent import openings
from .effects import work
from .functions import Module
from .model import Opening, Work

# Without one of these nothing is asked, and the functions need not be followed.
WORDS = (b"elicit", b"createMessage", b"create_message", b"list_roots", b"roots/list")


def questions(module: Module) -> Iterator[Opening | Work]:
    """What is unsafe or repeated around the questions of a module."""
    found = asking(module)
    for opening in openings(found):
        yield Opening(opening.span, "elicitation", opening.function, reason=opening.reason)
    if found.waiters:
        for effect in work(found):
            yield Work(effect.span, "question", effect.function, what=effect.what)
