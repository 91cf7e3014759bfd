"""Replies that pass a boundary by: written or changed where it does not reach, or by code that does not know the request."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from .code import Call, Code, Place, Unit, assigned, unwrap
from .decorators import Decorators, is_changed
from .emissions import Emission, Emissions, Kind
from .syntax import descend

# What runs a function with the context of the code that hands it over, or at once.
_SAME_CONTEXT = frozenset({"to_thread", "run_sync", "partial", "map", "filter", "sorted", "min", "max", "isinstance", "callable"})
_THREADS = frozenset({"Thread", "Timer", "Process", "submit", "start_new_thread", "apply_async", "run_in_executor"})


class Leak(NamedTuple):
    """A place where a reply leaves a dispatcher other than by being returned, and what to do instead."""

    place: Place
    node: ast.AST | None
    reason: str
    way_out: str = "return the reply to the dispatcher"


@dataclass(eq=False)
class Leaks:
    """Looks for them, with what is known of the project's emissions."""

    code: Code
    emissions: Emissions
    decorators: Decorators

    def outside(self, unit: Unit, inside: Iterable[Place], sources: Iterable[Place], writers: Iterable[Emission] | None) -> Leak | None:
        """A reply of this module that does not come through a boundary.

        `sources` give replies that a boundary has finished. With `writers`, whatever they write behind it is finished as well.
        """
        covered, given = frozenset(inside), frozenset(sources)
        own = frozenset(writers or ())
        for place, call in self.emissions.raw(unit):
            return Leak(place, call, "this message is written as text, which the boundary does not see", "build it as a dict")
        for place in unit.places:
            leak = self._beside(place, covered, given, None if writers is None else own)
            # Asked last, for it looks at all names of the module.
            if leak is not None and not self._is_dead(place):
                return leak
        return None

    def _beside(self, place: Place, covered: frozenset[Place], given: frozenset[Place], own: frozenset[Emission] | None) -> Leak | None:
        """A reply that one function lets out by itself."""
        if own is None or place not in covered:
            for send in self.emissions.sends(place):
                unknown = Kind.UNKNOWN in send.kinds and own is not None and send.writer in own
                if (Kind.REPLY in send.kinds or unknown) and not self._is_given(send.payload, place, given):
                    return Leak(place, send.node, "a reply is written here, outside of the dispatcher")
        if own is not None and place not in covered:
            for node in place.nodes:
                target = self.code.function(node, place) if isinstance(node, ast.Call) else None
                if target in covered and target not in given and target is not None and self._sends(target):
                    return Leak(place, node, "a reply is written here, outside of the dispatcher")
        for call, payload in self.emissions.handed(place):
            if Kind.REPLY in self.emissions.kinds(payload, place) and not self._is_given(payload, place, given):
                return Leak(place, call, "a reply is handed to other code here, which does not know its request")
        return None

    def deferred(self, inside: Iterable[Place]) -> Leak | None:
        """A function that writes replies, and is handed to a thread, an executor or a callback."""
        for place in inside:
            for node in place.nodes:
                if not isinstance(node, ast.Call) or _last(node.func) in _SAME_CONTEXT or unwrap(node) is not node:
                    continue
                target = self.code.function(node, place)
                if target is not None and not _starts_threads(target):
                    continue
                if any(self._writes(one, place) for one in _handed(node)):
                    return Leak(place, node, "replies are written by another thread or callback, which does not know the request")
        return None

    def shared(self, emissions: Iterable[Emission]) -> Leak | None:
        """A writer with several places where its message leaves, or with several streams to write to."""
        for emission in emissions:
            place = emission.place
            if emission.parameter:
                same = [e for e in self.emissions.of(place.unit) if e.place == place and e.parameter == emission.parameter]
                if len(same) > 1:
                    return Leak(place, same[1].dumps, f"`{place.name}` writes its message more than once", "write it in one statement")
            if isinstance(emission.stream, ast.Name) and place.function and emission.stream.id in place.function.parameters:
                given = [call.argument(emission.stream.id, place.function) for call in self.code.callers(place)]
                if len({ast.unparse(one) if one is not None else "" for one in given}) > 1:
                    reason = f"`{place.name}` writes to more streams than one"
                    return Leak(place, emission.dumps, reason, "write replies through one function")
        return None

    def changed(self, call: Call, hook: Place, others: Iterable[Place], name: str = "") -> Leak | None:
        """What a caller does to a finished reply between the call and the write; `name` is what it calls the reply of a tuple."""
        place, parents = call.place, call.place.unit.module.parents
        value: ast.AST = call.node
        while isinstance(above := parents[value], ast.Await) or (isinstance(above, ast.Call) and unwrap(above) is call.node):
            value = above
        reason = f"what `{hook.name}` returns is changed here before it is written"
        way_out = "change it in the dispatcher"
        match parents[value]:
            case ast.Call() as around if self._changes(around, place):
                return Leak(place, around, reason, way_out)
            case ast.Dict() | ast.Subscript() | ast.Attribute() as around:
                return Leak(place, around, reason, way_out)
            case (
                ast.Assign(targets=[ast.Name(id=given)])
                | ast.AnnAssign(target=ast.Name(id=given))
                | ast.NamedExpr(target=ast.Name(id=given))
            ):
                name = given
        if not name:
            return None
        if is_changed(place, name):
            return Leak(place, call.node, reason, way_out)
        for node in place.nodes:
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                user = parents[node]
                spread = isinstance(user, ast.Dict) and node in user.values
                if spread or (isinstance(user, ast.Call) and self._changes(user, place)):
                    return Leak(place, user, reason, way_out)
            elif isinstance(node, ast.Assign) and node is not parents[value] and self._replaces(node, name, call, (hook, *others)):
                return Leak(place, node, reason, way_out)
        return None

    def raised(self, call: Call) -> Leak | None:
        """A handler around the call that takes the code of its error from what was raised behind the boundary."""
        for around in call.place.unit.module.ancestors(call.node):
            for handler in around.handlers if isinstance(around, ast.Try) else ():
                for node in (inner for statement in handler.body for inner in descend(statement)):
                    match node:
                        case ast.Attribute(value=ast.Name(id=name), attr="code" | "error" | "args" | "to_dict" | "as_dict" | "data"):
                            if name == handler.name:
                                reason = "the code of an error is taken here from behind the boundary, and may be a retired one"
                                return Leak(call.place, node, reason)
        return None

    def _is_given(self, payload: ast.expr, place: Place, sources: frozenset[Place]) -> bool:
        """Whether everything with a result that an expression can be comes from one of the functions."""
        inner = unwrap(payload)
        if isinstance(inner, ast.Call):
            target = self.code.function(inner, place)
            return target in sources or any(
                isinstance(self.code.target(argument, place), Place) and self.code.target(argument, place) in sources
                for argument in inner.args
                if isinstance(argument, ast.Name | ast.Attribute)
            )
        if isinstance(inner, ast.Name):
            for around in [*place.enclosing(), Place(place.unit, None)]:
                if values := assigned(around, inner.id):
                    others = [value for value in values if not (isinstance(value, ast.Name) and value.id == inner.id)]
                    return all(self._is_harmless(value, around) or self._is_given(value, around, sources) for value in others if value)
                if around.function and inner.id in around.function.parameters:
                    return False
        if isinstance(inner, ast.IfExp):
            return self._is_given(inner.body, place, sources) and self._is_given(inner.orelse, place, sources)
        return False

    def _is_dead(self, place: Place) -> bool:
        """Whether nothing names a function."""
        if place.function is None or "." in place.name or place.function.node.decorator_list:
            return False
        name = place.function.short
        return not any(
            any(node.id == name for node in unit.module.nodes(ast.Name))
            or any(node.attr == name for node in unit.module.nodes(ast.Attribute))
            for unit in self.code.around(place.unit)
        )

    def _replaces(self, node: ast.Assign, name: str, call: Call, hooks: Iterable[Place]) -> bool:
        """Whether a name gets another value after the call, and not because the call has failed."""
        if not any(isinstance(goal, ast.Name) and goal.id == name for goal in node.targets):
            return False
        if (
            isinstance(node.value, ast.Constant)
            or any(self._calls(node.value, call.place, hook) for hook in hooks)
            or node.lineno < call.node.lineno
        ):
            return False
        around = [*call.place.unit.module.ancestors(node)]
        beside = [*call.place.unit.module.ancestors(call.node)]
        return not any(isinstance(one, ast.ExceptHandler) or (isinstance(one, ast.If) and one in beside) for one in around)

    def _is_harmless(self, value: ast.expr, place: Place) -> bool:
        return not self.emissions.kinds(value, place) & {Kind.REPLY, Kind.UNKNOWN}

    def _calls(self, value: ast.expr, place: Place, hook: Place) -> bool:
        inner = unwrap(value)
        return (isinstance(inner, ast.Call) and any(call.node is inner for call in self.code.callers(hook))) or (
            isinstance(value, ast.IfExp) and self._calls(value.body, place, hook) | self._calls(value.orelse, place, hook)
        )

    def _changes(self, around: ast.Call, place: Place) -> bool:
        """Whether a function of the project makes something else of a reply, which is used then."""
        target = self.code.function(around, place)
        if target is None or self.emissions.writer(target) is not None:
            return False
        parent = place.unit.module.parents[around]
        if isinstance(parent, ast.Expr | ast.Await):
            return False
        if isinstance(parent, ast.If | ast.While | ast.BoolOp | ast.UnaryOp | ast.Compare | ast.Assert):
            return False
        return any(isinstance(node, ast.Return) and node.value is not None for node in target.nodes)

    def _writes(self, node: ast.expr, place: Place) -> bool:
        if isinstance(node, ast.Lambda):
            return any(self._answers(call, place) for call in descend(node.body) if isinstance(call, ast.Call))
        target = self.code.target(node, place)
        if not isinstance(target, Place) or not target.function:
            return False
        return self.emissions.writer(target) is not None or self._sends(target)

    def _answers(self, call: ast.Call, place: Place) -> bool:
        """Whether a call writes a reply, or something that may be one."""
        target = self.code.function(call, place)
        if target is None:
            return self.emissions.is_dumps(call.func, place)
        if self.emissions.writer(target) is None:
            return self._sends(target)
        return any(self.emissions.kinds(argument, place) & {Kind.REPLY, Kind.UNKNOWN} for argument in call.args)

    def _sends(self, target: Place) -> bool:
        return any(send.kinds & {Kind.REPLY, Kind.UNKNOWN} for place in self.code.reachable(target) for send in self.emissions.sends(place))


def _starts_threads(target: Place) -> bool:
    """`def spawn(work): Thread(target=work).start()`"""
    assert target.function
    names = target.function.parameters
    calls = (node for node in target.nodes if isinstance(node, ast.Call) and _last(node.func) in _THREADS)
    return any(isinstance(one, ast.Name) and one.id in names for call in calls for one in _handed(call))


def _handed(node: ast.Call) -> Iterator[ast.expr]:
    """The functions that a call may hand over: its arguments, behind `partial(...)` and in tuples."""
    pending = [*node.args, *(keyword.value for keyword in node.keywords)]
    while pending:
        one = pending.pop(0)
        match one:
            case ast.Name() | ast.Attribute() | ast.Lambda():
                yield one
            case ast.Call(func=func, args=[first, *_]) if _last(func) == "partial":
                pending.append(first)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                pending += elts


def _last(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
