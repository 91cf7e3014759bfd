"""Where a server's messages leave: each place that serialises one, and what kind of message it can be."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from .code import Code, Place, Unit, assigned, unwrap
from .functions import Def, dotted
from .syntax import descend

_MAX_DEPTH = 10
_WRITES = frozenset({"write", "writelines", "print", "put", "put_nowait", "send", "send_str", "send_text", "sendall", "send_json"})


class Kind(str, Enum):
    """What a serialised value can be."""

    REPLY = "reply"  # it carries a result, or may
    ERROR = "error"
    NOTIFICATION = "notification"
    REQUEST = "request"
    PARAMETER = "parameter"  # whatever the caller hands in
    OTHER = "other"  # no JSON-RPC message
    UNKNOWN = "unknown"


MESSAGES = frozenset({Kind.REPLY, Kind.NOTIFICATION, Kind.REQUEST})


@dataclass(frozen=True, eq=False)
class Emission:
    """A `json.dumps(payload)` whose text is written. `parameter` names the parameter that the payload is, if it is one."""

    place: Place
    dumps: ast.Call
    payload: ast.expr
    kinds: frozenset[Kind]
    parameter: str = ""


@dataclass(frozen=True, eq=False)
class Send:
    """A message on its way out: written here, or handed to a function that writes what it is given."""

    place: Place
    node: ast.Call
    payload: ast.expr
    kinds: frozenset[Kind]
    writer: Emission


@dataclass(eq=False)
class Emissions:
    """The emissions of whole modules; each module is read once."""

    code: Code
    _of_unit: dict[Unit, tuple[Emission, ...]] = field(default_factory=dict)
    _writers: dict[Place, tuple[Emission, str] | None] = field(default_factory=dict)

    def of(self, unit: Unit) -> tuple[Emission, ...]:
        """Everything of this module that serialises a value and writes it, but not to a log."""
        if unit not in self._of_unit:
            self._of_unit[unit] = tuple(self._find(unit))
        return self._of_unit[unit]

    def sends(self, place: Place) -> Iterator[Send]:
        """What the code of one function writes, or hands to a writer. A parameter that is passed on is not a send."""
        for emission in self.of(place.unit):
            if emission.place == place and Kind.PARAMETER not in emission.kinds:
                yield Send(place, emission.dumps, emission.payload, emission.kinds, emission)
        for node in place.nodes:
            if isinstance(node, ast.Call) and (target := self.code.function(node, place)) and (found := self.writer(target)):
                emission, parameter = found
                payload = _argument(node, parameter, target)
                if payload is None:
                    continue
                kinds = self.kinds(payload, place)
                if Kind.PARAMETER not in kinds:
                    yield Send(place, node, payload, kinds, emission)

    def writer(self, target: Place, depth: int = 0) -> tuple[Emission, str] | None:
        """The emission and the parameter, when the function writes the message that it is given."""
        if target not in self._writers and depth < _MAX_DEPTH:
            self._writers[target] = None
            self._writers[target] = self._writer(target, depth)
        return self._writers.get(target)

    def kinds(self, node: ast.expr | None, place: Place, depth: int = 0) -> frozenset[Kind]:
        """What an expression can be, as far as this can be told."""
        if depth > _MAX_DEPTH:
            return frozenset({Kind.UNKNOWN})
        depth += 1
        match node:
            case None | ast.Constant():
                return frozenset()
            case ast.Dict():
                return self._of_dict(node, place, depth)
            case ast.IfExp(body=body, orelse=orelse):
                return self.kinds(body, place, depth) | self.kinds(orelse, place, depth)
            case ast.BoolOp(values=values):
                return frozenset().union(*(self.kinds(value, place, depth) for value in values))
            case ast.NamedExpr(value=value):
                return self.kinds(value, place, depth)
            case ast.Name(id=name):
                return self._of_name(name, place, depth)
            case ast.Await() | ast.Call():
                inner = unwrap(node)
                target = self.code.function(inner, place) if isinstance(inner, ast.Call) else None
                if target is None:
                    return frozenset({Kind.UNKNOWN})
                returns = [n.value for n in target.nodes if isinstance(n, ast.Return)]
                found = frozenset().union(*(self.kinds(value, target, depth) for value in returns))
                return found - {Kind.PARAMETER} | ({Kind.UNKNOWN} if Kind.PARAMETER in found else set())
        return frozenset({Kind.UNKNOWN})

    def _find(self, unit: Unit) -> Iterator[Emission]:
        for place in unit.places:
            for node in place.nodes:
                if isinstance(node, ast.Call) and (payload := self._serialised(node, place)) is not None and self._is_written(node, place):
                    before = _just_given(payload, place)
                    kinds = self.kinds(payload if before is None else before, place)
                    parameter = payload.id if isinstance(payload, ast.Name) and Kind.PARAMETER in kinds else ""
                    yield Emission(place, node, payload, kinds, parameter)

    def _serialised(self, node: ast.Call, place: Place) -> ast.expr | None:
        """What a call turns into JSON text."""
        name = dotted(node.func)
        if name.rpartition(".")[2] == "dumps" and node.args:
            return node.args[0]
        if name == "json.dump" and len(node.args) > 1:
            return None if "stderr" in ast.unparse(node.args[1]) else node.args[0]
        if len(node.args) == 1 and (target := self.code.function(node, place)) and target.function and target != place:
            match [n for n in target.nodes if isinstance(n, ast.Return)]:
                case [ast.Return(value=ast.Call() as inner)] if dotted(inner.func).rpartition(".")[2] == "dumps" and inner.args:
                    argument = inner.args[0]
                    if isinstance(argument, ast.Name) and argument.id in target.function.parameters[:1]:
                        return node.args[0]
        return None

    def _is_written(self, node: ast.Call, place: Place) -> bool:
        """Whether the text of a `dumps` is written to something that is not a log."""
        if dotted(node.func) == "json.dump":
            return True
        parents = place.unit.module.parents
        around: ast.AST = node
        while around in parents and not isinstance(around := parents[around], Def | ast.Lambda | ast.ClassDef):
            match around:
                case ast.Call(func=func):
                    if self._writes(around, place):
                        return True
                    if not isinstance(func, ast.Attribute) or func.attr not in {"encode", "format", "join"}:
                        return False
                case (
                    ast.Assign(targets=[ast.Name(id=name)])
                    | ast.AnnAssign(target=ast.Name(id=name))
                    | ast.NamedExpr(target=ast.Name(id=name))
                ):
                    return any(
                        isinstance(call, ast.Call) and self._writes(call, place) and any(_loads(argument, name) for argument in call.args)
                        for call in place.nodes
                    )
                case ast.Return() | ast.Dict() | ast.Compare():
                    return False
        return False

    def _writes(self, call: ast.Call, place: Place) -> bool:
        name = dotted(call.func)
        if "stderr" in name or name.startswith(("log", "self.log")):
            return False
        if name.rpartition(".")[2] in _WRITES or _last(call.func) in _WRITES:
            return not any(k.arg == "file" and "stderr" in ast.unparse(k.value) for k in call.keywords)
        match call.func:
            case ast.Name(id=local) if place.function and local in place.function.parameters:
                return True
            case ast.Attribute(attr="run_in_executor" | "to_thread"):
                return any(_last(argument) in _WRITES for argument in call.args)
        target = self.code.function(call, place)
        return target is not None and target != place and _writes_text(target)

    def _writer(self, target: Place, depth: int) -> tuple[Emission, str] | None:
        for emission in self.of(target.unit):
            if emission.place == target and emission.parameter:
                return emission, emission.parameter
        assert target.function
        for node in target.nodes:
            if (
                isinstance(node, ast.Call)
                and (inner := self.code.function(node, target))
                and inner != target
                and (found := self.writer(inner, depth + 1))
            ):
                emission, parameter = found
                payload = _argument(node, parameter, inner)
                if isinstance(payload, ast.Name) and payload.id in target.function.parameters and not assigned(target, payload.id):
                    return emission, payload.id
        return None

    def _of_dict(self, node: ast.Dict, place: Place, depth: int) -> frozenset[Kind]:
        keys = {self.code.text(key, place) for key in node.keys if key is not None}
        spread = [value for key, value in zip(node.keys, node.values, strict=True) if key is None]
        if "jsonrpc" not in keys:
            spread_kinds = frozenset().union(*(self.kinds(value, place, depth) for value in spread)) & MESSAGES
            return spread_kinds or frozenset({Kind.OTHER})
        if "method" in keys:
            return frozenset({Kind.REQUEST if "id" in keys else Kind.NOTIFICATION})
        if "error" in keys:
            # Without an id it answers no request: the message could not be read.
            unread = any(
                k is not None and self.code.text(k, place) == "id" and isinstance(v, ast.Constant) and v.value is None
                for k, v in zip(node.keys, node.values, strict=True)
            )
            return frozenset({Kind.OTHER if unread else Kind.ERROR})
        return frozenset({Kind.REPLY})

    def _of_name(self, name: str, place: Place, depth: int) -> frozenset[Kind]:
        for around in place.enclosing():
            values = assigned(around, name)
            if around.function and name in around.function.parameters and not values:
                return frozenset({Kind.PARAMETER})
            if values:
                found = frozenset[Kind]().union(
                    *(
                        frozenset({Kind.UNKNOWN}) if v is None else self.kinds(v, around, depth)
                        for v in values
                        if not (isinstance(v, ast.Name) and v.id == name)
                    )
                )
                return self._with_stores(found, name, around)
        bound = place.unit.names.bindings.get(name)
        return self.kinds(bound, Place(place.unit, None), depth) if bound is not None else frozenset({Kind.UNKNOWN})

    def _with_stores(self, found: frozenset[Kind], name: str, place: Place) -> frozenset[Kind]:
        """`reply = {"jsonrpc": "2.0", "id": id}`, then `reply["result"] = ...`; also `message["id"]` or `message["method"]`."""
        stored = {
            self.code.text(key, place)
            for node in place.nodes
            for key in (
                [node.slice] if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and dotted(node.value) == name else []
            )
        }
        if "result" in stored:
            found |= {Kind.REPLY}
        if "method" in stored and found & MESSAGES:
            found = found - {Kind.REPLY} | {Kind.NOTIFICATION}
        if "id" in stored and Kind.NOTIFICATION in found:
            found |= {Kind.REQUEST}
        return found


def _just_given(payload: ast.expr, place: Place) -> ast.expr | None:
    """The value of the statement directly above, when that gives the payload its name."""
    statement: ast.AST = payload
    parents = place.unit.module.parents
    while not isinstance(statement, ast.stmt):
        statement = parents[statement]
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parents[statement], name, None)
        if isinstance(payload, ast.Name) and isinstance(block, list) and statement in block[1:]:
            match block[block.index(statement) - 1]:
                case (
                    ast.Assign(targets=[ast.Name(id=given)], value=value)
                    | ast.AnnAssign(target=ast.Name(id=given), value=ast.expr() as value)
                ):
                    return value if given == payload.id else None
    return None


def _argument(call: ast.Call, parameter: str, target: Place) -> ast.expr | None:
    assert target.function
    for keyword in call.keywords:
        if keyword.arg == parameter:
            return keyword.value
    names = target.function.parameters
    at = names.index(parameter) if parameter in names else len(names)
    return call.args[at] if at < len(call.args) else None


def _writes_text(place: Place) -> bool:
    """`def emit(text): sys.stdout.write(text + "\\n")`"""
    assert place.function
    names = place.function.parameters
    return any(
        isinstance(node, ast.Call)
        and "stderr" not in dotted(node.func)
        and _last(node.func) in {"write", "print"}
        and not any(k.arg == "file" and "stderr" in ast.unparse(k.value) for k in node.keywords)
        and any(_loads(argument, name) for argument in node.args for name in names)
        for node in place.nodes
    )


def _loads(node: ast.AST, name: str) -> bool:
    return any(isinstance(inner, ast.Name) and inner.id == name for inner in descend(node))


def _last(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
