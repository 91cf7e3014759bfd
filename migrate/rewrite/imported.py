"""The imports that a module makes when it is loaded, as plain data: read by `ast` where that says all, else from the LibCST tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import libcst as cst

from ..facts.mask import parsed
from ..source import Source, Span
from .lines import line_start, next_line
from .tree import Tree

# Where an import stands: a guarded one may fail at run time, one for the type checker does not happen there at all.
PLAIN, GUARDED, TYPING = "plain", "guarded", "typing"

_ALONE = re.compile(rb"[ \t]*(?:#[^\r\n]*)?\r?(?:\n|\Z)")
_COMMA = re.compile(rb"\s*(,|\)|\Z|\r?\n)")
# Expressions that both parsers see at the same bytes.
_TESTS = (ast.Name, ast.Attribute, ast.Call, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Constant)


class Alias(NamedTuple):
    """One name of an import statement."""

    dotted: str  # what is imported
    spelled: str  # as it is written, without an `as` that changes nothing
    renamed: bool
    span: Span
    comma: bool  # whether one stands behind it


@dataclass(frozen=True, slots=True)
class Found:
    """One import statement."""

    module: str  # with its dots; for `import a, b` the first name
    is_from: bool
    names: tuple[Alias, ...] | None  # None for a star
    span: Span
    line: Span  # of the whole line, without what stands above it, and to the next one
    closed: bool  # whether its names stand in parentheses
    guard: str
    head: bool  # whether it stands at the module's own level, before the first definition

    def provides(self, module: str, name: str) -> bool:
        if self.names is None:
            return False
        if not self.is_from:
            return not name and any(alias.dotted == module and not alias.renamed for alias in self.names)
        return self.module == module and any(alias.spelled == name for alias in self.names)

    def takes(self, module: str) -> bool:
        return self.is_from and self.module == module and self.names is not None


def imported(tree: Tree) -> list[Found]:
    """The imports of a module and of the branches that are tried first, in this order."""
    # For most files LibCST would parse and render a text for this alone, 0.1 s of the 0.25 s that the rewriting of a file takes.
    found = read(tree.source)
    return list(walked(tree)) if found is None else found


def read(source: Source) -> list[Found] | None:
    """The imports as `ast` has them; None where only LibCST surely tells what belongs to a line."""
    data = source.utf8
    if b"\f" in data or data.count(b"\r") != data.count(b"\r\n"):
        return None
    try:
        tree, masked = parsed(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if masked:
        return None
    found: list[Found] = []
    head = True
    todo: list[tuple[ast.stmt, str, bool]] = []
    for statement in tree.body:
        head = head and not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        todo.append((statement, PLAIN, head))
    at = 0
    while at < len(todo):
        statement, guard, head = todo[at]
        at += 1
        match statement:
            case ast.Import() | ast.ImportFrom():
                one = _read(statement, guard, source, head=head)
                if one is None:
                    return None
                found.append(one)
            case ast.If(test=test, body=body):
                if not isinstance(test, _TESTS):
                    return None
                text = source.slice(_span(test, source))
                inner = TYPING if text.endswith("TYPE_CHECKING") else guard if guard == TYPING else GUARDED
                todo += [(below, inner, False) for below in body]
            case ast.Try(body=body):
                todo += [(below, guard if guard == TYPING else GUARDED, False) for below in body]
    return found


def _read(node: ast.Import | ast.ImportFrom, guard: str, source: Source, *, head: bool) -> Found | None:
    """One import; None where it shares its line, or what stands around its names."""
    span, data = _span(node, source), source.utf8
    start = line_start(source, span.start)
    above = data[max(start - 3, 0) : start].rstrip(b"\r\n")
    if data[start : span.start].strip(b" \t") or above.endswith(b"\\") or _ALONE.match(data, span.end) is None:
        return None
    line = Span(span.start, next_line(source, span.end))
    module = "." * node.level + (node.module or "") if isinstance(node, ast.ImportFrom) else node.names[0].name
    closed = isinstance(node, ast.ImportFrom) and data[span.end - 1 : span.end] == b")"
    if node.names[0].name == "*":
        return Found(module, True, None, span, line, closed, guard, head)
    names: list[Alias] = []
    for alias in node.names:
        of = _span(alias, source)
        behind = _COMMA.match(data, of.end)
        if behind is None:  # a comment or a backslash, and perhaps a comma further on
            if alias is not node.names[-1] or closed:
                return None
            comma = False
        else:
            comma = behind[1] == b","
        names.append(Alias(alias.name, _spelled(alias.name, alias.asname or ""), alias.asname is not None, of, comma))
    return Found(module, isinstance(node, ast.ImportFrom), tuple(names), span, line, closed, guard, head)


def _span(node: ast.stmt | ast.expr | ast.alias, source: Source) -> Span:
    return Span(
        source.offset(node.lineno, node.col_offset), source.offset(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
    )


def _spelled(name: str, given: str) -> str:
    # `import a.b as a` gives the name that `import a.b` gives, but another thing.
    return name if not given or given == name else f"{name} as {given}"


def walked(tree: Tree) -> Iterator[Found]:
    """The imports as LibCST has them."""
    head = _head(tree.module)
    todo: list[tuple[cst.CSTNode, str]] = [(statement, PLAIN) for statement in tree.module.body]
    while todo:
        node, guard = todo.pop(0)
        match node:
            case cst.SimpleStatementLine():
                for small in node.body:
                    if isinstance(small, cst.ImportFrom):
                        dots = "." * len(small.relative)
                        yield _walked(tree, small, node, dots + (dotted(small.module) if small.module else ""), guard, head=node in head)
                    elif isinstance(small, cst.Import):
                        yield _walked(tree, small, node, dotted(small.names[0].name), guard, head=node in head)
            case cst.If():
                inner = TYPING if tree.text(node.test).endswith("TYPE_CHECKING") else guard if guard == TYPING else GUARDED
                todo += [(statement, inner) for statement in node.body.body]
            case cst.Try():
                todo += [(statement, guard if guard == TYPING else GUARDED) for statement in node.body.body]


def _walked(tree: Tree, node: cst.Import | cst.ImportFrom, line: cst.SimpleStatementLine, module: str, guard: str, *, head: bool) -> Found:
    span = Span(tree.span(line).start, tree.whole(line).end)
    closed = isinstance(node, cst.ImportFrom) and node.rpar is not None
    if isinstance(node.names, cst.ImportStar):
        return Found(module, True, None, tree.span(node), span, closed, guard, head)
    names = tuple(
        Alias(dotted(one.name), spelled(one), one.asname is not None, tree.span(one), isinstance(one.comma, cst.Comma))
        for one in node.names
    )
    return Found(module, isinstance(node, cst.ImportFrom), names, tree.span(node), span, closed, guard, head)


def _head(module: cst.Module) -> Sequence[cst.CSTNode]:
    """The statements before the first definition: further down an import has a reason to stand where it does."""
    definitions = (at for at, statement in enumerate(module.body) if isinstance(statement, cst.FunctionDef | cst.ClassDef))
    return module.body[: next(definitions, len(module.body))]


def spelled(alias: cst.ImportAlias) -> str:
    """A name as an import spells it."""
    return _spelled(dotted(alias.name), "" if alias.asname is None else local(alias))


def local(alias: cst.ImportAlias) -> str:
    """The name that an import binds."""
    if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
        return alias.asname.name.value
    return dotted(alias.name).partition(".")[0]


def dotted(node: cst.BaseExpression) -> str:
    """`a.b.c` as text; nothing for other expressions."""
    return (
        node.value if isinstance(node, cst.Name) else f"{dotted(node.value)}.{node.attr.value}" if isinstance(node, cst.Attribute) else ""
    )
