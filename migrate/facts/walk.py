"""What a walk over one module keeps, and the small steps that all its parts take."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from ..source import Source, Span
from . import vocabulary as words
from .model import Fact, Ref, Role, Use, Value
from .names import Names
from .syntax import descend


def is_word(value: Value | None) -> bool:
    """Whether a value belongs to the vocabulary, or is a constant of another module that may."""
    if value is None:
        return False
    if isinstance(value, str):
        return len(value) <= words.LONGEST and (value in words.TEXTS or value.lower() in words.HEADERS)
    if isinstance(value, int):
        return value in words.RETIRED_CODES or value in words.DRAFT_CODES or value in words.RESERVED_CODES
    if isinstance(value, Ref):
        return value.name.rpartition(".")[2].isupper()
    return isinstance(value, tuple) and any(map(is_word, value))


class Walk:
    """One pass over one module: uses, facts and evidence pile up here."""

    def __init__(self, source: Source, names: Names) -> None:
        self.source = source
        self.names = names
        self.uses: list[Use] = []
        self.facts: list[Fact] = []
        self.evidence: set[str] = set()
        self.constants: dict[str, Value] = {}
        self._claimed: set[int] = set()
        self._scope = ""
        self._owner = ""
        self._around = ""
        self._local: Mapping[str, ast.expr] | None = None
        self._getattr_prefixes: set[str] = set()
        self._literal_fields: dict[str, str] = {}  # class -> the method that its Literal field pins

    def _expression(self, root: ast.expr, body: list[ast.stmt] | None = None) -> None:
        """Reads an expression; `body` is what runs when it holds. `Expressions` does it."""
        raise NotImplementedError

    def _use(self, role: Role, value: Value, node: ast.expr | ast.arg, **more: object) -> None:
        if isinstance(value, str):
            self._note(value)
        self.uses.append(Use(role, value, self._span(node), self._scope, around=self._around, **more))  # type: ignore[arg-type]

    def _note(self, value: str) -> None:
        """Words that no other protocol uses speak for MCP."""
        if value in words.METHODS and value not in words.COMMON_WORDS:
            self.evidence.add(value)
        elif value.lower() in ("mcp-session-id", "mcp-protocol-version") or value == "HTTP_MCP_SESSION_ID":
            self.evidence.add(value.lower())

    def _value(self, node: ast.expr | None) -> Value | None:
        if node.__class__ is ast.Constant:
            constant = node.value
            return constant if constant.__class__ is str or constant.__class__ is int else self.names.value(node, self._owner)
        return self.names.value(node, self._owner, self._local)

    def _about(self, node: ast.expr) -> str:
        """The text of what is compared; a local name that holds what a message says under `method` says so, whatever it is called."""
        text = ast.unparse(node)
        held = self._local.get(text) if isinstance(node, ast.Name) and self._local else None
        return f"{text}.method" if held is not None and _is_method(held) else text

    def _called(self, node: ast.Call) -> str:
        function = node.func
        return function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""

    def _claim(self, node: ast.expr) -> None:
        """The parent has dealt with this text; the leaf need not be looked at again."""
        self._claimed.add(id(node))
        if isinstance(node, (ast.UnaryOp, ast.BinOp, ast.JoinedStr, ast.Call, ast.Attribute)):
            for child in descend(node):
                self._claimed.add(id(child))

    def _span(self, node: ast.AST) -> Span:
        offset = self.source.offset
        return Span(offset(node.lineno, node.col_offset), offset(node.end_lineno, node.end_col_offset))  # type: ignore[attr-defined]

    def _name_span(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Span:
        start = self.source.offset(node.lineno, node.col_offset)
        at = self.source.utf8.find(node.name.encode(), start)
        return Span(at, at + len(node.name.encode()))

    def _block(self, body: list[ast.stmt]) -> Span:
        return Span(self._span(body[0]).start, self._span(body[-1]).end)


def _is_method(value: ast.expr) -> bool:
    match value:
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=key), *_]) | ast.Subscript(slice=ast.Constant(value=key)):
            return bool(key == "method")
        case ast.BoolOp(op=ast.Or(), values=[first, *_]):
            return _is_method(first)
    return False
