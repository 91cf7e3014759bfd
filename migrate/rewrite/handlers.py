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
from .decided import decided, only_looks
from .edits import Edit, overlaps
from .tree import Tree

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
        yield from decided(self.tree, comparison, negated or isinstance(target.operator, cst.IsNot), about=self.key)

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
                if isinstance(match, cst.Match) and len(match.cases) == 1 and only_looks(tree, match.subject):
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
                    yield from decided(tree, call, False)

    def _says_method(self, node: cst.CSTNode) -> bool:
        return isinstance(node, cst.SimpleString) and node.evaluated_value == self.key

    def _inside(self, member: cst.CSTNode) -> bool:
        return self.tree.whole(member).contains(self.handler.span) or any(self._says_method(part) for part in self.tree.walk(member))


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


def _uses(tree: Tree, name: str, definition: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Every mention of a name outside its definition, also as text."""
    own = tree.whole(definition)
    for node in tree.walk(tree.module):
        said = node.value if isinstance(node, cst.Name) else node.evaluated_value if isinstance(node, cst.SimpleString) else None
        if said == name and not own.contains(tree.span(node)):
            yield node
