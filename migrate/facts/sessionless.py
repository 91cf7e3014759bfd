"""What a request without a session meets in a server that keeps sessions: what is none of its business, and what it cannot do without."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from .code import Code, Place, Unit, assigned, last
from .functions import bound, dotted
from .gates import handshake
from .sessions import conditions
from .syntax import descend
from .vocabulary import REMOVED_REQUESTS

_HEADER = re.compile(r"^(http_)?mcp[-_]session[-_]id$", re.IGNORECASE)
_LOOKS_UP = frozenset(
    {"get", "pop", "load", "find", "find_one", "fetch", "fetch_one", "get_session", "lookup", "getheader", "first", "get_argument"}
)
_SPEAKS = frozenset({"log", "debug", "info", "warning", "error", "exception", "print", "str", "repr", "bool", "isinstance"})
_MAX_DEPTH = 6


class Way(Enum):
    """How code that wants a session is kept from a request that has none."""

    SKIP = "skip"  # the statement keeps book of the session and does nothing else
    LEAVE = "leave"  # the function only gives the session: it gives None


class Spared(NamedTuple):
    """Code that a request without a session must not run."""

    way: Way
    place: Place
    node: ast.stmt


class Needed(NamedTuple):
    """A use of the session that cannot be left out."""

    place: Place
    node: ast.expr | ast.stmt


@dataclass(eq=False)
class Sessionless:
    """Follows the session that a request does not name through the functions that it reaches."""

    code: Code
    inside: tuple[Place, ...]
    handlers: frozenset[Place]  # what is reached through tables
    _absent: set[tuple[Place, str]] = field(default_factory=set)  # parameters that are given no session
    _dead: dict[Unit, frozenset[ast.AST]] = field(default_factory=dict)
    _gone: frozenset[Place] = frozenset()

    def __post_init__(self) -> None:
        self._gone = frozenset(place for unit in {p.unit for p in self.inside} for place in self._removed(unit))
        # Parameters grow until nothing changes: a session is handed from function to function.
        before = -1
        while before < len(self._absent):
            before = len(self._absent)
            for place in self._living():
                for node in place.nodes:
                    if isinstance(node, ast.Call) and node not in self._region(place.unit):
                        self._hand_on(node, place)

    def uses(self) -> Iterator[Spared | Needed]:
        """Everything that would fail, or make something up, for a request without a session."""
        for place in self._living():
            if self._only_gives(place):
                if any(True for _ in self._failing(place)):
                    assert place.function
                    yield Spared(Way.LEAVE, place, place.function.node)
                continue
            told: set[ast.AST] = set()
            for node in self._failing(place):
                statement: ast.AST = node
                while not isinstance(statement, ast.stmt):
                    statement = place.unit.module.parents[statement]
                if statement in told:
                    continue
                told.add(statement)
                yield Spared(Way.SKIP, place, statement) if self._keeps_book(statement, place) else Needed(place, node)

    # -- where a request comes --------------------------------------------------------
    def _living(self) -> Iterator[Place]:
        yield from (place for place in self.inside if place not in self._gone)

    def _region(self, unit: Unit) -> frozenset[ast.AST]:
        """What runs for the handshake and for removed methods only."""
        if unit not in self._dead:
            found = set(handshake(unit.module))
            for branch in unit.module.nodes(ast.If):
                match branch.test:
                    case ast.Compare(ops=[ast.Eq()], comparators=[other]) if unit.module.string(other) in REMOVED_REQUESTS:
                        found.update(n for statement in branch.body for n in descend(statement))
            self._dead[unit] = frozenset(found)
        return self._dead[unit]

    def _removed(self, unit: Unit) -> Iterator[Place]:
        """The handlers of removed methods, in tables and behind decorators."""
        for place in unit.places:
            for decorator in place.function.node.decorator_list if place.function else ():
                if isinstance(decorator, ast.Call) and decorator.args and unit.module.string(decorator.args[0]) in REMOVED_REQUESTS:
                    yield place
            for node in place.nodes:
                if isinstance(node, ast.Dict):
                    for key, value in zip(node.keys, node.values, strict=True):
                        target = self.code.target(value, place) if key is not None and unit.module.string(key) in REMOVED_REQUESTS else None
                        if isinstance(target, Place):
                            yield target

    # -- what is absent ---------------------------------------------------------------
    def is_absent(self, node: ast.expr | None, place: Place, depth: int = 0) -> bool:
        """Whether an expression is None, or fails, where no session is named."""
        if node is None or depth > _MAX_DEPTH:
            return False
        depth += 1
        match node:
            case ast.Constant(value=None | ""):
                return True
            case ast.Name(id=name):
                return self._is_absent_name(name, place, depth)
            case ast.Await(value=value) | ast.NamedExpr(value=value):
                return self.is_absent(value, place, depth)
            case ast.BoolOp(op=ast.Or(), values=values):
                return all(self.is_absent(value, place, depth) for value in values)
            case ast.BoolOp(values=[first, *_]):
                return self._is_session(first, place, depth)
            case ast.IfExp(body=body, orelse=orelse):
                return self.is_absent(body, place, depth) and self.is_absent(orelse, place, depth)
            case ast.Subscript(slice=key) if isinstance(node.ctx, ast.Load):
                return self._names_header(key, place) or self._is_session(key, place, depth)
            case ast.JoinedStr(values=values):
                return any(isinstance(part, ast.FormattedValue) and self._is_session(part.value, place, depth) for part in values)
            case ast.Call(func=func, args=args, keywords=keywords):
                given = [*args, *(keyword.value for keyword in keywords)]
                target = self.code.target(func, place)
                if isinstance(target, Place) and target.function and target != place:
                    returned = [n.value for n in target.nodes if isinstance(n, ast.Return)]
                    sessions = any(self._is_session(one, place, depth) for one in given)
                    return bool(returned) and (sessions or not given) and all(self.is_absent(one, target, depth) for one in returned if one)
                if last(func) in _LOOKS_UP and given:
                    default = args[1] if len(args) > 1 else None
                    fits = self._names_header(given[0], place) or any(self._is_session(one, place, depth) for one in given[:1])
                    return fits and (default is None or self.is_absent(default, place, depth))
        return False

    def _is_session(self, node: ast.expr, place: Place, depth: int) -> bool:
        """The same, but for a plain None."""
        return not isinstance(node, ast.Constant) and self.is_absent(node, place, depth)

    def _is_absent_name(self, name: str, place: Place, depth: int) -> bool:
        for around in place.enclosing():
            values = assigned(around, name)
            if around.function and name in around.function.parameters:
                return ((around, name) in self._absent or _is_header_parameter(around, name)) and all(
                    self.is_absent(value, around, depth) for value in values
                )
            if values:
                kept = [value for value in values if not (isinstance(value, ast.Constant) and value.value is None)]
                live = [value for value in kept if value is None or value not in self._region(around.unit)]
                return bool(live) and all(self.is_absent(value, around, depth) for value in live)
        return False

    def _names_header(self, key: ast.expr, place: Place) -> bool:
        while isinstance(key, ast.Call) and isinstance(key.func, ast.Attribute) and not key.args:  # SESSION_HEADER.lower()
            key = key.func.value
        text = self.code.text(key, place)
        return text is not None and _HEADER.match(text) is not None

    def _hand_on(self, node: ast.Call, place: Place) -> None:
        target = self.code.target(node.func, place)
        targets = [target] if isinstance(target, Place) else self._tabled(node, place)
        for one in targets:
            if one.function is None:
                continue
            for name in one.function.parameters:
                if (one, name) not in self._absent and self._is_session_argument(bound(node, one.function, name), place):
                    self._absent.add((one, name))

    def _tabled(self, node: ast.Call, place: Place) -> list[Place]:
        """The handlers that a call of something looked up may reach."""
        looked_up = isinstance(node.func, ast.Subscript | ast.Call) or (
            isinstance(node.func, ast.Name) and any(isinstance(v, ast.Subscript | ast.Call) for v in assigned(place, node.func.id))
        )
        count = len(node.args) + len(node.keywords)
        fit = [p for p in self.handlers if p.function and len(p.function.parameters) == count and p not in self._gone and p != place]
        return fit if looked_up else []

    def _is_session_argument(self, node: ast.expr | None, place: Place) -> bool:
        return node is not None and self._is_session(node, place, 0)

    # -- what fails ----------------------------------------------------------------------
    def _failing(self, place: Place) -> Iterator[ast.expr]:
        """The uses of an absent session that fail: its parts, and looking it up where nothing is."""
        module, region = place.unit.module, self._region(place.unit)
        gates = {n for condition in conditions(module) for n in descend(condition.around.test)}
        refusing = {n for condition in conditions(module) for s in _refusal(condition.around, condition.seen) for n in descend(s)}
        for node in place.nodes:
            if node in region or node in refusing or node in gates:
                continue
            match node:
                case ast.Attribute(value=value) if self._is_session(value, place, 0):
                    yield node
                case ast.Subscript(value=value, slice=key):
                    names = isinstance(node.ctx, ast.Load) and self._names_header(key, place)
                    if names or self._is_session(value, place, 0) or self._is_session(key, place, 0):
                        yield node
                case ast.Call(func=func) if last(func) not in _SPEAKS | _LOOKS_UP and not self._is_known(node, place):
                    for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
                        if self._is_session(argument, place, 0):
                            yield argument
                case ast.Dict(keys=keys, values=values):
                    for key, one in zip(keys, values, strict=True):
                        if key is not None and self._names_header(key, place) and self._is_session(one, place, 0):
                            yield one

    def _is_known(self, node: ast.Call, place: Place) -> bool:
        """Whether the called function is one that is followed."""
        target = self.code.target(node.func, place)
        return (
            (isinstance(target, Place) and target in self.inside) or bool(self._tabled(node, place)) or "log" in dotted(node.func).lower()
        )

    def _only_gives(self, place: Place) -> bool:
        """Whether a function does nothing but give the session: each of its returns is one."""
        if place.function is None:
            return False
        returned = [n.value for n in place.nodes if isinstance(n, ast.Return) and n.value is not None]
        called = [call for call in self.code.callers(place) if call.place in self.inside]
        return bool(returned) and bool(called) and all(self._is_session(value, place, 0) for value in returned)

    def _keeps_book(self, statement: ast.stmt, place: Place) -> bool:
        """Whether a statement only writes into the session, or calls a method of it for no value."""
        match statement:
            case ast.Assign(targets=[goal]) | ast.AugAssign(target=goal):
                return not isinstance(goal, ast.Name) and self._reaches_session(goal, place) and not _gives(statement)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=value)) as call):
                return self._reaches_session(value, place) or any(self._is_session(a, place, 0) for a in call.args[:1])
            case ast.Expr(value=ast.Await(value=ast.Call(func=ast.Attribute(value=value)) as call)):
                return self._reaches_session(value, place) or any(self._is_session(a, place, 0) for a in call.args[:1])
        return False

    def _reaches_session(self, node: ast.expr, place: Place) -> bool:
        while True:
            if self._is_session(node, place, 0):
                return True
            match node:
                case ast.Attribute(value=inner):
                    node = inner
                case ast.Subscript(value=inner, slice=key):
                    if self._is_session(key, place, 0):
                        return True
                    node = inner
                case _:
                    return False


def _refusal(around: ast.If, seen: bool) -> Iterable[ast.stmt]:
    return around.orelse if seen else around.body


def _gives(statement: ast.stmt) -> bool:
    return any(isinstance(n, ast.NamedExpr) for n in descend(statement))


def _is_header_parameter(place: Place, name: str) -> bool:
    """A parameter that a framework fills from the header, by its name or its alias."""
    assert place.function
    args = place.function.node.args
    every = [*args.posonlyargs, *args.args]
    pairs = [*zip(reversed(every), reversed(args.defaults), strict=False), *zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    notes = [default for arg, default in pairs if arg.arg == name]
    for arg in (*every, *args.kwonlyargs):
        if arg.arg == name and isinstance(arg.annotation, ast.Subscript) and isinstance(arg.annotation.slice, ast.Tuple):
            notes += arg.annotation.slice.elts
    for note in notes:
        if isinstance(note, ast.Call) and last(note.func) == "Header":
            alias = next((k.value.value for k in note.keywords if k.arg == "alias" and isinstance(k.value, ast.Constant)), name)
            return _HEADER.match(str(alias)) is not None
    return False
