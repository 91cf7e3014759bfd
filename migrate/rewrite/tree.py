"""A file as a LibCST tree whose nodes know their bytes: find the node of a fact, replace it, keep everything else.

LibCST is loaded and the file parsed on first need, so a tree may be handed on for nothing. One rendering pass notes the
place of every node, so that parents and whitespace cost nothing more.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, TypeVar

from ..source import Source, Span
from .edits import Edit
from .lazy import cst

if TYPE_CHECKING:
    from .places import Place

N = TypeVar("N", bound="cst.CSTNode")

# LibCST renders a lone carriage return as nothing; for Python it is a newline like any other, and as long.
_LONE_CR = re.compile(r"\r(?!\n)")
# Ten times the depth of common code, and a fifth of what LibCST can go through.
_DEEP = 60
TOO_DEEP = "this file is nested too deeply to be rewritten, as by an `elif` chain of hundreds of branches"


class Unwritable(ValueError):
    """LibCST does not read this file, or does not give it back byte for byte, so nothing in it can be rewritten safely."""


class Tree:
    """The syntax tree of one source. All positions are UTF-8 byte offsets of the source."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._text = _LONE_CR.sub("\n", source.text)
        self._parsed = _parsed(self._text)

    @property
    def module(self) -> cst.Module:
        """The parsed file. Raises Unwritable where LibCST refuses the text, or would lose bytes of it."""
        return self._parsed.module

    def require(self) -> None:
        """Raises Unwritable for a file in which nothing can be rewritten, before anything else has to."""
        _ = self.module
        # The places of its nodes cost twice as much, and most rewrites of SDK code never ask for them.
        if _depth(self._text) > _DEEP:
            _ = self._places

    def span(self, node: cst.CSTNode) -> Span:
        """The bytes of a node without its surroundings, as ast counts them."""
        return self._places[node].span

    def whole(self, node: cst.CSTNode) -> Span:
        """The bytes of a node with everything it owns: leading lines, indentation, parentheses, trailing comma, newline."""
        return self._places[node].whole

    def text(self, node: cst.CSTNode) -> str:
        return self.source.slice(self.span(node))

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        return self._places[node].parent

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes around a node, innermost first."""
        while (above := self.parent(node)) is not None:
            yield above
            node = above

    def node(self, kind: type[N], span: Span) -> N | None:
        """The node of this kind at exactly these bytes; for a parenthesised one, ast's and LibCST's spans both count."""
        return next((node for node in self._by_span.get(span, ()) if isinstance(node, kind)), None)

    def enclosing(self, kind: type[N], span: Span) -> N | None:
        """The innermost node of this kind around these bytes."""
        innermost = self.innermost(span)
        if isinstance(innermost, kind):
            return innermost
        return next((node for node in self.ancestors(innermost) if isinstance(node, kind)), None)

    def innermost(self, span: Span) -> cst.CSTNode:
        """The smallest node that holds these bytes, with whatever it owns."""
        node: cst.CSTNode = self.module
        while True:
            inside = next((child for child in self._children.get(node, ()) if self.whole(child).contains(span)), None)
            if inside is None:
                return node
            node = inside

    def children(self, node: cst.CSTNode) -> Sequence[cst.CSTNode]:
        """The direct children in the order of the text, whitespace included."""
        return self._children.get(node, ())

    def walk(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The node and everything below it, in the order of the text."""
        pending = [node]
        while pending:
            node = pending.pop()
            yield node
            pending += reversed(self.children(node))

    def statement(self, span: Span) -> cst.BaseStatement | None:
        """The innermost whole statement (one that stands in a block or in the module) around these bytes."""
        innermost = self.innermost(span)
        for node in (innermost, *self.ancestors(innermost)):
            if isinstance(node, cst.BaseStatement) and self._stands_alone(node):
                return node
        return None

    def indent(self, node: cst.CSTNode) -> str:
        """What stands at the left of the block that holds the node."""
        return self._places[node].indent

    def replace(self, old: cst.CSTNode, new: cst.CSTNode | Sequence[cst.CSTNode]) -> Edit:
        """The smallest edit that turns `old` into `new`; a sequence (statements and empty lines) takes the place of a whole statement.

        LibCST renders the statement around it: a statement in a block renders the same alone, given its indentation.
        """
        try:
            return self._replaced(old, new)
        except RecursionError as error:
            raise Unwritable(TOO_DEEP) from error

    def code(self, node: cst.CSTNode) -> str:
        """A new node as text at the left margin."""
        return self.module.code_for_node(node)

    def _replaced(self, old: cst.CSTNode, new: cst.CSTNode | Sequence[cst.CSTNode]) -> Edit:
        anchor: cst.CSTNode | None = old if self._stands_alone(old) else None
        anchor = anchor or next((node for node in self.ancestors(old) if self._stands_alone(node)), self.module)
        indent = self.indent(anchor)
        if isinstance(new, cst.CSTNode):
            changed = anchor.deep_replace(old, new) if old is not anchor else new
            if not isinstance(changed, cst.CSTNode):
                raise TypeError(f"{type(new).__name__} cannot stand for {type(old).__name__}")
            after = self._render(changed, indent)
        else:
            after = "".join(self._render(statement, indent) for statement in new)
        whole = self.whole(anchor)
        return self._difference(whole.start, self._render(anchor, indent), after)

    def _render(self, node: cst.CSTNode, indent: str) -> str:
        if not indent:
            return self.module.code_for_node(node)
        # A block adds its indentation to every line of its statements, and nothing else but its own header.
        block = cst.IndentedBlock(body=[node], indent=indent)  # type: ignore[list-item]
        header = self.module.code_for_node(block.header)
        return self.module.code_for_node(block)[len(header) :]

    def _difference(self, start: int, before: str, after: str) -> Edit:
        data = self._text.encode("utf-8")
        if not data.startswith(before.encode("utf-8"), start):
            # The last line of a file may lack the newline that every rendered statement has.
            newline = self.module.default_newline
            before, after = before.removesuffix(newline), after.removesuffix(newline)
            if data[start:] != before.encode("utf-8"):
                raise Unwritable(f"rendering changes bytes at {start}")
        head = _common(before, after)
        # A carriage return and its newline are one thing; an edit that begins between them would not be.
        if before[head - 1 : head] == "\r" and "\n" in (before[head : head + 1], after[head : head + 1]):
            head -= 1
        tail = _common(before[head:][::-1], after[head:][::-1])
        if tail and before[-tail] == "\n" and "\r" in (before[-tail - 1 : -tail], after[-tail - 1 : -tail]):
            tail -= 1
        first = start + len(before[:head].encode("utf-8"))
        old, new = before[head : len(before) - tail], after[head : len(after) - tail]
        if self.source.newline == "\r":
            new = new.replace("\n", "\r")
        return Edit(Span(first, first + len(old.encode("utf-8"))), new)

    def _stands_alone(self, node: cst.CSTNode) -> bool:
        return isinstance(node, cst.BaseStatement) and isinstance(self.parent(node), cst.IndentedBlock | cst.Module)

    @property
    def _places(self) -> Mapping[cst.CSTNode, Place]:
        return self._parsed.places

    @property
    def _children(self) -> Mapping[cst.CSTNode, Sequence[cst.CSTNode]]:
        return self._parsed.children

    @property
    def _by_span(self) -> Mapping[Span, Sequence[cst.CSTNode]]:
        return self._parsed.by_span


class _Parsed:
    """What LibCST knows of a text, each part from the first time that somebody asks."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def module(self) -> cst.Module:
        try:
            module = cst.parse_module(self._text)
            from .places import rendered

            text = rendered(module)
        except cst.ParserSyntaxError as error:
            raise Unwritable(f"LibCST cannot read this file: {error.message}") from error
        except RecursionError as error:
            raise Unwritable(TOO_DEEP) from error
        if text != self._text:
            # Seen for a form feed directly before code, the only byte that LibCST drops.
            raise Unwritable("LibCST would lose bytes of this file, such as a form feed before code")
        return module

    @cached_property
    def places(self) -> Mapping[cst.CSTNode, Place]:
        from .places import places

        try:
            return places(self.module)
        except RecursionError as error:
            raise Unwritable(TOO_DEEP) from error

    @cached_property
    def children(self) -> dict[cst.CSTNode, list[cst.CSTNode]]:
        children: dict[cst.CSTNode, list[cst.CSTNode]] = {}
        # Places come in the order of rendering, so children are in the order of the text.
        for node, place in self.places.items():
            if place.parent is not None:
                children.setdefault(place.parent, []).append(node)
        return children

    @cached_property
    def by_span(self) -> dict[Span, list[cst.CSTNode]]:
        nodes: dict[Span, list[cst.CSTNode]] = {}
        for node, place in self.places.items():
            for span in {place.span, place.whole}:
                nodes.setdefault(span, []).append(node)
        return nodes


@lru_cache(maxsize=8)
def _parsed(text: str) -> _Parsed:
    # A run asks for a text several times: rules plan with it, its result is held against objections and is the start of the next round.
    return _Parsed(text)


def _depth(text: str) -> int:
    """How deep the syntax of a text is nested; an `elif` counts as one inside of the `if` before it."""
    deepest = 0
    try:
        pending: list[tuple[ast.AST, int]] = [(ast.parse(text), 0)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _DEEP + 1
    while pending:
        node, depth = pending.pop()
        deepest = max(deepest, depth)
        pending += [(child, depth + 1) for child in ast.iter_child_nodes(node)]
    return deepest


def _common(one: str, other: str) -> int:
    return next((at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right), min(len(one), len(other)))
