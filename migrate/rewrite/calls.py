"""Changes the arguments of a call as small edits: names them, renames them, drops them, adds some."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..source import Span
from . import cut
from .edits import Edit
from .lazy import cst
from .lines import line_start, next_line
from .tree import Tree


def at(tree: Tree, span: Span) -> cst.Call | None:
    """The call at these bytes."""
    return tree.node(cst.Call, span)


def keyword(call: cst.Call, name: str) -> cst.Arg | None:
    """The argument that is given by this name."""
    return next((argument for argument in call.args if argument.keyword is not None and argument.keyword.value == name), None)


def positional(call: cst.Call) -> Sequence[cst.Arg]:
    """The arguments that are given by their place, up to the first star."""
    found = []
    for argument in call.args:
        if argument.star or argument.keyword is not None:
            break
        found.append(argument)
    return found


def renamed(tree: Tree, argument: cst.Arg, name: str) -> Edit:
    """Gives a keyword another name."""
    assert argument.keyword is not None
    return Edit(tree.span(argument.keyword), name)


def named(tree: Tree, argument: cst.Arg, name: str) -> Edit:
    """Gives a positional argument its name."""
    start = tree.span(argument).start  # before its parentheses, where it has some
    return Edit(Span(start, start), f"{name}=")


def drop(tree: Tree, call: cst.Call, arguments: Iterable[cst.Arg]) -> Iterator[Edit]:
    """Deletes arguments with their commas, and their comments; the others stay as they stand."""
    gone = [argument for argument in call.args if any(argument is one for one in arguments)]
    if not gone:
        return
    if len(gone) == len(call.args):
        opening = tree.span(call.func).end
        start = tree.source.utf8.index(b"(", opening) + 1
        yield Edit(Span(start, tree.span(call).end - 1))
        return
    # One edit for each run of neighbours: the last of the list takes the comma before it along.
    index = {id(argument): number for number, argument in enumerate(call.args)}
    numbers = [index[id(argument)] for argument in gone]
    kept = [number for number in range(len(call.args)) if number not in numbers]
    for number in numbers:
        if number > kept[-1]:
            yield _cut_tail(tree, call, kept[-1])
            break
        yield from cut.item(tree, call.args, number)


def value(tree: Tree, argument: cst.Arg, text: str) -> Edit:
    """Gives an argument another value."""
    return Edit(tree.span(argument.value), text)


def add(tree: Tree, call: cst.Call, texts: Sequence[str]) -> Iterator[Edit]:
    """Adds arguments behind the others, on lines of their own where those stand so."""
    if not texts:
        return
    closing = tree.span(call).end - 1
    if not call.args:
        yield Edit(Span(closing, closing), ", ".join(texts))
        return
    last = call.args[-1]
    end = tree.span(last).end
    start = tree.span(last).start
    before = tree.source.utf8[line_start(tree.source, start) : start].decode("utf-8")
    comma = isinstance(last.comma, cst.Comma)
    if before.strip() or b"\n" not in tree.source.utf8[end:closing]:
        yield Edit(Span(end, end), "".join(f", {text}" for text in texts))
        return
    newline = tree.source.newline
    after = _end(tree, last) if comma else end
    lines = f",{newline}".join(f"{before}{text}" for text in texts)
    if not comma:
        yield Edit(Span(end, end), ",")
    # A remark behind the last argument is about that one.
    after = _behind_remark(tree, after)
    yield Edit(Span(after, after), f"{newline}{lines}{',' if comma else ''}")


def _end(tree: Tree, argument: cst.Arg) -> int:
    """Where an argument ends, with its comma."""
    end = tree.span(argument).end
    if not isinstance(argument.comma, cst.Comma):
        return end
    return tree.source.utf8.index(b",", end) + 1


def _cut_tail(tree: Tree, call: cst.Call, kept: int) -> Edit:
    """Deletes what stands behind an argument: with the remarks of what goes, without that of what stays."""
    start = tree.span(call.args[kept]).end
    last = call.args[-1]
    end = _end(tree, last)
    data = tree.source.utf8
    if b"\n" not in data[start : tree.span(call.args[kept + 1]).start]:
        return Edit(Span(start, end), _tail(tree, call))
    end = _behind_remark(tree, end)
    behind = _end(tree, call.args[kept])
    remark = _behind_remark(tree, behind)
    return Edit(Span(start, end), _tail(tree, call)) if remark == behind else Edit(Span(remark, end))


def _behind_remark(tree: Tree, offset: int) -> int:
    """Where a comment ends that follows on the same line; the offset itself where none does."""
    line = tree.source.utf8[offset : next_line(tree.source, offset)].rstrip(b"\r\n")
    return offset + len(line.rstrip()) if line.lstrip().startswith(b"#") else offset


def _tail(tree: Tree, call: cst.Call) -> str:
    """The comma that stays behind the last argument, where each has a line of its own."""
    last = call.args[-1]
    rest = tree.source.utf8[_end(tree, last) : tree.span(call).end - 1]
    return "," if isinstance(last.comma, cst.Comma) and b"\n" in rest else ""
