"""What turns somebody away for who they are, where sessions are handed out: whoever is served without a session was not asked there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from .code import Place
from .functions import targets
from .sessions import Values, denies
from .syntax import descend

_SECRET = re.compile(
    r"auth|(^|_)token|bearer|api[-_]?key|x[-_]key|secret|passw|credential|log_?in|permission|permitted|signature|hmac", re.IGNORECASE
)
_DENIED = re.compile(r"auth|forbidden|permission|denied|credential|login", re.IGNORECASE)


def refusals(nodes: Iterable[ast.AST]) -> Iterator[ast.stmt]:
    """The statements that turn somebody away by status, by the exception, or because of a credential."""
    for node in nodes:
        match node:
            case ast.Raise(exc=ast.expr() as raised):
                if denies([node]) or any(_DENIED.search(word) for word in _words(raised)):
                    yield node
            case ast.Return(value=ast.expr()) | ast.Expr(value=ast.Call()):
                if denies([node]):
                    yield node
            case ast.If(test=test, body=[*_, ast.Return(value=ast.expr()) | ast.Raise()]):
                if any(_SECRET.search(word) for word in _words(test)):
                    yield node


def hands_out(place: Place) -> bool:
    """Whether a function files something under the id of a session."""
    if place.function is None:
        return False
    values = Values(place.unit.module)
    return any(
        isinstance(goal, ast.Subscript) and values.holds(goal.slice, place.function) for node in place.nodes for goal in targets(node)
    )


def _words(node: ast.expr) -> Iterator[str]:
    for part in descend(node):
        match part:
            case ast.Name(id=word) | ast.Attribute(attr=word) | ast.Constant(value=str(word)):
                yield word
