"""Takes a test away whose value is known, and what then never runs or always runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..source import Span
from . import cut
from .edits import Edit
from .lazy import cst
from .tree import Tree

# Calls that a test may lose: they only look.
_LOOKS = frozenset(
    {"get", "get_json", "json", "loads", "lower", "upper", "casefold", "strip", "startswith", "endswith"}
    | {"isinstance", "len", "bool", "str", "hasattr", "getattr"}
)


def decided(tree: Tree, test: cst.BaseExpression, value: bool, *, about: str = "", quiet: bool = False) -> Iterator[Edit]:
    """Rewrites the code around a test that has this value; none where something else would be lost with it.

    `about` is what comments above a branch may speak of. With `quiet`, nobody needs what the test itself calls.
    """
    yield from _Decided(tree, about, quiet).test(test, value)


def kept(tree: Tree, node: cst.IfExp, part: cst.BaseExpression) -> Iterator[Edit]:
    """One of the two values in place of a conditional expression."""
    span, own = tree.span(node), tree.whole(part) if part.lpar else tree.span(part)
    yield Edit(Span(span.start, own.start))
    if own.end < span.end:
        yield Edit(Span(own.end, span.end))


def only_looks(tree: Tree, node: cst.CSTNode, *, quiet: bool = False) -> bool:
    """Whether nothing is lost when this expression is not evaluated any more; with `quiet`, nobody needs its calls."""
    for part in tree.walk(node):
        if isinstance(part, cst.NamedExpr | cst.Yield) or (isinstance(part, cst.Await) and not quiet):
            return False
        if isinstance(part, cst.Call) and not quiet:
            name = part.func.attr if isinstance(part.func, cst.Attribute) else part.func
            if not isinstance(name, cst.Name) or name.value not in _LOOKS:
                return False
    return True


class _Decided:
    def __init__(self, tree: Tree, about: str, quiet: bool) -> None:
        self.tree, self.about, self.quiet = tree, about, quiet

    def test(self, test: cst.BaseExpression, value: bool) -> Iterator[Edit]:
        tree = self.tree
        dropped: list[cst.CSTNode] = [test]
        node: cst.CSTNode = test
        while True:
            above = tree.parent(node)
            match above:
                case cst.UnaryOperation(operator=cst.Not()):
                    value = not value
                case cst.BooleanOperation(operator=operator, left=left, right=right):
                    if isinstance(operator, cst.And) is value:
                        # `x and True`, `x or False`: the other operand decides.
                        hoisted = list(self._hoisted(dropped, above))
                        if hoisted or self._may_go(dropped):
                            yield from (*hoisted, *cut.operand(tree, above, node))
                        return
                    if node is right:  # the right operand of `False and x` was never evaluated
                        dropped.append(left)
                case cst.IfExp(test=inner) if inner is node:
                    if self._may_go(dropped):
                        yield from kept(tree, above, above.body if value else above.orelse)
                    return
                case cst.If(test=inner) if inner is node:
                    yield from self._branch(above, dropped, value)
                    return
                case cst.MatchCase(guard=inner) if inner is node:
                    if not value and self._may_go(dropped) and not _captures(tree, above.pattern):
                        yield from cut.case(tree, above)
                    return
                case _:
                    return
            node = above

    def _branch(self, statement: cst.If, dropped: Sequence[cst.CSTNode], value: bool) -> Iterator[Edit]:
        hoisted = list(self._hoisted(dropped, statement))
        if not hoisted and not self._may_go(dropped):
            return
        if not value:
            edits = list(cut.branch(self.tree, statement, about=self.about))
        elif statement.orelse is not None or not _leaves(statement.body):
            edits = list(cut.other_branches(self.tree, statement))
        else:
            return  # what follows an early exit is the handler, down to the end of the function
        if hoisted and edits[0].text == f"{self.tree.indent(statement)}pass{self.tree.source.newline}":
            edits[0] = Edit(edits[0].span)
        yield from (*hoisted, *edits)

    def _may_go(self, dropped: Sequence[cst.CSTNode]) -> bool:
        return all(only_looks(self.tree, part, quiet=self.quiet and part is dropped[0]) or self._is_asked_again(part) for part in dropped)

    def _is_asked_again(self, test: cst.CSTNode) -> bool:
        """Whether another test evaluates the same subject, so that one evaluation more or less cannot matter."""
        if not isinstance(test, cst.Comparison) or any(isinstance(part, cst.NamedExpr) for part in self.tree.walk(test)):
            return False
        return self.tree.source.text.count(self.tree.text(test.left)) > 1

    def _hoisted(self, dropped: Sequence[cst.CSTNode], around: cst.CSTNode) -> Iterator[Edit]:
        """`if (m := name()) == "ping"`, the first test of a chain: what it assigns becomes a statement before it."""
        tree = self.tree
        walruses = [node for part in dropped for node in tree.walk(part) if isinstance(node, cst.NamedExpr)]
        chain = next((node for node in (around, *tree.ancestors(around)) if isinstance(node, cst.BaseStatement)), None)
        if len(walruses) != 1 or not isinstance(chain, cst.If) or isinstance(tree.parent(chain), cst.If):
            return
        walrus = walruses[0]
        # Only what every path evaluates first may move before the statement.
        if tree.source.slice(Span(tree.whole(chain.test).start, tree.span(walrus).start)).strip("( "):
            return
        start = tree.source.line_starts[tree.source.position(tree.span(chain).start).line - 1]
        text = f"{tree.code(walrus.target)} = {tree.text(walrus.value)}"
        yield Edit(Span(start, start), f"{tree.indent(chain)}{text}{tree.source.newline}")


def _captures(tree: Tree, pattern: cst.MatchPattern) -> bool:
    return any(isinstance(part, cst.MatchAs | cst.MatchStar) and part.name is not None for part in tree.walk(pattern))


def _leaves(body: cst.BaseSuite) -> bool:
    """Whether a branch never runs into what stands behind it."""
    last = body.body[-1]
    if isinstance(last, cst.SimpleStatementLine):
        return isinstance(last.body[-1], cst.Return | cst.Raise | cst.Continue | cst.Break)
    return isinstance(last, cst.Return | cst.Raise | cst.Continue | cst.Break)
