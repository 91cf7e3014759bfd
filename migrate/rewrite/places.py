"""Where every node of a LibCST tree stands, from one rendering pass: bytes, parent, indentation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import libcst as cst
from libcst.metadata import BaseMetadataProvider, CodeSpan
from libcst.metadata.span_provider import SpanProvidingCodegenState

from ..source import Span


@dataclass(frozen=True, slots=True)
class Place:
    """The place of one node."""

    span: Span  # as ast has it
    whole: Span  # with the whitespace, comments and parentheses that the node owns
    parent: cst.CSTNode | None
    indent: str


class Places(BaseMetadataProvider[Place]):
    """Syntactic span, whole span, parent and indentation of every node, from one rendering pass."""

    def _gen_impl(self, module: cst.Module) -> None:
        spans = _Spans()
        state = _Walk(
            default_indent=module.default_indent,
            default_newline=module.default_newline,
            provider=spans,
            get_length=_bytes,
        )
        module._codegen(state)
        size = 0 if module.has_trailing_newline else len(module.code.encode("utf-8"))
        for node, (whole, parent, indent) in state.seen.items():
            span = spans._computed[node]
            if not module.has_trailing_newline:
                # Every rendered statement ends with a newline, the last line of this file does not.
                whole = Span(whole.start, min(whole.end, size))
            self._computed[node] = Place(Span(span.start, span.start + span.length), whole, parent, indent)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8"))


class _Spans:
    """Where LibCST's own state leaves the syntactic spans."""

    def __init__(self) -> None:
        self._computed: dict[cst.CSTNode, CodeSpan] = {}


class _Walk(SpanProvidingCodegenState):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.seen: dict[cst.CSTNode, tuple[Span, cst.CSTNode | None, str]] = {}
        self._above: list[cst.CSTNode] = []

    def before_codegen(self, node: cst.CSTNode) -> None:
        super().before_codegen(node)
        self._above.append(node)

    def after_codegen(self, node: cst.CSTNode) -> None:
        whole = Span(self._stack[-1], self.position)
        super().after_codegen(node)
        self._above.pop()
        indent = "".join(self.indent_tokens) if isinstance(node, cst.BaseStatement) else ""
        self.seen[node] = (whole, self._above[-1] if self._above else None, indent)
