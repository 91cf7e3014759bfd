"""Deletes what a request without a session never does, where no request has one: tests, book-keeping, parameters that hand it on.

A session is followed by name, so what is left is what uses it in earnest. Names that nothing uses any more are the sweep's matter.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from ..facts import chains, revision
from ..facts.code import Call, Code, Place, Unit, last
from ..facts.functions import Def, dotted, targets
from ..facts.sessionless import Needed, Sessionless, Spared, Way, depends, guards
from ..facts.sessions import conditions
from ..facts.syntax import descend, operands
from ..source import Span
from . import cut
from .decided import decided, only_looks
from .edits import Edit, overlaps
from .lazy import cst
from .lines import line_start, next_line
from .paired import pairs
from .sessions import without
from .tree import Tree


def follow(code: Code, starts: Iterable[Place], *, lasting: bool = False) -> Sessionless:
    """Follows requests without a session from where they come in, through tables of handlers as well."""
    inside = list(dict.fromkeys(place for start in starts for place in code.reachable(start)))
    for place in inside:
        inside += [one for target in guards(code, place) for one in code.reachable(target) if one not in inside]
    handlers: list[Place] = []
    for place in inside:
        chain_ = chains.find(code, place)
        for value, home in (entry for table in (chain_.tables if chain_ is not None else ()) for entry in table.values):
            handler = value if isinstance(value, Place) else code.target(value, home)
            if isinstance(handler, Place) and handler not in handlers:
                handlers.append(handler)
                inside += [other for other in code.reachable(handler) if other not in inside]
    return Sessionless(code, tuple(inside), frozenset(handlers), lasting=lasting)


def needed(model: Sessionless) -> Iterator[Needed]:
    """The uses of a session that cannot be left out."""
    yield from (use for use in model.uses() if isinstance(use, Needed))


def edits(model: Sessionless, unit: Unit, tree: Tree) -> Iterator[Edit]:
    """Everything that can go at once. Nothing where a session is used in earnest: that is for its author to decide."""
    uses = list(model.uses())
    if any(isinstance(use, Needed) for use in uses):
        return
    books = [u.node for u in uses if isinstance(u, Spared) and u.way is Way.SKIP and u.place.unit is unit and isinstance(u.node, ast.stmt)]
    taken: list[Edit] = []
    steps = (
        _books([*books, *_unused(model, unit)], unit, tree),
        _tests(model, unit, tree),
        _attributes(model, unit),
        _emptied(model, unit),
        pairs(model, unit, tree),
        _parameters(model, unit, tree),
    )
    for some in chain.from_iterable(steps):
        if some and not any(overlaps(one.span, other.span) for one in some for other in taken):
            taken += some
    yield from taken


def _books(statements: Iterable[ast.stmt], unit: Unit, tree: Tree) -> Iterator[list[Edit]]:
    for statement in statements:
        start = unit.module.span(statement).start
        node = tree.statement(Span(start, start + 1))
        if isinstance(node, cst.SimpleStatementLine) and len(node.body) == 1:
            yield list(without(tree, node.body[0]))


def _unused(model: Sessionless, unit: Unit) -> Iterator[ast.stmt]:
    """`session = self._session()`, and nothing asks for it."""
    for place in model.inside:
        if place.unit is not unit or place.function is None:
            continue
        named = [n for s in place.function.node.body for n in descend(s) if isinstance(n, ast.Name)]
        # The handshake may use the same name for the session that it makes.
        own = {n.id for n in named if isinstance(n.ctx, ast.Store) and model.passes(n, unit)}
        loaded = {n.id for n in named if not isinstance(n.ctx, ast.Store) and not (n.id in own and model.passes(n, unit))}
        for node in place.nodes:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in loaded and model.is_session(value, place):
                    yield node


def _emptied(model: Sessionless, unit: Unit) -> Iterator[list[Edit]]:
    """Functions that only look a session up for nobody: their calls go once they do nothing."""
    gated = {unit.module.function_of(condition.node) for condition in model.conditions(unit)}
    for place in model.inside:
        function = place.function
        if place.unit is not unit or function is None or function in gated or not model.only_gives(place):
            continue
        calls = model.code.callers(place)
        if not calls or not all(_is_for_nothing(model.code, call, place) for call in calls):
            continue
        body = function.node.body
        said = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
        if len(body) > said and not isinstance(body[said], ast.Pass):
            first, last = unit.module.span(body[0]), unit.module.span(body[-1])
            yield [Edit(Span(first.end, last.end)) if said else Edit(Span(first.start, last.end), "pass")]


def _is_for_nothing(code: Code, call: Call, place: Place) -> bool:
    """Whether nobody takes what a call gives: it is a statement, or a dependency of an endpoint that does not use it."""
    above = call.place.unit.module.parents[call.node]
    if call.direct:
        above = call.place.unit.module.parents[above] if isinstance(above, ast.Await) else above
        return isinstance(above, ast.Expr)
    if last(call.node.func) not in {"Depends", "Security"}:
        return False
    takers = [(one, name) for one in call.place.unit.places if one.function for name, target in depends(code, one) if target == place]
    return bool(takers) and not any(name and _is_used(one, name) for one, name in takers)


# -- tests ---------------------------------------------------------------------
def _tests(model: Sessionless, unit: Unit, tree: Tree) -> Iterator[list[Edit]]:
    """Tests of a session that is not there. Those that refuse are gates, and none of this."""
    gates = {node for condition in conditions(unit.module) for node in descend(condition.around.test)}
    for place in model.inside:
        if place.unit is not unit:
            continue
        for node in place.nodes:
            if isinstance(node, ast.If | ast.IfExp):
                # What the boundary says of the revision decides: a session beside it would leave a test behind that nothing finds again.
                for part in sorted(operands(node.test), key=lambda part: not revision.asks(part, unit.module)):
                    value = _value(part, model, place)
                    if value is None or part in gates:
                        continue
                    if isinstance(node, ast.If) and value and _makes(node.body, part):
                        value = False  # a session for a client that has none
                    test = _expression(part, unit, tree)
                    if test is not None:
                        yield list(decided(tree, test, value, quiet=True))
                    break


def _value(test: ast.expr, model: Sessionless, place: Place) -> bool | None:
    """What a test of an absent session gives."""
    match test:
        # The boundary lets no other requests through.
        case ast.Attribute() | ast.Call() | ast.Compare() if revision.is_modern(test, place.unit.module):
            return True
        case ast.Compare() if revision.is_earlier(test):
            return False
        case ast.UnaryOp(op=ast.Not(), operand=operand) if revision.is_modern(operand, place.unit.module):
            return False
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return True if model.is_session(operand, place) else None
        case ast.Compare(left=left, ops=[ast.In() | ast.NotIn() as op]):
            return isinstance(op, ast.NotIn) if model.is_session(left, place) else None
        case ast.Compare(left=left, ops=[op], comparators=[ast.Constant(value=None)]) if model.is_session(left, place):
            return isinstance(op, ast.Is | ast.Eq) if isinstance(op, ast.Is | ast.Eq | ast.IsNot | ast.NotEq) else None
        case ast.Name() | ast.Attribute() | ast.Call() | ast.Subscript() | ast.NamedExpr():
            return False if model.is_session(test, place) else None
    return None


def _makes(body: list[ast.stmt], test: ast.expr) -> bool:
    """Whether a block only makes a session, under the name that was found empty."""
    asked = {node.id for node in descend(test) if isinstance(node, ast.Name)}
    made = {goal.id for statement in body for goal in targets(statement) if isinstance(goal, ast.Name)}
    return bool(asked & made) and all(isinstance(statement, ast.Assign | ast.AnnAssign | ast.Expr) for statement in body)


def _expression(node: ast.expr, unit: Unit, tree: Tree) -> cst.BaseExpression | None:
    kinds = (cst.Comparison, cst.UnaryOperation, cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.NamedExpr)
    return next((found for kind in kinds if (found := tree.node(kind, unit.module.span(node))) is not None), None)


# -- attributes ----------------------------------------------------------------
def _attributes(model: Sessionless, unit: Unit) -> Iterator[list[Edit]]:
    """What hands a session to an attribute that nothing reads."""
    for owner, attr in sorted(model.attributes, key=lambda pair: (pair[0].name, pair[1])):
        read = (n.ctx for other in model.code.around(unit) for n in other.module.nodes(ast.Attribute) if n.attr == attr)
        start = unit.module.functions.get(f"{owner.name}.__init__")
        if owner.unit is not unit or start is None or any(isinstance(ctx, ast.Load) for ctx in read):
            continue
        for node in start.own:
            match node:
                case ast.Assign(targets=[ast.Tuple(elts=goals)], value=ast.Tuple(elts=values)) if len(goals) == len(values):
                    kept = [pair for pair in zip(goals, values, strict=True) if not _is_attribute(pair[0], attr)]
                    if kept and len(kept) < len(goals):
                        texts = [", ".join(unit.module.text(pair[at]) for pair in kept) for at in (0, 1)]
                        yield [Edit(unit.module.span(node), " = ".join(texts))]
                case ast.Assign(targets=[goal]) | ast.AnnAssign(target=goal) if _is_attribute(goal, attr) and len(start.node.body) > 1:
                    span = unit.module.span(node)
                    yield [Edit(Span(line_start(unit.module.source, span.start), next_line(unit.module.source, span.end)), "")]


def _is_attribute(node: ast.expr, attr: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == attr and dotted(node.value) == "self"


# -- parameters ----------------------------------------------------------------
def _parameters(model: Sessionless, unit: Unit, tree: Tree) -> Iterator[list[Edit]]:
    """Parameters that nothing uses any more, with their arguments in all calls."""
    told: set[tuple[Place, str]] = set()
    for place, name in sorted(model.parameters, key=lambda pair: (pair[0].name, pair[1])):
        if place.unit is not unit or (place, name) in told or _is_used(place, name):
            continue
        group = _table(model, place, name)
        told |= {(one, name) for one in group}
        if some := _handed(model.code, group, name, unit, tree):
            yield some


def _is_used(place: Place, name: str) -> bool:
    assert place.function
    return any(isinstance(node, ast.Name) and node.id == name for statement in place.function.node.body for node in descend(statement))


def _table(model: Sessionless, place: Place, name: str) -> list[Place]:
    """The functions that are reached through the same table, or the function alone."""
    if place not in model.handlers:
        return [place]
    return [one for one in model.handlers if one.function is not None and name in one.function.parameters]


def _handed(code: Code, group: Sequence[Place], name: str, unit: Unit, tree: Tree) -> list[Edit]:
    """The edits that take a parameter from functions and all who call them; none if one of them cannot lose it."""
    found: list[Edit] = []
    for place in group:
        if place.unit is not unit or _is_used(place, name):
            return []
        own = _without_parameter(place, name, tree)
        nodes = _calls(code, place, unit)
        if not own or nodes is None:
            return []
        found += own
        spelled = [node for node, call in _mentions(place) if not call]
        if spelled if len(group) == 1 else any(not _is_row(node, unit) for node in spelled):
            return []
        for node in nodes:
            given = _without_argument(node, place, name, tree, unit)
            if given is None:
                return []
            found += given
    if len(group) > 1:
        through = list(_through(group, name, unit, tree))
        if not through:
            return []
        found += through
    return found


def _calls(code: Code, place: Place, unit: Unit) -> list[ast.Call] | None:
    """All calls of a function, or of the class whose constructor it is; None where there may be others."""
    assert place.function
    if place.function.short != "__init__":
        calls = code.callers(place)
        return None if any(call.place.unit is not unit or not call.direct for call in calls) else [call.node for call in calls]
    name, found = place.function.owner, []
    for other in code.around(unit):
        named: list[ast.Name | ast.Attribute] = [*other.module.nodes(ast.Name), *other.module.nodes(ast.Attribute)]
        for node in named:
            if (node.id if isinstance(node, ast.Name) else node.attr) != name or _is_type(node, other):
                continue
            parent = other.module.parents[node]
            if other is not unit or not isinstance(parent, ast.Call) or parent.func is not node:
                return None
            found.append(parent)
    return found


def _is_type(node: ast.expr, unit: Unit) -> bool:
    """Whether a name stands in an annotation, or between the brackets of a type."""
    inner: ast.AST = node
    for around in unit.module.ancestors(node):
        match around:
            case ast.Subscript(slice=part) | ast.AnnAssign(annotation=part) | ast.arg(annotation=part) if part is inner:
                return True
            case ast.FunctionDef(returns=part) | ast.AsyncFunctionDef(returns=part) if part is inner:
                return True
            case ast.stmt() | ast.Call():
                return False
        inner = around
    return False


def _mentions(place: Place) -> Iterator[tuple[ast.expr, bool]]:
    """Every mention of a function by its name, and whether it is called there."""
    assert place.function
    module = place.unit.module
    named: list[ast.Name | ast.Attribute] = [*module.nodes(ast.Name), *module.nodes(ast.Attribute)]
    for node in named:
        said = node.id if isinstance(node, ast.Name) else node.attr
        if said == place.function.short and isinstance(node.ctx, ast.Load):
            parent = module.parents[node]
            yield node, isinstance(parent, ast.Call) and parent.func is node


def _is_row(node: ast.expr, unit: Unit) -> bool:
    return isinstance(unit.module.parents[node], ast.Dict)


def _through(group: Sequence[Place], name: str, unit: Unit, tree: Tree) -> Iterator[Edit]:
    """The argument of the one call that reaches the functions of a table."""
    positions = {place.function.parameters.index(name) for place in group if place.function}
    counts = {len(place.function.parameters) for place in group if place.function}
    if len(positions) != 1 or len(counts) != 1:
        return
    position, count = positions.pop(), counts.pop()
    for node in unit.module.nodes(ast.Call):
        argument = node.args[position] if len(node.args) == count and not node.keywords else None
        if isinstance(node.func, ast.Name | ast.Subscript) and isinstance(argument, ast.Name) and argument.id == name:
            function = unit.module.function_of(node)
            if function is not None and unit.module.callee(node, function) is None:
                yield from _cut_argument(node, position, tree, unit) or ()


def _without_argument(node: ast.Call, place: Place, name: str, tree: Tree, unit: Unit) -> list[Edit] | None:
    """The edits that take one argument from a call; None where it cannot be taken."""
    assert place.function
    for at, keyword in enumerate(node.keywords):
        if keyword.arg == name:
            return _cut_argument(node, len(node.args) + at, tree, unit)
        if keyword.arg is None:
            return None
    if any(isinstance(argument, ast.Starred) for argument in node.args):
        return None
    position = place.function.parameters.index(name)
    if position >= len(node.args):
        return []
    return _cut_argument(node, position, tree, unit)


def _cut_argument(node: ast.Call, position: int, tree: Tree, unit: Unit) -> list[Edit] | None:
    call = tree.node(cst.Call, unit.module.span(node))
    if call is None or len(call.args) <= position or not only_looks(tree, call.args[position].value):
        return None
    return list(cut.argument(tree, call, position))


def _without_parameter(place: Place, name: str, tree: Tree) -> list[Edit]:
    assert place.function
    node: Def = place.function.node
    start = place.unit.module.span(node).start
    function = tree.statement(Span(start, start + 1))
    if not isinstance(function, cst.FunctionDef):
        return []
    return list(cut.parameter(tree, function, name))
