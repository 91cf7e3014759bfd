"""Code that refuses requests because they name no session, or one that nobody knows."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..source import Source, Span
from .model import Gate
from .syntax import blocks, descend

_SESSION = re.compile(r"(^|[_.])(sid|session|session_?id)$", re.IGNORECASE)
_HEADER = re.compile(r"^(http_)?mcp[-_]session[-_]id$", re.IGNORECASE)
_STATUSES = frozenset({400, 401, 404, 410})


def session_gates(source: Source, tree: ast.Module) -> Iterator[Gate]:
    """The conditions under which a request is refused for want of a session; spans the condition."""
    pending: list[tuple[ast.stmt, str]] = [(statement, "") for statement in reversed(tree.body)]
    while pending:
        statement, scope = pending.pop()
        inner = scope
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                inner = f"{scope}.{name}" if scope else name
            case ast.If(test=test, body=then):
                if scope and _refuses(then) and (condition := next(filter(_lacks_session, _parts(test)), None)) is not None:
                    yield Gate(_span(source, condition), "session", scope)
        pending += [(block, inner) for block in reversed([*blocks(statement)])]


def _parts(test: ast.expr) -> Iterator[ast.expr]:
    """The tests that `and` and `or` join; each of them can be the one that refuses."""
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _parts(value)
    else:
        yield test


def _lacks_session(test: ast.expr) -> bool:
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _is_session(operand)
        case ast.Compare(left=left, ops=[ast.NotIn()]):
            return _is_session(left)
        case ast.Compare(left=left, ops=[ast.Is() | ast.Eq()], comparators=[ast.Constant(value=None)]):
            return _is_session(left)
    return False


def _is_session(node: ast.expr) -> bool:
    """A session or its id: by name, as a header, or looked up by one."""
    match node:
        case ast.Name() | ast.Attribute():
            return _SESSION.search(ast.unparse(node)) is not None
        case ast.Constant(value=str() as text):
            return _HEADER.match(text) is not None
        case ast.Subscript(slice=key):
            return _is_session(key)
        case ast.Call(args=[key, *_]):
            return _is_session(key)
        case ast.NamedExpr(target=target, value=value):
            return _is_session(target) or _is_session(value)
        case ast.Await(value=value):
            return _is_session(value)
    return False


def _refuses(body: list[ast.stmt]) -> bool:
    """Whether a block leaves with an error: a raise, an error reply or a status that says no."""
    last = body[-1]
    if isinstance(last, ast.Raise):
        return True
    if not isinstance(last, ast.Return):
        return False
    # The answer may be sent first and a bare return follow.
    return any(_says_no(node) for statement in body for node in descend(statement))


def _says_no(node: ast.AST) -> bool:
    if not isinstance(node, ast.Constant):
        return False
    value = node.value
    return (type(value) is int and value in _STATUSES) or (isinstance(value, str) and value.lower().startswith("error"))


def _span(source: Source, node: ast.expr) -> Span:
    end_line, end_column = node.end_lineno, node.end_col_offset
    assert end_line is not None  # ast.parse always sets both
    assert end_column is not None
    return Span(source.offset(node.lineno, node.col_offset), source.offset(end_line, end_column))
