"""Deletes what answers one method, in whatever shape the code has, so that every other method is dispatched as before.

What cannot be proven yields no edit. Functions that only the deleted code used are `sweep`'s matter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations

import libcst as cst

from ..facts.model import Handler, Shape
from ..source import Span
from . import cut
from .edits import Edit, overlaps
from .tree import Tree

# Calls that a test may lose: they only look.
_LOOKS = frozenset(
    {"get", "get_json", "json", "lower", "upper", "casefold", "strip", "startswith", "endswith"}
    | {"isinstance", "len", "bool", "str", "hasattr", "getattr"}
)
_COLLECTIONS = (cst.Set, cst.List, cst.Tuple)


def remove(handler: Handler, tree: Tree) -> Iterator[Edit]:
    """The edits that delete the handler; none where deleting is not provably right."""
    if handler.shape in (Shape.PREFIX, Shape.SUBSTRING):
        return  # the test lets other methods through as well
    edits = list(_Removal(handler, tree).edits())
    if not any(overlaps(one.span, other.span) for one, other in combinations(edits, 2)):
        yield from edits


def refuse_legacy(tree: Tree, makes: Collection[str]) -> Iterator[Edit]:
    """`legacy=False` for the boundary objects of these names that do not have it: older clients find nobody who answers them."""
    for node in tree.walk(tree.module):
        if not isinstance(node, cst.Assign) or not isinstance(call := node.value, cst.Call) or not call.args:
            continue
        if not any(tree.text(target.target) in makes for target in node.targets):
            continue
        given = next((arg for arg in call.args if arg.keyword is not None and arg.keyword.value == "legacy"), None)
        if given is None:
            at = tree.whole(call.args[-1].value).end
            yield Edit(Span(at, at), ", legacy=False")
        elif tree.text(given.value) != "False":
            yield Edit(tree.span(given.value), "False")


class _Removal:
    def __init__(self, handler: Handler, tree: Tree) -> None:
        self.handler = handler
        self.tree = tree
        self.key = handler.key if isinstance(handler.key, str) else ""

    def edits(self) -> Iterator[Edit]:
        node = self.tree.innermost(self.handler.span)
        if isinstance(node, cst.Comparison):
            # The whole test was named; the member is the one that says the method.
            node = next((part for part in self.tree.walk(node) if self._says_method(part)), node)
        if self.handler.shape is Shape.ATTRIBUTE:
            yield from self._method(node)
            return
        above = self.tree.parent(node)
        while above is not None and not isinstance(above, cst.BaseStatement):
            if (holder := self._holds(node, above)) is not None:
                yield from holder
                return
            if not isinstance(above, cst.BaseExpression | cst.Index | cst.SubscriptElement | cst.MatchPattern | cst.BaseSmallStatement):
                return
            node, above = above, self.tree.parent(above)

    def _holds(self, node: cst.CSTNode, above: cst.CSTNode) -> Iterator[Edit] | None:
        """The edits for the node that holds the method's name in its own way; None to look further up."""
        tree = self.tree
        match above:
            case cst.Comparison() | cst.ComparisonTarget():
                comparison = above if isinstance(above, cst.Comparison) else tree.parent(above)
                assert isinstance(comparison, cst.Comparison)
                return self._comparison(comparison)
            case cst.Element():
                return self._element(above)
            case cst.DictElement(key=key) if key is node:
                entries = tree.parent(above)
                assert isinstance(entries, cst.Dict)
                return self._entry(entries, entries.elements, above)
            case cst.Arg():
                call = tree.parent(above)
                return self._argument(call, above) if isinstance(call, cst.Call) else iter(())
            case cst.SubscriptElement():
                subscript = tree.parent(above)
                assert isinstance(subscript, cst.Subscript)
                return self._subscript(subscript, above)
            case cst.MatchPattern() | cst.MatchOrElement() | cst.MatchSequenceElement() | cst.MatchMappingElement():
                return self._pattern(above)
            case cst.MatchKeywordElement() | cst.MatchCase():
                return self._pattern(node)
            case cst.Decorator():
                return cut.decorator(tree, above)
        return None

    # Tests

    def _comparison(self, comparison: cst.Comparison) -> Iterator[Edit]:
        if len(comparison.comparisons) != 1:
            return
        target = comparison.comparisons[0]
        negated = isinstance(target.operator, cst.NotEqual | cst.NotIn)
        if isinstance(target.operator, cst.In | cst.NotIn):
            members = _members(target.comparator)
            if members is None:
                return
            if len(members) > 1:
                position = next((at for at, member in enumerate(members) if self._inside(member)), None)
                if position is not None:
                    yield from cut.item(self.tree, members, position)
                return
        elif not isinstance(target.operator, cst.Equal | cst.NotEqual | cst.Is | cst.IsNot):
            return
        yield from self._decided(comparison, negated or isinstance(target.operator, cst.IsNot))

    def _decided(self, test: cst.BaseExpression, value: bool) -> Iterator[Edit]:
        """Rewrites the code around a test that is `value` for every other method."""
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
                        yield from _kept(tree, above, above.body if value else above.orelse)
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
            edits = list(cut.branch(self.tree, statement, about=self.key))
        elif statement.orelse is not None or not _leaves(statement.body):
            edits = list(cut.other_branches(self.tree, statement))
        else:
            return  # what follows an early exit is the handler, down to the end of the function
        if hoisted and edits[0].text == f"{self.tree.indent(statement)}pass{self.tree.source.newline}":
            edits[0] = Edit(edits[0].span)
        yield from (*hoisted, *edits)

    def _may_go(self, dropped: Sequence[cst.CSTNode]) -> bool:
        return all(_only_looks(self.tree, part) or self._is_asked_again(part) for part in dropped)

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

    # Tables and registries

    def _element(self, element: cst.Element) -> Iterator[Edit]:
        tree = self.tree
        collection = tree.parent(element)
        assert isinstance(collection, _COLLECTIONS)
        outer = tree.parent(collection)
        several = len(collection.elements) > 1
        if several and isinstance(collection, cst.Tuple) and isinstance(outer, cst.Element) and collection.elements[0] is element:
            # ("ping", handler): one row of a table of pairs
            yield from self._element(outer)
        elif several:
            yield from cut.item(tree, collection.elements, collection.elements.index(element))
        elif (comparison := _comparison_around(tree, collection)) is not None:
            yield from self._comparison(comparison)
        elif isinstance(outer, cst.Arg) and isinstance(registry := tree.parent(outer), cst.Call) and not _is_collection_call(registry):
            yield from self._argument(registry, outer)
        elif isinstance(outer, cst.Arg):
            yield Edit(tree.whole(collection))
        elif isinstance(collection, cst.Set):
            yield Edit(tree.span(collection), "set()")
        elif not isinstance(collection, cst.Tuple) or collection.lpar:
            brackets = tree.whole(collection)
            yield Edit(Span(brackets.start + 1, brackets.end - 1))

    def _entry(self, holder: cst.CSTNode, entries: Sequence[cst.CSTNode], entry: cst.CSTNode) -> Iterator[Edit]:
        tree = self.tree
        if len(entries) > 1:
            yield from cut.item(tree, entries, entries.index(entry))
            return
        start = tree.source.utf8.index(b"(" if isinstance(holder, cst.Call) else b"{", tree.span(holder).start)
        yield Edit(Span(start + 1, tree.span(holder).end - 1))

    def _argument(self, call: cst.Call, argument: cst.Arg) -> Iterator[Edit]:
        tree = self.tree
        if argument.keyword is not None and self.handler.shape is Shape.TABLE and tree.span(argument.keyword).contains(self.handler.span):
            yield from self._entry(call, call.args, argument)
            return
        above = tree.parent(call)
        if isinstance(above, cst.Decorator):
            yield from cut.decorator(tree, above)
        elif isinstance(call.func, cst.Attribute) and (isinstance(call.func.value, cst.Call) or isinstance(above, cst.Attribute)):
            # server.on("ping", f).on("pong", g): one link of a chain
            yield Edit(Span(tree.whole(call.func.value).end, tree.span(call).end))
        elif isinstance(above, cst.Expr):
            yield from cut.statement(tree, above)
        elif isinstance(above, cst.Call) and above.func is call and isinstance(outer := tree.parent(above), cst.Expr):
            # register("ping")(handler)
            yield from cut.statement(tree, outer)

    def _subscript(self, subscript: cst.Subscript, element: cst.SubscriptElement) -> Iterator[Edit]:
        tree = self.tree
        target = tree.parent(subscript)
        if isinstance(target, cst.AssignTarget):
            assignment = tree.parent(target)
            if isinstance(assignment, cst.Assign) and len(assignment.targets) == 1:
                yield from cut.statement(tree, assignment)
        elif self.handler.shape is Shape.TYPE:
            if len(subscript.slice) > 1:
                yield from cut.item(tree, subscript.slice, subscript.slice.index(element))
            else:
                yield from self._model(subscript)

    # Patterns

    def _pattern(self, node: cst.CSTNode) -> Iterator[Edit]:
        """A pattern that must hold for the method: the nearest alternative around it goes, or the whole case."""
        tree = self.tree
        for inner, above in zip((node, *tree.ancestors(node)), (*tree.ancestors(node),), strict=False):
            if isinstance(above, cst.MatchOr) and isinstance(inner, cst.MatchOrElement):
                yield from cut.alternative(tree, above, inner)
                return
            if isinstance(above, cst.MatchCase):
                match = tree.parent(above)
                if isinstance(match, cst.Match) and len(match.cases) == 1 and _only_looks(tree, match.subject):
                    yield from cut.statement(tree, match)
                else:
                    yield from cut.case(tree, above)
                return

    # Functions and classes

    def _method(self, node: cst.CSTNode) -> Iterator[Edit]:
        function = next((part for part in (node, *self.tree.ancestors(node)) if isinstance(part, cst.FunctionDef)), None)
        # A method that is also called by its name answers more than the dispatcher.
        if function is not None and not list(_uses(self.tree, function.name.value, function)):
            yield from cut.statement(self.tree, function)

    def _model(self, node: cst.CSTNode) -> Iterator[Edit]:
        """A request class for one method: it goes if every place that names it is a member of something that can lose it."""
        tree = self.tree
        model = next((above for above in tree.ancestors(node) if isinstance(above, cst.ClassDef)), None)
        field = next((above for above in tree.ancestors(node) if isinstance(above, cst.AnnAssign)), None)
        if model is None or field is None or not isinstance(tree.parent(model), cst.Module):
            return
        edits = list(cut.statement(tree, model))
        for use in _uses(tree, model.name.value, model):
            gone = list(self._without(use))
            if not gone:
                return
            edits += gone
        yield from edits

    def _without(self, use: cst.CSTNode) -> Iterator[Edit]:
        """The edits that delete one mention of a class; none if it means more than one member of something."""
        tree = self.tree
        above = tree.parent(use)
        match above:
            case cst.BinaryOperation(operator=cst.BitOr()):
                yield from cut.operand(tree, above, use)
            case cst.Index():
                element = tree.parent(above)
                subscript = tree.parent(element) if element is not None else None
                if isinstance(subscript, cst.Subscript) and len(subscript.slice) > 1 and tree.text(subscript.value).endswith("Union"):
                    yield from cut.item(tree, subscript.slice, [part.slice for part in subscript.slice].index(above))
            case cst.Element():
                collection = tree.parent(above)
                if isinstance(collection, _COLLECTIONS) and len(collection.elements) > 1:
                    yield from cut.item(tree, collection.elements, collection.elements.index(above))
            case cst.MatchClass():
                yield from self._pattern(above)
            case cst.DictElement():
                entries = tree.parent(above)
                assert isinstance(entries, cst.Dict)
                yield from self._entry(entries, entries.elements, above)
            case cst.Arg():
                call = tree.parent(above)
                if isinstance(call, cst.Call) and isinstance(call.func, cst.Name) and call.func.value == "isinstance":
                    yield from self._decided(call, False)

    def _says_method(self, node: cst.CSTNode) -> bool:
        return isinstance(node, cst.SimpleString) and node.evaluated_value == self.key

    def _inside(self, member: cst.CSTNode) -> bool:
        return self.tree.whole(member).contains(self.handler.span) or any(self._says_method(part) for part in self.tree.walk(member))


def _kept(tree: Tree, node: cst.IfExp, part: cst.BaseExpression) -> Iterator[Edit]:
    span, kept = tree.span(node), tree.whole(part) if part.lpar else tree.span(part)
    yield Edit(Span(span.start, kept.start))
    if kept.end < span.end:
        yield Edit(Span(kept.end, span.end))


def _members(node: cst.BaseExpression) -> Sequence[cst.BaseElement] | None:
    if isinstance(node, cst.Call) and _is_collection_call(node):
        node = node.args[0].value
    return node.elements if isinstance(node, _COLLECTIONS) else None


def _is_collection_call(node: cst.Call) -> bool:
    return isinstance(node.func, cst.Name) and node.func.value in ("set", "frozenset", "list", "tuple") and len(node.args) == 1


def _comparison_around(tree: Tree, collection: cst.CSTNode) -> cst.Comparison | None:
    above = tree.parent(collection)
    if isinstance(above, cst.Arg) and isinstance(call := tree.parent(above), cst.Call) and _is_collection_call(call):
        above = tree.parent(call)
    comparison = tree.parent(above) if isinstance(above, cst.ComparisonTarget) else None
    return comparison if isinstance(comparison, cst.Comparison) else None


def _only_looks(tree: Tree, node: cst.CSTNode) -> bool:
    """Whether nothing is lost when this expression is not evaluated any more."""
    for part in tree.walk(node):
        if isinstance(part, cst.NamedExpr | cst.Await | cst.Yield):
            return False
        if isinstance(part, cst.Call):
            name = part.func.attr if isinstance(part.func, cst.Attribute) else part.func
            if not isinstance(name, cst.Name) or name.value not in _LOOKS:
                return False
    return True


def _captures(tree: Tree, pattern: cst.MatchPattern) -> bool:
    return any(isinstance(part, cst.MatchAs | cst.MatchStar) and part.name is not None for part in tree.walk(pattern))


def _leaves(body: cst.BaseSuite) -> bool:
    """Whether a branch never runs into what stands behind it."""
    last = body.body[-1]
    while isinstance(last, cst.SimpleStatementLine):
        return isinstance(last.body[-1], cst.Return | cst.Raise | cst.Continue | cst.Break)
    return isinstance(last, cst.Return | cst.Raise | cst.Continue | cst.Break)


def _uses(tree: Tree, name: str, definition: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Every mention of a name outside its definition, also as text."""
    own = tree.whole(definition)
    for node in tree.walk(tree.module):
        said = node.value if isinstance(node, cst.Name) else node.evaluated_value if isinstance(node, cst.SimpleString) else None
        if said == name and not own.contains(tree.span(node)):
            yield node
