"""A session that a loop carries from message to message: none until a reply brings one, and handed in with each message after that."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .code import Call, Code, Place, assigned
from .functions import targets
from .gates import handshake
from .sessionless import Sessionless
from .sessions import Condition
from .syntax import descend, operands

_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


class Unclear(NamedTuple):
    """Where a request without a session may be refused, in a way that cannot be opened for it."""

    place: Place
    node: ast.AST


def parameters(code: Code, place: Place, calls: Iterable[Call], message: str) -> frozenset[str]:
    """The parameters of a dispatcher that are None in every call, as long as no reply has brought anything else."""
    assert place.function
    found: set[str] = set()
    calls = list(calls)
    for name in place.function.parameters:
        if name == message:
            continue
        given = [(call, call.argument(name, place.function)) for call in calls if call.direct]
        carried = [call for call, argument in given if argument is not None and _is_carried(argument, call, calls)]
        silent = _is_none(_default(place, name)) and [call for call, argument in given if argument is None]
        if carried and len(given) == len(calls) and len(carried) + len(silent or ()) == len(calls):
            found.add(name)
    return frozenset(found)


def gates(without: Sessionless) -> Iterator[Condition | Unclear]:
    """The conditions under which a request is answered otherwise because it has no session, whatever the answer says."""
    known = {condition.around for condition in without.gates()}
    for place in without.inside:
        for node in place.nodes:
            if without.passes(node, place.unit):
                continue
            match node:
                case ast.If(test=test, body=body, orelse=orelse) if node not in known and without.asks(test, place):
                    lacking = [part for part in operands(test) if _wants(part, place, without)]
                    for part in lacking if _leaves(body) else ():
                        yield Condition(part, False, node, False)
                    there = [part for part in operands(test) if part not in lacking and without.asks(part, place)]
                    if there and (_leaves(body) or _leaves(orelse)):
                        yield Unclear(place, test)
                case ast.IfExp(test=test) | ast.Assert(test=test) if without.asks(test, place):
                    yield Unclear(place, test)


def _wants(part: ast.expr, place: Place, without: Sessionless) -> bool:
    """Whether a condition holds for requests without a session."""
    match part:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return without.is_session(operand, place)
        case ast.Compare(left=left, ops=[ast.Is() | ast.Eq()], comparators=[ast.Constant(value=None | "")]):
            return without.is_session(left, place)
        case ast.Compare(left=left, ops=[ast.NotIn()]):
            return without.is_session(left, place)
    return False


def _leaves(body: list[ast.stmt]) -> bool:
    return any(isinstance(inner, _LEAVES) for statement in body for inner in descend(statement))


def _is_carried(argument: ast.expr, call: Call, calls: list[Call]) -> bool:
    match argument:
        case ast.Constant(value=None):
            return True
        case ast.Name(id=name):
            values = assigned(call.place, name)
            stores = [node for node in call.place.nodes if any(isinstance(goal, ast.Name) and goal.id == name for goal in targets(node))]
            return len(values) == len(stores) and bool(stores) and all(_is_brought(node, call.place, calls) for node in stores)
        case ast.Attribute(value=ast.Name(id="self"), attr=attr):
            module = call.place.unit.module
            stored: list[ast.stmt] = [*module.nodes(ast.Assign), *module.nodes(ast.AnnAssign), *module.nodes(ast.AugAssign)]
            ours = [s for s in stored if any(isinstance(goal, ast.Attribute) and goal.attr == attr for goal in targets(s))]
            return bool(ours) and all(_is_brought(s, Place(call.place.unit, module.function_of(s)), calls) for s in ours)
    return False


def _is_brought(statement: ast.AST, place: Place, calls: list[Call]) -> bool:
    """Whether a statement gives None, a value that came with a reply, or what the handshake opens."""
    if statement in place.unit.module.once(handshake):
        return True
    match statement:
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            if _is_none(value) or _is_from(value, place, calls):
                return True
            if isinstance(value, ast.Name):
                stores = [n for n in place.nodes if any(isinstance(g, ast.Name) and g.id == value.id for g in targets(n))]
                return bool(stores) and all(isinstance(n, ast.Assign) and _is_from(n.value, place, calls) for n in stores)
    return False


def _is_from(value: ast.expr, place: Place, calls: list[Call]) -> bool:
    """Whether a value is that of one of the calls."""
    nodes = {id(node) for node in descend(value)}
    return any(call.place == place and id(call.node) in nodes for call in calls)


def _default(place: Place, name: str) -> ast.expr | None:
    assert place.function
    args = place.function.node.args
    every = [*args.posonlyargs, *args.args]
    found: dict[str, ast.expr | None] = dict(zip(reversed([arg.arg for arg in every]), reversed(args.defaults), strict=False))
    found |= {arg.arg: default for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)}
    return found.get(name)


def _is_none(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is None
