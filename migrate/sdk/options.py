"""Transport options of FastMCP servers: what version 1 took at the constructor and in the settings, and which calls need it now."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from .modules import Binding, How, Module, Scope
from .program import Program
from .servers import Server, Use

MOVED = frozenset(
    {
        "host", "port", "sse_path", "message_path", "streamable_http_path", "json_response", "stateless_http", "max_request_body_size",
        "session_idle_timeout", "max_sessions", "event_store", "retry_interval", "transport_security",
    }
)  # fmt: skip
ATTACHED = "transport_options"
"""The attribute by which a server carries its options where nothing else gets from the place that makes it to those that run it."""
_TRANSPORTS = ("stdio", "sse", "streamable-http")
_METHODS = {
    "run": None,
    "run_stdio_async": "stdio",
    "run_sse_async": "sse",
    "run_streamable_http_async": "streamable-http",
    "sse_app": "sse",
    "streamable_http_app": "streamable-http",
}
_SERVING = frozenset({*_METHODS, "settings"})
# Positions of the constructor of version 1.
_POSITIONS = {6: "event_store", 7: "retry_interval"}
# What can be worked out twice, or not at all.
_DISPLAYS = (
    *(ast.Name, ast.Attribute, ast.Constant, ast.IfExp, ast.Compare, ast.BoolOp, ast.UnaryOp),
    *(ast.expr_context, ast.cmpop, ast.boolop, ast.unaryop),
)


@dataclass(frozen=True, slots=True)
class Change:
    """`server.settings.port = value`."""

    use: Use
    statement: ast.Assign
    target: ast.Attribute
    name: str
    value: ast.expr


@dataclass(frozen=True, slots=True)
class Reading:
    """`server.settings.port`, where it is read."""

    use: Use
    node: ast.Attribute
    name: str


@dataclass(frozen=True, slots=True)
class Sink:
    """What runs the server, or makes the app that is run; `transport` is an expression where it is chosen by what runs."""

    use: Use
    kinds: tuple[str, ...]
    transport: ast.expr | None = None
    call: ast.Call | None = None  # what takes the options: the call, or the `partial` around the method

    @property
    def is_app(self) -> bool:
        return self.use.name.endswith("_app")

    @property
    def is_pure(self) -> bool:
        """Whether the transport may be looked at twice."""
        return self.transport is not None and all(isinstance(node, _DISPLAYS) for node in ast.walk(self.transport))


class Reach(NamedTuple):
    """How code gets at a value: its text there, and what has to be inserted where for it (names in imports)."""

    text: str
    inserts: tuple[tuple[int, str], ...] = ()


@dataclass(slots=True)
class Shared:
    """The dict that holds the options, before or after it is made."""

    name: str  # as it is written where the server is made
    made: bool
    names: set[str]
    attribute: bool = False  # `self.x_options`
    filled: dict[str, str] = field(default_factory=dict)  # defaults that something reads
    attached: bool = False  # an attribute of the server itself
    guarded: bool = False  # the protection that version 1 had for local names has to be written down


def plans(program: Program, data: Mapping[str, tuple[str, ...]]) -> list[Options]:
    """What has to move, for every server that has something to move."""
    made = program.memo.get("options")
    if made is None:
        made = [options for server in program.servers if (options := Options(server, program, data)).is_wanted]
        program.memo["options"] = made
    return made  # type: ignore[return-value]


def plans_at(node: ast.AST | None, program: Program, data: Mapping[str, tuple[str, ...]]) -> list[Options]:
    """What has to move of the servers that a node makes or uses."""
    if "options by node" not in program.memo:
        found: dict[ast.AST | None, list[Options]] = {}
        for options in plans(program, data):
            for one in {options.server.call: None, **{use.node: None for use in options.server.uses}}:
                found.setdefault(one, []).append(options)
        program.memo["options by node"] = found
    return program.memo["options by node"].get(node, [])  # type: ignore[attr-defined, no-any-return]


class Options:
    """The transport options of one server."""

    def __init__(self, server: Server, program: Program, data: Mapping[str, tuple[str, ...]]) -> None:
        self.server, self.program, self.data = server, program, data
        self.module = server.module
        self.given = {word.arg: word.value for word in server.call.keywords if word.arg in MOVED}
        self.places: list[ast.AST] = [word for word in server.call.keywords if word.arg in MOVED]
        self.changes: list[Change] = []
        self.reads: list[Reading] = []
        self.sinks: list[Sink] = []
        self.odd: list[Use] = []
        self.starred = any(isinstance(argument, ast.Starred) for argument in server.call.args)
        self.unknown_sink = False
        self.mixed: list[ast.keyword] = []  # `**options` with options of the transport among others
        for number, name in _POSITIONS.items():
            if number < len(server.call.args) and not self.starred:
                self.given[name] = server.call.args[number]
                self.places.append(server.call.args[number])
        for use in server.uses:
            self._sort(use)
        self.held = self._held()
        self.attached = self._attached()
        self.places += self.mixed
        if self.changes and not self.places and self.held is None and not any(change.use.module is self.module for change in self.changes):
            self.places.append(server.call)
        if self.held is not None:
            self.places.append(next(word for word in server.call.keywords if word.arg is None and word.value is self.held.node))

    # -- what there is -------------------------------------------------------------
    def _sort(self, use: Use) -> None:
        if use.name == "settings" and isinstance(use.node, ast.Attribute):
            above = use.module.parents.get(use.node)
            if isinstance(above, ast.Attribute):
                if above.attr in MOVED:
                    self._setting(use, above)
            elif isinstance(above, ast.Call | ast.Assign | ast.keyword | ast.Return | ast.Starred) and not _names_other(above):
                self.odd.append(use)
        elif use.name in _METHODS:
            self._sink(use)

    def _setting(self, use: Use, node: ast.Attribute) -> None:
        statement = use.module.parents.get(node)
        if isinstance(node.ctx, ast.Load):
            self.reads.append(Reading(use, node, node.attr))
        elif isinstance(statement, ast.Assign) and statement.targets == [node]:
            self.changes.append(Change(use, statement, node, node.attr, statement.value))
        else:
            self.odd.append(use)

    def _sink(self, use: Use) -> None:
        kind = _METHODS[use.name]
        call, first = (use.node, 0) if isinstance(use.node, ast.Call) else (_partial(use), 1)
        if kind is not None:
            self.sinks.append(Sink(use, (kind,), call=call))
            self.unknown_sink |= call is not None and any(isinstance(a, ast.Starred) for a in call.args)
            return
        if call is None:
            # `Thread(target=server.run)`: for stdio, or with arguments that stand elsewhere.
            call = _called_elsewhere(use)
            if call is None:
                self.sinks.append(Sink(use, ("stdio",)))
            else:
                self.sinks.append(Sink(use, _TRANSPORTS))
                self.unknown_sink = True
            return
        given = next((word.value for word in call.keywords if word.arg == "transport"), None)
        if given is None and len(call.args) > first:
            given = call.args[first]
        if isinstance(given, ast.Starred) or (given is None and any(word.arg is None for word in call.keywords)):
            self.unknown_sink = True
            self.sinks.append(Sink(use, _TRANSPORTS, call=call))
        elif given is None:
            self.sinks.append(Sink(use, ("stdio",), call=call))
        elif isinstance(given, ast.Constant):
            self.sinks.append(Sink(use, (str(given.value),), call=call))
        else:
            kinds = transports(given, use.module, self.program)
            self.sinks.append(Sink(use, kinds, given if len(kinds) > 1 else None, call))

    def _held(self) -> _Held | None:
        """The dict that the options have been put into, where the constructor takes one with `**`."""
        for word in self.server.call.keywords:
            if word.arg is None and isinstance(word.value, ast.Name | ast.Attribute):
                name = word.value.attr if isinstance(word.value, ast.Attribute) else word.value.id
                for made in _dicts(self.module, self.program).get(self.module.text(word.value), ()):
                    keys = _keys(made)
                    if keys is not None and MOVED.issuperset(keys) and (keys or self.changes or self._is_filled(name)):
                        return _Held(name, word.value, made, keys)
                    if keys is not None and MOVED.intersection(keys):
                        self.mixed.append(word)
        return None

    def _attached(self) -> ast.Dict | None:
        """The dict that the server has been given as an attribute."""
        target = self._target()
        for call in self.module.calls.get("setattr", ()):
            match call.args:
                case [ast.expr() as owner, ast.Constant(value=str(name)), ast.Dict() as made] if name == ATTACHED and target is not None:
                    same = self.module.function(call) is self.module.function(self.server.call)
                    if same and self.module.text(owner) == self.module.text(target):
                        return made
        return None

    def _is_filled(self, name: str) -> bool:
        """Whether something puts an option into a dict that begins empty."""
        word = f'{name}["'.encode()
        return bool(self.program.texts.saying(word))

    @property
    def is_wanted(self) -> bool:
        return bool(self.given or self.changes or self.reads or self.held or self.mixed)

    @property
    def is_ready(self) -> bool:
        """Whether the arguments that are given by place have their names."""
        return not self.starred and len(self.server.call.args) < 2

    @cached_property
    def problem(self) -> str:
        """Why nothing can be moved, as a word of the catalog; nothing where it can."""
        if self.starred or self.unknown_sink or self.mixed:
            return "starred"
        if self.odd:
            parents = [use.module.parents.get(use.node) for use in self.odd]
            return "handed" if any(isinstance(above, ast.Call | ast.Assign | ast.keyword) for above in parents) else "odd"
        if any(use.name in _SERVING for use in self.server.shared):
            return "unsure"
        if not self.sinks and self.given:
            return "unserved"
        if not self.sinks and any(self.is_idle(change) for change in self.changes):
            return "unserved"
        if "transport_security" in self.given and not any(kind != "stdio" for sink in self.sinks for kind in sink.kinds):
            return "unserved"  # whatever serves it by HTTP would do so without protection
        if self.shared is not None and not self._can_share():
            return "factory"
        uses = [sink.use for sink in self.sinks if self.missing(sink)]
        uses += [read.use for read in self.reads] + [change.use for change in self.changes]
        for sink in self.sinks:
            if any(self.value(name, sink.use) is None for name in self.missing(sink)):
                return "factory"
        if any(self.value(read.name, read.use) is None for read in self.reads):
            return "odd"
        if self.shared is not None and any(self.reach(self.shared.name, use) is None for use in uses):
            return "factory"
        return "" if self._can_import() else "taken"

    def _can_import(self) -> bool:
        """Whether what has to be imported is not called as something else where it is written."""
        if (
            self.shared is not None
            and self.shared.guarded
            and not self.module.means("TransportSecuritySettings", "TransportSecuritySettings")
        ):
            return False
        handed = (sink.use.module for sink in self.sinks if sink.call is None and self.missing(sink))
        return all(module.means("partial", "functools.partial") for module in handed)

    @property
    def is_settled(self) -> bool:
        """Whether everything that runs the server has what it needs."""
        return not self.changes and not self.reads and not any(self.missing(sink) for sink in self.sinks)

    # -- what a place that runs the server needs --------------------------------------
    def names(self) -> list[str]:
        found = [*self.given, *(self.held.keys if self.held is not None else ())]
        found += (_keys(self.attached) or ()) if self.attached is not None else ()
        found += [change.name for change in self.changes if not self.is_idle(change)]
        if self.shared is not None and not self.shared.made:
            found += self.shared.filled
        if self.shared is not None and self.shared.guarded:
            found.append("transport_security")
        return [*dict.fromkeys(found)]

    def accepted(self, names: list[str], kind: str) -> list[str]:
        return [name for name in names if name in (*self.data["common"], *self.data.get(kind, ()))]

    def missing(self, sink: Sink) -> list[str]:
        """The options that have to be added to a call."""
        kinds = [kind for kind in sink.kinds if kind != "stdio"]
        wanted = [name for name in self.names() if any(self.accepted([name], kind) for kind in kinds)]
        if sink.is_app:
            wanted = [name for name in wanted if name != "port" and not (name == "host" and self._is_host_of_app_default())]
            if self.shared is not None and self.shared.guarded:
                wanted.remove("transport_security")  # it is what an app has by itself
        has = _present(sink.call, self.shared.name.rpartition(".")[2] if self.shared is not None else "")
        return [] if has is None else [name for name in wanted if name not in has]

    def _is_host_of_app_default(self) -> bool:
        """Version 1 decided on the protection when the server was made: an app needs the host of the constructor, unless that is local."""
        value = self._first("host")
        if value is None:
            return True
        return isinstance(value, ast.Constant) and value.value in self.data["local"]

    def _first(self, name: str) -> ast.expr | None:
        """What the constructor gives for an option."""
        if name in self.given:
            return self.given[name]
        if self.held is not None:
            for key, value in zip(self.held.dict.keys, self.held.dict.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == name:
                    return value
        return None

    # -- where the values are ------------------------------------------------------------
    @cached_property
    def shared(self) -> Shared | None:
        """The dict for options that are set later, or worked out when the server is made; None where plain values can be repeated."""
        changed = {change.name for change in self.changes if not self.is_idle(change)}
        if self.held is not None:
            return Shared(self.module.text(self.held.node), True, {*self.held.keys, *changed}, isinstance(self.held.node, ast.Attribute))
        # What is chosen when it runs is a dict in any case; one of its own lets type checkers through.
        chosen = self.given and any(sink.transport is not None for sink in self.sinks)
        if (
            not changed
            and not chosen
            and not any(read.name in self.given and _is_asserted(read.use) for read in self.reads)
            and not any(any(self.remarks(name)) for name in self.given)
            and all(self._is_plain(value) for value in self.given.values())
        ):
            return None
        if self.attached is not None:
            return Shared(ATTACHED, True, {*(_keys(self.attached) or ()), *changed}, attached=True)
        defaults = dict(text.split(" ", 1) for text in self.data["defaults"])
        asked = {read.name for read in self.reads}
        names = {*self.given, *changed}
        guarded = self._has_to_guard()
        if guarded:
            names.add("transport_security")
        # Where not every call takes every option, each is asked for by its name.
        for sink in self.sinks:
            for kind in sink.kinds:
                if kind != "stdio" and (sink.is_app or not names <= {*self.accepted([*names], kind)}):
                    asked |= {*self.accepted([*names], kind)} - ({"host", "port"} if sink.is_app else set())
        filled = {name: defaults[name] for name in sorted(asked & changed - self.given.keys()) if name in defaults}
        name = self._named()
        target = self._target()
        attached = not self._sees(name)
        return Shared(
            ATTACHED if attached else name, False, names | filled.keys(), isinstance(target, ast.Attribute), filled, attached, guarded
        )

    def is_idle(self, change: Change) -> bool:
        """Whether nothing looks at a setting: no read, and no call that runs the server and would take it."""
        if any(read.name == change.name for read in self.reads):
            return False
        if not all(isinstance(node, _DISPLAYS) for node in ast.walk(change.value)):
            return False
        return not any(self._takes(sink, change.name) for sink in self.sinks)

    def _takes(self, sink: Sink, name: str) -> bool:
        if sink.is_app and name in ("host", "port"):
            return False
        return any(self.accepted([name], kind) for kind in sink.kinds if kind != "stdio")

    def remarks(self, name: str) -> tuple[list[str], str]:
        """The comments above an argument of the constructor, and the one behind it."""
        word = next((word for word in self.server.call.keywords if word.arg == name), None)
        if word is None:
            return [], ""
        lines = self.module.source.text.splitlines()
        row = word.lineno - 1
        above: list[str] = []
        if not lines[row][: word.col_offset].strip():
            while row and lines[row - 1].strip().startswith("#"):
                row -= 1
                above.insert(0, lines[row].strip())
        end = self.module.span(word).end
        rest = self.module.source.utf8[end:].split(b"\n", 1)[0].decode("utf-8").strip().lstrip(",").strip()
        return above, rest if rest.startswith("#") else ""

    def _has_to_guard(self) -> bool:
        """Whether another address is bound than the one that version 1 decided on the protection for."""
        if not any(self._takes(sink, "host") for sink in self.sinks):
            return False
        if "transport_security" in self.given or any(change.name == "transport_security" for change in self.changes):
            return False
        first = self.given.get("host")
        if first is not None and not (isinstance(first, ast.Constant) and first.value in self.data["local"]):
            return False
        later = [change.value for change in self.changes if change.name == "host"]
        return any(not (isinstance(value, ast.Constant) and value.value in self.data["local"]) for value in later)

    def _target(self) -> ast.expr | None:
        match self.module.statement(self.server.call):
            case ast.Assign(targets=[ast.Name() | ast.Attribute() as target], value=value) if value is self.server.call:
                return target
            case ast.AnnAssign(target=ast.Name() | ast.Attribute() as target, value=value) if value is self.server.call:
                return target
        return None

    def _named(self) -> str:
        target = self._target()
        if isinstance(target, ast.Attribute):
            return f"{self.module.text(target)}_options"
        constant = isinstance(self.module.scope(self.server.call).node, ast.Module)
        several = len(self.program.servers.inside(self.module)) > 1
        base = f"{target.id}_http_options" if several and isinstance(target, ast.Name) else "http_options"
        taken = {name for scope in self.module.scopes.values() for name in scope.bindings}
        taken |= {name for use in self.server.uses for name in use.module.scopes[use.module.tree].bindings if use.module is not self.module}
        for name in (base, f"mcp_{base}", f"mcp_server_{base}"):
            name = name.upper() if constant else name
            if name not in taken:
                return name
        return "MCP_TRANSPORT_OPTIONS" if constant else "mcp_transport_options"

    def _can_share(self) -> bool:
        """Whether a dict beside the server is seen by all that runs it."""
        assert self.shared is not None
        if self.shared.made:
            return True
        statement = self.module.statement(self.server.call)
        if self._target() is None or statement is None:
            return False
        if self.module.source.line(statement.lineno)[: statement.col_offset].strip():
            return False
        return self._sees(self.shared.name)

    def _sees(self, name: str) -> bool:
        return all(self.reach(name, use) is not None for use in self._uses())

    def _uses(self) -> Iterator[Use]:
        yield from (sink.use for sink in self.sinks if [kind for kind in sink.kinds if kind != "stdio"])
        yield from (change.use for change in self.changes)
        yield from (read.use for read in self.reads)

    def _is_plain(self, value: ast.expr) -> bool:
        """Whether a value can be repeated at every place that needs it."""
        return all(self._reached(value, sink.use) is not None for sink in self.sinks) and all(
            self._reached(value, read.use) is not None for read in self.reads
        )

    def value(self, name: str, use: Use) -> Reach | None:
        """The text of an option at some place; None where the place cannot get at it."""
        if self.shared is not None and name in (self.shared.names | self.shared.filled.keys()):
            where = self.reach(self.shared.name, use)
            return Reach(f'{where.text}["{name}"]', where.inserts) if where is not None else None
        if name in self.given:
            return self._reached(self.given[name], use)
        for text in self.data["defaults"]:
            word, _, default = text.partition(" ")
            if word == name:
                return Reach(default)
        return None

    def _reached(self, value: ast.expr, use: Use) -> Reach | None:
        if isinstance(value, ast.Constant) or (isinstance(value, ast.UnaryOp) and isinstance(value.operand, ast.Constant)):
            return Reach(self.module.text(value))
        if isinstance(value, ast.Name) and self._is_fixed(value):
            return self.reach(value.id, use)
        if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name) and self._is_fixed(value.value):
            # What an attribute has may change: it is asked for again only inside of the same function.
            inside = self.module.function(self.server.call)
            if inside is not None and use.module is self.module and use.module.function(use.node) is inside:
                return Reach(self.module.text(value))
        return None

    def _is_fixed(self, name: ast.Name) -> bool:
        """Whether a name has one value for ever, from before the server is made."""
        bindings = self.program.inference.bindings(name.id, name, self.module)
        if len(bindings) != 1 or bindings[0].how not in (How.VALUE, How.PARAMETER, How.IMPORTED, How.ANNOTATED):
            return False
        scope = self._scope_of(name)
        everywhere = [scope, *(other for other in self.module.scopes.values() if name.id in other.outside)]
        return scope is not None and sum(len(one.bindings.get(name.id, ())) for one in everywhere if one is not None) == 1

    def _scope_of(self, name: ast.Name) -> Scope | None:
        scope: Scope | None = self.module.scope(name)
        while scope is not None and name.id not in scope.bindings:
            scope = scope.parent
        return scope

    def reach(self, name: str, use: Use) -> Reach | None:
        """How the place of a use gets at a name that is known where the server is made."""
        if name == ATTACHED:
            receiver = _receiver(use)
            if isinstance(receiver, ast.Name | ast.Attribute):
                return Reach(f'getattr({use.module.text(receiver)}, "{ATTACHED}")')
            return None
        if "." in name:
            return self._beside(name, use)
        home = self.module.scope(self.server.call)
        defined = home
        while name not in defined.bindings and defined.parent is not None:
            defined = defined.parent
        if name not in defined.bindings:
            defined = home  # it is still to be made
        if use.module is self.module:
            scope: Scope | None = use.module.scope(use.node)
            while scope is not None and scope is not defined:
                if name in scope.bindings and not isinstance(scope.node, ast.ClassDef):
                    return None
                scope = scope.parent
            return Reach(name) if scope is defined else None
        if not isinstance(defined.node, ast.Module):
            return None
        return self._imported(name, use)

    def _beside(self, name: str, use: Use) -> Reach | None:
        """`self.server_options`, where the server is `self.server`."""
        receiver = _receiver(use)
        last = name.rpartition(".")[2]
        if isinstance(receiver, ast.Attribute) and f"{receiver.attr}_options" == last:
            return Reach(f"{use.module.text(receiver.value)}.{last}")
        if use.module is self.module and use.module.function(use.node) is self.module.function(self.server.call):
            return Reach(name)
        return None

    def _imported(self, name: str, use: Use) -> Reach | None:
        """A name of the server's module in another one, which has the server from there."""
        receiver = _receiver(use)
        if isinstance(receiver, ast.Attribute):
            base = self.program.type(receiver.value, use.module)
            home = f"{self.module.path}::"
            return Reach(f"{use.module.text(receiver.value)}.{name}") if getattr(base, "name", "") == home else None
        if not isinstance(receiver, ast.Name):
            return None
        bindings = self.program.inference.bindings(receiver.id, receiver, use.module)
        if not bindings and not self.program.inference.bindings(name, receiver, use.module):
            return Reach(name) if self._comes_by_stars(receiver.id, name, use.module) else None
        if len(bindings) != 1 or bindings[0].how is not How.IMPORTED:
            return None
        alias = bindings[0].node
        where = self.program.locate(bindings[0].target, use.module)
        if where is None or where[0] is not self.module or "." in where[1] or not isinstance(alias, ast.alias):
            return None
        if not isinstance(use.module.parents.get(alias), ast.ImportFrom):
            return None
        there = self.program.inference.bindings(name, receiver, use.module)
        if there:
            same = all(isinstance(b, Binding) and b.how is How.IMPORTED and b.target.rpartition(".")[2] == name for b in there)
            return Reach(name) if same else None
        end = use.module.span(alias).end
        return Reach(name, ((end, f", {name}"),))

    def _comes_by_stars(self, server: str, name: str, module: Module) -> bool:
        """Whether star imports that bring the server to a module bring what stands beside it, too."""
        seen: list[Module] = []
        while module is not self.module:
            if module in seen:
                return False
            seen.append(module)
            giver: Module | None = None
            for star in reversed(module.stars):
                where = self.program.locate(star, module)
                if where is None and self.program.api.is_module(star):
                    continue
                if where is None or where[1] or (where[0] is not self.module and name in where[0].scopes[where[0].tree].bindings):
                    return False  # nobody knows what it brings, or it brings something else of this name
                if where[0].stars or server in where[0].scopes[where[0].tree].bindings:
                    giver = where[0]
                    break
            if giver is None or not self._offers_all(giver):
                return False
            module = giver
        return not name.startswith("_")

    def _offers_all(self, giver: Module) -> bool:
        """Whether star imports bring every name of a module that has no underscore before it, as far as the server's own is one."""
        offers = giver.scopes[giver.tree].bindings.get("__all__", ())
        if not offers:
            return True
        if len(offers) > 1 or giver is not self.module or giver.span(offers[0].node).start < giver.span(self.server.call).start:
            return False
        match offers[0].value:
            case ast.ListComp(
                elt=ast.Name(id=name),
                generators=[ast.comprehension(target=ast.Name(id=each), iter=ast.Call(func=ast.Name(id=names), args=[]), ifs=tests)],
            ):
                return name == each and names in ("globals", "dir", "vars") and all(_is_of_underscores(test, name) for test in tests)
        return False


def _is_of_underscores(test: ast.expr, name: str) -> bool:
    """`not name.startswith("_")`."""
    match test:
        case ast.UnaryOp(
            op=ast.Not(),
            operand=ast.Call(func=ast.Attribute(value=ast.Name(id=each), attr="startswith"), args=[ast.Constant(value=str(start))]),
        ):
            return each == name and start.startswith("_")
    return False


def _receiver(use: Use) -> ast.expr | None:
    """The server of a use, as it is written."""
    if isinstance(use.node, ast.Call):
        return use.node.func.value if isinstance(use.node.func, ast.Attribute) else None
    return use.node.value


class _Held(NamedTuple):
    name: str
    node: ast.expr
    dict: ast.Dict
    keys: tuple[str, ...]


def transports(node: ast.expr, module: Module, program: Program) -> tuple[str, ...]:
    """The transports that an expression can name, where it is known; all of them where it is not."""
    match node:
        case ast.Constant(value=str(text)):
            return (text,)
        case ast.IfExp(body=body, orelse=orelse):
            return tuple(dict.fromkeys((*transports(body, module, program), *transports(orelse, module, program))))
        case ast.Name(id=name):
            bindings = program.inference.bindings(name, node, module)
            values = [binding.value for binding in bindings if binding.how is How.VALUE and not binding.path]
            if bindings and len(values) == len(bindings) and all(isinstance(value, ast.Constant | ast.IfExp) for value in values):
                return tuple(dict.fromkeys(kind for value in values if value is not None for kind in transports(value, module, program)))
        case ast.Attribute(attr=attr):
            choices = [call for call in module.calls.get("add_argument", ()) if _option(call) == attr]
            if len(choices) == 1:
                listed = next((word.value for word in choices[0].keywords if word.arg == "choices"), None)
                if isinstance(listed, ast.List | ast.Tuple) and all(isinstance(item, ast.Constant) for item in listed.elts):
                    names = [str(item.value) for item in listed.elts if isinstance(item, ast.Constant)]
                    return tuple(name for name in names if name in _TRANSPORTS) or _TRANSPORTS
    return _TRANSPORTS


def _option(call: ast.Call) -> str:
    """The attribute that an argument of a command line becomes."""
    for word in call.keywords:
        if word.arg == "dest" and isinstance(word.value, ast.Constant):
            return str(word.value.value)
    longest = [str(a.value) for a in call.args if isinstance(a, ast.Constant) and str(a.value).startswith("--")]
    return longest[0][2:].replace("-", "_") if longest else ""


def _partial(use: Use) -> ast.Call | None:
    """`partial(server.run, ...)`."""
    match use.module.parents.get(use.node):
        case ast.Call(func=ast.Name(id="partial") | ast.Attribute(attr="partial"), args=[first, *_]) as call if first is use.node:
            return call
    return None


def _called_elsewhere(use: Use) -> ast.Call | None:
    """The call that is given the method with arguments for it; None where it is given nothing but the method."""
    match use.module.parents.get(use.node):
        case ast.Call(args=[_], keywords=[]):
            return None
        case ast.keyword(arg="target") as word:
            call = use.module.parents.get(word)
            if isinstance(call, ast.Call) and not any(other.arg in ("args", "kwargs") for other in call.keywords):
                return None
            return call if isinstance(call, ast.Call) else None
    above = use.module.parents.get(use.node)
    return above if isinstance(above, ast.Call) else ast.Call(func=use.node, args=[], keywords=[])


def _is_asserted(use: Use) -> bool:
    """Whether a test holds what it reads against something; with a plain value in its place it would ask nothing any more."""
    statement = use.module.statement(use.node)
    match statement:
        case ast.Assert():
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name))):
            return name.startswith("assert")
    return False


def _present(node: ast.AST | None, shared: str) -> set[str] | None:
    """The options that a call has already; None for all of them."""
    if not isinstance(node, ast.Call):
        return set()
    found: set[str] = set()
    for word in node.keywords:
        if word.arg is not None:
            found.add(word.arg)
            continue
        for inside in ast.walk(word.value):
            match inside:
                case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)) if shared and name == shared:
                    if not _is_picked(word.value, shared):
                        return None
                case ast.Constant(value=str(text)):
                    found.add(text)
    return found


def _is_picked(node: ast.expr, shared: str) -> bool:
    """Whether the dict is only asked for single options."""
    picked = {id(part) for inside in ast.walk(node) if isinstance(inside, ast.Subscript) for part in ast.walk(inside.value)}
    return all(id(inside) in picked for inside in ast.walk(node) if shared in _spelled(inside))


def _spelled(node: ast.AST) -> tuple[str, ...]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)):
            return (name,)
    return ()


def _dicts(module: Module, program: Program) -> dict[str, list[ast.Dict]]:
    """The dicts that names and attributes of a file are given, by what these are spelled as."""
    key = f"dicts of {module.path}"
    if key not in program.memo:
        found: dict[str, list[ast.Dict]] = {}
        for node in module.nodes:
            match node:
                case ast.Assign(targets=[target], value=ast.Dict() as made) | ast.AnnAssign(target=target, value=ast.Dict() as made):
                    found.setdefault(module.text(target), []).append(made)
        program.memo[key] = found
    return program.memo[key]  # type: ignore[return-value]


def _keys(node: ast.Dict) -> tuple[str, ...] | None:
    if all(isinstance(key, ast.Constant) and isinstance(key.value, str) for key in node.keys):
        return tuple(str(key.value) for key in node.keys if isinstance(key, ast.Constant))
    return None


def _names_other(call: ast.AST) -> bool:
    """`getattr(server.settings, "debug")`."""
    return isinstance(call, ast.Call) and len(call.args) > 1 and isinstance(call.args[1], ast.Constant) and call.args[1].value not in MOVED


def served_over(server: Server, program: Program) -> set[str]:
    """The transports that a server is run with."""
    options = Options(server, program, {"common": (), "defaults": (), "local": ()})
    return {kind for sink in options.sinks for kind in sink.kinds}
