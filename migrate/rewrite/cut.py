"""Deletes one thing from what holds it: a statement, an item of a list, an operand, a branch. Its comments go, the neighbours' stay."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from ..source import Span
from .edits import Edit
from .lazy import cst
from .lines import line_start, next_line
from .tree import Tree


def statement(tree: Tree, node: cst.BaseStatement | cst.BaseSmallStatement) -> Iterator[Edit]:
    """Deletes a statement; a block that would be empty keeps `pass`."""
    if isinstance(node, cst.BaseSmallStatement):
        yield from _small_statement(tree, node)
        return
    holder = tree.parent(node)
    if not isinstance(holder, cst.IndentedBlock | cst.Module):
        return
    start, end = _own_start(tree, node), tree.whole(node).end
    if isinstance(holder, cst.IndentedBlock) and len(holder.body) == 1:
        yield _passed(tree, node)
        return
    position = holder.body.index(node)
    following = holder.body[position + 1] if position + 1 < len(holder.body) else None
    if following is not None and position == 0 and start == tree.whole(node).start:
        # No block begins with the blank lines that stood between its first two statements.
        end = _after_blank_lines(tree, following)
    elif following is not None:
        # The gap above stays if it is wider than the one below, as between imports and constants.
        start = _kept_gap(tree, node, start, _blank_lines(following))
    yield Edit(Span(start, end))


def statements(
    tree: Tree,
    nodes: Sequence[cst.BaseStatement | cst.BaseSmallStatement],
    others: Iterable[cst.BaseStatement | cst.BaseSmallStatement] = (),
) -> Iterator[Edit]:
    """Deletes several statements at once; a block that loses all of its statements keeps `pass`.

    `others` are deleted beside them: between what goes, no gap has to stay.
    """
    own = [_line_of(tree, node) for node in nodes]
    doomed = {*own, *(_line_of(tree, node) for node in others)}
    for node, line in zip(nodes, own, strict=True):
        holder = tree.parent(line)
        if not isinstance(line, cst.BaseStatement) or not isinstance(holder, cst.IndentedBlock | cst.Module):
            yield from statement(tree, node)
        elif isinstance(holder, cst.IndentedBlock) and line is holder.body[-1] and all(one in doomed for one in holder.body):
            yield _passed(tree, line)
        elif (at := holder.body.index(line)) + 1 < len(holder.body) and holder.body[at + 1] in doomed:
            # The last one of a run decides on the gap, unless the one above the run is wider; the others take their own along.
            start = _own_start(tree, line)
            if at and holder.body[at - 1] not in doomed:
                end = next((i for i in range(at, len(holder.body)) if holder.body[i] not in doomed), None)
                if end is not None:
                    start = _kept_gap(tree, line, start, max(_blank_lines(holder.body[end]), _blank_lines(holder.body[end - 1])))
            yield Edit(Span(start, tree.whole(line).end))
        elif 0 < at < len(holder.body) - 1 and all(one in doomed for one in holder.body[:at]):
            # No block begins with the blank lines that stood below its first statements.
            yield Edit(Span(_own_start(tree, line), _after_blank_lines(tree, holder.body[at + 1])))
        else:
            yield from statement(tree, line)


def item(tree: Tree, items: Sequence[cst.CSTNode], position: int) -> Iterator[Edit]:
    """Deletes one of several items between brackets. Never the only one: what an empty list means is the holder's matter."""
    if len(items) < 2:
        return
    span = _item_span(tree, items, position)
    holder = tree.parent(items[position])
    if not isinstance(holder, cst.Set | cst.Tuple):
        yield Edit(span)
        return
    # Deleting all items of a set in one round would leave a dict, all but one of a tuple a pair of parentheses:
    # the edit reaches into a neighbour, so that the next item has to wait for the next round.
    first, last = tree.span(items[0]).start, _end(tree, items[-1])
    if len(items) > 3:
        first = tree.span(items[position - 1]).end - 1 if position == len(items) - 1 else span.start
        last = span.end if position == len(items) - 1 else tree.span(items[position + 1]).start + 1
    first, last = min(first, span.start), max(last, span.end)
    data = tree.source.utf8
    text = data[first : span.start] + data[span.end : last]
    if isinstance(holder, cst.Tuple) and len(items) == 2 and not text.rstrip().endswith(b","):
        text += b","
    yield Edit(Span(first, last), text.decode("utf-8"))


def operand(tree: Tree, operation: cst.BooleanOperation | cst.BinaryOperation, node: cst.CSTNode) -> Iterator[Edit]:
    """Deletes one operand of `or`, `and` or `|` with its operator."""
    left, right = _with_parentheses(tree, operation.left), _with_parentheses(tree, operation.right)
    if node is operation.left:
        yield Edit(Span(left.start, right.start))
        return
    operator = tree.span(operation.operator).start
    lines = _own_lines(tree, Span(operator, right.end))
    # An operand on lines of its own takes its comment along; the comment behind the left one stays.
    alone = lines is not None and left.end <= lines.start and lines.end <= _last_bracket(tree, operation)
    yield Edit(lines if lines is not None and alone else Span(left.end, right.end))


def branch(tree: Tree, node: cst.If, *, about: str = "") -> Iterator[Edit]:
    """Deletes one branch of an `if` chain, so that every other test runs as if it had been false.

    The comment above the first `if` speaks of the whole chain, unless it names `about`.
    """
    body_end = tree.whole(node.body).end
    if isinstance(tree.parent(node), cst.If):
        yield Edit(Span(_own_start(tree, node), body_end))
    elif isinstance(node.orelse, cst.If):
        start = line_start(tree.source, tree.span(node).start)
        if about and any(line.comment and about in line.comment.value for line in node.leading_lines):
            start = _own_start(tree, node)
        yield Edit(Span(start, _after_blank_lines(tree, node.orelse)))
        elif_start = tree.span(node.orelse).start
        yield Edit(Span(elif_start, elif_start + len("el")))
    elif isinstance(node.orelse, cst.Else) and not _is_passed(node.orelse.body):
        yield unwrapped(tree, node, node.orelse.body, node.orelse.leading_lines)
    else:
        yield from statement(tree, node)


def other_branches(tree: Tree, node: cst.If) -> Iterator[Edit]:
    """Deletes everything that an `if` chain does when this test is false, and the test."""
    if not isinstance(tree.parent(node), cst.If):
        yield unwrapped(tree, node, node.body, ())
        return
    start = tree.span(node).start
    yield Edit(Span(start, tree.whole(node.whitespace_after_test).end), "else")
    if node.orelse is not None:
        yield Edit(tree.whole(node.orelse))


def unwrapped(tree: Tree, node: cst.If, body: cst.BaseSuite, comments: Sequence[cst.EmptyLine]) -> Edit:
    """The statements of one branch in place of the whole `if`."""
    lines = (*node.leading_lines, *comments)
    behind: Sequence[cst.EmptyLine] = ()
    if isinstance(body, cst.SimpleStatementSuite):
        first: cst.CSTNode = cst.SimpleStatementLine(body.body, trailing_whitespace=body.trailing_whitespace)
        rest: Sequence[cst.CSTNode] = ()
    else:
        first, *rest = body.body
        behind = body.footer if isinstance(body, cst.IndentedBlock) else ()
    first = first.with_changes(leading_lines=(*lines, *getattr(first, "leading_lines", ())))
    return tree.replace(node, [first, *rest, *behind])


def case(tree: Tree, node: cst.MatchCase) -> Iterator[Edit]:
    """Deletes one case. Nothing for the only one: a `match` without cases is no Python."""
    holder = tree.parent(node)
    if isinstance(holder, cst.Match) and len(holder.cases) > 1:
        yield Edit(Span(_own_start(tree, node), tree.whole(node).end))


def alternative(tree: Tree, pattern: cst.MatchOr, element: cst.MatchOrElement) -> Iterator[Edit]:
    """Deletes one alternative of an or-pattern."""
    position = pattern.patterns.index(element)
    if position + 1 < len(pattern.patterns):
        yield Edit(Span(tree.whole(element).start, tree.whole(pattern.patterns[position + 1]).start))
    elif position:
        before = _with_parentheses(tree, pattern.patterns[position - 1].pattern)
        yield Edit(Span(before.end, tree.whole(element).end))


def decorator(tree: Tree, node: cst.Decorator) -> Iterator[Edit]:
    """Deletes one decorator with the comments above it."""
    yield Edit(tree.whole(node))


def parameter(tree: Tree, function: cst.FunctionDef, name: str) -> Iterator[Edit]:
    """Deletes a parameter from the head of a function."""
    params = function.params
    group = next((g for g in (params.params, params.kwonly_params) if any(p.name.value == name for p in g)), ())
    at = next((at for at, p in enumerate(group) if p.name.value == name), None)
    if at is None:
        return
    if at + 1 < len(group):
        yield Edit(tree.whole(group[at]))
    elif at and isinstance(comma := group[at - 1].comma, cst.Comma):
        yield Edit(Span(tree.whole(comma).start, tree.whole(group[at]).end))
    elif len(params.params) + len(params.kwonly_params) == 1 and not isinstance(params.star_arg, cst.ParamStar):
        yield Edit(tree.whole(group[at]))


def argument(tree: Tree, call: cst.Call, position: int) -> Iterator[Edit]:
    """Deletes one argument of a call."""
    if len(call.args) > 1:
        yield from item(tree, call.args, position)
    else:
        yield Edit(Span(tree.whole(call.whitespace_before_args).end, tree.span(call).end - 1))


def _is_passed(body: cst.BaseSuite) -> bool:
    """Whether a block does nothing."""
    return len(body.body) == 1 and isinstance(line := body.body[0], cst.SimpleStatementLine) and isinstance(line.body[0], cst.Pass)


def _passed(tree: Tree, node: cst.BaseStatement) -> Edit:
    return Edit(Span(_own_start(tree, node), tree.whole(node).end), f"{tree.indent(node)}pass{tree.source.newline}")


def _line_of(tree: Tree, node: cst.BaseStatement | cst.BaseSmallStatement) -> cst.CSTNode:
    """The line of its own that a small statement fills, if it does."""
    above = tree.parent(node)
    return above if isinstance(above, cst.SimpleStatementLine) and len(above.body) == 1 else node


def _small_statement(tree: Tree, node: cst.BaseSmallStatement) -> Iterator[Edit]:
    line = tree.parent(node)
    if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1:
        yield from statement(tree, line)
    elif isinstance(line, cst.SimpleStatementSuite) and len(line.body) == 1:
        yield Edit(tree.span(node), "pass")
    elif isinstance(line, cst.SimpleStatementLine | cst.SimpleStatementSuite):
        position = line.body.index(node)
        if position + 1 < len(line.body):
            yield Edit(Span(tree.span(node).start, tree.span(line.body[position + 1]).start))
        else:
            yield Edit(Span(tree.span(line.body[position - 1]).end, tree.span(node).end))


def _own_start(tree: Tree, node: cst.CSTNode) -> int:
    """Where a statement begins with the comments that touch it; a comment behind a blank line is a heading and stays."""
    start = tree.whole(node).start
    lines: Sequence[cst.EmptyLine] = getattr(node, "leading_lines", ())
    touching = True
    for line in reversed(lines):
        if line.comment is None:
            touching = False
        elif not touching:
            return tree.whole(line).end
    return start


def _blank_lines(node: cst.CSTNode) -> int:
    return sum(1 for _ in takewhile(lambda line: line.comment is None, getattr(node, "leading_lines", ())))


def _kept_gap(tree: Tree, node: cst.CSTNode, start: int, below: int) -> int:
    """Where to cut so that of the blank lines above a statement as many stay as the next one does not bring along."""
    gap = [line for line in getattr(node, "leading_lines", ()) if tree.whole(line).start >= start]
    above = list(takewhile(lambda line: line.comment is None, gap))
    return tree.whole(above[len(above) - below - 1]).end if len(above) > below else start


def _after_blank_lines(tree: Tree, node: cst.CSTNode) -> int:
    start = tree.whole(node).start
    for line in getattr(node, "leading_lines", ()):
        if line.comment is not None:
            break
        start = tree.whole(line).end
    return start


def _item_span(tree: Tree, items: Sequence[cst.CSTNode], position: int) -> Span:
    own = Span(tree.span(items[position]).start, _end(tree, items[position]))
    lines = _own_lines(tree, own)
    before = tree.span(items[position - 1]).end if position else 0
    after = tree.span(items[position + 1]).start if position + 1 < len(items) else len(tree.source.utf8)
    if lines is not None and before <= lines.start and lines.end <= after:
        return lines
    if position + 1 < len(items):
        return Span(own.start, after)
    return Span(before, tree.span(items[position]).end)


def _end(tree: Tree, node: cst.CSTNode) -> int:
    """The end of an item with its comma."""
    comma = getattr(node, "comma", None)
    return tree.span(node).end if not isinstance(comma, cst.Comma) else _comma_end(tree, comma)


def _comma_end(tree: Tree, comma: cst.Comma) -> int:
    before = tree.whole(comma.whitespace_before)
    return before.end + 1


def _own_lines(tree: Tree, span: Span) -> Span | None:
    """The whole lines of a span that shares them with nothing but comments, with the comment lines right above."""
    data, starts = tree.source.utf8, tree.source.line_starts
    start = line_start(tree.source, span.start)
    end = next_line(tree.source, span.end)
    behind = data[span.end : end].strip()
    if data[start : span.start].strip() or (behind and not behind.startswith(b"#")) or data[:start].rstrip(b"\r\n").endswith(b"\\"):
        return None
    row = bisect_right(starts, start) - 1
    while row > 0 and data[starts[row - 1] : starts[row]].lstrip().startswith(b"#"):
        row -= 1
    return Span(starts[row], end)


def _last_bracket(tree: Tree, operation: cst.CSTNode) -> int:
    """The end of the brackets around an operation, where newlines mean nothing; 0 without brackets."""
    for node in (operation, *tree.ancestors(operation)):
        if isinstance(node, cst.BaseExpression) and tree.whole(node).end > tree.span(node).end:
            return tree.whole(node).end
        if isinstance(node, cst.BaseStatement):
            break
    return 0


def _with_parentheses(tree: Tree, node: cst.CSTNode) -> Span:
    return tree.whole(node) if getattr(node, "lpar", ()) else tree.span(node)
