"""Takes a session that is not there out of the tuples in which functions hand it back beside their reply."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ..facts.code import Place, Unit
from ..facts.functions import bound
from ..facts.sessionless import Sessionless
from . import cut
from .edits import Edit
from .lazy import cst
from .tree import Tree

# What needs no brackets of its own, however many lines it has.
_CLOSED = (ast.Call, ast.Dict, ast.List, ast.Set, ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.DictComp, ast.ListComp)


def pairs(model: Sessionless, unit: Unit, tree: Tree) -> Iterator[list[Edit]]:
    """The edits for each group of functions that return such tuples, with all who unpack them."""
    answers = _answers(model, unit)
    told: set[Place] = set()
    for place in answers:
        if place not in told:
            group = _group(place, answers)
            told |= group
            yield from _without(model, [one for one in answers if one in group], answers, unit, tree)


def _answers(model: Sessionless, unit: Unit) -> dict[Place, list[ast.Tuple | Place]]:
    """The functions of a module that return a tuple in all cases, or what another one of them returns."""
    found: dict[Place, list[ast.Tuple | Place]] = {}
    for place in unit.places:
        if place.function is None or any(isinstance(node, ast.Yield | ast.YieldFrom) for node in place.nodes):
            continue
        returned = [_returned(node.value, place, model) for node in place.nodes if isinstance(node, ast.Return)]
        if returned and (whole := [one for one in returned if one is not None]) == returned:
            found[place] = whole
    while lost := [place for place, given in found.items() if any(isinstance(one, Place) and one not in found for one in given)]:
        for place in lost:
            del found[place]
    return found


def _returned(value: ast.expr | None, place: Place, model: Sessionless) -> ast.Tuple | Place | None:
    match value:
        case ast.Tuple(elts=elts) if len(elts) > 1 and not any(isinstance(one, ast.Starred) for one in elts):
            return value
        case ast.Call() | ast.Await(value=ast.Call()):
            return model.code.function(value.value if isinstance(value, ast.Await) else value, place)  # type: ignore[arg-type]
    return None


def _group(start: Place, answers: dict[Place, list[ast.Tuple | Place]]) -> set[Place]:
    """The functions that hand on what one of them returns."""
    group = {start}
    while True:
        more = {one for place in group for one in answers[place] if isinstance(one, Place)}
        more |= {place for place, given in answers.items() if any(one in group for one in given if isinstance(one, Place))}
        if more <= group:
            return group
        group |= more


def _without(
    model: Sessionless, group: Sequence[Place], answers: dict[Place, list[ast.Tuple | Place]], unit: Unit, tree: Tree
) -> Iterator[list[Edit]]:
    tuples = [(one, place) for place in group for one in answers[place] if isinstance(one, ast.Tuple)]
    lengths = {len(one.elts) for one, _ in tuples}
    if len(lengths) != 1 or any(place.unit is not unit for place in group):
        return
    goals = list(_goals(model, group, unit))
    if any(goal is None for goal in goals):
        return
    count = lengths.pop()
    for at in range(count):
        absent = [_is_absent(one.elts[at], place, model) for one, place in tuples]
        # A plain None in all places may mean anything.
        if not all(absent) or not any(model.is_session(one.elts[at], place) for one, place in tuples):
            continue
        unpacked = [goal for goal in goals if goal is not None]
        if any(len(goal.elts) != count or not _is_idle(goal.elts[at], place) for goal, place in unpacked):
            continue
        edits: list[Edit] = []
        for parts in [*(one.elts for one, _ in tuples), *(goal.elts for goal, _ in unpacked), *_annotated(group, count)]:
            if not parts or (some := list(_lost(parts, at, unit, tree))) == []:
                return
            edits += some
        yield edits
        return


def _goals(model: Sessionless, group: Sequence[Place], unit: Unit) -> Iterator[tuple[ast.Tuple, Place] | None]:
    """Where the tuples are unpacked; None for anything else that is done with them, or with the functions."""
    for place in group:
        assert place.function
        calls = model.code.callers(place)
        spelled = [
            node
            for node in (*unit.module.nodes(ast.Name), *unit.module.nodes(ast.Attribute))
            if (node.id if isinstance(node, ast.Name) else node.attr) == place.function.short  # type: ignore[attr-defined]
        ]
        if len(spelled) != len(calls) or any(call.place.unit is not unit or not call.direct for call in calls):
            yield None
            continue
        for call in calls:
            above = unit.module.parents[call.node]
            above = unit.module.parents[above] if isinstance(above, ast.Await) else above
            match above:
                case ast.Return() if call.place in group:
                    pass
                case ast.Assign(targets=[ast.Tuple() as goal]):
                    yield goal, call.place
                case _:
                    yield None


def _is_absent(node: ast.expr, place: Place, model: Sessionless) -> bool:
    """Whether an element is no session, whoever calls."""
    if isinstance(node, ast.Constant):
        return node.value is None
    if not model.is_session(node, place):
        return False
    assert place.function
    if not isinstance(node, ast.Name) or node.id not in place.function.parameters:
        return True
    for call in model.code.callers(place):
        given = bound(call.node, place.function, node.id)
        if given is not None and not _is_none(given) and not model.is_session(given, call.place):
            return False
    return True


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_idle(goal: ast.expr, place: Place) -> bool:
    """Whether nothing asks for a name after it has been given something here."""
    if not isinstance(goal, ast.Name) or place.function is None:
        return False
    statement = place.unit.module.parents[place.unit.module.parents[goal]]
    if any(isinstance(around, ast.For | ast.AsyncFor | ast.While) for around in place.unit.module.ancestors(goal)):
        return False
    last = statement.end_lineno or 0 if isinstance(statement, ast.stmt) else goal.end_lineno or 0
    loads = (n for s in place.function.node.body for n in ast.walk(s) if isinstance(n, ast.Name) and n.id == goal.id)
    return all(isinstance(n.ctx, ast.Store) or n.lineno <= last for n in loads)


def _annotated(group: Sequence[Place], count: int) -> Iterator[list[ast.expr]]:
    """The elements of what functions say they return; nothing in the list where that cannot lose one."""
    for place in group:
        assert place.function
        match place.function.node.returns:
            case None:
                pass
            case ast.Subscript(value=ast.Name(id="tuple" | "Tuple"), slice=ast.Tuple(elts=elts)) if len(elts) == count:
                yield elts
            case _:
                yield []


def _lost(parts: Sequence[ast.expr], at: int, unit: Unit, tree: Tree) -> Iterator[Edit]:
    """Deletes one of the parts of a tuple; of two, the other one stays without it."""
    span = unit.module.span(parts[at])
    subscript = tree.enclosing(cst.Subscript, span)
    if subscript is not None and len(subscript.slice) == len(parts) and tree.span(subscript.slice[at].slice) == span:
        if len(parts) > 2:
            yield from cut.item(tree, subscript.slice, at)
        else:
            yield Edit(tree.span(subscript), tree.source.slice(unit.module.span(parts[1 - at])))
        return
    holder = tree.enclosing(cst.Tuple, span)
    if holder is None or len(holder.elements) != len(parts):
        return
    if len(parts) > 2:
        yield from cut.item(tree, holder.elements, at)
        return
    whole = tree.whole(holder) if holder.lpar else tree.span(holder)
    kept = parts[1 - at]
    value = holder.elements[1 - at].value
    own = tree.whole(value) if value.lpar else unit.module.span(kept)
    text, rest = tree.source.slice(own), tree.source.slice(whole).replace(tree.source.slice(own), "")
    if "#" in rest:
        return  # a comment would be lost
    yield Edit(whole, text if isinstance(kept, _CLOSED) or "\n" not in text or text.startswith("(") else f"({text})")
