"""Where the boundary goes in a hand-written stdio server: the place a message enters, the places its reply leaves, and the proof."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum

from ..source import Span
from . import admission, approach, carried, chains, endpoints, frameworks, handshake, reused, sessions, transport
from .chains import Chain, Origin, Subject
from .code import Call, Code, Place, Unit, assigned, unwrap
from .decorators import Decorators, is_changed
from .emissions import MESSAGES, Emission, Emissions, Kind, Send, leaving
from .endpoints import Endpoint
from .fresh import Fresh, fresh
from .functions import Function, dotted, walk
from .gates import Condition, boundaries, conditions, first_messages, refusals
from .identity import Identity, identities, identity, nameless
from .leaks import Leaks
from .lost import lost
from .replies import COROUTINE, TUPLE, WAITS, Packed, Proof, Replies
from .routes import VERBS
from .sessionless import Needed, Sessionless, Spared, Way, depends, guards, required
from .spelled import Unknown
from .syntax import descend
from .vocabulary import ADDED_REQUESTS, CURRENT, NOTIFICATIONS, REMOVED_REQUESTS, SPELLINGS

_MAX_CLIMB = 4
_WRAPPED = frozenset({frameworks.Framework.FASTAPI, frameworks.Framework.STARLETTE, frameworks.Framework.FLASK, frameworks.Framework.ASGI})
ELSEWHERE = "requests without a session or handshake are refused here, in another module than the endpoint's"
"""Why nothing is wired where a gate stands elsewhere, and cannot learn of the boundary."""
_FORBIDS = "a session is asked here for what its client may do, and a 2026-07-28 request has none"


class Strategy(Enum):
    """How a boundary is put before a dispatcher."""

    DECORATOR = "decorator"  # the function takes the message and returns its reply, or None, or a tuple with that
    SENDER = "sender"  # the function takes the message and hands its replies to one writer
    SPLIT = "split"  # the function holds the message, and replies leave in statements of their own
    HOST = "host"  # requests come in over HTTP, and the boundary goes around the endpoint


@dataclass(frozen=True, eq=False)
class Hook:
    """A proven place for the boundary, with everything that has to change around it."""

    strategy: Strategy
    place: Place
    message: str
    identity: Identity
    methods: frozenset[str] | None  # None: it may answer more than could be read
    parse: ast.stmt | None = None  # SPLIT: the statement that gives the message; None for a parameter
    writer: Place | None = None  # SENDER: the function that writes a message
    outgoing: tuple[Emission, ...] = ()  # what writes messages, and has to write those of `MCP.outgoing` instead
    finish: tuple[ast.expr, ...] = ()  # SPLIT: replies that are returned, or turned into text that is
    early: Send | ast.Return | None = None  # SPLIT: how this function answers, to be repeated for an early reply
    untested: tuple[Call, ...] = ()  # callers that write whatever they get, None too
    packed: Packed | None = None  # DECORATOR: the tuple that holds the reply, where it is returned in one
    conditions: tuple[Condition, ...] = ()  # what is only done after the handshake, behind the hook
    hosts: tuple[Host, ...] = ()  # HOST: the endpoints
    inside: tuple[Place, ...] = ()  # HOST: all that runs behind them
    borrowed: tuple[Unit, str] | None = None  # the boundary object of a module, where there is one for another transport already
    gates: tuple[ast.expr, ...] = ()  # HOST: the first condition of each test that refuses requests without a session
    spared: tuple[Spared, ...] = ()  # HOST: what keeps book of sessions
    fresh: tuple[Fresh, ...] = ()  # HOST: look-ups behind which a session is made for one request
    lost: tuple[Needed, ...] = ()  # HOST: what only a session could keep
    elsewhere: tuple[tuple[Place, ast.AST], ...] = ()  # HOST: gates and book-keeping in other modules than the endpoint's
    around: frozenset[str] = frozenset()  # HOST: the names of middleware that asks for a session
    before: int = 0  # the hooks of this module that come before it, whose names are taken
    fed: bool = False  # messages from standard input surely reach it


@dataclass(frozen=True, eq=False)
class Host:
    """An endpoint, those that answer other verbs of its path, and the path where the endpoint itself tells."""

    endpoint: Endpoint
    beside: tuple[Endpoint, ...] = ()
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Blocker:
    """What could not be proven, where, and what a human can do."""

    unit: Unit
    span: Span
    reason: str
    way_out: str = ""
    served: bool = True  # False: nothing in the project brings requests to it
    behind: bool = False  # a boundary stands before the dispatcher for another transport
    fed: bool = False  # messages from standard input surely reach the dispatcher
    reached: bool = True  # these, or those of an endpoint


@dataclass(eq=False)
class Hooks:
    """Finds the hooks of modules; proofs are shared between them."""

    code: Code
    decorators: Decorators = field(init=False)
    replies: Replies = field(init=False)
    emissions: Emissions = field(init=False)
    leaks: Leaks = field(init=False)
    _chains: tuple[Place, ...] = ()  # the dispatchers of the module that is looked at
    _handlers: dict[Place, tuple[Place, ...]] = field(default_factory=dict)  # what a function reaches through its tables
    _over_http: frozenset[Place] | None = None  # what only endpoints run, while the rest of their server is looked at
    _wired: dict[Unit, frozenset[str]] = field(default_factory=dict)  # the functions of a module that stand behind a boundary

    def __post_init__(self) -> None:
        self.decorators = Decorators(self.code)
        self.replies = Replies(self.code, self.decorators)
        self.emissions = Emissions(self.code, self.decorators)
        self.leaks = Leaks(self.code, self.emissions, self.decorators)

    def find(self, unit: Unit) -> list[Hook | Blocker]:
        """One answer for each dispatcher of the module that no other one contains."""
        found = [chain for place in unit.places if (chain := chains.find(self.code, place))]
        if any("server/discover" in chain.methods for chain in found):
            return []
        for chain in found:
            entries = [entry for table in chain.tables for entry in table.values]
            named = [value if isinstance(value, Place) else self.code.target(value, home) for value, home in entries]
            self._handlers[chain.place] = tuple(one for one in named if isinstance(one, Place))
        self._chains = tuple(chain.place for chain in found if chain.place.function)
        out: list[Hook | Blocker] = []
        taken: set[Place] = set()
        # A function that calls other dispatchers is tried first: one hook covers them all.
        inside = {chain.place: self._inside(chain.place) for chain in found}
        for chain in sorted(found, key=lambda c: -sum(c2.place in inside[c.place] for c2 in found)):
            if chain.place in taken:
                continue
            if self._is_behind(chain.place):
                out += self._unhosted(chain)
                out += self._unread(chain, [c for c in found if c.place in inside[chain.place]])
                continue
            taken.add(chain.place)
            within = inside[chain.place]
            fed = any(transport.is_reader(self.code, one, within) for one in (chain.place, *self._above(chain.place)))
            for answer in self._enter(chain, [c for c in found if c.place in within]):
                answer = replace(answer, fed=fed)
                if isinstance(answer, Blocker):
                    answer = replace(answer, reached=fed or bool(endpoints.above(self.code, chain.place)))
                if isinstance(answer, Hook):
                    answer = self._beside(answer, [one for one in out if isinstance(one, Hook)])
                if isinstance(answer, Hook):
                    taken.update(answer.inside or self._inside(answer.place))
                    out = [o for o in out if not isinstance(o, Blocker) or not self._covers(answer, o)]
                out.append(answer)
        return [*self._numbered(self._apart([*self._alone(out)], found))]

    def _beside(self, hook: Hook, earlier: list[Hook]) -> Hook | Blocker:
        """A hook beside the earlier ones of its module, which write through others than it."""
        shared = [emission for one in earlier for emission in one.outgoing if emission in hook.outgoing]
        if shared:
            reason = "two servers write through this, and only one of them can finish the replies"
            return self._block(shared[0].place, shared[0].dumps, reason, "give each server a writer of its own")
        return hook

    def _numbered(self, answers: Iterable[Hook | Blocker]) -> Iterator[Hook | Blocker]:
        """The answers; a hook counts those of its module before it, whose names are taken."""
        units: list[Unit] = []
        for answer in answers:
            if isinstance(answer, Hook):
                answer = replace(answer, before=units.count(answer.place.unit))
                units.append(answer.place.unit)
            yield answer

    def _alone(self, answers: list[Hook | Blocker]) -> Iterator[Hook | Blocker]:
        """The answers, without servers of one module whose boundary goes around an application: it counts for the whole module."""
        hosted = [answer for answer in answers if isinstance(answer, Hook) and answer.hosts]
        for answer in answers:
            beside = [one for one in hosted if one is not answer and one.place.unit is answer.place.unit] if answer in hosted else []
            rival = next((one for one in beside if isinstance(answer, Hook) and (_goes_around(one) or _goes_around(answer))), None)
            if rival is not None and isinstance(answer, Hook):
                reason = f"`{answer.place.name}` and `{rival.place.name}` belong to two servers of one module"
                answer = self._block(answer.place, None, reason, "give each server a module of its own")
            yield answer

    def _apart(self, answers: list[Hook | Blocker], found: list[Chain]) -> Iterator[Hook | Blocker]:
        """The answers, without hooks on parts of one server: one of several dispatchers knows the handshake, the others do not."""
        for answer in answers:
            if isinstance(answer, Hook):
                inside = answer.inside or self._inside(answer.place)
                here = [chain for chain in found if chain.place in inside]
                others = [chain for chain in found if chain.place not in inside]
                knows = any("initialize" in chain.methods for chain in here)
                for other in others:
                    # A server without a handshake beside a whole one is half of it; so is a handshake beside what it leads to.
                    rest = _requests(other.methods) and not _requests(frozenset().union(*(chain.methods for chain in here)))
                    if (not knows and "initialize" in other.methods) or (rest and "initialize" not in other.methods):
                        answer = self._block(
                            answer.place,
                            None,
                            f"`{answer.place.name}` and `{other.place.name}` share the methods of one server",
                            "put the boundary where the message has been parsed",
                        )
                        break
            yield answer

    def handshake_work(self, places: Iterable[Place]) -> handshake.Work | None:
        """What the handshake does for others, among these functions and all that they reach."""
        starts = [*places]
        found = dict.fromkeys(other for place in starts for other in self._inside(place))
        carries = any(self._carries(place) for place in starts)
        return handshake.work(self.code, found, [c.node for place in found for c in conditions(place.unit.module)], hosted=carries)

    def _carries(self, place: Place) -> bool:
        """Whether the sessions of a dispatcher come with its replies, and requests without one need none."""
        chain = chains.find(self.code, place)
        if (
            chain is None
            or place.function is None
            or chain.subject.origin is not Origin.MESSAGE
            or not isinstance(self.replies.packed(place), Packed)
        ):
            return False
        without = self._carried(place, chain.subject.name)
        if without is None:
            return False
        gates, uses = self._spared(without)
        return not isinstance(gates, Blocker) and not any(isinstance(use, Needed) for use in uses)

    def _inside(self, place: Place) -> tuple[Place, ...]:
        """Everything that runs when a function runs, its tables' handlers included."""
        found = list(self.code.reachable(place))
        for one in found:
            for handler in self._handlers.get(one, ()):
                found += [other for other in self.code.reachable(handler) if other not in found]
        return tuple(found)

    def _is_behind(self, place: Place) -> bool:
        """Whether a boundary stands before a function already."""
        above = [place, *self._above(place)]
        if any(one.name in self._behind(one.unit) for one in above):
            return True
        # A boundary around an application stands before all its endpoints.
        return any("" in self._behind(one.unit) for one in above if endpoints.of(self.code, one) is not None)

    def _behind(self, unit: Unit) -> frozenset[str]:
        if unit not in self._wired:
            wired = boundaries(unit.module, unit.names.imports)
            # `engine.begin()` is called on what some module gives, and mostly that is no boundary.
            self._wired[unit] = wired.own.union(*(functions for name, functions in wired.borrowed.items() if self._is_made(name)))
        return self._wired[unit]

    def _is_made(self, name: str) -> bool:
        """Whether a dotted name leads to the boundary object of a module."""
        found = self.code.find(name)
        return found is not None and found[1] in boundaries(found[0].module, found[0].names.imports).makes

    # -- where the message enters ---------------------------------------------
    def _enter(self, chain: Chain, inner: list[Chain]) -> Iterator[Hook | Blocker]:
        reached = endpoints.above(self.code, chain.place)
        hosts = list(self._hosted(chain, reached)) if reached else []
        if not hosts or not transport.of(self.code, chain.place).stdio:
            yield from hosts or [self._read(chain, inner)]
            return
        served = [hook for hook in hosts if isinstance(hook, Hook)]
        if len(served) < len(hosts):
            # Half of a server is none: what is read from a stream waits for the rest.
            yield from hosts
            return
        # What an endpoint makes of a reply is not the stream's business.
        self._over_http = frozenset(place for hook in served for place in hook.inside) - {*self._inside(chain.place)}
        read = self._read(chain, inner)
        self._over_http = None
        if isinstance(read, Blocker):
            # A loop that calls a decorated endpoint has its boundary.
            decorated = {one.endpoint.place for hook in served for one in hook.hosts if one.endpoint.framework not in _WRAPPED}
            yield from [*hosts, read] if self._reader(chain.place, decorated.__contains__) is not None else hosts
        elif all(hook.place.unit is read.place.unit for hook in served) and len(served) == 1:
            hook = served[0]
            yield replace(
                read,
                conditions=tuple(dict.fromkeys([*read.conditions, *hook.conditions])),
                hosts=hook.hosts,
                inside=hook.inside,
                gates=tuple(dict.fromkeys([*read.gates, *hook.gates])),
                spared=tuple(dict.fromkeys([*read.spared, *hook.spared])),
                fresh=hook.fresh,
                lost=hook.lost,
                elsewhere=hook.elsewhere,
                around=hook.around,
            )
        else:
            # The endpoints take the object that this makes: they come in the next round.
            yield read

    def _unhosted(self, chain: Chain) -> Iterator[Hook | Blocker]:
        """The endpoints of a dispatcher that has a boundary for another transport."""
        wired = boundaries(chain.place.unit.module, chain.place.unit.names.imports)
        own = [name for name in wired.makes if chain.place.name in wired.own]
        open_ = [one for one in endpoints.above(self.code, chain.place) if not self._has_boundary(one)]
        if len(own) == 1 and open_:
            for hook in self._hosted(chain, open_):
                yield replace(hook, borrowed=(chain.place.unit, own[0])) if isinstance(hook, Hook) else replace(hook, behind=True)

    def _unread(self, chain: Chain, inner: list[Chain]) -> Iterator[Blocker]:
        """Why the loop of a dispatcher has no boundary, where its endpoints have one."""
        if self._is_wired(chain.place) or (reader := self._reader(chain.place, self._is_wired)) is None:
            return
        stopped = [one for one in self._above(chain.place) if self._is_wired(one)]
        self._over_http = frozenset(other for place in stopped for other in (place, *self._above(place)))
        read = self._read(chain, inner)
        self._over_http = None
        if isinstance(read, Hook):
            reason = f"`{reader.name or 'this module'}` reads messages that pass by the boundary of the endpoints"
            read = self._block(reader, None, reason, "delete that boundary, and let `fix` put one in for both")
        yield replace(read, behind=True)

    def _reader(self, start: Place, is_stop: Callable[[Place], bool]) -> Place | None:
        """What reads standard input and leads to a function by a way without any of these stops."""
        reached = [] if is_stop(start) else [start]
        inside = self._inside(start)
        for one in reached:
            if one != start and transport.is_reader(self.code, one, inside):
                return one
            if one.function is not None:
                reached += [call.place for call in self.code.callers(one) if call.place not in reached and not is_stop(call.place)]
        return None

    def _is_wired(self, place: Place) -> bool:
        """Whether a boundary stands before this function itself, or before the endpoint that it is."""
        if place.function is None:
            return any(isinstance(node, ast.Attribute) and node.attr == "begin" for node in place.nodes) and "" in self._behind(place.unit)
        behind = self._behind(place.unit)
        return any(around.name in behind for around in place.enclosing()) or ("" in behind and endpoints.of(self.code, place) is not None)

    def _has_boundary(self, endpoint: Endpoint) -> bool:
        above = [endpoint.place, *self._above(endpoint.place)]
        return any(one.name in self._behind(one.unit) for one in above) or "" in self._behind(endpoint.place.unit)

    def _read(self, chain: Chain, inner: list[Chain]) -> Hook | Blocker:
        """The hook of a dispatcher whose messages are read from a stream."""
        answer = self._entered(chain, inner)
        if isinstance(answer, Blocker) and transport.is_idle(self.code, chain.place):
            return replace(answer, served=False)
        return answer

    def _entered(self, chain: Chain, inner: list[Chain]) -> Hook | Blocker:
        holders = self._holders(chain.place, chain.subject, chain.place)
        if isinstance(holders, Blocker):
            return holders
        if len(holders) != 1:
            return self._block(
                chain.place,
                None,
                "several functions hold its messages" if holders else "no function of the project was found that holds its messages",
                "put the boundary where a message has been parsed",
            )
        methods = frozenset().union(*(c.methods for c in [chain, *inner]))
        complete = all(c.complete for c in [chain, *inner])
        place, message = next(iter(holders))
        if transport.is_http(place):
            return self._http(place, place)
        return self._prove(place, message, _requests(methods) if complete else None, 0)

    def _holders(self, place: Place, subject: Subject, start: Place, depth: int = 0) -> set[tuple[Place, str]] | Blocker:
        if subject.origin is Origin.TYPED and (raw := self._modelled(subject.name, place)) is not None:
            subject = Subject(Origin.MESSAGE, raw)
        if subject.origin is Origin.TYPED:
            return self._block(
                place,
                None,
                f"`{subject.name}` is a typed request, not the message itself",
                "wrap the application, or parse to a dict first",
            )
        if subject.origin is Origin.MESSAGE:
            for around in place.enclosing():
                parameters = around.function.parameters if around.function else ()
                if subject.name in parameters or assigned(around, subject.name):
                    return {(around, subject.name)}
            return {(Place(place.unit, None), subject.name)}
        found: set[tuple[Place, str]] = set()
        assert place.function
        if depth > _MAX_CLIMB:
            return found
        for call in self.code.callers(place):
            argument = call.argument(subject.name, place.function)
            if argument is None or isinstance(argument, ast.Constant):
                continue
            if about := chains.subject(self.code, argument, call.place):
                above = self._holders(call.place, about, start, depth + 1)
                if isinstance(above, Blocker):
                    return above
                found |= above
        return found

    def _modelled(self, name: str, place: Place) -> str | None:
        """The dict that a typed request is made from: `Request(**message)`, `Request.model_validate(message)`."""
        values = assigned(place, name)
        match values[0] if len(values) == 1 else None:
            case ast.Call(args=[], keywords=[ast.keyword(arg=None, value=ast.Name(id=raw))]):
                return raw
            case ast.Call(func=ast.Attribute(attr="model_validate" | "parse_obj" | "from_dict"), args=[ast.Name(id=raw)], keywords=[]):
                return raw
        return None

    # -- proofs ---------------------------------------------------------------
    def _prove(self, place: Place, message: str, methods: frozenset[str] | None, depth: int) -> Hook | Blocker:
        if place.function is None or message not in place.function.parameters:
            return self._split(place, message, methods)
        if self._is_rebound(place, message):
            return self._block(place, None, f"`{message}` is given another value on the way", "keep the parsed message under one name")
        proof = self.replies.function(place)
        if proof.sure and proof.reply:
            if (other := self._also_sends(place)) is not None:
                return self._block(
                    other.place, other.node, "replies are returned, but this one is written directly", "return this reply too"
                )
            return self._decorator(*self._outermost(place, message), methods)
        if proof.sure or not any(isinstance(n, ast.Return) and n.value is not None and not _is_none(n.value) for n in place.nodes):
            return self._sender(place, message, methods)
        above = {(c.place, a.id) for c in self.code.callers(place) if isinstance(a := c.argument(message, place.function), ast.Name)}
        if len(above) == 1 and depth < _MAX_CLIMB and not isinstance(answer := self._prove(*above.pop(), methods, depth + 1), Blocker):
            return answer
        if proof.doubt == TUPLE and isinstance(packed := self.replies.packed(place), Packed):
            if (other := self._also_sends(place)) is not None:
                return self._block(
                    other.place, other.node, "replies are returned, but this one is written directly", "return this reply too"
                )
            return self._decorator(place, message, methods, packed)
        if proof.doubt == TUPLE and isinstance(packed, Proof):
            proof = packed
        at = proof.at or (place, None)
        return self._block(
            at[0],
            at[1],
            f"`{place.name}` does not surely return a JSON-RPC reply or None: {proof.doubt}",
            f"make `{place.name}` async and await it" if proof.doubt == COROUTINE else "wire `begin` and `finish` by hand",
        )

    def _outermost(self, place: Place, message: str) -> tuple[Place, str]:
        """The highest function that takes the same message and gives back the same reply."""
        for _ in range(_MAX_CLIMB):
            calls = list(self.code.callers(place))
            above = {c.place for c in calls}
            assert place.function
            arguments = {a.id for c in calls if isinstance(a := c.argument(message, place.function), ast.Name)}
            if len(above) != 1 or len(arguments) != 1 or not all(c.direct for c in calls):
                break
            caller, name = above.pop(), arguments.pop()
            if (
                caller.function is None
                or name not in caller.function.parameters
                or self._is_rebound(caller, name)
                or caller.unit is not place.unit
            ):
                break
            proof = self.replies.function(caller)
            if not (proof.sure and proof.reply) or self._also_sends(caller):
                break
            place, message = caller, name
        return place, message

    def _decorator(self, place: Place, message: str, methods: frozenset[str] | None, packed: Packed | None = None) -> Hook | Blocker:
        identity_ = self._identity(place, methods)
        if isinstance(identity_, Blocker):
            return identity_
        without = self._carried(place, message) if packed is not None else None
        if (problem := self._around(place, message, hosted=without is not None)) is not None:
            return problem
        gates, uses = self._spared(without) if without is not None else ((), ())
        if isinstance(gates, Blocker):
            return gates
        if (use := next((one for one in uses if isinstance(one, Needed)), None)) is not None:
            reason = f"`{ast.unparse(use.node)}` needs a session, which no 2026-07-28 request has"
            return self._block(use.place, use.node, reason, "keep it in a handle that a tool returns and the next call names")
        if without is not None:
            if (problem := self._unready(place, [*without.inside], gates, (), [*uses], without)) is not None:
                return problem
            for at, node in self._elsewhere_spared(place, [*without.inside], gates, [*uses]):
                return self._block(at, node, ELSEWHERE, "let 2026-07-28 requests pass here")
        noise = self._unsolicited(place.unit)
        if (problem := self._elsewhere(place, noise) or self._passing(place, None) or self._altered(place, packed)) is not None:
            return problem
        never_none = not (packed.proof if packed else self.replies.function(place)).nothing
        inside = self._inside(place)
        untested = []
        for call in self._calls(place) if packed is not None else self.code.callers(place):
            # What the server asks of itself stays a part of the request in progress.
            if call.place in inside or call.place in (self._over_http or ()) or self._is_made_up(call, place, message):
                continue
            if self.code.is_followed(call):
                continue
            if (name := self._name_of(call, packed)) and (leaving_ := _leaves(call.place, name)) is not None:
                return self._block(call.place, leaving_, f"reading ends here when `{place.name}` returns None", "let the loop go on")
            match self._tests(call, later=_is_async(place), packed=packed):
                case False:
                    untested.append(call)
                case None if packed is not None:
                    return self._block(call.place, call.node, f"what becomes of the tuple that `{place.name}` returns is not clear here")
                case None if never_none:
                    return self._block(
                        call.place, call.node, f"what becomes of the value of `{place.name}` is not clear, and it was never None before"
                    )
        if any(call.place.unit is not place.unit for call in untested):
            other = next(call for call in untested if call.place.unit is not place.unit)
            return self._block(other.place, other.node, f"this writes whatever `{place.name}` returns, None too", "skip None here")
        return Hook(
            Strategy.DECORATOR,
            place,
            message,
            identity_,
            methods,
            outgoing=_unique(noise),
            untested=tuple(untested),
            packed=packed,
            conditions=tuple(one for one in self._conditions(place) if not any(one.node is gate.node for gate in gates)),
            gates=tuple({gate.around: gate.node for gate in reversed(gates)}.values()),
            spared=tuple(use for use in uses if isinstance(use, Spared)),
        )

    def _calls(self, place: Place) -> list[Call]:
        """The calls of a function, and those of its name on objects whose class is not known."""
        assert place.function
        found, short = {call.node: call for call in self.code.callers(place) if not self.code.is_followed(call)}, place.function.short
        for unit in self.code.around(place.unit) if place.function.owner else ():
            for home, node in unit.mentions.get(short, ()):
                match node.func:
                    case ast.Attribute(attr=attr) if attr == short and self.code.target(node.func, home) is None:
                        found.setdefault(node, Call(home, node, tuple(node.args), direct=True))
        return [*found.values()]

    def _carried(self, place: Place, message: str) -> Sessionless | None:
        """What becomes of a request without a session, where the loop has none until a reply brings it."""
        inside = self._inside(place)
        # What an endpoint hands in is named by a header.
        others = {*inside, *(other for one in endpoints.above(self.code, place) for other in self._inside(one.place))}
        calls = [call for call in self._calls(place) if call.place not in others]
        names = carried.parameters(self.code, place, calls, message)
        tabled = frozenset(handler for one in inside for handler in self._handlers.get(one, ()))
        given = frozenset((place, name) for name in names)
        return Sessionless(self.code, tuple(inside), tabled, (place,), given=given) if given else None

    def _spared(self, without: Sessionless) -> tuple[tuple[sessions.Condition, ...] | Blocker, tuple[Spared | Needed, ...]]:
        """What refuses a request for want of a session, and everything that would fail without one."""
        found = list(carried.gates(without))
        for one in found:
            if isinstance(one, carried.Unclear):
                reason = "whether this refuses requests without a session is not clear"
                return self._block(one.place, one.node, reason, "let requests without a session pass here"), ()
        own = [one for one in found if isinstance(one, sessions.Condition)]
        return (*without.gates(), *own), tuple(without.uses())

    def _sender(self, place: Place, message: str, methods: frozenset[str] | None) -> Hook | Blocker:
        sends = self._replies_sent(place)
        if isinstance(sends, Blocker):
            return sends
        identity_ = self._identity(place, methods)
        if isinstance(identity_, Blocker):
            return identity_
        if (problem := self._around(place, message)) is not None:
            return problem
        emissions = [*(send.writer for send in sends), *self._unsolicited(place.unit)]
        if (problem := self._elsewhere(place, emissions) or self._passing(place, emissions)) is not None:
            return problem
        writers = {send.writer.place for send in sends}
        writer = writers.pop() if len(writers) == 1 else None
        if writer is not None and _is_async(writer) and not _is_async(place):
            return self._block(
                place, None, f"`{place.name}` hands its replies to a coroutine and does not wait for it", f"make `{place.name}` async"
            )
        gates = tuple(self._conditions(place))
        # An early reply leaves without the code of the dispatcher, so its writer has to flush by itself.
        flushed = writer is not None and (_flushes(writer) or _flushes(sends[0].writer.place) or not _flushes(place))
        if writer is not None and flushed and self._can_send(writer, place, sends[0].writer.parameter):
            return Hook(Strategy.SENDER, place, message, identity_, methods, writer=writer, outgoing=_unique(emissions), conditions=gates)
        early = self._early(place, sends)
        if early is None:
            return self._block(
                place,
                None,
                "its replies leave in several ways, none of which could carry an early answer",
                "write replies through one function",
            )
        return Hook(Strategy.SPLIT, place, message, identity_, methods, outgoing=_unique(emissions), early=early, conditions=gates)

    def _split(self, place: Place, message: str, methods: frozenset[str] | None) -> Hook | Blocker:
        parse = self._parse(place, message)
        if isinstance(parse, Blocker):
            return parse
        returned = [n for n in place.nodes if isinstance(n, ast.Return) and place.function]
        finish = [reply for n in returned if (reply := self._returned(n, place)) is not None]
        if any(self.replies.expression(reply, place).nothing for reply in finish):
            return self._block(
                place, None, "a reply is returned that may be None", "move the dispatch into a function that takes the message"
            )
        if finish:
            doubts = [proof for n in returned if not (proof := self._returns(n, place)).sure]
            if doubts:
                at = doubts[0].at or (place, None)
                return self._block(at[0], at[1], f"`{place.name}` does not surely return a JSON-RPC reply or None: {doubts[0].doubt}")
            if self._also_sends(place):
                return self._block(place, None, "replies leave both by return and by writing")
            sends: list[Send] = []
        else:
            found = self._replies_sent(place)
            if isinstance(found, Blocker):
                return found
            sends = found
        identity_ = self._identity(place, methods)
        if isinstance(identity_, Blocker):
            return identity_
        if (problem := self._around(place, message)) is not None:
            return problem
        emissions = [*(send.writer for send in sends), *self._unsolicited(place.unit)]
        if (problem := self._elsewhere(place, emissions) or self._passing(place, emissions)) is not None:
            return problem
        early: Send | ast.Return | None = self._early(place, sends)
        if finish:
            early = next(n for n in returned if self._returned(n, place) is not None)
        if early is None:
            return self._block(place, None, "the function that parses messages writes none itself, so it cannot answer early")
        return Hook(
            Strategy.SPLIT,
            place,
            message,
            identity_,
            methods,
            parse=parse,
            outgoing=_unique(emissions),
            finish=tuple(finish),
            early=early,
            conditions=tuple(self._conditions(place)),
        )

    # -- over HTTP -----------------------------------------------------------------
    def _hosted(self, chain: Chain, reached: list[Endpoint]) -> Iterator[Hook | Blocker]:
        """The boundary around the endpoints of a dispatcher, in each module that has some."""

        def leads(place: Place) -> bool:
            return chain.place in self._inside(place)

        answering = [one for one in reached if not endpoints.streams(self.code, one.place, leads)]
        if not answering:
            reason = "its replies leave through the event stream of another request, which 2026-07-28 does not have"
            yield self._block(reached[0].place, None, reason, "add an endpoint that answers a POST with the reply itself")
        for unit in dict.fromkeys(one.place.unit for one in answering):
            yield self._host(chain, [one for one in answering if one.place.unit is unit])

    def _host(self, chain: Chain, reached: list[Endpoint]) -> Hook | Blocker:
        """Whatever the endpoints of one module answer is finished, so their replies need no proof."""
        place = reached[0].place
        inside = [*dict.fromkeys(one for start in (*(r.place for r in reached), chain.place) for one in self._inside(start))]
        inside += [one for other in self._called(inside) for one in self._inside(other) if one not in inside]
        for other in inside:
            # FastAPI calls these first.
            asked_first = [target for _, target in depends(self.code, other)] if other.function else []
            asked_first += [target for target in guards(self.code, other) if target not in asked_first]
            inside += [one for target in asked_first for one in self._inside(target) if one not in inside]
        found = [one for other in inside if (one := chains.find(self.code, other)) is not None]
        methods = frozenset().union(*(one.methods for one in found)) if all(one.complete for one in found) else None
        hosts: list[Host] = []
        for endpoint in reached:
            if not endpoints.reads_body(endpoint, inside):
                reason = f"the body of the request is read before `{endpoint.place.name}` runs"
                return self._block(endpoint.place, None, reason, "put the boundary around what reads it")
            paths = endpoint.paths or self._tested(endpoint, chain)
            if isinstance(paths, Blocker):
                return paths
            # A page under the same path is none of the protocol's, whichever era is served.
            others = (
                one for one in endpoints.beside(self.code, endpoint) if one.answers or not endpoints.serves(self.code, one.place, paths)
            )
            hosts.append(Host(endpoint, tuple(others), paths))
        identity_ = self._identity(place, methods, inside)
        if isinstance(identity_, Blocker):
            return identity_
        opened = tuple(self._conditions(place))
        tabled = frozenset(handler for one in inside for handler in self._handlers.get(one, ()))
        starts = tuple(one.place for one in reached)
        without = Sessionless(self.code, tuple(inside), tabled, starts)
        if any(isinstance(use, Needed) for use in without.uses()):
            # A server that makes a session for a request without one may go on doing so.
            made = Sessionless(self.code, tuple(inside), tabled, starts, spares=False)
            without = without if any(isinstance(use, Needed) for use in made.uses()) else made
        missed = [use for use in without.uses() if isinstance(use, Needed)]
        anew = fresh(self.code, without, CURRENT) if missed else []
        if anew:
            without = Sessionless(self.code, tuple(inside), tabled, starts, fresh=frozenset(one.statement for one in anew))
        gates, uses = tuple(without.gates()), list(without.uses())
        if any(isinstance(use, Needed) for use in uses):
            # A tool that keeps something in the session has to fail without one: nothing that it does is left out.
            uses = [use for use in uses if isinstance(use, Needed) or use.way is not Way.SKIP or without.is_common(use.node, use.place)]
        beyond = self._beyond(place, inside)
        if (problem := self._unready(place, inside, gates, beyond, uses, without)) is not None:
            return problem
        asked = [*(condition.node for condition in opened), *(n for gate in (*gates, *beyond) for n in descend(gate.around.test))]
        apart = [other.place for one in hosts for other in one.beside if not other.answers]
        if (work := handshake.work(self.code, inside, asked, hosted=True, apart=apart)) is not None:
            return self._block(work.place, work.node, work.reason, work.way_out)
        firsts = {gate.around: gate.node for gate in reversed(gates)}
        return Hook(
            Strategy.HOST,
            place,
            "",
            identity_,
            _requests(methods) if methods is not None else None,
            conditions=tuple(one for one in opened if not any(n is one.node for n in asked[len(opened) :])),
            hosts=tuple(hosts),
            inside=tuple(inside),
            gates=tuple(firsts.values()),
            spared=tuple(use for use in uses if isinstance(use, Spared)),
            fresh=tuple(anew),
            lost=tuple(lost(Sessionless(self.code, tuple(inside), tabled, starts, lasting=True)) if anew else missed),
            elsewhere=tuple(self._elsewhere_spared(place, inside, gates, uses)),
            around=frozenset(self._names(beyond, place, inside)),
        )

    def _called(self, inside: list[Place]) -> list[Place]:
        """The dispatchers of imported modules that are called here by their names, on objects whose class is not known."""
        found: list[Place] = []
        for unit in dict.fromkeys(place.unit for place in inside):
            others = {one[0]: None for target in unit.names.imports.values() if (one := self.code.find(target)) and one[0] is not unit}
            shorts: dict[str, list[Place]] = {}
            for place in (place for other in others for place in other.places if place.function and place.function.owner):
                shorts.setdefault(place.name.rpartition(".")[2], []).append(place)
            for place in (place for place in inside if place.unit is unit):
                for node in place.nodes:
                    match node:
                        case ast.Call(func=ast.Attribute(attr=attr) as func) if attr in shorts and self.code.target(func, place) is None:
                            found += [one for one in shorts[attr] if chains.find(self.code, one) is not None]
        return [*dict.fromkeys(found)]

    def _unready(
        self,
        place: Place,
        inside: list[Place],
        gates: tuple[sessions.Condition, ...],
        beyond: tuple[sessions.Condition, ...],
        uses: list[Spared | Needed],
        without: Sessionless,
    ) -> Blocker | None:
        """What would refuse or lose a request that was not announced by a handshake, and cannot be opened by this file's wiring."""
        for use in uses:
            if isinstance(use, Needed) and use.unclear:
                reason = "whether this asks for a session or for something else that was refused is not clear"
                return self._block(use.place, use.node, reason, "let it tell the two apart")
            if isinstance(use, Needed) and use.common:
                reason = f"`{ast.unparse(use.node)}` needs a session, which no 2026-07-28 request has"
                return self._block(use.place, use.node, reason, "keep it in a handle that a tool returns and the next call names")
        nodes: list[tuple[Place, ast.AST]] = []
        if any(isinstance(use, Needed) for use in uses):
            # What is left out elsewhere must not be missed by what stays.
            nodes += [(use.place, use.node) for use in uses if isinstance(use, Spared)]
        for unit in {one.unit for one in inside if one.unit is not place.unit}:
            refusing = [refusal.node for refusal in refusals(unit.module)]
            nodes += [(Place(unit, unit.module.function_of(node)), node) for node in refusing if node in unit.module.parents]
        for one in inside:
            if one.function and (name := required(one)):
                reason = f"requests without the header of `{name}` are refused before `{one.name}` runs"
                return self._block(one, None, reason, f"give `{name}` the default None")
        for gate in gates:
            if gate.is_access:
                at = next(one for one in inside if gate.around in one.nodes)
                reason = "whether this asks for a session or for who may come in is not clear"
                return self._block(at, gate.node, reason, "let 2026-07-28 requests in by what they bring themselves, not by a session")
        if (asked := self._asked_of_session(inside, (*gates, *beyond), without)) is not None:
            return self._block(*asked)
        for at, node in nodes:
            if at.unit is not place.unit and at in inside:
                return self._block(at, node, ELSEWHERE, "let 2026-07-28 requests pass here")
        return None

    def _units(self, place: Place, inside: list[Place]) -> list[Unit]:
        """The modules of a server, and those that they and whoever imports the endpoint's import."""
        units = dict.fromkeys([*(one.unit for one in inside), *self.code.around(place.unit)])
        for unit in [*units]:
            found = (self.code.unit(name) for name in self.code.library.imports(unit.module.source.path))
            units |= dict.fromkeys(one for one in found if one is not None)
        return [*units]

    def _beyond(self, place: Place, inside: list[Place]) -> tuple[sessions.Condition, ...]:
        """What refuses requests without a session before they reach the endpoint, in middleware."""
        return tuple(
            condition
            for unit in self._units(place, inside)
            if b"ession" in unit.module.source.utf8
            for condition in sessions.conditions(unit.module)
            if (function := unit.module.function_of(condition.node)) is not None
            and sessions.is_around(function, unit.module)
            and Place(unit, function) not in inside
        )

    def _names(self, beyond: tuple[sessions.Condition, ...], place: Place, inside: list[Place]) -> Iterator[str]:
        """What middleware is called where it is added: by its class, or by the function itself."""
        for unit in self._units(place, inside):
            for condition in beyond:
                if condition.node in unit.module.parents and (function := unit.module.function_of(condition.node)) is not None:
                    yield function.owner.rpartition(".")[2] or function.short

    def _elsewhere_spared(
        self, place: Place, inside: list[Place], gates: tuple[sessions.Condition, ...], uses: list[Spared | Needed]
    ) -> Iterator[tuple[Place, ast.AST]]:
        """What asks for sessions in other modules than the endpoint's, where rules of their own let requests of this revision pass."""
        yield from ((use.place, use.node) for use in uses if isinstance(use, Spared) and use.place.unit is not place.unit)
        for unit in {one.unit for one in inside if one.unit is not place.unit}:
            yield from ((Place(unit, unit.module.function_of(g.node)), g.node) for g in gates if g.node in unit.module.parents)

    def _asked_of_session(
        self, inside: list[Place], gates: tuple[sessions.Condition, ...], without: Sessionless
    ) -> tuple[Place, ast.AST, str, str] | None:
        """What asks a session that is not there: who may do something, behind a gate that let nobody through without one, or which case."""
        opened = {gate.around for gate in gates}
        # What stands around an endpoint is not reached from it: wrappers, middleware.
        around = [one for unit in dict.fromkeys(p.unit for p in inside) for one in unit.places if gates and one not in inside]
        for place in around:
            if endpoints.of(self.code, place) is None and (found := admission.of_session(place)) is not None:
                return place, found.test, _FORBIDS, "ask for what the request itself brings"
        for place in inside:
            for node in place.nodes:
                match node:
                    case ast.If(test=test, body=body) if gates and node not in opened and without.asks(test, place):
                        if not without.passes(node, place.unit) and any(
                            True for _ in admission.refusals(n for statement in body for n in descend(statement))
                        ):
                            return place, test, _FORBIDS, "ask for what the request itself brings"
                    case ast.match_case(guard=ast.expr() as guard) if without.asks(guard, place) and not without.passes(guard, place.unit):
                        reason = f"`{ast.unparse(guard)}` needs a session, which no 2026-07-28 request has"
                        return place, guard, reason, "ask for the session in an `if` before the cases"
        return None

    def _tested(self, endpoint: Endpoint, chain: Chain) -> tuple[str, ...] | Blocker:
        """The paths that an endpoint for all paths asks for on the way to the dispatcher; () where it asks for none."""
        ours, tests = endpoints.tested(self.code, endpoint.place, lambda other: chain.place in self._inside(other), chain.place)
        if tests and not ours:
            return self._block(
                endpoint.place, None, f"`{endpoint.place.name}` serves several paths, and which one is the endpoint's is not clear"
            )
        return ours

    # -- what stands around a hook ----------------------------------------------
    def _around(self, place: Place, message: str, *, hosted: bool = False) -> Blocker | None:
        """Whether the transport is stdio and nothing refuses messages before the hook.

        With `hosted`, what is kept for a session is looked at by itself.
        """
        way = transport.of(self.code, place)
        if way.http is not None and self._over_http is None and not self._is_unused(way.http):
            return self._http(place, way.http)
        if not way.stdio:
            return self._block(
                place,
                None,
                "nothing in the project feeds it from stdin, so its transport is not known",
                "decorate it with the boundary by hand",
            )
        inside = set(self._inside(place))
        for unit in {p.unit for p in [*inside, *self._above(place)]}:
            for first in first_messages(unit.module):
                at = Place(unit, unit.module.function_of(first))
                return self._block(at, first, "the first message has to be initialize here", "let the loop take any message first")
            for refusal in refusals(unit.module):
                at = Place(unit, unit.module.function_of(refusal.node))
                if at in inside and unit is not place.unit:
                    return self._block(
                        at,
                        refusal.node,
                        "requests are refused before the handshake, in another module",
                        "let 2026-07-28 requests pass here",
                    )
                if at in self._above(place) and at not in inside:
                    return self._block(
                        at, refusal.node, "requests are refused before they reach the dispatcher", "let 2026-07-28 requests pass here"
                    )
        if (doubt := approach.doubt(self.code, place, message, frozenset(inside), self._above(place))) is not None:
            return self._block(doubt.place, doubt.node, doubt.reason, doubt.way_out)
        opened = [condition.node for condition in self._conditions(place)]
        if (work := handshake.work(self.code, [*self._inside(place), *self._above(place)], opened, hosted=hosted)) is not None:
            return self._block(work.place, work.node, work.reason, work.way_out)
        return None

    def _is_unused(self, place: Place) -> bool:
        """Whether nothing calls a function that is named as one for its own module only."""
        return place.function is not None and place.function.short.startswith("_") and not any(True for _ in self.code.callers(place))

    def _http(self, place: Place, endpoint: Place) -> Blocker:
        return self._block(
            endpoint, None, f"`{place.name}` is reached over HTTP; headers and status are known in the endpoint only", "wire the endpoint"
        )

    def _above(self, place: Place) -> tuple[Place, ...]:
        found: list[Place] = [place]
        for one in found:
            if one.function is not None:
                found += [c.place for c in self.code.callers(one) if c.place not in found]
        return tuple(found[1:])

    def _conditions(self, place: Place) -> Iterator[Condition]:
        inside = set(self._inside(place))
        for condition in conditions(place.unit.module):
            if Place(place.unit, place.unit.module.function_of(condition.node)) in inside:
                yield condition

    def _identity(self, place: Place, methods: frozenset[str] | None, inside: Iterable[Place] = ()) -> Identity | Blocker:
        reach = behind = tuple(inside) or self._inside(place)
        # What the endpoint's module says itself covers what lies deeper.
        own = tuple(one for one in reach if one.unit is place.unit)
        reach = own if any(True for _ in identities(self.code, own)) else reach
        places = reach if any(True for _ in identities(self.code, reach)) else place.unit.places
        found = identity(self.code, places, place)
        if isinstance(found, Unknown) and found.node is None and methods and not self._shakes_hands(behind):
            return self._titled(place, methods)
        if isinstance(found, Unknown):
            return self._block(found.place or place, found.node, found.reason, "name the server and its capabilities by hand")
        return found

    def _shakes_hands(self, inside: Iterable[Place]) -> bool:
        """Whether some dispatcher among these functions answers `initialize`."""
        return any("initialize" in chain.methods for place in inside if (chain := chains.find(self.code, place)) is not None)

    def _titled(self, place: Place, methods: frozenset[str]) -> Identity:
        """The identity of a server that has no handshake: its application's title, or none."""
        calls = [app.made for app in frameworks.made(place.unit) if not app.router and app.made is not None]
        level = Place(place.unit, None)
        given = {k.arg: self.code.text(k.value, level) for k in calls[0].keywords if k.arg} if len(calls) == 1 else {}
        return nameless(place, given.get("title"), given.get("version"), methods)

    def _unsolicited(self, unit: Unit) -> list[Emission]:
        """What writes the notifications and requests that this module sends."""
        return [
            send.writer for place in unit.places for send in self.emissions.sends(place) if send.kinds & {Kind.NOTIFICATION, Kind.REQUEST}
        ]

    def _elsewhere(self, place: Place, emissions: Iterable[Emission]) -> Blocker | None:
        for emission in emissions:
            if _is_outgoing(emission):
                return self._block(emission.place, emission.dumps, "another boundary finishes what is written here already")
            if emission.place.unit is not place.unit:
                return self._block(
                    emission.place, emission.dumps, "messages are written in another module", "write those of `MCP.outgoing(message)` here"
                )
        return None

    def _passing(self, place: Place, emissions: list[Emission] | None) -> Blocker | None:
        """Whether replies leave where the boundary does not see them; without emissions it finishes what functions return."""
        inside = self._inside(place)
        sources = [place, *self._above(place)]
        for chain in self._chains:
            sources += [chain, *self._above(chain)]
        written = None if emissions is None else [emission for emission in emissions if emission.parameter]
        leak = self.leaks.outside(place.unit, inside, sources, written) or self.leaks.deferred(inside)
        leak = leak or self.leaks.shared(emissions if emissions is not None else self._unsolicited(place.unit))
        return self._block(*leak) if leak is not None else None

    def _altered(self, place: Place, packed: Packed | None) -> Blocker | None:
        """Whether a reply is changed on its way from the boundary to where it is written."""
        if (above := self.decorators.opaque(place)) is not None:
            name = ast.unparse(above).partition("(")[0]
            return self._block(place, None, f"`@{name}` may change what `{place.name}` returns", "put the boundary around it by hand")
        texts = {id(p.unit): p.unit.module.source.utf8 for p in self._inside(place)}
        retired = any(code in text for text in texts.values() for code in (b"32002", b"32042"))
        pending, inside = [place], self._inside(place)
        for one in pending:
            for call in self.code.callers(one):
                if call.place in inside or call.place in (self._over_http or ()) or self.code.is_followed(call):
                    continue
                name = self._name_of(call, packed) if packed is not None else ""
                if (
                    leak := self.leaks.changed(call, one, self._chains, name) or (self.leaks.raised(call) if retired else None)
                ) is not None:
                    return self._block(*leak)
                if isinstance(call.place.unit.module.parents[call.node], ast.Return | ast.Await) and call.place.function:
                    pending += [call.place] if call.place not in pending else []
        return None

    # -- what leaves --------------------------------------------------------------
    def _also_sends(self, place: Place) -> Send | None:
        """A reply that a function which returns replies writes itself."""
        for other in self._inside(place):
            for send in self.emissions.sends(other):
                through = Kind.PARAMETER in send.writer.kinds
                if Kind.REPLY in send.kinds or (through and Kind.UNKNOWN in send.kinds):
                    return send
        return None

    def _replies_sent(self, place: Place) -> list[Send] | Blocker:
        """The sends of replies behind a function whose replies are written; each must be understood."""
        sends: list[Send] = []
        for other in self._inside(place):
            for send in self.emissions.sends(other):
                if Kind.UNKNOWN in send.kinds and (other == place or send.kinds & MESSAGES or Kind.PARAMETER in send.writer.kinds):
                    return self._block(other, send.node, "what is written here could not be followed", "write replies through one function")
                # Errors count as well: what is written may answer a notification, and only `outgoing` can hold it back.
                if send.kinds & {Kind.REPLY, Kind.ERROR}:
                    sends.append(send)
        if not any(Kind.REPLY in send.kinds for send in sends):
            return self._block(place, None, "no place was found where its replies are written", "return the reply from the dispatcher")
        return sends

    def _counts(self, kinds: frozenset[Kind], unit: Unit) -> bool:
        """Whether a reply has to be finished: one with a result, or an error where codes are used that are retired."""
        retired = any(code in unit.module.source.utf8 for code in (b"32002", b"32042"))
        return Kind.REPLY in kinds or (retired and Kind.ERROR in kinds)

    def _can_send(self, writer: Place, place: Place, parameter: str) -> bool:
        """Whether the boundary can call the writer with one message."""
        function = writer.function
        if (
            function is None
            or not function.parameters
            or function.parameters[0] != parameter
            or "." in function.name.removeprefix(f"{function.owner}.")
        ):
            return False
        args = function.node.args
        positional = [*args.posonlyargs, *args.args]
        required = len(positional) - len(args.defaults) - (1 if function.owner else 0)
        if required > 1 or any(default is None for default in args.kw_defaults):
            return False
        if not function.owner:
            return True
        same = function.owner == place.owner and place.function is not None and place.function.owner == place.owner
        return same and all(has_usual_self(one.function) for one in (writer, place) if one.function)

    def _returned(self, node: ast.Return, place: Place) -> ast.expr | None:
        """The reply in a return: its value, or what `return json.dumps(reply)` turns into text."""
        value = node.value
        if isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] == "dumps" and value.args:
            value = value.args[0]
        if value is None or not self._counts(self.emissions.kinds(value, place), place.unit):
            return None
        return value if self.replies.expression(value, place).sure else None

    def _returns(self, node: ast.Return, place: Place) -> Proof:
        """The proof of what a return gives, as a message or as its text."""
        value = node.value
        if isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] == "dumps" and value.args:
            value = value.args[0]
        return self.replies.expression(value, place)

    def _early(self, place: Place, sends: Iterable[Send]) -> Send | None:
        """A send whose statement can be repeated for an early reply: one of this function, or one that needs no local names."""
        own = [*(send for send in sends if send.place == place), *self.emissions.sends(place)]
        for send in [*own, *(send for send in sends if send.place.unit is place.unit)]:
            if send.place == place or not self._uses_locals(send, place):
                return send
        return None

    def _uses_locals(self, send: Send, place: Place) -> bool:
        """Whether the statements that write need names that `place` does not have, or give it new ones in place of its own."""
        statements = leaving(send.node, send.place.unit.module)
        payload = {id(n) for n in descend(send.payload)}
        names = [n for s in statements for n in descend(s) if isinstance(n, ast.Name) and id(n) not in payload]
        made = {n.id for n in names if isinstance(n.ctx, ast.Store)}
        own = place.unit.module.nodes(ast.Name) if place.function is None else list(descend(place.function.node))
        if any(isinstance(n, ast.Name) and n.id in made and n not in names for n in own if place.function is not None or n not in names):
            return True
        parameters = {*(send.place.function.parameters if send.place.function else ()), "self", "cls"}
        return any(n.id in parameters or assigned(send.place, n.id) for n in names if n.id not in made)

    def _parse(self, place: Place, message: str) -> ast.stmt | Blocker:
        """The statement after which a local name holds the parsed message."""
        found: list[ast.stmt] = []
        for node in place.nodes:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == message:
                    if self._is_parsed(value, place):
                        found.append(node)
                    elif not reused.is_default(value, message):
                        return self._block(
                            place, node, f"`{message}` is given another value on the way", "keep the parsed message under one name"
                        )
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value) if name == message and self._is_parsed(
                    value, place
                ):
                    found.append(node)
                case ast.For(target=ast.Name(id=name)) | ast.AsyncFor(target=ast.Name(id=name)) if name == message:
                    if not self._is_parsed(node.iter, place):
                        return self._block(place, node, f"what `{message}` runs over could not be followed")
                    found.append(node)
        if len(found) != 1 or len([v for v in assigned(place, message) if v is None or not reused.is_default(v, message)]) != 1:
            return self._block(
                place,
                None,
                f"the one place where `{message}` is parsed could not be found",
                "put the boundary where the message has been parsed",
            )
        return found[0]

    def _is_parsed(self, value: ast.expr, place: Place, depth: int = 0) -> bool:
        value = unwrap(value)
        if not isinstance(value, ast.Call):
            return False
        if dotted(value.func).rpartition(".")[2] in {"loads", "load"}:
            return True
        helper = self.code.function(value, place)
        if helper is None or depth > 2:
            return False
        given = [n.value for n in helper.nodes if isinstance(n, ast.Return | ast.Yield) and n.value is not None and not _is_none(n.value)]
        values = [one for g in given for one in ([v for v in assigned(helper, g.id) if v] if isinstance(g, ast.Name) else [g])]
        return bool(values) and all(self._is_parsed(one, helper, depth + 1) for one in values)

    def _is_rebound(self, place: Place, message: str) -> bool:
        others = [value for value in assigned(place, message) if value is None or not reused.is_default(value, message)]
        return bool(others) and not reused.is_reused(self.code, place, message)

    def _tests(self, call: Call, *, later: bool, packed: Packed | None = None) -> bool | None:
        """Whether a caller asks if the value is None: True, False (it writes it as it is), or None (not clear).

        With `later` the value is there once it is awaited. With `packed` it is one of a tuple, which has to be taken apart.
        """
        if not call.direct:
            return None
        unit, node = call.place.unit, call.node
        around: ast.AST = node
        while isinstance(parent := unit.module.parents[around], ast.Await) or (isinstance(parent, ast.Call) and unwrap(parent) is node):
            around = parent
            later = later and not isinstance(around, ast.Await) and not _is_waiting(around)
        if later and not isinstance(parent, ast.Expr) and (not isinstance(parent, ast.Return) or _is_async(call.place)):
            return None
        match parent:
            case ast.Return() | ast.Expr():
                pass
            case _ if packed is not None:
                return self._tests_packed(call, packed)
        match parent:
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                return True if _asks(call.place, name) else False if self._writes(call.place, name) else None
            case ast.NamedExpr(target=ast.Name(id=name)):
                return True if _asks(call.place, name) else None
            case ast.Return() if call.place.function:
                callers = [c for c in self.code.callers(call.place) if c.place != call.place]
                above = [self._tests(c, later=later or _is_async(call.place), packed=packed) for c in callers]
                return all(above) if all(a is not None for a in above) and True in above else None
            case ast.Expr():
                return True  # the value is thrown away
            case ast.Call():
                target = self.code.function(parent, call.place)
                if target and (writer := self.emissions.writer(target)) and _asks(target, writer[1]):
                    return True
                return False if self._is_sent(parent, call.place) else None
        return None

    def _tests_packed(self, call: Call, packed: Packed) -> bool | None:
        """What `_tests` says of the reply in a tuple."""
        statement = next(around for around in call.place.unit.module.ancestors(call.node) if isinstance(around, ast.stmt))
        names = _taken_apart(statement, packed)
        if names is None:
            return None
        others = {name for at, name in enumerate(names) if at != packed.at and name}
        if any(self._writes(call.place, name) for name in others):
            return None  # more than the reply leaves
        name = names[packed.at]
        if not any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) for n in call.place.nodes):
            return True  # the value is thrown away
        return True if _asks(call.place, name) else False if self._writes(call.place, name) else None

    def _name_of(self, call: Call, packed: Packed | None = None) -> str:
        """The name that a caller gives to the value, or to the reply in a tuple."""
        around: ast.AST = call.node
        parents = call.place.unit.module.parents
        while isinstance(parent := parents[around], ast.Await) or (isinstance(parent, ast.Call) and unwrap(parent) is call.node):
            around = parent
        match parent:
            case (
                ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)) | ast.NamedExpr(target=ast.Name(id=name))
            ):
                return name
            case ast.Assign() if packed is not None and (names := _taken_apart(parent, packed)) is not None:
                return names[packed.at]
        return ""

    def _is_made_up(self, call: Call, place: Place, message: str) -> bool:
        """Whether the caller hands in messages that it has written itself, as demos and checks do."""
        assert place.function
        argument = call.argument(message, place.function)
        match argument:
            case ast.Dict():
                return approach.is_constant(argument)
            case ast.Name(id=name):
                for node in call.place.nodes:
                    if isinstance(node, ast.For) and isinstance(node.target, ast.Name) and node.target.id == name:
                        ran = node.iter
                        if isinstance(ran, ast.Name):
                            values = assigned(call.place, ran.id) or [call.place.unit.names.bindings.get(ran.id)]
                            written = values[0] if len(values) == 1 else None
                            return isinstance(written, ast.List | ast.Tuple) and bool(written.elts) and not is_changed(call.place, ran.id)
                        return isinstance(ran, ast.List | ast.Tuple)
                values = assigned(call.place, name)
                return bool(values) and all(isinstance(value, ast.Dict) and approach.is_constant(value) for value in values)
        return False

    def _writes(self, place: Place, name: str) -> bool:
        return any(
            isinstance(n, ast.Name) and n.id == name and isinstance(p := place.unit.module.parents[n], ast.Call) and self._is_sent(p, place)
            for n in place.nodes
        )

    def _is_sent(self, call: ast.Call, place: Place) -> bool:
        if any(e.dumps is call for e in self.emissions.of(place.unit)):
            return True
        target = self.code.function(call, place)
        return target is not None and self.emissions.writer(target) is not None

    def _covers(self, hook: Hook, blocker: Blocker) -> bool:
        """Whether a blocker speaks of a dispatcher that a hook above it serves."""
        inside = hook.inside or self._inside(hook.place)
        return any(p.unit is blocker.unit and p.function and p.unit.module.span(p.function.node).contains(blocker.span) for p in inside)

    def _block(self, place: Place, node: ast.AST | None, reason: str, way_out: str = "") -> Blocker:
        module = place.unit.module
        at = node or (place.function.node if place.function else None)
        if isinstance(at, ast.FunctionDef | ast.AsyncFunctionDef):
            start = module.source.offset(at.lineno, at.col_offset)
            return Blocker(place.unit, Span(start, start + len(module.source.line(at.lineno).strip().encode())), reason, way_out)
        if isinstance(at, ast.expr | ast.stmt | ast.excepthandler):
            return Blocker(place.unit, module.span(at), reason, way_out)
        return Blocker(place.unit, Span(0, 0), reason, way_out)


def _goes_around(hook: Hook) -> bool:
    """Whether the boundary goes around an application or router, not around the endpoint alone."""
    return any(one.endpoint.framework in _WRAPPED for one in hook.hosts)


def _requests(methods: frozenset[str]) -> frozenset[str]:
    """What is left for a 2026-07-28 client to call."""
    return frozenset(
        m
        for m in methods - REMOVED_REQUESTS - ADDED_REQUESTS - NOTIFICATIONS - SPELLINGS.keys()
        # The `method` of an HTTP request is a verb.
        if m and not (m.isupper() and m.lower() in VERBS) and not m.startswith(("notifications/", "$/"))
    )


def _is_async(place: Place) -> bool:
    return place.function is not None and isinstance(place.function.node, ast.AsyncFunctionDef)


def _taken_apart(statement: ast.stmt, packed: Packed) -> tuple[str, ...] | None:
    """The names that `reply, session = await handle(message)` gives to the values of a tuple; "" for what is kept elsewhere."""
    match statement:
        case ast.Assign(targets=[ast.Tuple(elts=goals) | ast.List(elts=goals)], value=value):
            if len(goals) != len(packed.shape) or not isinstance(goals[packed.at], ast.Name) or not isinstance(value, ast.Await | ast.Call):
                return None
            if all(isinstance(goal, ast.Name | ast.Attribute) for goal in goals):
                return tuple(goal.id if isinstance(goal, ast.Name) else "" for goal in goals)
    return None


def _is_waiting(node: ast.AST) -> bool:
    """`asyncio.run(...)`: a call that gives what its coroutine returns."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in WAITS


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _asks(place: Place, name: str) -> bool:
    """Whether a condition of the function tells None from a reply."""
    return any(isinstance(node, ast.If | ast.While | ast.IfExp) and _with_none(node.test, name) is not None for node in place.nodes)


def _leaves(place: Place, name: str) -> ast.stmt | None:
    """What ends the loop around it where the name is None."""
    for node in place.nodes:
        if not isinstance(node, ast.If) or (taken := _with_none(node.test, name)) is None:
            continue
        loops = [one for one in place.unit.module.ancestors(node) if isinstance(one, ast.For | ast.AsyncFor | ast.While)]
        for statement in (node.body if taken else node.orelse) if loops else ():
            if isinstance(statement, ast.Break | ast.Return | ast.Raise):
                return statement
            if isinstance(statement, ast.Expr) and dotted(getattr(statement.value, "func", None)) in {
                "sys.exit",
                "exit",
                "quit",
                "os._exit",
            }:
                return statement
    return None


def _with_none(test: ast.expr, name: str) -> bool | None:
    """What a condition is when the name is None; None where it does not say, or fails."""
    match test:
        case ast.Name(id=found) | ast.NamedExpr(target=ast.Name(id=found)):
            return False if found == name else None
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=found), _]):
            return False if found == name else None
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = _with_none(operand, name)
            return None if inner is None else not inner
        case ast.Compare(left=ast.Name() | ast.NamedExpr() as left, ops=[ast.Is() | ast.Eq()], comparators=[ast.Constant(value=None)]):
            return True if _with_none(left, name) is False else None
        case ast.Compare(
            left=ast.Name() | ast.NamedExpr() as left, ops=[ast.IsNot() | ast.NotEq()], comparators=[ast.Constant(value=None)]
        ):
            return False if _with_none(left, name) is False else None
        case ast.BoolOp(op=op, values=values):
            # The first operand that names it decides: those behind it may fail.
            first = next((one for one in values if any(isinstance(n, ast.Name) and n.id == name for n in walk(one))), None)
            inner = _with_none(first, name) if first is not None else None
            return inner if inner is isinstance(op, ast.Or) else None
    return None


def _flushes(place: Place) -> bool:
    for node in place.nodes:
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr in {"flush", "drain"}:
                return True
            if any(k.arg == "flush" for k in node.keywords):
                return True
    return False


def has_usual_self(function: Function) -> bool:
    """Whether a method calls its object or class as methods do."""
    args = [*function.node.args.posonlyargs, *function.node.args.args]
    return not function.owner or (bool(args) and (args[0].arg in {"self", "cls"} or args[0].arg in function.parameters))


def _is_outgoing(emission: Emission) -> bool:
    """Whether it stands in the loop over `MCP.outgoing(...)` already."""
    return any(
        isinstance(around, ast.For) and isinstance(around.iter, ast.Call) and dotted(around.iter.func).endswith(".outgoing")
        for around in emission.place.unit.module.ancestors(emission.dumps)
    )


def _unique(emissions: Iterable[Emission]) -> tuple[Emission, ...]:
    found: list[Emission] = []
    for emission in emissions:
        if emission not in found:
            found.append(emission)
    return tuple(found)
