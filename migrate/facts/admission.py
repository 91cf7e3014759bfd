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
    r"auth|(^|_)token|bearer|api[-_]?key|x[-_]key|secret|passw|credential|log_?in|permission|permitted|signature|hmac|user|admin|role|account|"
    r"tenant|owner|principal|guest|identity|grant|trust|allow|block|banned|(^|_)(pin|otp)$|licen[cs]e",
    re.IGNORECASE,
)
_HEADER = re.compile(r"mcp[-_]session([-_]id)?([-_]header)?$", re.IGNORECASE)
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
                words = [*_words(test)]
                # `version not in ALLOWED` asks for no more than what the client speaks.
                if any(_SECRET.search(word) for word in words) and not any("version" in word.lower() for word in words):
                    yield node


def of_session(place: Place) -> ast.If | None:
    """Where a function that knows sessions by the header turns somebody away for what theirs says."""
    if place.function is None or not any(_names_header(node) for node in place.nodes):
        return None
    values = Values(place.unit.module)
    for node in place.nodes:
        if isinstance(node, ast.If) and denies(node.body) and any(values.holds(one, place.function) for one in _expressions(node.test)):
            return node
    return None


def _names_header(node: ast.AST) -> bool:
    match node:
        case ast.Constant(value=str(text)):
            return _HEADER.match(text) is not None
        case ast.Name(id=name) | ast.arg(arg=name):
            return _HEADER.match(name) is not None
    return False


def hands_out(place: Place) -> bool:
    """Whether a function files something under the id of a session."""
    if place.function is None:
        return False
    values = Values(place.unit.module)
    return any(
        isinstance(goal, ast.Subscript) and values.holds(goal.slice, place.function) for node in place.nodes for goal in targets(node)
    )


def _expressions(node: ast.expr) -> Iterator[ast.expr]:
    yield from (part for part in descend(node) if isinstance(part, ast.expr))


def _words(node: ast.expr) -> Iterator[str]:
    for part in descend(node):
        match part:
            case ast.Name(id=word) | ast.Attribute(attr=word) | ast.Constant(value=str(word)):
                yield word
