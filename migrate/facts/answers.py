"""What an expression holds of a peer's answer: the whole message, its result, or neither.

A send-and-wait function parks a future, a queue, an event or a slot in a table, and another function puts the answer
there. `Answers` follows the value through that table. What it cannot follow is `OTHER`, never a guess.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from enum import Enum
from functools import cached_property

from .functions import Function, Module, bound, dotted, targets
from .shapes import is_empty_container
from .syntax import descend

FIELDS = frozenset({"result", "error"})
_ENVELOPE = FIELDS | {"id", "method"}
_DELIVER = frozenset({"set_result", "put", "put_nowait", "append", "send", "send_nowait"})
_UNWRAP = frozenset({"wait_for", "shield", "cast"})  # give back their first awaitable; `cast` its last argument
_HANDLES = frozenset({"result", "get", "get_nowait", "popleft", "pop"})
_PARSES = frozenset({"loads", "json", "get_json"})
_MAX_DEPTH = 8

Place = tuple[str | int, ...]
"""A table (or attribute, or global) by its dotted name, then the keys inside one of its entries."""


class Kind(str, Enum):
    """What a value is."""

    MESSAGE = "message"  # the JSON-RPC answer as it came: {"id": ..., "result": ...}
    RESULT = "result"  # what stands under "result"
    ERROR = "error"  # what stands under "error"
    FALLBACK = "fallback"  # a constant, None, or a literal without any of these
    OTHER = "other"


def join(kinds: Iterable[Kind]) -> Kind:
    """One kind for several ways: fallbacks give way to what they stand in for."""
    found = set(kinds)
    real = found - {Kind.FALLBACK}
    if not real:
        return Kind.FALLBACK if found else Kind.OTHER
    return real.pop() if len(real) == 1 else Kind.OTHER


class Answers:
    """Kinds of values in one module. Built once; asking is cheap."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._locals: dict[str, dict[str, list[ast.expr]]] = {}
        self._messages: dict[str, frozenset[str]] = {}
        self._delivered: dict[Place, set[Kind]] | None = None
        self._places: dict[str, dict[str, Place]] = {}

    def returns(self, function: Function, *, depth: int = 0) -> Kind:
        """What callers of the function get, awaited if it is async."""
        nodes = [node for node in function.own if isinstance(node, ast.Return)]
        if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in function.own):
            return Kind.OTHER
        return join(self.kind(node.value, function, depth=depth + 1) if node.value else Kind.FALLBACK for node in nodes)

    def kind(self, node: ast.expr, function: Function, *, depth: int = 0) -> Kind:
        if depth > _MAX_DEPTH:
            return Kind.OTHER
        again = depth + 1
        match node:
            case ast.Constant():
                return Kind.FALLBACK
            case ast.Dict(values=values) if all(isinstance(value, ast.Constant | ast.Dict) for value in values):
                return Kind.FALLBACK
            case ast.List(elts=[]) | ast.Tuple(elts=[]):
                return Kind.FALLBACK
            case ast.Await(value=value) | ast.NamedExpr(value=value):
                return self.kind(value, function, depth=again)
            case ast.IfExp(body=body, orelse=orelse):
                return join(self.kind(way, function, depth=again) for way in (body, orelse))
            case ast.BoolOp(op=ast.Or(), values=values):
                return join(self.kind(way, function, depth=again) for way in values)
            case ast.Subscript(value=value, slice=key):
                return self._member(value, self.module.string(key), function, again) or self._from_place(node, function)
            case ast.Call():
                return self._call(node, function, again)
            case ast.Name(id=name):
                if name in self._message_names(function):
                    return Kind.MESSAGE
                place = self._from_place(node, function)
                values = self.bound(function).get(name, [])
                if place is not Kind.OTHER or not values:
                    return place
                return join(self.kind(value, function, depth=again) for value in values)
            case ast.Attribute():
                return self._from_place(node, function)
        return Kind.OTHER

    def place(self, node: ast.expr, function: Function) -> Place | None:
        """Where the value lives, if it is (or lies in) an entry of a table that outlives the function."""
        match node:
            case ast.NamedExpr(value=value) | ast.Await(value=value):
                return self.place(value, function)
            case ast.Name(id=name):
                known = self.aliases(function)
                if name in known:
                    return known[name]
                return None if name in self.bound(function) or name in function.parameters else (name,)
            case ast.Attribute(value=value, attr=attr):
                text = self.table(node)
                if text.startswith(("self.", "cls.")) and text.count(".") == 1:
                    return (text,)
                base = self.place(value, function)
                # `module.NAME` stays a table of its own; `entry.reply` is a key inside an entry.
                return (*base, attr) if base is not None else None
            case ast.Subscript(value=value, slice=ast.Constant(value=str() | int() as key)):
                base = self.place(value, function)
                return (*base, key) if base is not None else None
            case ast.Subscript(value=value):
                return self.place(value, function)
            case ast.Call(func=ast.Attribute(value=value, attr="pop" | "get" | "setdefault")):
                return self.place(value, function)
        return None

    def table(self, node: ast.expr) -> str:
        """The dotted name of a table; `session.waiting` is `self.waiting` where one class makes such a table for its objects."""
        return f"self.{node.attr}" if isinstance(node, ast.Attribute) and node.attr in self._tables else dotted(node)

    @cached_property
    def _tables(self) -> frozenset[str]:
        """Attributes that are made once in the module, as an empty table in a constructor."""
        found: dict[str, list[bool]] = {}
        for function in self.module.functions.values():
            for node in function.own:
                for target in targets(node):
                    if isinstance(target, ast.Attribute):
                        made = isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and is_empty_container(node.value)
                        found.setdefault(target.attr, []).append(made and function.short == "__init__" and dotted(target.value) == "self")
        return frozenset(attr for attr, made in found.items() if made == [True])

    def _call(self, node: ast.Call, function: Function, depth: int) -> Kind:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""
        if name in _UNWRAP and node.args:
            return self.kind(node.args[-1 if name == "cast" else 0], function, depth=depth)
        if name == "loads":
            return Kind.MESSAGE
        target = self.module.callee(node, function)
        if target is not None and target is not function:
            return self.returns(target, depth=depth)
        if isinstance(node.func, ast.Attribute):
            receiver = node.func.value
            if name == "get" and node.args and (found := self._member(receiver, self.module.string(node.args[0]), function, depth)):
                fallback = [self.kind(arg, function, depth=depth) for arg in node.args[1:]]
                # `message.get("result", message)`: an answer that succeeded has a result.
                return found if all(kind in (Kind.FALLBACK, Kind.MESSAGE) for kind in fallback) else Kind.OTHER
            if name in _HANDLES and (place := self._from_place(node if name == "pop" else receiver, function)) is not Kind.OTHER:
                return place
            if name in _HANDLES and (place := self._from_place(receiver, function)) is not Kind.OTHER:
                return place
            if name == "copy" and not node.args:
                return self.kind(receiver, function, depth=depth)
        if name == "dict" and len(node.args) == 1:
            return self.kind(node.args[0], function, depth=depth)
        return Kind.OTHER

    def _member(self, value: ast.expr, key: str | None, function: Function, depth: int) -> Kind | None:
        if key in FIELDS and self.kind(value, function, depth=depth) is Kind.MESSAGE:
            return Kind.RESULT if key == "result" else Kind.ERROR
        return None

    def _from_place(self, node: ast.expr, function: Function) -> Kind:
        place = self.place(node, function)
        if place is None:
            return Kind.OTHER
        delivered = self._deliveries()
        # A list or deque that the answer was appended to is read by position.
        for candidate in (place, place[:-1] if isinstance(place[-1], int) else place):
            if candidate in delivered:
                return join(delivered[candidate])
        return Kind.OTHER

    def _deliveries(self) -> dict[Place, set[Kind]]:
        if self._delivered is None:
            self._delivered = {}
            for function in self.module.functions.values():
                for place, value in self._handed_over(function):
                    kind = self.kind(value, function)
                    if kind is not Kind.FALLBACK or place in self._delivered:
                        self._delivered.setdefault(place, set()).add(kind)
        return self._delivered

    def _handed_over(self, function: Function) -> Iterator[tuple[Place, ast.expr]]:
        for node in function.own:
            match node:
                case ast.Call(func=ast.Attribute(value=receiver, attr=attr), args=[value]) if attr in _DELIVER:
                    pair = (receiver, value)
                case ast.Call(args=[ast.Attribute(value=receiver, attr=attr), value]) if attr in _DELIVER:
                    pair = (receiver, value)  # loop.call_soon_threadsafe(future.set_result, message)
                case ast.Assign(targets=[ast.Subscript() | ast.Attribute() | ast.Name() as receiver], value=value):
                    if isinstance(receiver, ast.Name) and receiver.id not in _declared_global(function):
                        continue
                    if not self._speaks(value, function):
                        continue
                    pair = (receiver, value)
                case _:
                    continue
            place = self.place(pair[0], function)
            if place is not None:
                yield place, pair[1]

    def _speaks(self, value: ast.expr, function: Function) -> bool:
        """Whether an assigned value is (part of) a message at all; handles and flags are no deliveries."""
        return any(isinstance(node, ast.Name) and node.id in self._message_names(function) for node in descend(value))

    def _message_names(self, function: Function) -> frozenset[str]:
        """Names that the function treats as a JSON-RPC message: it looks for envelope keys in them."""
        if function.name not in self._messages:
            seen: dict[str, set[str]] = {}
            for node in function.own:
                match node:
                    case ast.Subscript(value=ast.Name(id=name), slice=key):
                        pass
                    case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="get" | "pop"), args=[key, *_]):
                        pass
                    case ast.Compare(left=key, ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=name)]):
                        pass
                    case _:
                        continue
                if (text := self.module.string(key)) in _ENVELOPE and text is not None:
                    seen.setdefault(name, set()).add(text)
            self._messages[function.name] = frozenset()
            self._messages[function.name] = frozenset(
                name
                for name, keys in seen.items()
                # One key could be anything's; `id` together with another envelope key is a message.
                if ("id" in keys and len(keys) >= 2 if name in function.parameters else self._is_parsed(name, function))
                or (name in function.parameters and self._is_given_messages(name, function))
            )
        return self._messages[function.name]

    def _is_given_messages(self, name: str, function: Function) -> bool:
        """Whether every caller hands a message over in this parameter."""
        calls = [
            (bound(call, function, name), caller)
            for caller in self.module.functions.values()
            for call, target in self.module.calls(caller)
            if target is function
        ]
        return bool(calls) and all(isinstance(value, ast.Name) and value.id in self._message_names(caller) for value, caller in calls)

    def _is_parsed(self, name: str, function: Function) -> bool:
        values = self.bound(function).get(name, [])
        return bool(values) and all(
            any(
                isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _PARSES for node in descend(value)
            )
            for value in values
        )

    def bound(self, function: Function) -> dict[str, list[ast.expr]]:
        """Local names with every expression that is assigned to them."""
        if function.name not in self._locals:
            shared = _declared_global(function)
            self._locals[function.name] = {name: values for name, values in function.assigned.items() if name not in shared}
        return self._locals[function.name]

    def aliases(self, function: Function) -> dict[str, Place]:
        """Local names that are an entry of a table: put there (`T[id] = box`) or taken from it (`box = T.pop(id)`)."""
        if function.name in self._places:
            return self._places[function.name]
        known = self._places[function.name] = {}
        for node in function.own:
            match node:
                case ast.Assign(targets=[*_, ast.Subscript(value=table)] | [ast.Subscript(value=table), *_], value=value):
                    if (place := self.place(table, function)) is not None:
                        known.update(_inside(value, place))
                        known.update({target.id: place for target in node.targets if isinstance(target, ast.Name)})
                case ast.Assign(
                    targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(attr="pop" | "get")) | ast.Subscript() as value
                ):
                    if (place := self.place(value, function)) is not None:
                        known[name] = place
                case ast.NamedExpr(
                    target=ast.Name(id=name), value=ast.Call(func=ast.Attribute(attr="pop" | "get")) | ast.Subscript() as value
                ):
                    if (place := self.place(value, function)) is not None:
                        known[name] = place
                case ast.Assign(targets=[ast.Tuple(elts=elts)], value=value):
                    if (place := self.place(value, function)) is not None:
                        known.update({e.id: (*place, i) for i, e in enumerate(elts) if isinstance(e, ast.Name)})
                case ast.Assign(targets=[ast.Attribute() as attribute], value=ast.Name(id=name)):
                    if (place := self.place(attribute, function)) is not None and name in self.bound(function):
                        known[name] = place  # self._waiting = future
        return known


def _inside(value: ast.expr, place: Place) -> Iterator[tuple[str, Place]]:
    """The names that an entry is made of, with their places in it."""
    match value:
        case ast.Name(id=name):
            yield name, place
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            for index, element in enumerate(elts):
                yield from _inside(element, (*place, index))
        case ast.Dict(keys=keys, values=values):
            for key, element in zip(keys, values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield from _inside(element, (*place, key.value))


def _declared_global(function: Function) -> frozenset[str]:
    return frozenset(name for node in function.own if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names)
