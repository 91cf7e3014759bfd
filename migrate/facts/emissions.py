"""Where a server's messages leave: each place that serialises one, and what kind of message it can be."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from .code import Class, Code, Place, Unit, assigned, unwrap
from .decorators import Decorators
from .functions import Def, Module, dotted
from .syntax import descend

_MAX_DEPTH = 10
_WRITES = frozenset({"write", "writelines", "print", "put", "put_nowait", "send", "send_str", "send_text", "sendall", "send_json"})
# What hands a value to other code, and what does so where others can see the collection.
_HANDS = frozenset({"put", "put_nowait", "send", "send_json", "call_soon", "call_soon_threadsafe", "set_result"})
_COLLECTS = frozenset({"append", "appendleft"})
_MAX_ALIAS = 3


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
    """A `json.dumps(payload)` whose text is written. `parameter` names the parameter that the payload is, if it is one.

    `stream` is what it is written to, where the write says so itself.
    """

    place: Place
    dumps: ast.Call
    payload: ast.expr
    kinds: frozenset[Kind]
    parameter: str = ""
    stream: ast.expr | None = None


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
    decorators: Decorators
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
                if target is None or self.decorators.opaque(target) is not None:
                    return frozenset({Kind.UNKNOWN})
                returns = [n.value for n in target.nodes if isinstance(n, ast.Return)]
                found = frozenset().union(*(self.kinds(value, target, depth) for value in returns))
                return found - {Kind.PARAMETER} | ({Kind.UNKNOWN} if Kind.PARAMETER in found else set())
        return frozenset({Kind.UNKNOWN})

    def _find(self, unit: Unit) -> Iterator[Emission]:
        for place in unit.places:
            for node in place.nodes:
                if not isinstance(node, ast.Call) or (payload := self._serialised(node, place)) is None:
                    continue
                if (write := self._written_by(node, place)) is None:
                    continue
                before = _just_given(payload, place)
                kinds = self.kinds(payload if before is None else before, place)
                parameter = payload.id if isinstance(payload, ast.Name) and Kind.PARAMETER in kinds else ""
                yield Emission(place, node, payload, kinds, parameter, _stream(write))

    def _serialised(self, node: ast.Call, place: Place) -> ast.expr | None:
        """What a call turns into JSON text."""
        if node.args and self.is_dumps(node.func, place):
            return node.args[0]
        if len(node.args) > 1 and dotted(node.func).rpartition(".")[2] == "dump":
            return node.args[0]
        if len(node.args) == 1 and (target := self.code.function(node, place)) and target.function and target != place:
            match [n for n in target.nodes if isinstance(n, ast.Return)]:
                case [ast.Return(value=ast.Call() as inner)] if inner.args and self.is_dumps(inner.func, target):
                    argument = inner.args[0]
                    if isinstance(argument, ast.Name) and argument.id in target.function.parameters[:1]:
                        return node.args[0]
        return None

    def is_dumps(self, func: ast.expr, place: Place, depth: int = 0) -> bool:
        """Whether a function turns a value into JSON text: `json.dumps`, `JSONEncoder().encode`, and other names for them."""
        if depth > _MAX_ALIAS:
            return False
        match func:
            case ast.Attribute(attr="dumps"):
                return True
            case ast.Attribute(value=encoder, attr="encode"):
                made = encoder if isinstance(encoder, ast.Call) else self._given(encoder, place)
                return isinstance(made, ast.Call) and self._is_encoder(made.func, place)
            case ast.Name(id=name):
                given = self._given(func, place)
                if given is not None:
                    return self.is_dumps(_partial(given), place, depth + 1)
                return name == "dumps" or place.unit.names.imports.get(name, "").endswith(".dumps")
        return False

    def handed(self, place: Place) -> Iterator[tuple[ast.Call, ast.expr]]:
        """Messages that are not written here as text, but put where other code takes them from."""
        for node in place.nodes:
            if not isinstance(node, ast.Call) or self.code.function(node, place) is not None:
                continue
            shared = isinstance(node.func, ast.Attribute) and not assigned(place, dotted(node.func.value))
            if _last(node.func) in _HANDS or (shared and _last(node.func) in _COLLECTS):
                yield from ((node, one) for argument in node.args for one in _parts(argument))

    def raw(self, unit: Unit) -> Iterator[tuple[Place, ast.expr]]:
        """JSON-RPC messages that are spelled as text and written as they are."""
        for node in unit.module.nodes(ast.Constant):
            if not (isinstance(node.value, str) and '"jsonrpc"' in node.value and "{" in node.value):
                continue
            place = Place(unit, unit.module.function_of(node))
            call = next((n for n in self._goes(node, place) if isinstance(n, ast.Call) and self._writes(n, place)), None)
            if call is not None:
                yield place, call

    def _goes(self, node: ast.expr, place: Place) -> Iterator[ast.AST]:
        """What stands around an expression, and around the names that it is given to."""
        for around in place.unit.module.ancestors(node):
            yield around
            match around:
                case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                    for use in place.unit.module.nodes(ast.Name):
                        if use.id == name and isinstance(use.ctx, ast.Load):
                            yield from place.unit.module.ancestors(use)

    def _given(self, node: ast.expr, place: Place) -> ast.expr | None:
        """The one value of a name or attribute."""
        if isinstance(node, ast.Name):
            for around in place.enclosing():
                if values := assigned(around, node.id):
                    return values[0] if len(values) == 1 else None
                if around.function and node.id in around.function.parameters:
                    return None
            return place.unit.names.bindings.get(node.id)
        if isinstance(node, ast.Attribute) and dotted(node.value) in {"self", "cls"}:
            return place.unit.names.bindings.get(f"{place.owner}.{node.attr}")
        return None

    def _is_encoder(self, made: ast.expr, place: Place) -> bool:
        found = self.code.target(made, place)
        bases = found.unit.classes[found.name].bases if isinstance(found, Class) else [made]
        return any(dotted(base).endswith("JSONEncoder") for base in bases)

    def _written_by(self, node: ast.Call, place: Place) -> ast.Call | None:
        """The call that writes the text of a `dumps` to something that is not a log."""
        if dotted(node.func).rpartition(".")[2] == "dump":
            return None if self._is_log(node.args[1], place) else node
        parents = place.unit.module.parents
        around: ast.AST = node
        while around in parents and not isinstance(around := parents[around], Def | ast.Lambda | ast.ClassDef):
            match around:
                case ast.Call(func=func):
                    if self._writes(around, place):
                        return around
                    if not isinstance(func, ast.Attribute) or func.attr not in {"encode", "format", "join"}:
                        return None
                case (
                    ast.Assign(targets=[ast.Name(id=name)])
                    | ast.AnnAssign(target=ast.Name(id=name))
                    | ast.NamedExpr(target=ast.Name(id=name))
                ):
                    writes = (call for call in place.nodes if isinstance(call, ast.Call) and any(_loads(one, name) for one in call.args))
                    return next((call for call in writes if self._writes(call, place)), None)
                case ast.Return() | ast.Dict() | ast.Compare():
                    return None
        return None

    def _writes(self, call: ast.Call, place: Place) -> bool:
        name = dotted(call.func)
        if "stderr" in name or name.startswith(("log", "self.log")):
            return False
        stream = _stream(call)
        if stream is not None and self._is_log(stream, place):
            return False
        if name.rpartition(".")[2] in _WRITES or _last(call.func) in _WRITES:
            return True
        match call.func:
            case ast.Name(id=local) if place.function and local in place.function.parameters:
                return True
            case ast.Attribute(attr="run_in_executor" | "to_thread"):
                return any(_last(argument) in _WRITES for argument in call.args)
            case ast.Name() if (given := self._given(call.func, place)) is not None:
                # `out = sys.stdout.write`, `say = partial(print, flush=True)`
                made = given if isinstance(given, ast.Call) else None
                elsewhere = made is not None and any(k.arg == "file" and self._is_log(k.value, place) for k in made.keywords)
                return _last(_partial(given)) in _WRITES and "stderr" not in dotted(given) and not elsewhere
        target = self.code.function(call, place)
        return target is not None and target != place and self._writes_text(target)

    def _writes_text(self, target: Place) -> bool:
        """`def emit(text): sys.stdout.write(text + "\\n")`"""
        assert target.function
        names = target.function.parameters
        for node in target.nodes:
            if isinstance(node, ast.Call) and _last(node.func) in {"write", "print"} and "stderr" not in dotted(node.func):
                stream = _stream(node)
                logs = stream is not None and self._is_log(stream, target)
                if not logs and any(_loads(argument, name) for argument in node.args for name in names):
                    return True
        return False

    def _is_log(self, stream: ast.expr, place: Place) -> bool:
        """Whether a stream is surely not the one to the client: standard error, a file, the input of a child process."""
        if "stderr" in ast.unparse(stream) or (_last(stream) == "stdin" and isinstance(stream, ast.Attribute)):
            return True
        given = self._given(stream, place) if isinstance(stream, ast.Name | ast.Attribute) else stream
        if given is None and isinstance(stream, ast.Name):
            opened = [
                item.context_expr
                for node in place.nodes
                if isinstance(node, ast.With | ast.AsyncWith)
                for item in node.items
                if isinstance(item.optional_vars, ast.Name) and item.optional_vars.id == stream.id
            ]
            given = opened[0] if len(opened) == 1 and len(assigned(place, stream.id)) == 1 else None
        if isinstance(given, ast.Call) and _last(given.func) == "open":
            # A number, or what has one, may be standard output under another name.
            path = given.args[0] if given.args else None
            return not (isinstance(path, ast.Constant) and isinstance(path.value, int)) and (
                path is None or "fileno" not in ast.unparse(path)
            )
        return isinstance(given, ast.Attribute) and given.attr in {"stderr", "stdin"}

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


def leaving(node: ast.expr, module: Module) -> list[ast.stmt]:
    """The statement that serialises a message, and those behind it up to the last that writes the text it made."""
    statement: ast.AST = node
    while not isinstance(statement, ast.stmt):
        statement = module.parents[statement]
    block = block_of(statement, module)
    at = last = block.index(statement)
    made = {n.id for n in descend(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for number in range(at + 1, len(block)):
        follower = block[number]
        reads = any(isinstance(n, ast.Name) and n.id in made for n in descend(follower))
        if reads or (number == last + 1 and _is_bare_write(follower, block[last])):
            last = number
    return block[at : last + 1]


def block_of(statement: ast.stmt, module: Module) -> list[ast.stmt]:
    """The statements that one stands among."""
    parent = module.parents[statement]
    for name in ("body", "orelse", "finalbody"):
        found = getattr(parent, name, [])
        if isinstance(found, list) and statement in found:
            return found
    raise AssertionError("a statement stands in a block")


def is_flush(statement: ast.stmt) -> bool:
    """`sys.stdout.flush()`, `await writer.drain()`"""
    value = statement.value if isinstance(statement, ast.Expr) else None
    value = value.value if isinstance(value, ast.Await) else value
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in {"flush", "drain"}


def _is_bare_write(statement: ast.stmt, first: ast.stmt) -> bool:
    """`sys.stdout.write("\\n")` after the write of the message, on the same stream."""
    match statement, first:
        case (
            ast.Expr(value=ast.Call(func=ast.Attribute(attr="write") as func, args=[ast.Constant()])),
            ast.Expr(value=ast.Call(func=ast.Attribute(attr="write") as other)),
        ):
            return ast.dump(func) == ast.dump(other)
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="write"), args=[ast.Constant()])), ast.Expr(
            value=ast.Call(func=ast.Attribute(attr="dump"))
        ):
            return True
    return False


def _stream(write: ast.Call) -> ast.expr | None:
    """What a call writes to, where it says so: `stream.write(...)`, `print(..., file=stream)`, `json.dump(..., stream)`."""
    match write:
        case ast.Call(func=ast.Attribute(attr="dump"), args=[_, stream, *_]) | ast.Call(func=ast.Name(id="dump"), args=[_, stream, *_]):
            return stream
        case ast.Call(func=ast.Attribute(value=stream, attr="write" | "writelines")):
            while isinstance(stream, ast.Attribute) and stream.attr == "buffer":
                stream = stream.value
            return stream
    return next((keyword.value for keyword in write.keywords if keyword.arg == "file"), None)


def _partial(node: ast.expr) -> ast.expr:
    return node.args[0] if isinstance(node, ast.Call) and _last(node.func) == "partial" and node.args else node


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """The values that a tuple or list holds, or the value itself."""
    if isinstance(node, ast.Tuple | ast.List):
        for inner in node.elts:
            yield from _parts(inner)
    else:
        yield node


def _loads(node: ast.AST, name: str) -> bool:
    return any(isinstance(inner, ast.Name) and inner.id == name for inner in descend(node))


def _last(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
