"""What happens to a message on its way to the boundary: whether it arrives, as it was sent, whatever its method is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from . import chains
from .chains import Origin
from .code import Call, Code, Place, assigned, unwrap
from .functions import root, targets
from .gates import refusals
from .syntax import descend
from .vocabulary import KEPT_REQUESTS

_MAX_CLIMB = 4
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_FIELDS = frozenset({"params", "method", "_meta"})


class Doubt(NamedTuple):
    """A place where a message may be answered, changed or lost before the boundary sees it."""

    place: Place
    node: ast.AST
    reason: str
    way_out: str


def doubt(code: Code, place: Place, message: str, inside: frozenset[Place], above: tuple[Place, ...]) -> Doubt | None:
    """The first such place above a function that takes the message as a parameter, or holds it itself."""
    ways = (*_decorators(code, (place, *above)), *_first_reads(code, (place, *above)))
    if ways:
        return ways[0]
    if place.function is None or message not in place.function.parameters:
        return None
    return next(_climb(code, place, message, inside, frozenset(above), 0), None)


def is_constant(node: ast.expr) -> bool:
    """Whether an expression is written out in full, so that nothing of a message can be in it."""
    match node:
        case ast.Constant():
            return True
        case ast.Dict(keys=keys, values=values):
            return all(key is not None and is_constant(key) for key in keys) and all(map(is_constant, values))
        case ast.List(elts=elts) | ast.Tuple(elts=elts):
            return all(map(is_constant, elts))
        case ast.UnaryOp(operand=operand):
            return is_constant(operand)
    return False


# -- who stands around the function ------------------------------------------------------


def _decorators(code: Code, places: tuple[Place, ...]) -> Iterator[Doubt]:
    """Decorators of the project that answer by themselves, or change the answer: they stand outside of the boundary."""
    for place in places:
        for decorator in place.function.node.decorator_list if place.function else ():
            target = code.target(decorator.func if isinstance(decorator, ast.Call) else decorator, Place(place.unit, None))
            if not isinstance(target, Place) or not target.function:
                continue
            within = [p for p in target.unit.places if p.function and p.name.startswith(f"{target.name}.")]
            given = {name for p in (target, *within) if p.function for name in p.function.parameters}
            for wrapper in within:
                calls = {n for n in wrapper.nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in given}
                if calls and (other := next(_other_answers(wrapper, calls), None)) is not None:
                    reason = f"the decorator `{target.name}` may answer by itself, outside of the boundary"
                    yield Doubt(wrapper, other, reason, "put the boundary above it by hand")


def _other_answers(wrapper: Place, calls: set[ast.Call]) -> Iterator[ast.stmt]:
    for node in wrapper.nodes:
        if isinstance(node, ast.Return) and not (node.value is not None and _is_from(node.value, wrapper, calls)):
            yield node


def _is_from(value: ast.expr, wrapper: Place, calls: set[ast.Call]) -> bool:
    value = value.value if isinstance(value, ast.Await) else value
    if isinstance(value, ast.Name):
        values = assigned(wrapper, value.id)
        return bool(values) and all(one is not None and not isinstance(one, ast.Name) and _is_from(one, wrapper, calls) for one in values)
    return value in calls


# -- messages that are read for themselves -------------------------------------------------


def _first_reads(code: Code, places: tuple[Place, ...]) -> Iterator[Doubt]:
    """Reads of the input outside of the loop, where there is one: they take the first message away from it."""
    readers = _readers(code, places)
    reads = [(p, node) for p in places for node in p.nodes if isinstance(node, ast.Call) and _is_read(node, p, code, readers)]
    looped = [(p, node) for p, node in reads if _in_loop(code, p, node, 0)]
    loops = any(isinstance(n, ast.For | ast.AsyncFor) and "stdin" in ast.unparse(n.iter) for p in places for n in p.nodes)
    if not looped and not loops:
        return
    again = {(p, name) for p, node in looped for name in _goals(p, node)}
    for place, node in reads:
        if (place, node) not in looped and not any((place, name) in again for name in _goals(place, node)):
            yield Doubt(place, node, "the first message is read by itself here, outside of the loop", "let the loop read every message")


def _readers(code: Code, places: tuple[Place, ...]) -> frozenset[Place]:
    """Functions that read a message and do not dispatch it."""
    found: set[Place] = set()
    for place in places:
        for node in place.nodes:
            target = code.function(node, place) if isinstance(node, ast.Call) else None
            if target is None or target in places or target in found:
                continue
            if any(isinstance(n, ast.Call) and _is_read(n, target, code, frozenset()) for n in target.nodes):
                found.add(target)
    return frozenset(found)


def _is_read(node: ast.Call, place: Place, code: Code, readers: frozenset[Place]) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=stream, attr="readline")):
            text = ast.unparse(stream)
            values = [v for v in assigned(place, root(stream)) if v is not None]
            return "stdin" in text or "reader" in text.lower() or any("stdin" in ast.unparse(v) for v in values)
        case ast.Call(func=ast.Name(id="next"), args=[stream, *_]):
            return "stdin" in ast.unparse(stream)
        case ast.Call(func=ast.Name(id="input"), args=[]):
            return True
    return bool(readers) and code.function(node, place) in readers


def _in_loop(code: Code, place: Place, node: ast.AST, depth: int) -> bool:
    if any(isinstance(around, _LOOPS) for around in place.unit.module.ancestors(node)):
        return True
    if place.function is None or depth > _MAX_CLIMB:
        return False
    callers = code.callers(place)
    return bool(callers) and all(_in_loop(code, call.place, call.node, depth + 1) for call in callers)


def _goals(place: Place, node: ast.AST) -> Iterator[str]:
    """The names that are given what is read here."""
    for around in (node, *place.unit.module.ancestors(node)):
        yield from (target.id for target in targets(around) if isinstance(target, ast.Name))
        if isinstance(around, ast.stmt):
            return


# -- the message on its way ------------------------------------------------------------------


def _climb(code: Code, place: Place, message: str, inside: frozenset[Place], above: frozenset[Place], depth: int) -> Iterator[Doubt]:
    assert place.function
    for call in code.callers(place):
        argument = call.argument(message, place.function)
        if argument is None or is_constant(argument) or call.place in inside:
            continue
        if not _is_whole(code, argument, call.place, 0):
            yield Doubt(call.place, argument, "the message is made anew before it is handled", "hand on the message as it was parsed")
        name = argument.id if isinstance(argument, ast.Name) else ""
        yield from _changes(call.place, name)
        if name:
            yield from _routes(code, call, name, place, above)
            yield from _helpers(code, call.place, name, inside, above)
            if call.place.function and name in call.place.function.parameters and depth < _MAX_CLIMB:
                yield from _climb(code, call.place, name, inside, above, depth + 1)


def _is_whole(code: Code, value: ast.expr, place: Place, depth: int) -> bool:
    """Whether an expression is a message as it was parsed, as far as this can be seen at all."""
    if depth > _MAX_CLIMB:
        return True
    value = unwrap(value)
    match value:
        case ast.Dict(keys=keys, values=values):
            fields = {key.value for key in keys if isinstance(key, ast.Constant)}
            spread = any(key is None for key in keys)
            taken = any(chains.subject(code, n, place) for v in values for n in descend(v) if isinstance(n, ast.expr))
            return not taken if not spread else not fields & _FIELDS
        case ast.Name(id=name):
            given = [v for v in assigned(place, name) if v is not None and not (isinstance(v, ast.Name) and v.id == name)]
            return all(_is_whole(code, one, place, depth + 1) for one in given)
        case ast.BoolOp(values=values):
            return all(_is_whole(code, one, place, depth + 1) for one in values)
        case ast.Call(args=[argument, *_]) if (helper := code.function(value, place)) and helper.function:
            if not isinstance(unwrap(argument), ast.Name | ast.Call) or not helper.function.parameters:
                return True
            first = helper.function.parameters[0]
            return all(
                not isinstance(n, ast.Return) or n.value is None or _is_handed_on(code, n.value, helper, first, depth) for n in helper.nodes
            )
    return True


def _is_handed_on(code: Code, value: ast.expr, helper: Place, first: str, depth: int) -> bool:
    value = unwrap(value)
    match value:
        case ast.Name(id=name) if name == first:
            return not assigned(helper, first) and not any(True for _ in _changes(helper, first))
        case ast.Name(id=name) if assigned(helper, name):
            return _is_whole(code, value, helper, depth + 1) and not any(True for _ in _changes(helper, name))
        case ast.Dict() | ast.DictComp():
            return False
        case ast.Tuple() | ast.Constant():
            return True
    return _is_whole(code, value, helper, depth + 1)


def _changes(place: Place, name: str) -> Iterator[Doubt]:
    """Stores into the message, and what takes `_meta` out of its parameters."""
    way_out = "leave the message as it was parsed"
    for node in place.nodes:
        match node:
            case ast.Call(func=ast.Attribute(attr="pop", value=value), args=[ast.Constant(value=key), *_]):
                if key == "_meta" or (key in _FIELDS and isinstance(value, ast.Name) and value.id == name):
                    yield Doubt(place, node, f"`{key}` is taken out of the message before it is handled", way_out)
            case ast.Assign(targets=goals) | ast.Delete(targets=goals):
                for goal in goals:
                    match goal:
                        case ast.Subscript(value=value, slice=ast.Constant(value=key)) if (
                            key == "_meta" and isinstance(node, ast.Delete)
                        ) or (key in _FIELDS and isinstance(value, ast.Name) and value.id == name):
                            if not _is_emptiness(node, place):
                                yield Doubt(place, node, f"`{key}` of the message is changed before it is handled", way_out)


def _is_emptiness(node: ast.stmt, place: Place) -> bool:
    """`msg["params"] = {}` under a test for what is missing changes nothing that was sent."""
    return isinstance(node, ast.Assign) and is_constant(node.value) and isinstance(place.unit.module.parents.get(node), ast.If)


def _routes(code: Code, call: Call, name: str, hook: Place, above: frozenset[Place]) -> Iterator[Doubt]:
    """Decisions by the method in the function that hands the message on."""
    place = call.place
    for node in _decisions(code, place, name):
        for around in place.unit.module.ancestors(node):
            match around:
                case ast.If(test=test, body=body, orelse=orelse) if any(n is node for n in descend(test)):
                    sides = [_reaches(code, side, place, hook, above) for side in (body, orelse)]
                    leaves = any(isinstance(s, _LEAVES) for side in (body, orelse) for statement in side for s in descend(statement))
                    if all(sides) or (not any(sides) and not leaves):
                        break
                    yield Doubt(place, node, "messages are routed by their method before they reach the dispatcher", _WIRE)
                    break
                case ast.stmt():
                    decides = any(n is call.node for n in descend(around))
                    if decides or not isinstance(around, ast.Expr | ast.Assign):
                        yield Doubt(place, node, "messages are routed by their method before they reach the dispatcher", _WIRE)
                    break


_WIRE = "put the boundary where the message has been parsed"


def _reaches(code: Code, body: list[ast.stmt], place: Place, hook: Place, above: frozenset[Place]) -> bool:
    for statement in body:
        for node in descend(statement):
            if isinstance(node, ast.Call):
                named = (node.func, *node.args, *(k.value for k in node.keywords))
                if any(isinstance(t := code.target(one, place), Place) and (t == hook or t in above) for one in named):
                    return True
    return False


def _decisions(code: Code, place: Place, name: str) -> Iterator[ast.expr]:
    """Tests and look-ups of a message's method that tell methods of a 2026-07-28 client from each other, or from unknown ones."""

    def asks(node: ast.expr) -> bool:
        about = chains.subject(code, node, place)
        return about is not None and about.origin is Origin.MESSAGE and about.name == name

    for node in place.nodes:
        match node:
            case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() | ast.In() | ast.NotIn()], comparators=[right]):
                for one, other in ((left, right), (right, left)):
                    if asks(one) and not (isinstance(other, ast.Constant) and not isinstance(other.value, str)):
                        texts = code.texts(other, place)
                        if texts is None or texts & KEPT_REQUESTS:
                            yield node
                        break
            case ast.Call(func=ast.Attribute(attr="get"), args=[key, *_]) | ast.Subscript(slice=key, ctx=ast.Load()):
                if any(isinstance(n, ast.expr) and asks(n) for n in descend(key)):
                    yield node
            case ast.Call(func=ast.Attribute(value=base, attr="startswith"), args=[prefix]) if asks(base):
                if not (code.text(prefix, place) or "").startswith(("notifications", "$/")):
                    yield node
            case ast.Call(func=ast.Attribute(value=base, attr="endswith" | "split" | "partition")) if asks(base):
                yield node
            case ast.Match(subject=subject) if asks(subject):
                yield subject


def _helpers(code: Code, place: Place, name: str, inside: frozenset[Place], above: frozenset[Place]) -> Iterator[Doubt]:
    """Functions that get the same message beside the dispatcher, and may refuse it for its method or for what came before."""
    for node in place.nodes:
        if not isinstance(node, ast.Call) or not any(isinstance(a, ast.Name) and a.id == name for a in node.args):
            continue
        helper = code.function(node, place)
        if helper is None or helper.function is None or helper in inside or helper in above:
            continue
        thrown = isinstance(place.unit.module.parents.get(node), ast.Expr)
        if thrown and not any(isinstance(n, ast.Raise) for n in helper.nodes):
            continue
        at = next(i for i, a in enumerate(node.args) if isinstance(a, ast.Name) and a.id == name)
        parameter = helper.function.parameters[at] if at < len(helper.function.parameters) else ""
        gated = any(helper.unit.module.function_of(r.node) is helper.function for r in refusals(helper.unit.module))
        if gated or any(True for _ in _decisions(code, helper, parameter)):
            reason = f"`{helper.name}` looks at the message before the boundary does, and may refuse it"
            yield Doubt(place, node, reason, "call it from the dispatcher")
