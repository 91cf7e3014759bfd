"""What a request without a session meets in a server that keeps sessions: what is none of its business, and what it cannot do without."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from .asking import asides
from .code import Class, Code, Place, Unit, assigned, last
from .functions import Function, Module, bound, dotted
from .gates import handshake
from .revision import is_earlier, is_modern
from .sessions import Condition, looked_up, reads_header
from .sessions import conditions as found_in
from .syntax import descend
from .vocabulary import METHODS, REMOVED_REQUESTS

_OBJECT = re.compile(r"(^|_)session$", re.IGNORECASE)
_HEADER = re.compile(r"^(http_)?mcp[-_]session[-_]id$", re.IGNORECASE)
_IN_QUERY = re.compile(r"^(mcp[-_]?)?session([-_]?id)?$", re.IGNORECASE)
_IN_HEADERS = re.compile(r"^(mcp[-_]?)?session[-_]?id$", re.IGNORECASE)
_WORDS = (b"ession_id", b"ession-id", b"ession-Id", b"ESSION_ID", b"essionId", b"sid")
# A session in a cookie is a login, and one in the arguments of a tool the tool's own.
_QUERY = re.compile(r"(?i:query|request\.args|getlist)|request\.GET\b|get_argument")
_HEADERS = re.compile(r"headers", re.IGNORECASE)
_LOOKS_UP = frozenset(
    {"get", "pop", "load", "find", "find_one", "fetch", "fetch_one", "get_session", "lookup", "getheader", "first", "get_argument"}
)
_SPEAKS = frozenset({"log", "debug", "info", "warning", "error", "exception", "print", "str", "repr", "bool", "isinstance"})
_MAX_DEPTH = 6


class Way(Enum):
    """How code that wants a session is kept from a request that has none."""

    SKIP = "skip"  # the statement keeps book of the session and does nothing else
    LEAVE = "leave"  # the function only gives the session: it gives None
    PASS = "pass"  # the test leaves quietly, or makes a session, where there is none: it lets the request through
    EMPTY = "empty"  # the headers hold nothing but the session: there are none


class Spared(NamedTuple):
    """Code that a request without a session must not run."""

    way: Way
    place: Place
    node: ast.stmt | ast.expr


class Needed(NamedTuple):
    """A use of the session that cannot be left out."""

    place: Place
    node: ast.expr | ast.stmt
    common: bool = True  # every request comes by; False: those of one method
    unclear: bool = False  # it may as well say that the request was refused for something else


_FAILS = frozenset({ast.Attribute, ast.Assert, ast.Subscript, ast.Call, ast.Dict})  # what may fail for want of a session


@dataclass(eq=False)
class Sessionless:
    """Follows the session that a request does not name through the functions that it reaches."""

    code: Code
    inside: tuple[Place, ...]
    handlers: frozenset[Place]  # what is reached through tables
    starts: tuple[Place, ...] = ()  # where requests come in
    spares: bool = True  # no session is made for such a request
    fresh: frozenset[ast.stmt] = frozenset()  # look-ups behind which one is made for the request
    lasting: bool = False  # one that is made for a request counts for none
    given: frozenset[tuple[Place, str]] = frozenset()  # parameters of `starts` that are given no session
    _absent: set[tuple[Place, str]] = field(default_factory=set)  # parameters that are given no session
    _held: set[tuple[Class, str]] = field(default_factory=set)  # attributes of objects that are made with none
    _dead: dict[Unit, frozenset[ast.AST]] = field(default_factory=dict)
    _gone: frozenset[Place] = frozenset()
    _stored: dict[Place, dict[str, list[ast.Name]]] = field(default_factory=dict)
    _asking: dict[Unit, tuple[frozenset[ast.AST], frozenset[int]]] = field(default_factory=dict)
    _passed: dict[Place, tuple[Spared | Needed, ...]] = field(default_factory=dict)
    _fleeting: dict[Place, frozenset[ast.AST]] = field(default_factory=dict)
    _made: dict[Place, frozenset[ast.AST]] = field(default_factory=dict)  # what makes a session for a request without one
    _looped: dict[Place, frozenset[ast.AST]] = field(default_factory=dict)  # what is inside of a loop
    # What was said of an expression, for as long as the parameters and attributes that it went by grow no further: names lead back
    # to each other, and without it half of the time of such a server went into the same few questions.
    _said: dict[tuple[ast.expr, Place, int], bool] = field(default_factory=dict)
    _grown: int = 0

    def __post_init__(self) -> None:
        self._gone = frozenset(place for unit in {p.unit for p in self.inside} for place in self._removed(unit))
        # A session that is named nowhere is missed nowhere.
        if (
            not self.lasting
            and not self.given
            and not any(word in place.unit.module.source.utf8 for place in self.inside for word in _WORDS)
        ):
            self.inside = ()
        for place, name in self._registered() if self.lasting else ():
            self._absent.add((place, name))
            self.inside += tuple(one for one in self.code.reachable(place) if one not in self.inside)
        self._absent |= self.given
        # Parameters grow until nothing changes: a session is handed from function to function.
        before = -1
        while before < len(self._absent) + len(self._held):
            before = len(self._absent) + len(self._held)
            for place in self._living():
                for node in place.of(ast.Call):
                    if node not in self._region(place.unit):
                        self._hand_on(node, place)
                if place.function is not None and place.function.short == "__init__":
                    self._held.update((Class(place.unit, place.function.owner), attr) for attr in self._taken(place))

    def gates(self) -> Iterator[Condition]:
        """What refuses such a request because it names no session."""
        for unit in dict.fromkeys(place.unit for place in self.inside):
            for condition in self.conditions(unit):
                place = Place(unit, unit.module.function_of(condition.node))
                if place in self.inside and condition.node not in self._region(unit) and self.asks(condition.node, place):
                    yield condition

    def asks(self, test: ast.expr, place: Place) -> bool:
        """Whether a test is about the session."""
        return any(isinstance(node, ast.expr) and self._is_session(node, place, 0) for node in descend(test))

    def uses(self) -> tuple[Spared | Needed, ...]:
        """Everything that would fail, or make something up, for a request without a session."""
        return self._found

    @cached_property
    def _found(self) -> tuple[Spared | Needed, ...]:
        return tuple(self._uses())

    def _uses(self) -> Iterator[Spared | Needed]:
        for place in self._living():
            yield from self._quiet(place)
            for condition in self.conditions(place.unit):
                operand = _lacking(condition.node)
                if condition.around not in place.nodes or operand is None or not self._is_session(operand, place, 0):
                    continue
                if self._refuses_besides(operand, place):
                    yield Needed(place, condition.node, unclear=True)
            if self.only_gives(place):
                if any(True for _ in self._failing(place)):
                    assert place.function
                    yield Spared(Way.LEAVE, place, place.function.node)
                continue
            told: set[ast.stmt] = set()
            for node in self._failing(place):
                common = self.is_common(node, place)
                if isinstance(node, ast.Dict):
                    yield Spared(Way.EMPTY, place, node) if len(node.keys) == 1 else Needed(place, node, common)
                    continue
                statement: ast.AST = node
                while not isinstance(statement, ast.stmt):
                    statement = place.unit.module.parents[statement]
                if statement in told:
                    continue
                told.add(statement)
                yield Spared(Way.SKIP, place, statement) if self._keeps_book(statement, place) else Needed(place, node, common)

    def is_common(self, node: ast.AST, place: Place) -> bool:
        """Whether requests of all methods come by."""
        return not self.starts or (place in self._shared and not _is_of_method(node, place))

    @cached_property
    def _shared(self) -> frozenset[Place]:
        """The functions that run for requests of all methods."""
        found = [*self.starts]
        for place in found:
            for node in place.of(ast.Call):
                target = self.code.function(node, place) if not _is_of_method(node, place) else None
                if target is not None and target not in found:
                    found.append(target)
        return frozenset(found)

    def _quiet(self, place: Place) -> tuple[Spared | Needed, ...]:
        """Tests that end the function for want of a session and say nothing about it, or make one for the request."""
        if place not in self._passed:
            self._passed[place] = tuple(self._passing(place))
        return self._passed[place]

    def _passing(self, place: Place) -> Iterator[Spared | Needed]:
        told = {condition.around for condition in self.conditions(place.unit)}
        for node in place.of(ast.If):
            if node not in told and node not in self._region(place.unit):
                if (operand := _lacking(node.test)) is None or not self._is_session(operand, place, 0):
                    continue
                makes = self.spares and isinstance(operand, ast.Name) and _gives_name(node.body, operand.id)
                if makes or _is_only_return(node.body):
                    unclear = self._refuses_besides(operand, place)
                    yield Needed(place, node.test, unclear=True) if unclear else Spared(Way.PASS, place, node)

    def _refuses_besides(self, node: ast.expr, place: Place, depth: int = 0) -> bool:
        """Whether None may also come from a function that has refused the request for something else than its session."""
        match node:
            case ast.Name(id=name):
                given = [value for value in assigned(place, name) if value is not None] if depth < _MAX_DEPTH else []
                return any(self._refuses_besides(value, place, depth + 1) for value in given)
            case ast.Await(value=value) | ast.NamedExpr(value=value):
                return self._refuses_besides(value, place, depth)
            case ast.Call(func=func) if isinstance(target := self.code.target(func, place), Place) and target.function:
                for one in self._returns(target):
                    if one.value is None or self._gives_nothing(one.value, target):
                        if not self._is_for_session(one, target):
                            return True
                    elif depth < _MAX_DEPTH and self._refuses_besides(one.value, target, depth + 1):
                        return True
                return not _ends(target.function.node.body) and not self._is_for_session(None, target)
        return False

    def _is_for_session(self, end: ast.Return | None, place: Place) -> bool:
        """Whether a function leaves here, or at its end, for want of a session and for nothing else."""
        for around in place.unit.module.ancestors(end) if end is not None else ():
            match around:
                case ast.If(test=test):
                    return all(self.asks(part, place) for part in _joined(test))
                case ast.ExceptHandler(type=kind):
                    return kind is not None and dotted(kind) in {"KeyError", "LookupError"}
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    break
        tests = [n.test for n in place.nodes if isinstance(n, ast.If) and any(isinstance(inner, ast.Return) for inner in descend(n))]
        return all(self.asks(part, place) for test in tests for part in _joined(test))

    def _gives_nothing(self, node: ast.expr, place: Place) -> bool:
        """`None`, or a call of what only answers: `return self.deny(404)`."""
        match node:
            case ast.Constant(value=None):
                return True
            case ast.Call(func=func):
                target = self.code.target(func, place)
                if isinstance(target, Place) and target.function:
                    gives = (ast.Yield, ast.YieldFrom)
                    return not any(isinstance(n, gives) or (isinstance(n, ast.Return) and n.value) for n in target.nodes)
                return last(func) == "send_error"
        return False

    def _returns(self, place: Place) -> list[ast.Return]:
        """Where a function returns for a request that opens no session."""
        return [n for n in place.of(ast.Return) if n not in self._region(place.unit)]

    @property
    def parameters(self) -> frozenset[tuple[Place, str]]:
        """Parameters of functions that are given no session."""
        return frozenset(self._absent)

    @property
    def attributes(self) -> frozenset[tuple[Class, str]]:
        """Attributes in which objects hold no session."""
        return frozenset(self._held)

    def passes(self, node: ast.AST, unit: Unit) -> bool:
        """Whether such a request never runs this code, because it is the handshake's or that of a removed method."""
        return node in self._region(unit)

    def is_session(self, node: ast.expr, place: Place) -> bool:
        """Whether an expression is a session that is not there, or leads to one."""
        return self._is_session(node, place, 0)

    def is_lookup(self, node: ast.expr, place: Place) -> bool:
        """Whether an expression looks up what is kept for a session, and does not only read its name."""
        match node:
            case ast.Await(value=value):
                return self.is_lookup(value, place)
            case ast.Call(func=func, args=args) if last(func) in _LOOKS_UP and args:
                return not self._names_header(args[0], place, func)
            case ast.Subscript(value=value, slice=key):
                return not self._names_header(key, place, value)
            case ast.Call(func=func):
                target = self.code.target(func, place)
                returned = [n.value for n in target.nodes if isinstance(n, ast.Return) and n.value] if isinstance(target, Place) else []
                return isinstance(target, Place) and any(self.is_lookup(one, target) for one in returned)
        return False

    # -- where a request comes --------------------------------------------------------
    def _living(self) -> Iterator[Place]:
        yield from (place for place in self.inside if place not in self._gone)

    def _region(self, unit: Unit) -> frozenset[ast.AST]:
        """What runs for the handshake and for removed methods only."""
        if unit not in self._dead:
            found = {*unit.module.once(handshake), *asides(unit.module), *_legacy(unit.module)}
            for branch in unit.module.nodes(ast.If):
                match branch.test:
                    case ast.Compare(ops=[ast.Eq()], comparators=[other]) if unit.module.string(other) in REMOVED_REQUESTS:
                        found.update(n for statement in branch.body for n in descend(statement))
                    case ast.Compare(left=left, ops=[ast.NotIn()]) if unit.module.string(left) == "method":
                        # The answer of a client to a question, which 2026-07-28 does not send as a message.
                        found.update(n for statement in branch.body for n in descend(statement))
            for case in unit.module.nodes(ast.match_case):
                named = {n.value for n in descend(case.pattern) if isinstance(n, ast.Constant) and isinstance(n.value, str)} - {"method"}
                if named and named <= REMOVED_REQUESTS:
                    found.update(n for statement in case.body for n in descend(statement))
            self._dead[unit] = frozenset(found)
        return self._dead[unit]

    def _registered(self) -> Iterator[tuple[Place, str]]:
        """The tools of a table that each take the session of their caller."""
        for unit in dict.fromkeys(place.unit for place in self.inside):
            for node in unit.top:
                listed = (
                    [*node.keys, *node.values]
                    if isinstance(node, ast.Dict)
                    else node.elts
                    if isinstance(node, ast.List | ast.Tuple)
                    else []
                )
                for one in listed:
                    target = self.code.target(one, Place(unit, None)) if isinstance(one, ast.Name) else None
                    if isinstance(target, Place) and target.function:
                        yield from ((target, name) for name in target.function.parameters if name == "session")

    def _removed(self, unit: Unit) -> Iterator[Place]:
        """The handlers of removed methods, in tables and behind decorators."""
        for place in unit.places:
            for decorator in place.function.node.decorator_list if place.function else ():
                if isinstance(decorator, ast.Call) and decorator.args and unit.module.string(decorator.args[0]) in REMOVED_REQUESTS:
                    yield place
            for node in place.of(ast.Dict):
                for key, value in zip(node.keys, node.values, strict=True):
                    target = self.code.target(value, place) if key is not None and unit.module.string(key) in REMOVED_REQUESTS else None
                    if isinstance(target, Place):
                        yield target

    # -- what is absent ---------------------------------------------------------------
    def is_absent(self, node: ast.expr | None, place: Place, depth: int = 0) -> bool:
        """Whether an expression is None, or fails, where no session is named."""
        if node is None or depth > _MAX_DEPTH:
            return False
        grown = len(self._absent) + len(self._held) + len(self.inside)
        if grown != self._grown:
            self._said.clear()
            self._grown = grown
        question = node, place, depth
        if question not in self._said:
            self._said[question] = self._judge(node, place, depth + 1)
        return self._said[question]

    def _judge(self, node: ast.expr, place: Place, depth: int) -> bool:
        match node:
            case ast.Constant(value=None | ""):
                return True
            case ast.Name():
                return self._is_absent_name(node, place, depth)
            case ast.Await(value=value) | ast.NamedExpr(value=value):
                return self.is_absent(value, place, depth)
            case ast.BoolOp(op=ast.Or(), values=values):
                return all(self.is_absent(value, place, depth) for value in values)
            case ast.BoolOp(values=[first, *_]):
                return self._is_session(first, place, depth)
            case ast.IfExp(body=body, orelse=orelse):
                return self.is_absent(body, place, depth) and self.is_absent(orelse, place, depth)
            case ast.Attribute(value=value, attr=attr) if isinstance(node.ctx, ast.Load):
                return self._is_held(value, attr, place)
            case ast.Subscript(slice=key) if isinstance(node.ctx, ast.Load):
                return self._names_header(key, place, node.value) or self._is_session(key, place, depth)
            case ast.JoinedStr(values=values):
                return any(isinstance(part, ast.FormattedValue) and self._is_session(part.value, place, depth) for part in values)
            case ast.Call(func=func, args=args, keywords=keywords):
                given = [*args, *(keyword.value for keyword in keywords)]
                target = self.code.target(func, place)
                if isinstance(target, Place) and target.function and target != place:
                    returned = [n.value for n in self._returns(target) if n.value is not None]
                    # What is None whatever it is given is no session; what comes from the request's header is one.
                    sessions = any(self._is_session(one, place, depth) for one in given)
                    sessions = sessions or any(self._is_session(one, target, depth) for one in returned)
                    ends = (self.is_absent(one, target, depth) or self._gives_nothing(one, target) for one in returned)
                    return bool(returned) and (sessions or not given) and all(ends)
                if last(func) in _LOOKS_UP and given:
                    default = args[1] if len(args) > 1 else None
                    fits = self._names_header(given[0], place, func) or any(self._is_session(one, place, depth) for one in given[:1])
                    return fits and (default is None or self.is_absent(default, place, depth))
        return False

    def _is_session(self, node: ast.expr, place: Place, depth: int) -> bool:
        """The same, but for a plain None."""
        return not isinstance(node, ast.Constant) and self.is_absent(node, place, depth)

    def _is_absent_name(self, node: ast.Name, place: Place, depth: int) -> bool:
        for around in place.enclosing():
            stored = self._stores(around).get(node.id, [])
            is_parameter = around.function is not None and node.id in around.function.parameters
            if not stored and not is_parameter:
                continue
            if is_parameter and (around, node.id) not in self._absent and not _is_header_parameter(around, node.id):
                given = next((target for name, target in depends(self.code, around) if name == node.id), None)
                return given is not None and given != around and self.only_gives(given)
            # What it is given further down is for what comes then.
            every = around != place or all(n.lineno < node.lineno for n in stored) or node in self._in_loops(around)
            before = stored if every else [n for n in stored if n.lineno < node.lineno]
            if any(around.unit.module.parents[n] in self.fresh for n in before):
                return False
            skipped = (self._region(around.unit), self._makings(around), self._anew(around))
            values = [_value_of(n, around) for n in before if not any(n in some for some in skipped)]
            kept = [value for value in values if not (isinstance(value, ast.Constant) and value.value is None)]
            return (is_parameter or bool(kept)) and all(
                self.is_absent(value, around, depth) or self._is_brief(node.id, value, around) for value in kept
            )
        return False

    def _is_brief(self, name: str, value: ast.expr | None, place: Place) -> bool:
        """Whether a session is made here for each request, where nothing lasts longer."""
        made = self.lasting and isinstance(value, ast.Call) and _OBJECT.search(name) is not None and not self._names_none(place)
        return made and isinstance(value, ast.Call) and isinstance(self.code.target(value.func, place), Class)

    def _names_none(self, place: Place) -> bool:
        """Whether a module still knows sessions by their ids."""
        return any(word in place.unit.module.source.utf8 for word in (b"ession_id", b"ession-id", b"ession-Id"))

    def _anew(self, place: Place) -> frozenset[ast.AST]:
        """What makes a session for one request only, where such a session counts for none."""
        if place not in self._fleeting:
            self._fleeting[place] = _anew(place) if self.lasting else frozenset()
        return self._fleeting[place]

    def _makings(self, place: Place) -> frozenset[ast.AST]:
        """What `if not session_id: session_id = new_session()` does."""
        if place not in self._made:
            made: set[ast.AST] = set()
            for node in place.of(ast.If):
                lacking = _lacking(node.test) if self.spares else None
                if isinstance(lacking, ast.Name) and _gives_name(node.body, lacking.id):
                    made.update(n for statement in node.body for n in descend(statement))
            self._made[place] = frozenset(made)
        return self._made[place]

    def _in_loops(self, place: Place) -> frozenset[ast.AST]:
        if place not in self._looped:
            loops = (*place.of(ast.For), *place.of(ast.AsyncFor), *place.of(ast.While))
            self._looped[place] = frozenset(n for loop in loops for n in descend(loop) if n is not loop)
        return self._looped[place]

    def _stores(self, place: Place) -> dict[str, list[ast.Name]]:
        """Where the names of a function are given something."""
        if place not in self._stored:
            found: dict[str, list[ast.Name]] = {}
            for node in place.of(ast.Name):
                if isinstance(node.ctx, ast.Store):
                    found.setdefault(node.id, []).append(node)
            self._stored[place] = found
        return self._stored[place]

    def conditions(self, unit: Unit) -> tuple[Condition, ...]:
        """What asks for sessions by their names, in one module."""
        return found_in(unit.module)

    def _names_header(self, key: ast.expr, place: Place, holder: ast.expr | None = None) -> bool:
        while isinstance(key, ast.Call) and isinstance(key.func, ast.Attribute) and not key.args:  # SESSION_HEADER.lower()
            key = key.func.value
        text = self.code.text(key, place)
        if text is None:
            return False
        if _HEADER.match(text) is not None:
            return True
        spelled = dotted(holder)
        in_query = _QUERY.search(spelled) is not None and _IN_QUERY.match(text) is not None
        return in_query or (_HEADERS.search(spelled) is not None and _IN_HEADERS.match(text) is not None)

    def _is_held(self, value: ast.expr, attr: str, place: Place) -> bool:
        """Whether an attribute is the session that its object was made with."""
        if not any(held == attr for _, held in self._held):
            return False
        owner = self.code.type_of(value, place)
        return (owner, attr) in self._held if owner is not None else isinstance(value, ast.Name | ast.Attribute)

    def _taken(self, place: Place) -> Iterator[str]:
        """The attributes to which a constructor gives a session that is not there."""
        for node in place.nodes:
            match node:
                case ast.Assign(targets=[ast.Tuple(elts=goals)], value=ast.Tuple(elts=values)) if len(goals) == len(values):
                    pairs = [*zip(goals, values, strict=True)]
                case ast.Assign(targets=[goal], value=value) | ast.AnnAssign(target=goal, value=ast.expr() as value):
                    pairs = [(goal, value)]
                case _:
                    continue
            for goal, value in pairs:
                if isinstance(goal, ast.Attribute) and dotted(goal.value) == "self" and self._is_session(value, place, 0):
                    yield goal.attr

    def _hand_on(self, node: ast.Call, place: Place) -> None:
        target = self.code.target(node.func, place)
        if isinstance(target, Class):
            target = self.code.method(target, "__init__")
            if target is not None and target not in self.inside and any(self._is_session(a, place, 0) for a in _arguments(node)):
                self.inside += (target, *(one for one in self.code.reachable(target) if one not in (target, *self.inside)))
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
        region, (asking, looked) = self._region(place.unit), self._asks_for_it(place.unit)
        here = self._makings(place) | self._sure(place)
        here |= {n for use in self._quiet(place) if isinstance(use.node, ast.If) for n in descend(use.node.test)}
        for node in place.nodes:
            if node.__class__ not in _FAILS or node in region or node in asking or node in here or id(node) in looked:
                continue
            match node:
                case ast.Attribute(value=value) if self._is_session(value, place, 0):
                    yield node
                case ast.Assert(test=test) if self.asks(test, place):
                    yield test
                case ast.Subscript(value=value, slice=key):
                    names = self._names_header(key, place) and self._wants(node, place)
                    if names or self._is_session(value, place, 0) or self._is_session(key, place, 0):
                        yield node
                case ast.Call(func=func) if last(func) not in _SPEAKS | _LOOKS_UP and not self._is_known(node, place):
                    for argument in _arguments(node):
                        if self._is_session(argument, place, 0):
                            yield argument
                case ast.Dict(keys=keys, values=values):
                    for named, one in zip(keys, values, strict=True):
                        if named is not None and self._names_header(named, place) and self._is_session(one, place, 0):
                            yield node

    def _asks_for_it(self, unit: Unit) -> tuple[frozenset[ast.AST], frozenset[int]]:
        """What asks for a session in one module, with what it does without one; and the ids of what it looks up for that."""
        if unit not in self._asking:
            known = self.conditions(unit)
            asking = {n for condition in known for n in descend(condition.node)}
            asking.update(n for condition in known for s in _refusal(condition.around, condition.seen) for n in descend(s))
            self._asking[unit] = frozenset(asking), frozenset(id(n) for n in looked_up(known, unit.module))
        return self._asking[unit]

    def _sure(self, place: Place) -> frozenset[ast.AST]:
        """What only runs with a session in hand: `if session: session.touch()`."""
        found: set[ast.AST] = set()
        for node in place.of(ast.If):
            lacking = _lacking(node.test)
            if self._is_session(lacking or node.test, place, 0) or self._is_there(node.test, place):
                body = node.body if lacking is None else node.orelse
                found.update(n for statement in body for n in descend(statement))
        for both in place.of(ast.BoolOp):
            if isinstance(both.op, ast.And):
                sure = (at for at, one in enumerate(both.values) if self._is_session(one, place, 0) or self._is_there(one, place))
                found.update(n for later in both.values[next(sure, len(both.values)) + 1 :] for n in descend(later))
        return frozenset(found)

    def _is_there(self, test: ast.expr, place: Place) -> bool:
        match test:
            case ast.Compare(left=left, ops=[ast.IsNot() | ast.In()]):
                return self._is_session(left, place, 0)
            case ast.BoolOp(op=ast.And(), values=values):
                return any(self._is_session(value, place, 0) or self._is_there(value, place) for value in values)
        return False

    def _wants(self, node: ast.Subscript, place: Place) -> bool:
        """Whether a header is read that is not there, or given what is not there."""
        if isinstance(node.ctx, ast.Load):
            return True
        parent = place.unit.module.parents[node]
        return isinstance(parent, ast.Assign) and self._is_session(parent.value, place, 0)

    def _is_known(self, node: ast.Call, place: Place) -> bool:
        """Whether the called function is one that is followed."""
        target = self.code.target(node.func, place)
        if isinstance(target, Class):
            target = self.code.method(target, "__init__")
        return (
            (isinstance(target, Place) and target in self.inside) or bool(self._tabled(node, place)) or "log" in dotted(node.func).lower()
        )

    def only_gives(self, place: Place) -> bool:
        """Whether a function does nothing but give the session: each of its returns is one."""
        if place.function is None:
            return False
        returned = [n.value for n in place.nodes if isinstance(n, ast.Return) and n.value is not None]
        called = any(call.place in self.inside for call in self.code.callers(place)) or self._is_depended_on(place)
        return bool(returned) and called and all(self._is_session(value, place, 0) for value in returned)

    def _is_depended_on(self, place: Place) -> bool:
        return any(target == place for one in self.inside if one.function for _, target in depends(self.code, one))

    def _keeps_book(self, statement: ast.stmt, place: Place) -> bool:
        """Whether a statement only writes into the session, or calls a method of it for no value."""
        match statement:
            case ast.Assign(targets=[goal]) | ast.AugAssign(target=goal):
                names = isinstance(goal, ast.Subscript) and self._names_header(goal.slice, place)
                return not isinstance(goal, ast.Name) and (names or self._reaches_session(goal, place)) and not _gives(statement)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=value)) as call):
                return self._reaches_session(value, place) or self._is_about(call, place)
            case ast.Expr(value=ast.Await(value=ast.Call(func=ast.Attribute(value=value)) as call)):
                return self._reaches_session(value, place) or self._is_about(call, place)
        return False

    def _is_about(self, call: ast.Call, place: Place) -> bool:
        """`store.touch(sid)`, `self.send_header("Mcp-Session-Id", sid)`: the session comes first, or behind its header's name."""
        return bool(call.args) and (self._is_session(call.args[0], place, 0) or self._names_header(call.args[0], place))

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


def _legacy(module: Module) -> Iterator[ast.AST]:
    """What a boundary keeps for earlier revisions: behind `if MCP.modern: return ...`, in the other branch, behind `not MCP.modern and`."""
    tested: list[ast.If | ast.IfExp] = [*module.nodes(ast.If), *module.nodes(ast.IfExp)]
    for node in tested:
        modern = _is_modern(node.test, module)
        if modern is None:
            continue
        branch: list[ast.AST] = [*_listed(node.orelse if modern else node.body)]
        leaves = isinstance(node, ast.If) and isinstance(node.body[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)
        if modern and leaves:
            for block in (getattr(module.parents[node], name, None) for name in ("body", "orelse", "finalbody")):
                branch += block[block.index(node) + 1 :] if isinstance(block, list) and node in block else ()
        for part in branch:
            yield from descend(part)
    for test in module.nodes(ast.BoolOp):
        if _is_modern(test.values[0], module) is isinstance(test.op, ast.Or):
            for part in test.values[1:]:
                yield from descend(part)


def _listed(part: list[ast.stmt] | ast.expr) -> list[ast.stmt] | list[ast.expr]:
    return part if isinstance(part, list) else [part]


def _anew(place: Place) -> frozenset[ast.AST]:
    """What `if MCP.modern: session = Session(...)` does."""
    branches = [n for n in place.nodes if isinstance(n, ast.If) and _is_modern(n.test, place.unit.module)]
    return frozenset(n for branch in branches for statement in branch.body for n in descend(statement))


def _is_modern(test: ast.expr, module: Module) -> bool | None:
    """Whether a test holds for requests of 2026-07-28 (True), for others (False), or says something else."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = _is_modern(operand, module)
            return None if inner is None else not inner
        case ast.BoolOp(op=ast.And(), values=[first, *_]) if _is_modern(first, module) is False:
            return False
        case ast.Attribute() | ast.Call() | ast.Compare() if is_modern(test, module):
            return True
        case ast.Compare() if is_earlier(test):
            return False
    return None


def _arguments(node: ast.Call) -> Iterator[ast.expr]:
    yield from node.args
    yield from (keyword.value for keyword in node.keywords)


def _is_of_method(node: ast.AST, place: Place) -> bool:
    """Whether a node stands in the branch of one method."""
    inner = node
    for around in place.unit.module.ancestors(node):
        match around:
            case ast.If(test=test, body=body) if inner in body and any(
                isinstance(n, ast.expr) and place.unit.module.string(n) in METHODS for n in descend(test)
            ):
                return True
            case ast.match_case(pattern=pattern) if any(
                isinstance(n, ast.expr) and place.unit.module.string(n) in METHODS for n in descend(pattern)
            ):
                return True
        inner = around
    return False


def _lacking(test: ast.expr) -> ast.expr | None:
    """What a test asks for the want of."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return operand
        case ast.Compare(left=left, ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
            return left
    return None


def _joined(test: ast.expr) -> list[ast.expr]:
    return [part for value in test.values for part in _joined(value)] if isinstance(test, ast.BoolOp) else [test]


def _ends(body: list[ast.stmt]) -> bool:
    """Whether a block never comes to its end."""
    match body[-1]:
        case ast.Return() | ast.Raise():
            return True
        case ast.With(body=inner) | ast.AsyncWith(body=inner):
            return _ends(inner)
        case ast.If(body=inner, orelse=[_, *_] as other):
            return _ends(inner) and _ends(other)
        case ast.Try(body=inner, handlers=handlers):
            return _ends(inner) and all(_ends(handler.body) for handler in handlers)
    return False


def _gives_name(body: list[ast.stmt], name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for s in body for n in descend(s))


def _is_only_return(body: list[ast.stmt]) -> bool:
    match body:
        case [ast.Return(value=None | ast.Constant(value=None))]:
            return True
    return False


def _value_of(node: ast.Name, place: Place) -> ast.expr | None:
    """What a name is given where it is stored, if one expression spells it."""
    match place.unit.module.parents[node]:
        case ast.Assign(targets=[goal], value=value) | ast.AnnAssign(target=goal, value=value) | ast.NamedExpr(target=goal, value=value):
            return value if goal is node else None
    return None


def _refusal(around: ast.If, seen: bool) -> Iterable[ast.stmt]:
    return around.orelse if seen else around.body


def _gives(statement: ast.stmt) -> bool:
    return any(isinstance(n, ast.NamedExpr) for n in descend(statement))


def depends(code: Code, place: Place) -> Iterator[tuple[str, Place]]:
    """The functions that FastAPI calls before an endpoint, and the parameters that their values are given to."""
    assert place.function
    args, level = place.function.node.args, Place(place.unit, None)
    every = [*args.posonlyargs, *args.args]
    pairs = [*zip(reversed(every), reversed(args.defaults), strict=False), *zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    spelled: list[tuple[str, ast.AST | None]] = [(arg.arg, default) for arg, default in pairs]
    spelled += [(arg.arg, arg.annotation) for arg in (*every, *args.kwonlyargs)]
    spelled += [("", decorator) for decorator in place.function.node.decorator_list]
    for name, around in spelled:
        for node in descend(around) if around is not None else ():
            if isinstance(node, ast.Call) and last(node.func) in {"Depends", "Security"} and node.args:
                target = code.target(node.args[0], level)
                if isinstance(target, Place) and target.function:
                    yield name, target


def guards(code: Code, place: Place) -> Iterator[Place]:
    """What runs before a function and asks for a session: what FastAPI calls, and decorators of the project."""
    if place.function is None:
        return
    level = Place(place.unit, None)
    named = (one.func if isinstance(one, ast.Call) else one for one in place.function.node.decorator_list)
    for target in (*(target for _, target in depends(code, place)), *(code.target(one, level) for one in named)):
        if isinstance(target, Place) and target.function and any(_asks_for_session(one) for one in code.reachable(target)):
            yield target


def _asks_for_session(place: Place) -> bool:
    module = place.unit.module
    return place.function is not None and (place.function in module.once(_gated) or reads_header(place.function, module))


def _gated(module: Module) -> frozenset[Function | None]:
    if re.search(rb"mcp[-_]session|session_header", module.source.utf8.lower()) is None:
        return frozenset()  # sessions of a database, or of users
    return frozenset(module.function_of(condition.node) for condition in found_in(module))


def required(place: Place) -> str:
    """The parameter that a framework fills from the session's header and refuses requests without, or ""."""
    assert place.function
    args = place.function.node.args
    every = [*args.posonlyargs, *args.args]
    defaults: dict[str, ast.expr | None] = dict(zip(reversed([arg.arg for arg in every]), reversed(args.defaults), strict=False))
    defaults |= {arg.arg: default for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)}
    for name in place.function.parameters:
        if _is_header_parameter(place, name):
            match defaults.get(name):
                case None:
                    return name
                case ast.Call(func=func, args=given, keywords=keywords) if last(func) == "Header":
                    default = [*given, *(keyword.value for keyword in keywords if keyword.arg == "default")]
                    if not default or (isinstance(default[0], ast.Constant) and default[0].value is ...):
                        return name
    return ""


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
