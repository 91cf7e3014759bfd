"""What a function gives back: proof that it is a JSON-RPC reply or nothing, or the reason why that is not sure."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from .chains import table_of
from .code import Call, Class, Code, Place, assigned
from .decorators import Decorators
from .functions import Def, targets
from .gates import handshake
from .syntax import descend

_MAX_DEPTH = 12
# What makes an awaitable of an awaitable, and what waits for one.
_AWAITABLE = frozenset({"create_task", "ensure_future", "shield", "wait_for"})
WAITS = frozenset({"run", "run_until_complete"})
COROUTINE = "a coroutine is returned, not its value"
TUPLE = "a tuple is returned"
_TEXT = frozenset({"dumps", "model_dump_json", "json"})
_MODELS = frozenset({"dict", "model_dump", "to_dict", "asdict"})


@dataclass(frozen=True)
class Proof:
    """What an expression or a function can be. `doubt` is the first thing that could not be proven, with its place."""

    reply: bool = False
    nothing: bool = False
    doubt: str = ""
    at: tuple[Place, ast.AST] | None = field(default=None, compare=False)
    later: ast.AST | None = field(default=None, compare=False)  # what makes it an awaitable of all this

    @property
    def sure(self) -> bool:
        return not self.doubt

    @property
    def empty(self) -> bool:
        return not (self.reply or self.nothing or self.doubt)

    def __or__(self, other: Proof) -> Proof:
        if self.empty or other.empty:
            return other if self.empty else self
        first = self if self.doubt else other
        made = Proof(self.reply or other.reply, self.nothing or other.nothing, first.doubt, first.at, self.later or other.later)
        return made if (self.later is None) == (other.later is None) else replace(made, doubt=made.doubt or COROUTINE)


NOTHING = Proof(nothing=True)
REPLY = Proof(reply=True)
WORD = "reply"
"""How a `Packed` spells the reply."""


@dataclass(frozen=True)
class Packed:
    """A tuple that a function returns, with a reply in it.

    `shape` has `WORD` where the reply stands; beside it stands what is given where nothing changes: None, or the parameter of this name.
    """

    shape: tuple[str | None, ...]
    proof: Proof

    @property
    def at(self) -> int:
        return self.shape.index(WORD)


class _Element(NamedTuple):
    """One value of a tuple; `kept` says that it is None, or the parameter called `name` as the function got it."""

    proof: Proof
    kept: bool = False
    name: str | None = None


_Row = tuple[_Element, ...]


class _Unpackable(Exception):
    """Not always a tuple, or not one that can be followed; what stands in the way, and where."""

    def __init__(self, place: Place, node: ast.AST) -> None:
        super().__init__()
        self.place, self.node = place, node


@dataclass(eq=False)
class Replies:
    """Proves functions of a project; what was proven once is kept."""

    code: Code
    decorators: Decorators
    _known: dict[Place, Proof] = field(default_factory=dict)
    _rows: dict[Place, tuple[_Row, ...] | _Unpackable] = field(default_factory=dict)

    def function(self, place: Place) -> Proof:
        """The proof of everything that a function returns, of an async one once it is awaited."""
        return _at_hand(self._returned(place), place)

    def expression(self, node: ast.expr | None, place: Place) -> Proof:
        """The proof of one value inside a function."""
        return _at_hand(self._value(node, place, 0), place)

    def packed(self, place: Place) -> Packed | Proof:
        """The tuple that a function always returns, where one of its values is surely a reply or None, and no other may be one.

        Where that is not so, a proof that says why.
        """
        try:
            rows = self._packed(place)
        except _Unpackable as doubt:
            return _doubt(f"{TUPLE}, and something else here", doubt.node, doubt.place)
        node = place.function.node if place.function else place.unit.module.tree
        if not rows or len({len(row) for row in rows}) != 1:
            return _doubt("tuples of several lengths are returned", node, place)
        columns = [self._any(row[at].proof for row in rows) for at in range(len(rows[0]))]
        found = [at for at, proof in enumerate(columns) if proof.reply]
        if len(found) != 1:
            return _doubt(f"{TUPLE}, and which of its values is the reply is not sure", node, place)
        if not columns[found[0]].sure:
            return columns[found[0]]
        # Only what goes with a reply says what its callers are used to.
        answering = [row for row in rows if row[found[0]].proof.reply]
        shape: list[str | None] = []
        for at in range(len(columns)):
            kept = {row[at].name for row in answering if row[at].kept}
            if at == found[0]:
                shape.append(WORD)
            elif not kept or WORD in kept or len(kept - {None}) > 1:
                return _doubt(f"{TUPLE}, and what goes with a reply that changes nothing is not known", node, place)
            else:
                # A caller that keeps what it is given goes on with what it had.
                shape.append(next(iter(kept - {None}), None))
        return Packed(tuple(shape), columns[found[0]])

    def _returned(self, place: Place) -> Proof:
        if place not in self._known:
            # A function that calls itself returns what its other exits return.
            self._known[place] = Proof()
            self._known[place] = self._function(place)
        return self._known[place]

    def _value(self, node: ast.expr | None, place: Place, depth: int) -> Proof:
        if depth > _MAX_DEPTH:
            return Proof(doubt="too deep to follow")
        depth += 1
        match node:
            case None | ast.Constant(value=None):
                return NOTHING
            case ast.Dict():
                return self._dict(node, place, depth)
            case ast.Call(func=ast.Name(id="dict"), keywords=keywords) if any(k.arg == "jsonrpc" for k in keywords):
                return REPLY
            case ast.IfExp(body=body, orelse=orelse):
                return self._value(body, place, depth) | self._value(orelse, place, depth)
            case ast.BoolOp(op=ast.Or(), values=values):
                return self._any(self._value(value, place, depth) for value in values)
            case ast.NamedExpr(value=value):
                return self._value(value, place, depth)
            case ast.Name(id=name):
                return self._name(name, place, depth, node)
            case ast.Await(value=value):
                return _awaited(self._value(value, place, depth))
            case ast.Call():
                return self._call(node, place, depth)
            case ast.Tuple():
                return _doubt(TUPLE, node, place)
            case ast.Constant() | ast.JoinedStr():
                return _doubt("a text is returned", node, place)
            case ast.List() | ast.ListComp():
                return _doubt("a list is returned", node, place)
        return _doubt(f"`{_short(node, place)}` is not known to be a reply", node, place)

    def _called(self, target: ast.expr | Place, node: ast.expr, place: Place, depth: int) -> Proof:
        """The proof of what the call `node` gives, of a handler that an expression names, such as the entry of a table."""
        if isinstance(target, ast.Lambda):
            return self._value(target.body, place, depth)
        found = target if isinstance(target, Place) else self.code.target(target, place)
        if not isinstance(found, Place) or found.function is None:
            return Proof(doubt="a handler that cannot be followed")
        if (above := self.decorators.opaque(found)) is not None:
            return _doubt(f"`@{_short(above, found)}` may change what `{found.name}` returns", node, place)
        proof = self._returned(found)
        return _awaitable(_at_hand(proof, found), node) if isinstance(found.function.node, ast.AsyncFunctionDef) else proof

    def _function(self, place: Place) -> Proof:
        assert place.function
        proof = Proof()
        for node in place.nodes:
            match node:
                case ast.Return(value=value):
                    proof |= self._value(value, place, 0)
                case ast.Yield() | ast.YieldFrom():
                    return _doubt("it is a generator", node, place)
        return proof | NOTHING if falls_through(place.function.node.body) else proof

    def _dict(self, node: ast.Dict, place: Place, depth: int) -> Proof:
        keys = {self.code.text(key, place) for key in node.keys if key is not None}
        if "jsonrpc" in keys:
            return REPLY
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None and (found := self._value(value, place, depth)).sure and found.reply:
                return REPLY
        return _doubt("a result without its envelope is returned", node, place)

    def _name(self, name: str, place: Place, depth: int, node: ast.AST) -> Proof:
        for around in place.enclosing():
            values = assigned(around, name)
            if around.function and name in around.function.parameters:
                return _doubt(f"the parameter `{name}` is returned", node, place)
            if values:
                if any(value is None for value in values):
                    if (unpacked := self._unpacked(name, around)) is not None:
                        return unpacked
                    return _doubt(f"`{name}` is given a value that cannot be followed", node, place)
                kept = [value for value in values if not (isinstance(value, ast.Name) and value.id == name)]
                # `if inspect.isawaitable(reply): reply = await reply`
                others = [value for value in kept if not _awaits(value, name)]
                proofs = (self._value(value, around, depth) for value in others)
                return self._any(proofs if len(others) == len(kept) else map(_awaited, proofs))
        bound = place.unit.names.bindings.get(name)
        if bound is not None:
            return self._value(bound, Place(place.unit, None), depth)
        return _doubt(f"`{name}` is not known to be a reply", node, place)

    def _call(self, node: ast.Call, place: Place, depth: int) -> Proof:
        match node:
            case ast.Call(func=ast.Attribute(attr=name), args=[ast.Call() as inner, *_]) if name in WAITS:
                return _awaited(self._value(inner, place, depth))
            case ast.Call(func=ast.Attribute(attr=name), args=[ast.Call() as inner, *_]) if name in _AWAITABLE:
                return _awaitable(self._value(inner, place, depth), node)
            case ast.Call(func=ast.Attribute(attr="to_thread" | "run_sync"), args=[target, *_]):
                return _awaitable(self._called(target, node, place, depth), node)
            case ast.Call(func=ast.Attribute(attr="run_in_executor"), args=[_, target, *_]):
                return _awaitable(self._called(target, node, place, depth), node)
            case ast.Call(func=ast.Attribute(attr=name)) if name in _TEXT:
                return _doubt("JSON text is returned", node, place)
            case ast.Call(func=ast.Attribute(attr=name)) if name in _MODELS:
                return _doubt("a typed reply is returned", node, place)
        found = self.code.target(node.func, place)
        if isinstance(found, Place):
            return self._called(found, node, place, depth)
        if isinstance(found, Class):
            return _doubt("a typed reply is returned", node, place)
        table = self._table(node.func, place)
        if table is not None:
            return self._any(self._called(value, node, home, depth) for value, home in table)
        if handed := self._handed_in(node.func, place):
            return self._any(self._called(value, node, home, depth) for value, home in handed)
        return _doubt(f"`{_short(node.func, place)}(...)` cannot be followed", node, place)

    def _handed_in(self, func: ast.expr, place: Place) -> list[tuple[ast.expr, Place]]:
        """The functions that a parameter may be, where every call says which one it hands in: `create(params, self.make_error)`."""
        if not isinstance(func, ast.Name) or place.function is None or func.id not in place.function.parameters or assigned(place, func.id):
            return []
        calls = self.code.callers(place)
        given = [call.argument(func.id, place.function) if call.direct else None for call in calls]
        return [] if None in given else [(one, call.place) for one, call in zip(given, calls, strict=True) if one is not None]

    # -- tuples ----------------------------------------------------------------------
    def _packed(self, place: Place) -> tuple[_Row, ...]:
        """The tuples that a function may return, of an async one once it is awaited. Raises _Unpackable."""
        if place not in self._rows:
            # A function that calls itself returns what its other exits return.
            self._rows[place] = ()
            try:
                self._rows[place] = tuple(self._exits(place))
            except _Unpackable as doubt:
                self._rows[place] = doubt
        rows = self._rows[place]
        if isinstance(rows, _Unpackable):
            raise rows
        return rows

    def _exits(self, place: Place) -> Iterator[_Row]:
        assert place.function
        if falls_through(place.function.node.body) or self.decorators.opaque(place) is not None:
            raise _Unpackable(place, place.function.node)
        for node in place.nodes:
            match node:
                case ast.Return(value=ast.expr() as value):
                    yield from self._tuples(value, place, 0)
                case ast.Return() | ast.Yield() | ast.YieldFrom():
                    raise _Unpackable(place, node)

    def _tuples(self, node: ast.expr, place: Place, depth: int) -> Iterator[_Row]:
        if depth > _MAX_DEPTH:
            raise _Unpackable(place, node)
        depth += 1
        match node:
            case ast.Tuple(elts=elts) if not any(isinstance(one, ast.Starred) for one in elts):
                yield tuple(self._element(one, place, depth) for one in elts)
            case ast.IfExp(body=body, orelse=orelse):
                yield from self._tuples(body, place, depth)
                yield from self._tuples(orelse, place, depth)
            case ast.Name(id=name) if values := assigned(place, name):
                for value in values:
                    if value is None:
                        raise _Unpackable(place, node)
                    yield from self._tuples(value, place, depth)
            case ast.Await(value=ast.Call() as call):
                match call:
                    case ast.Call(func=ast.Attribute(attr=attr), args=[ast.Call() as inner, *_]) if attr in _AWAITABLE:
                        call = inner
                yield from self._tuples_of(call, place, is_async=True)
            case ast.Call(func=ast.Attribute(attr=attr), args=[ast.Call() as inner, *_]) if attr in WAITS:
                yield from self._tuples_of(inner, place, is_async=True)
            case ast.Call():
                yield from self._tuples_of(node, place, is_async=False)
            case _:
                raise _Unpackable(place, node)

    def _tuples_of(self, call: ast.Call, place: Place, *, is_async: bool) -> Iterator[_Row]:
        """The tuples that a call gives; what it gives back of its own parameters is what the call has handed in."""
        found = self.code.target(call.func, place)
        named = [(found, place)] if found is not None else self._table(call.func, place)
        if not named:
            raise _Unpackable(place, call)
        for one, home in named:
            target = one if isinstance(one, tuple) else self.code.target(one, home)
            if not isinstance(target, Place) or target.function is None:
                raise _Unpackable(place, call)
            if isinstance(target.function.node, ast.AsyncFunctionDef) is not is_async:
                raise _Unpackable(place, call)
            use = Call(place, call, tuple(call.args), direct=True)
            for row in self._packed(target):
                yield tuple(self._handed(element, use, target) for element in row)

    def _handed(self, element: _Element, use: Call, target: Place) -> _Element:
        if element.name is None or target.function is None:
            return element
        argument = use.argument(element.name, target.function)
        kept = self._element(argument, use.place, 0) if argument is not None else _Element(element.proof)
        return _Element(element.proof, kept.kept, kept.name)

    def _element(self, node: ast.expr, place: Place, depth: int) -> _Element:
        match node:
            case ast.Constant(value=None):
                return _Element(NOTHING, kept=True)
            case ast.Name(id=name) if place.function and name in place.function.parameters:
                own = place.unit.module.once(handshake)
                stores = [one for one in place.nodes if any(isinstance(goal, ast.Name) and goal.id == name for goal in targets(one))]
                # The handshake may open a session; whatever comes after it goes on with the one that it has.
                if all(one in own for one in stores):
                    return _Element(_doubt(f"the parameter `{name}` is returned", node, place), kept=True, name=name)
        return _Element(_at_hand(self._value(node, place, depth), place))

    def _unpacked(self, name: str, place: Place) -> Proof | None:
        """What a name is where it is only taken out of tuples: `reply, session = self._open(message)`."""
        found = Proof()
        stores = [node for node in place.nodes if any(isinstance(goal, ast.Name) and goal.id == name for goal in targets(node))]
        for node in stores:
            match node:
                case ast.Assign(targets=[ast.Name()], value=value):
                    found |= self._value(value, place, 1)
                case ast.Assign(targets=[ast.Tuple(elts=goals)], value=value):
                    at = next((i for i, goal in enumerate(goals) if isinstance(goal, ast.Name) and goal.id == name), None)
                    try:
                        rows = [*self._tuples(value, place, 1)]
                    except _Unpackable:
                        return None
                    if at is None or any(len(row) != len(goals) for row in rows):
                        return None
                    found |= self._any(row[at].proof for row in rows)
                case _:
                    return None
        return found if len(stores) == len(assigned(place, name)) else None

    def _table(self, func: ast.expr, place: Place) -> tuple[tuple[ast.expr | Place, Place], ...] | None:
        """The handlers that `handler(...)` may run, when `handler` was looked up in a table that is known whole."""
        match func:
            case ast.Name(id=name):
                values = [value for value in assigned(place, name) if not isinstance(value, ast.Constant)]
                if len(values) != 1 or values[0] is None:
                    return None
                return self._table(values[0], place)
            case ast.Call(func=ast.Attribute(value=mapping, attr="get"), args=[_, *default]):
                table = table_of(self.code, mapping, place)
                return (*table.values, *((d, place) for d in default)) if table.complete and table.values else None
            case ast.Subscript(value=mapping):
                table = table_of(self.code, mapping, place)
                return table.values if table.complete and table.values else None
        return None

    def _any(self, proofs: Iterable[Proof]) -> Proof:
        found = Proof()
        for proof in proofs:
            found |= proof
        return found


def _at_hand(proof: Proof, place: Place) -> Proof:
    """A proof of something that is there, not of something that has to be awaited first."""
    return proof if proof.later is None or proof.doubt else replace(proof, doubt=COROUTINE, at=(place, proof.later))


def _awaited(proof: Proof) -> Proof:
    return replace(proof, later=None)


def _awaits(value: ast.expr | None, name: str) -> bool:
    return isinstance(value, ast.Await) and isinstance(value.value, ast.Name) and value.value.id == name


def _awaitable(proof: Proof, node: ast.AST) -> Proof:
    # An awaitable of an awaitable gives one, however often it is awaited here.
    return replace(proof, later=node) if proof.later is None else replace(proof, doubt=proof.doubt or COROUTINE)


def falls_through(body: list[ast.stmt]) -> bool:
    """Whether the end of a block can be reached."""
    match body[-1]:
        case ast.Return() | ast.Raise() | ast.Continue() | ast.Break():
            return False
        case ast.If(body=inner, orelse=orelse):
            return falls_through(inner) or not orelse or falls_through(orelse)
        case ast.With(body=inner) | ast.AsyncWith(body=inner):
            return falls_through(inner)
        case ast.Try(body=inner, handlers=handlers, orelse=orelse, finalbody=final):
            if final and not falls_through(final):
                return False
            return falls_through(orelse or inner) or any(falls_through(handler.body) for handler in handlers)
        case ast.While(test=ast.Constant(value=True), body=inner):
            return any(isinstance(node, ast.Break) for statement in inner for node in descend(statement))
        case ast.Match(cases=cases):
            whole = any(isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.guard is None for case in cases)
            return not whole or any(falls_through(case.body) for case in cases)
    return True


def _doubt(reason: str, node: ast.AST, place: Place) -> Proof:
    return Proof(doubt=reason, at=(place, node))


def _short(node: ast.AST | None, place: Place) -> str:
    text = ast.unparse(node) if node is not None and not isinstance(node, Def) else ""
    return text if len(text) <= 40 else text[:37] + "..."
