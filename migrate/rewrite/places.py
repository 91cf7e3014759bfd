"""Where every node of a LibCST tree stands, from one rendering pass: bytes, parent, indentation."""

from __future__ import annotations

from types import TracebackType
from typing import Any, NamedTuple

import libcst as cst
from libcst._nodes.internal import CodegenState

from ..source import Span


class Place(NamedTuple):
    """The place of one node."""

    span: Span  # as ast has it
    whole: Span  # with the whitespace, comments and parentheses that the node owns
    parent: cst.CSTNode | None
    indent: str


def places(module: cst.Module) -> dict[cst.CSTNode, Place]:
    """Syntactic span, whole span, parent and indentation of every node of a freshly parsed module, in the order of rendering."""
    # LibCST's own providers of positions walk the tree once more for visitors that there are none of, and enter generators as
    # contexts at each node: this takes a third of their time, and places were a fifth of a large `fix`.
    walk = _Walk(module.default_indent, module.default_newline)
    module._codegen(walk)
    if module.has_trailing_newline:
        return walk.seen
    # Every rendered statement ends with a newline, the last line of this file does not.
    size = len("".join(walk.tokens).encode("utf-8"))
    return {
        node: place if place.whole.end <= size else place._replace(whole=Span(place.whole.start, min(place.whole.end, size)))
        for node, place in walk.seen.items()
    }


def rendered(module: cst.Module) -> str:
    """The text of a module, as LibCST's own `code` has it."""
    state = _Plain(module.default_indent, module.default_newline)
    module._codegen(state)
    return "".join(state.tokens)


class _Nothing:
    def __enter__(self) -> None: ...
    def __exit__(self, *raised: object) -> None: ...


_NOTHING = _Nothing()


class _Plain(CodegenState):
    """Renders, and notes nothing. LibCST enters a generator as a context at each node, which takes half of its time."""

    def record_syntactic_position(self, node: cst.CSTNode, **ends: Any) -> _Nothing:  # type: ignore[override]
        return _NOTHING


class _Walk(CodegenState):
    """Renders, and notes where each node stands."""

    def __init__(self, default_indent: str, default_newline: str) -> None:
        super().__init__(default_indent, default_newline)
        self.position = 0
        self.seen: dict[cst.CSTNode, Place] = {}
        self.exact: dict[cst.CSTNode, Span] = {}  # of nodes that are more than their syntax, once this has been rendered
        self._starts: list[int] = []
        self._above: list[cst.CSTNode] = []

    def add_indent_tokens(self) -> None:
        self.tokens.extend(self.indent_tokens)
        self.position += sum(map(_bytes, self.indent_tokens))

    def add_token(self, value: str) -> None:
        self.tokens.append(value)
        self.position += len(value) if value.isascii() else len(value.encode("utf-8"))

    def before_codegen(self, node: cst.CSTNode) -> None:
        self._starts.append(self.position)
        self._above.append(node)

    def after_codegen(self, node: cst.CSTNode) -> None:
        whole = Span(self._starts.pop(), self.position)
        above = self._above
        above.pop()
        indent = "".join(self.indent_tokens) if isinstance(node, cst.BaseStatement) else ""
        self.seen[node] = Place(self.exact.get(node, whole), whole, above[-1] if above else None, indent)

    def record_syntactic_position(  # type: ignore[override]
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> _Exact:
        return _Exact(self, node, start_node, end_node)


class _Exact:
    """Notes what is rendered inside of it as the syntax of a node, from the beginning of one inner node or to the end of another."""

    __slots__ = ("end_node", "node", "start", "start_node", "walk")

    def __init__(self, walk: _Walk, node: cst.CSTNode, start_node: cst.CSTNode | None, end_node: cst.CSTNode | None) -> None:
        self.walk, self.node, self.start_node, self.end_node = walk, node, start_node, end_node

    def __enter__(self) -> None:
        self.start = self.walk.position

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            seen = self.walk.seen
            start = self.start if self.start_node is None else seen[self.start_node].span.start
            end = self.walk.position if self.end_node is None else seen[self.end_node].span.end
            self.walk.exact[self.node] = Span(start, end)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8"))
