"""Work that the handshake does for others: a server that is called without it must not miss any of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from . import admission, clientstate, revision
from .code import Code, Place, Unit, assigned
from .functions import Module, dotted, is_shared, root, targets
from .gates import handshake, spot
from .sessions import Values

_MAX_DEPTH = 4
_FILLS = frozenset({"set", "append", "add", "update", "setdefault", "insert", "extend", "appendleft", "put_nowait"})
# What a server does while it answers: it logs, writes, and looks at things.
_QUIET = re.compile(
    r"^_*(log|debug|info|warn|warning|error|exception|critical|trace|print|write|flush|drain|send|sendall|respond|reply|emit|notify|post|"
    r"get|pop|clear|end|is|has|dumps|isinstance|record|increment|inc|observe|touch|model_validate)(_.*)?$"
)
# Words for what has an effect, even where the value of the call goes into the answer.
WORKS = re.compile(
    r"^_*(open|connect|start|setup|set_up|boot|bootstrap|init|initialize|initialise|load|preload|reload|register|spawn|launch|create_task|"
    r"ensure_future|submit|warm|warmup|prepare|migrate|sync|subscribe|login|authenticate|mount|attach|install|activate|enable|run|execute|"
    r"ensure|refresh|configure|discover|scan|index|build_index|acquire|enter)(_.*)?$"
)
_LATER = frozenset({"create_task", "ensure_future", "run", "run_until_complete", "run_coroutine_threadsafe"})
# What an endpoint does with the answer in hand.
_ANSWERS = frozenset({"send_response", "send_header", "end_headers", "set_header", "add_header", "set_status", "finish", "set_cookie"})
_BRING = "let each request bring what it is asked for"
_LOGS = frozenset({"log", "debug", "info", "warning", "error", "exception", "print"})


class Work(NamedTuple):
    """Something that happens in the handshake, and that other code relies on or may rely on."""

    place: Place
    node: ast.expr | ast.stmt
    reason: str
    way_out: str = "do it when the server starts, or when it is first needed"


def work(
    code: Code, places: Iterable[Place], opened: Iterable[ast.AST], *, hosted: bool = False, apart: Iterable[Place] = ()
) -> Work | None:
    """The first thing that the handshake does for others, in these functions. What is in `opened` asks only whether it has happened.

    With `hosted`, what is kept for one session is passed over: the uses of a session are looked at by themselves. What is `apart`
    is never reached without the handshake.
    """
    return _Search(code, frozenset(opened), hosted, seen=set(apart)).first(places)


_Stored = tuple[Place, ast.expr, "ast.stmt | ast.expr"]


@dataclass
class _Search:
    code: Code
    opened: frozenset[ast.AST]
    hosted: bool
    own: dict[Unit, frozenset[ast.AST]] = field(default_factory=dict)
    seen: set[Place] = field(default_factory=set)
    _ids: set[tuple[Place, str]] = field(default_factory=set)  # names of session ids in the functions that make them
    _makers: set[ast.Call] = field(default_factory=set)  # calls whose value is the session's id

    def first(self, places: Iterable[Place]) -> Work | None:
        places = list(dict.fromkeys(places))
        if self.opened and (door := self._admission(places)) is not None:
            return door
        if self.hosted:
            self._issue(places)
        stores: list[_Stored] = []
        for place in places:
            region = self._region(place.unit)
            if not region:
                continue
            whole = place.function is not None and all(n in region for n in place.function.node.body)
            if whole:
                self.seen.add(place)
            for doubt in self._effects([n for n in place.nodes if n in region], place, 0, stores):
                return doubt
        for place, target, node in stores:
            if self._is_read(target, place, places):
                name = ast.unparse(target)
                return Work(place, node, f"the handshake sets `{name}`, which other code uses")
        return None

    def _admission(self, places: list[Place]) -> Work | None:
        """Where somebody is turned away before they get what the opened tests ask for, and nowhere else."""
        for place in places:
            region = self._region(place.unit)
            for at, nodes in [(place, [n for n in place.nodes if n in region]), *self._asked(place, region, places)]:
                for node in admission.refusals(nodes):
                    return Work(
                        at, node, "the handshake asks who may come in, and other requests are only asked whether it has happened", _BRING
                    )
        here = [n for place in places for n in place.nodes if n not in self._region(place.unit)]
        if not self.hosted or any(True for _ in admission.refusals(here)):
            return None
        for unit in dict.fromkeys(place.unit for place in places):
            for place in unit.places:
                if place not in places and admission.hands_out(place):
                    for node in admission.refusals(place.nodes):
                        reason = "who may come in is asked here, and messages are only asked for the session that is given for it"
                        return Work(place, node, reason, _BRING)
        return None

    def _asked(self, place: Place, region: frozenset[ast.AST], places: list[Place]) -> Iterator[tuple[Place, tuple[ast.AST, ...]]]:
        """The functions that the handshake calls, and nothing else that messages reach."""
        for node in place.nodes:
            if node in region and isinstance(node, ast.Call) and (target := self.code.function(node, place)) is not None:
                callers = [call for call in self.code.callers(target) if call.place in places]
                if all(call.node in self._region(call.place.unit) for call in callers):
                    yield target, target.nodes

    def _region(self, unit: Unit) -> frozenset[ast.AST]:
        if unit not in self.own:
            self.own[unit] = unit.module.once(handshake)
        return self.own[unit]

    def _effects(self, nodes: Iterable[ast.AST], place: Place, depth: int, stores: list[_Stored]) -> Iterator[Work]:
        for node in nodes:
            match node:
                case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                    kept_here = [
                        target for target in targets(node) if _is_outside(target, place) and not self._is_of_session(target, place)
                    ]
                    stores += [(place, target, node) for target in kept_here]
                case ast.Call(func=ast.Attribute(value=kept, attr=attr)) if attr in _FILLS and _is_outside(kept, place, filled=True):
                    if not self._is_of_session(node, place):
                        stores.append((place, kept, node))
                case ast.Call():
                    yield from self._call(node, place, depth, stores)

    def _call(self, node: ast.Call, place: Place, depth: int, stores: list[_Stored]) -> Iterator[Work]:
        target = self.code.target(node.func, place)
        if isinstance(target, Place) and target.function:
            if target not in self.seen and depth < _MAX_DEPTH:
                self.seen.add(target)
                if not any(n in self._region(target.unit) for n in target.nodes):
                    yield from self._effects(target.nodes, target, depth + 1, stores)
            return
        name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""
        if target is not None or _is_logging(node) or _is_local(node, place):
            return
        if self.hosted and (name in _ANSWERS or self._is_of_session(node, place)):
            return
        if name in _LATER and any(isinstance(a, ast.Call) and isinstance(self.code.target(a.func, place), Place) for a in node.args):
            return  # what it starts is looked at by itself
        if WORKS.match(name) or (_is_discarded(node, place.unit.module) and not _QUIET.match(name)):
            yield Work(place, node, f"the handshake does work that other code may need: `{ast.unparse(node.func)}(...)`")

    def _issue(self, places: list[Place]) -> None:
        """Notes what makes the ids that clients are given in the header of the session, whatever its names are."""
        for place in places:
            for node in place.nodes:
                for value in _issued(node):
                    made = assigned(place, value.id) if isinstance(value, ast.Name) else [value]
                    for one in made:
                        call = one.value if isinstance(one, ast.Await) else one
                        if not isinstance(call, ast.Call):
                            continue
                        self._makers.add(call)
                        if (target := self.code.function(call, place)) is not None:
                            returned = [n.value for n in target.nodes if isinstance(n, ast.Return)]
                            if all(isinstance(one, ast.Name) for one in returned):
                                self._ids.update((target, one.id) for one in returned if isinstance(one, ast.Name))

    def _is_of_session(self, node: ast.expr, place: Place) -> bool:
        """Whether something is kept under the name of a session, or in one."""
        if not self.hosted or place.function is None:
            return False
        values = Values(place.unit.module)
        if node in self._makers:
            return True
        if isinstance(node, ast.Call):
            keys = [*node.args, *(keyword.value for keyword in node.keywords)]
            return any(values.holds(key, place.function) for key in keys) or self._is_of_session(node.func, place)
        while isinstance(node, ast.Subscript | ast.Attribute):
            if isinstance(node, ast.Subscript):
                if values.holds(node.slice, place.function):
                    return True
                if isinstance(node.slice, ast.Name) and (place, node.slice.id) in self._ids:
                    return True
            node = node.value
            if isinstance(node, ast.Name | ast.Call) and values.holds(node, place.function):
                return True
        return False

    def _is_read(self, target: ast.expr, place: Place, places: list[Place]) -> bool:
        """Whether other code than the handshake's reads what is stored."""
        units = dict.fromkeys([place.unit, *(p.unit for p in places)])
        for unit in list(units):
            for imported in unit.names.imports.values():
                if found := self.code.find(imported):
                    units[found[0]] = None
            units |= dict.fromkeys(self.code.around(unit))
        kept = _kept(target, place.unit.module)
        if kept is None or any(kept == (s.name, s.key) for s in _client(place.unit.module)):
            return False
        return any(self._reads(kept, target, place, unit) for unit in units)

    def _reads(self, kept: tuple[str, str], target: ast.expr, place: Place, unit: Unit) -> bool:
        module, region = unit.module, self._region(unit)
        name, key = kept
        named: list[ast.expr] = [*module.nodes(ast.Attribute)] if name.startswith(".") else [*module.nodes(ast.Name)]
        if not name.startswith(".") and unit is not place.unit:
            named = [n for n in module.nodes(ast.Attribute) if n.attr == name]
            name = f".{name}"
        for node in named:
            said = f".{node.attr}" if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
            if said != name or not isinstance(node.ctx, ast.Load) or node in region:  # type: ignore[attr-defined]
                continue
            user = Place(unit, module.function_of(node))
            if user.function is not None and user.function.short.startswith("test_"):
                continue  # a test that calls the server itself
            if user in self.seen or not self._is_same(node, target, place, user):
                continue
            if self._counts(node, key, user):
                return True
        return False

    def _counts(self, node: ast.expr, key: str, user: Place) -> bool:
        """Whether this mention is a use of the value: not a test that is opened, a store, or a line in a log."""
        module = user.unit.module
        parent = module.parents.get(node)
        if key:
            read = module.parents.get(parent) if isinstance(parent, ast.Attribute) else parent
            said = spot(read, module) if isinstance(read, ast.Subscript | ast.Call) else ""
            if said.endswith("]") and not said.endswith(f"[{key}]"):
                return False
        if isinstance(parent, ast.Subscript) and parent.value is node and isinstance(parent.ctx, ast.Store | ast.Del):
            return False
        if isinstance(parent, ast.Attribute) and parent.attr in {*_FILLS, "clear"} and isinstance(module.parents.get(parent), ast.Call):
            return False
        for around in (node, *module.ancestors(node)):
            if around in self.opened or _is_opened(around, module) or (isinstance(around, ast.Call) and _is_logging(around)):
                return False
            if isinstance(around, ast.stmt):
                break
        return True

    def _is_same(self, node: ast.expr, target: ast.expr, place: Place, user: Place) -> bool:
        """Whether a name or attribute may be the one that is stored."""
        while isinstance(target, ast.Subscript):
            target = target.value
        match node:
            case ast.Name(id=name):
                own = user.function is not None and (name in user.function.parameters or bool(assigned(user, name)))
                return not own or (user.function is not None and is_shared(name, user.function))
            case ast.Attribute(value=ast.Name(id="self" | "cls")) if isinstance(target, ast.Attribute) and dotted(target.value) == "self":
                return (user.unit is place.unit and user.owner == place.owner) or self._is_related(user, place)
            case ast.Attribute(value=base):
                owner = self.code.type_of(base, user)
                if owner is not None:
                    return owner.unit is place.unit and owner.name == place.owner
                # An object of a class that is not known: the same name for it, or a module.
                holder = dotted(target.value) if isinstance(target, ast.Attribute) else ""
                same = dotted(base).rpartition(".")[2] == holder.rpartition(".")[2]
                return same or dotted(base) in user.unit.names.imports or isinstance(target, ast.Name)
        return False

    def _is_related(self, one: Place, other: Place) -> bool:
        def bases(place: Place) -> set[str]:
            found = place.unit.classes.get(place.owner)
            return {dotted(base).rpartition(".")[2] for base in found.bases} if found else set()

        return one.owner.rpartition(".")[2] in bases(other) or other.owner.rpartition(".")[2] in bases(one)


def _issued(node: ast.AST) -> Iterator[ast.expr]:
    """What is given to clients in the header of the session: `{"Mcp-Session-Id": ...}`, `headers["Mcp-Session-Id"] = ...`."""
    match node:
        case ast.Dict(keys=keys, values=values):
            yield from (value for key, value in zip(keys, values, strict=True) if _is_header(key))
        case ast.Assign(targets=[ast.Subscript(slice=key)], value=value) if _is_header(key):
            yield value
        case ast.Call(args=[key, value]) if _is_header(key):
            yield value


def _is_header(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.lower() == "mcp-session-id"


def _client(module: Module) -> Iterator[clientstate.Stored]:
    yield from clientstate.capabilities(module)
    yield from clientstate.levels(module)


def _kept(target: ast.expr, module: Module) -> tuple[str, str] | None:
    """The name, and the key inside it, that a value is stored under; attributes begin with a dot."""
    match target:
        case ast.Name(id=name):
            return name, ""
        case ast.Attribute(attr=attr):
            return f".{attr}", ""
        case ast.Subscript(value=base, slice=key):
            found = _kept(base, module)
            return (found[0], module.string(key) or "" if not found[1] else found[1]) if found else None
    return None


def _is_outside(target: ast.expr, place: Place, *, filled: bool = False) -> bool:
    """Whether what is stored here is seen by code outside of this function and of the message."""
    if not isinstance(target, ast.Name | ast.Attribute | ast.Subscript) or place.function is None:
        return False
    name = root(target)
    if isinstance(target, ast.Name) and not filled:
        return is_shared(name, place.function)
    if name in {"self", "cls"}:
        return True
    return bool(name) and (is_shared(name, place.function) or not assigned(place, name)) and not _is_own(target, name, place)


def _is_own(target: ast.expr, name: str, place: Place) -> bool:
    """A key of a message or an answer that the function was given."""
    assert place.function
    return name in place.function.parameters and isinstance(target, ast.Subscript | ast.Name)


def _is_discarded(node: ast.Call, module: Module) -> bool:
    parent = module.parents.get(node)
    while isinstance(parent, ast.Await):
        parent = module.parents.get(parent)
    return isinstance(parent, ast.Expr)


def _is_logging(node: ast.Call) -> bool:
    name = dotted(node.func)
    last = name.rpartition(".")[2]
    return last.lstrip("_") in _LOGS and (last == "print" or "log" in name.lower())


def _is_opened(node: ast.AST, module: Module) -> bool:
    """`not ready and not MCP.modern`: a test that 2026-07-28 requests pass."""
    return isinstance(node, ast.BoolOp) and revision.asks(node, module)


def _is_local(node: ast.Call, place: Place) -> bool:
    """A method of something that was made here as a plain value."""
    name = root(node.func) if isinstance(node.func, ast.Attribute) else ""
    values = assigned(place, name) if name and name != "self" else []
    direct = isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)
    plain = (ast.Dict, ast.List, ast.Set, ast.Constant, ast.JoinedStr)
    return bool(values) and all(isinstance(v, plain) or (direct and _is_copy(v)) for v in values)


def _is_copy(node: ast.expr | None) -> bool:
    """`dict(DEFAULTS)`, `DEFAULTS.copy()`: what is put into it is seen by nobody else."""
    match node:
        case ast.Call(func=ast.Name(id="dict" | "list" | "set" | "copy" | "deepcopy") | ast.Attribute(attr="copy" | "deepcopy")):
            return True
    return False
