"""Hand-written clients: the functions that everything a client sends goes through, or why there is no such place."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from ..source import Span
from .code import unit_of
from .functions import Function, Module, bound, dotted, targets
from .model import Fact, FileFacts, Handler, Header, Send
from .syntax import descend
from .vocabulary import NOTIFICATIONS, REMOVED_REQUESTS

RUNTIME = "mcp_stateless_client"
_MAX_DEPTH = 4
_ASKED = frozenset({"elicitation/create", "sampling/createMessage", "roots/list"})
_HEARD = frozenset(name for name in NOTIFICATIONS if name.endswith(("/list_changed", "/updated")) and "roots" not in name)
_OPENINGS = frozenset({"initialize", "server/discover"})
# Removed requests that the wrapped functions send in another way.
_REPLACED = frozenset({"ping", "logging/setLevel"})
# What ends a connection for good, or the program: no second try could follow.
_ENDING = frozenset({"close", "aclose", "kill", "terminate", "disconnect", "stop", "shutdown", "_exit", "fail"})
_ELSEWHERE = frozenset({"run_in_executor", "submit", "Thread"})
_WRITING = frozenset({"write", "writelines", "sendall", "send_str", "send_text", "send_json", "communicate"})
_CHANNEL = ("ws", "websocket", "sock", "socket", "conn", "pipe", "channel")
_ANSWERING = ("handle", "dispatch", "process")
# What a reply is before it has been parsed.
_RAW_CALLS = frozenset({"readline", "read", "decode", "strip", "recv", "post", "request", "urlopen", "communicate"})
_RAW = frozenset({"text", "content", "stdout"})
_REPLY = frozenset({"jsonrpc", "id", "error"})
_ONE_REPLY = "let it return the parsed reply, or its result"
_ONE_PLACE = "send everything through one function that takes the method and its parameters, or the message"


@dataclass(frozen=True, eq=False)
class Sender:
    """A function that sends what its caller names: a method with its parameters, or a whole message."""

    function: Function
    method: str = ""
    params: str = ""
    message: str = ""
    owner: str = ""  # the parameter that tells connections apart; "" for `self`, or where there is only one
    session: str = ""  # the attribute of `self`, or the global, that keeps the session


class Notice(NamedTuple):
    """A statement that tells the server of the end of the handshake."""

    statement: ast.stmt
    wrapped: bool  # through one of the senders, which keeps it back where there is no handshake
    owner: str = ""  # what tells the connection apart here


@dataclass(frozen=True, eq=False)
class Client:
    """A client that can be made to ask `server/discover` first, or that does."""

    module: Module
    method: ast.expr  # the method where the connection is opened
    opening: Span  # its bytes
    hello: ast.Dict | None  # the parameters that go with it
    senders: tuple[Sender, ...]
    posts: tuple[ast.Call, ...] = ()  # what sends over HTTP, with headers
    notices: tuple[Notice, ...] = ()
    wrapped: frozenset[Function] = frozenset()  # the senders that have their decorator
    sent: frozenset[Span] = frozenset()  # what goes through the senders, wherever it is said

    @property
    def done(self) -> bool:
        return self.senders[0].function in self.wrapped

    def holds(self, fact: Fact) -> bool:
        """Whether a fact stands in the client's code, or is sent by it."""
        owner = self.senders[0].function.owner
        if self.hello is not None and self.module.span(self.hello).contains(fact.span):
            return True
        return fact.span in self.sent or _is_inside(fact, owner)


@dataclass(frozen=True, eq=False)
class Blocker:
    """What could not be proven, where, and what a human can do."""

    opening: Span
    span: Span
    reason: str
    way_out: str = ""


def _is_inside(fact: Fact, owner: str) -> bool:
    return not owner or fact.scope == owner or fact.scope.startswith(f"{owner}.")


class _Stop(Exception):
    def __init__(self, span: Span, reason: str, way_out: str = "") -> None:
        super().__init__(reason)
        self.span, self.reason, self.way_out = span, reason, way_out


@dataclass(frozen=True)
class Clients:
    """The clients of one file, one for each place that opens a connection."""

    found: tuple[Client | Blocker, ...]

    def of(self, fact: Fact) -> Client | Blocker | None:
        """The client that opens a connection here, or in whose code a fact stands."""
        opened = (one for one in self.found if one.opening == fact.span)
        around = (one for one in self.found if isinstance(one, Client) and one.holds(fact))
        return next(opened, None) or next(around, None)


def find(file: FileFacts) -> Clients:
    """One answer for each `initialize` that the file sends, and for each `server/discover` in its place."""
    if not any(isinstance(fact, Send) and fact.key in _OPENINGS for fact in file.facts):
        return Clients(())
    unit = unit_of(file.module, file.source)
    if unit is None:
        return Clients(())
    search = _Search(file, unit.module)
    answers = [search.answer(send) for send in search.sends if send.key in _OPENINGS]
    # Who asks `server/discover` by hand has to know what follows from the answer.
    return Clients(tuple(one for one in answers if one is not None))


class _Search:
    def __init__(self, file: FileFacts, module: Module) -> None:
        self.file, self.module = file, module
        self.sends = tuple(fact for fact in file.facts if isinstance(fact, Send))

    @cached_property
    def texts(self) -> dict[Span, ast.expr]:
        kinds: tuple[type[ast.expr], ...] = (ast.Constant, ast.Name, ast.Attribute)
        # To find the span of every node would be most of the cost of a search.
        lines = {self.file.source.position(send.span.start).line for send in self.sends}
        nodes = (node for kind in kinds for node in self.module.nodes(kind) if node.lineno in lines)
        return {self.module.span(node): node for node in nodes}

    def answer(self, opening: Send) -> Client | Blocker | None:
        node = self.texts.get(opening.span)
        try:
            if node is None:
                raise _Stop(opening.span, "this request is written as text", _ONE_PLACE)
            client = self._client(opening, node)
        except _Stop as stop:
            return Blocker(opening.span, stop.span, stop.reason, stop.way_out) if opening.key == "initialize" else None
        return client if client.done or opening.key == "initialize" else None

    def _client(self, opening: Send, node: ast.expr) -> Client:
        sender = self._sender(opening, node)
        owner = sender.function.owner
        hello = self._hello(node)
        self._is_free(opening)
        if self._wrapped(sender.function):
            return Client(
                self.module, node, opening.span, hello, (sender,), wrapped=frozenset({sender.function}), sent=self._sent({sender.function})
            )
        inside = [self._node_of(send) for send in self.sends if _is_inside(send, owner)]
        senders, notices = {sender.function: sender}, list[Notice]()
        for send, where in inside:
            if send.key == "notifications/initialized":
                try:
                    found = self._sender(send, where)
                except _Stop:
                    notices.append(self._notice(send, where, sender))
                else:
                    senders.setdefault(found.function, found)
                    notices.append(Notice(self._statement(where), wrapped=True))
            elif send.key in REMOVED_REQUESTS - _REPLACED and send.key not in _OPENINGS:
                raise _Stop(send.span, f"this client also sends `{send.key}`, which 2026-07-28 does not have", "take that away first")
            elif not send.notification and self._sender(send, where).function is not sender.function:
                raise _Stop(send.span, "this client sends requests from several places", _ONE_PLACE)
        self._builds(sender)
        self._gives(sender.function)
        self._hears(owner)
        posts = self._leaves(sender)
        senders[sender.function] = replace(sender, session=self._kept(sender))
        wrapped = frozenset(function for function in senders if self._wrapped(function))
        return Client(
            self.module, node, opening.span, hello, tuple(senders.values()), posts, tuple(notices), wrapped, self._sent(set(senders))
        )

    def _sent(self, functions: Collection[Function]) -> frozenset[Span]:
        return frozenset(send.span for send in self.sends if self._through(send) in functions)

    def _through(self, send: Send) -> Function | None:
        node = self.texts.get(send.span)
        try:
            return self._sender(send, node).function if node is not None else None
        except _Stop:
            return None

    def _is_free(self, opening: Send) -> None:
        """Stops where the name that the rewrite imports means something else."""
        named = {node.name for node in self.module.nodes(ast.ClassDef)} | set(self.module.functions)
        taken = self.file.imports.get("Era", f"{RUNTIME}.Era")
        if "Era" in named or not taken.endswith(f"{RUNTIME}.Era"):
            raise _Stop(opening.span, "`Era` is something else in this file", "rename it")

    def _hello(self, node: ast.expr) -> ast.Dict | None:
        """The dict that names the version, beside the method or in the same message."""
        above = self.module.parents.get(node)
        above = self.module.parents.get(above) if isinstance(above, ast.keyword) else above
        if isinstance(above, ast.Call) and (holder := self.module.function_of(above)) is not None:
            named = (holder.assigned.get(arg.id, []) for arg in above.args if isinstance(arg, ast.Name))
            above = next((values[0] for values in named if len(values) == 1 and isinstance(values[0], ast.Dict)), above)
        dicts = (inner for inner in descend(above) if isinstance(inner, ast.Dict)) if above is not None else ()
        return next((inner for inner in dicts if any(_is_text(key, "protocolVersion") for key in inner.keys)), None)

    def _node_of(self, send: Send) -> tuple[Send, ast.expr]:
        node = self.texts.get(send.span)
        if node is None:
            raise _Stop(send.span, "this request is written as text", _ONE_PLACE)
        return send, node

    # -- the function that sends ----------------------------------------------
    def _sender(self, send: Send, node: ast.expr) -> Sender:
        parent = self.module.parents.get(node)
        call = parent if isinstance(parent, ast.Call) and node in parent.args else None
        if isinstance(parent, ast.keyword):
            above = self.module.parents[parent]
            call = above if isinstance(above, ast.Call) else None
        if call is not None:
            return self._by_method(send, node, call)
        if isinstance(parent, ast.Dict):
            return self._by_message(send, parent)
        raise _Stop(send.span, "this request is built where it is sent", _ONE_PLACE)

    def _by_method(self, send: Send, node: ast.expr, call: ast.Call) -> Sender:
        function = self._called(send, call)
        method = next((name for name in function.parameters if bound(call, function, name) is node), "")
        if not method:
            raise _Stop(send.span, f"`{function.short}` does not name the method that it sends", _ONE_PLACE)
        params = self._params(function, method)
        if not send.notification and not params:
            span = self.module.span(function.node)
            raise _Stop(_head(span), f"no request is built from the method and parameters that `{function.short}` is given", _ONE_PLACE)
        return Sender(function, method, params, owner=self._owner(function, {method, params}))

    def _by_message(self, send: Send, message: ast.Dict) -> Sender:
        """The function that takes the message of a dict literal: as an argument, or by the name that it is given."""
        parent = self.module.parents.get(message)
        if isinstance(parent, ast.Call) and self.module.callee(parent, self.module.function_of(parent)) is None:
            raise _Stop(send.span, "this request is built where it is sent", _ONE_PLACE)
        if isinstance(parent, ast.Call) and message in parent.args:
            function = self._called(send, parent)
            name = next((name for name in function.parameters if bound(parent, function, name) is message), "")
        else:
            holder = self.module.function_of(message)
            target = parent.targets[0] if isinstance(parent, ast.Assign) else parent.target if isinstance(parent, ast.AnnAssign) else None
            if not isinstance(target, ast.Name) or holder is None or len(holder.assigned.get(target.id, ())) != 1:
                raise _Stop(send.span, "this request is built where it is sent", _ONE_PLACE)
            function, name = self._taker(send, holder, target.id)
        if not name or not self._sends_message(function, name):
            raise _Stop(send.span, "this request is built where it is sent", _ONE_PLACE)
        return Sender(function, message=name, owner=self._owner(function, {name}))

    def _taker(self, send: Send, holder: Function, name: str) -> tuple[Function, str]:
        takers = []
        for call in holder.own:
            if isinstance(call, ast.Call):
                given = [*call.args, *(keyword.value for keyword in call.keywords)]
                argument = next((one for one in given if isinstance(one, ast.Name) and one.id == name), None)
                function = self.module.callee(call, holder) if argument is not None else None
                if function is not None:
                    parameter = next((p for p in function.parameters if bound(call, function, p) is argument), "")
                    takers.append((function, parameter))
                elif argument is not None and dotted(call.func) not in ("print", "json.dumps", "len", "str"):
                    raise _Stop(send.span, "this request is built where it is sent", _ONE_PLACE)
        if len(takers) != 1:
            raise _Stop(send.span, "this request is built where it is sent", _ONE_PLACE)
        return takers[0]

    def _called(self, send: Send, call: ast.Call) -> Function:
        function = self.module.callee(call, self.module.function_of(call))
        if function is None:
            raise _Stop(send.span, f"`{dotted(call.func) or 'the function'}`, which sends this, is not defined in this file", _ONE_PLACE)
        node = function.node
        at = _head(self.module.span(node))
        if node.decorator_list and not self._wrapped(function):
            raise _Stop(at, f"`{function.short}` has a decorator", "wrap it by hand")
        if any(isinstance(inner, ast.Yield | ast.YieldFrom) for inner in function.own):
            raise _Stop(at, f"`{function.short}` is a generator", _ONE_PLACE)
        return function

    def _params(self, function: Function, method: str) -> str:
        """The parameter that becomes the `params` of the request which a function builds from its method, "" where none does."""
        for node in function.own:
            match node:
                case ast.Dict(keys=keys, values=values):
                    entries = {key.value: value for key, value in zip(keys, values, strict=True) if isinstance(key, ast.Constant)}
                    if "jsonrpc" in entries and _mentions(entries.get("method"), method):
                        stored = (_parameter(_stored_params(other), function) for other in function.own)
                        return _parameter(entries.get("params"), function) or next(filter(None, stored), "")
        for node in function.own:
            if isinstance(node, ast.Call) and any(isinstance(arg, ast.Name) and arg.id == method for arg in node.args):
                names = [arg.id for arg in node.args if isinstance(arg, ast.Name) and arg.id in function.parameters and arg.id != method]
                if "params" in names or len(names) == 1:
                    return "params" if "params" in names else names[0]
        return ""

    def _sends_message(self, function: Function, name: str) -> bool:
        """Whether a function hands the message on as it is."""
        for node in function.own:
            if isinstance(node, ast.Call):
                given = [*node.args, *(keyword.value for keyword in node.keywords)]
                if any(isinstance(one, ast.Name) and one.id == name for one in given):
                    return True
        return False

    def _owner(self, function: Function, known: set[str]) -> str:
        """The parameter of a plain function that tells connections apart."""
        args = function.node.args
        plain = [arg.arg for arg in [*args.posonlyargs, *args.args]]
        plain = [name for name in plain if name in function.parameters]
        required = plain[: len(plain) - len(args.defaults)]
        ids = {name for node in function.own if isinstance(node, ast.Dict) for name in _id_names(node)}
        others = [name for name in required if name not in known | ids]
        if len(others) > (not function.owner):
            span = _head(self.module.span(function.node))
            raise _Stop(
                span, f"`{function.short}` does not tell which of {', '.join(others)} is the connection", "keep the connection in `self`"
            )
        return others[0] if others else ""

    def _wrapped(self, function: Function) -> str:
        """The name of the `Era` whose `sends` a function is decorated with."""
        for decorator in function.node.decorator_list:
            match decorator.func if isinstance(decorator, ast.Call) else decorator:
                case ast.Attribute(value=ast.Name(id=handle), attr="sends") if handle in self.eras:
                    return handle
        return ""

    @cached_property
    def eras(self) -> frozenset[str]:
        """The names that are bound to an `Era`."""
        found = set()
        for node in self.module.nodes(ast.Assign):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=made))):
                    if self.file.imports.get(made, "").endswith(f"{RUNTIME}.Era"):
                        found.add(name)
        return frozenset(found)

    # -- the end of the handshake ----------------------------------------------
    def _notice(self, send: Send, node: ast.expr, sender: Sender) -> Notice:
        """The statement that sends a notification by itself, and does nothing else."""
        statement = self._statement(node)
        if not isinstance(statement, ast.Expr):
            raise _Stop(send.span, "this notification is built where it is sent", "send it in one statement, or through one function")
        if not sender.owner:
            return Notice(statement, wrapped=False, owner="self" if sender.function.owner else "")
        holder = self.module.function_of(statement)
        calls = [call for call, target in self.module.calls(holder) if target is sender.function] if holder else []
        owners = {dotted(bound(call, sender.function, sender.owner)) for call in calls}
        if len(owners) != 1 or "" in owners:
            raise _Stop(send.span, "the connection that this notification goes to has no name here", "send it through one function")
        return Notice(statement, wrapped=False, owner=owners.pop())

    def _statement(self, node: ast.expr) -> ast.stmt:
        return next(above for above in self.module.ancestors(node) if isinstance(above, ast.stmt))

    def _builds(self, sender: Sender) -> None:
        """Stops at a message that is handed on: whoever sent it has opened the connection in its own way."""
        for call in self.module.nodes(ast.Call) if sender.message else ():
            holder = self.module.function_of(call)
            if self.module.callee(call, holder) is not sender.function:
                continue
            given = bound(call, sender.function, sender.message)
            values = self._values(given, holder) if holder is not None else []
            if not values or not all(isinstance(value, ast.Dict) for value in values):
                raise _Stop(self.module.span(call), "this may send messages that others have built", "ask `server/discover` for them, too")

    # -- what comes back ---------------------------------------------------------
    def _gives(self, function: Function, depth: int = 0) -> None:
        """Stops at a function whose callers get something else than a reply, or its result."""
        returned = [node for node in function.own if isinstance(node, ast.Return) and node.value is not None]
        for node in returned:
            for value in self._values(node.value, function):
                target = self.module.callee(value, function) if isinstance(value, ast.Call) else None
                waits = isinstance(self.module.parents.get(value), ast.Await)
                if target is not None and isinstance(target.node, ast.AsyncFunctionDef) and not waits:
                    raise _Stop(self.module.span(node), f"`{function.short}` gives something else than the reply", "make it `async`")
                if target is not None and depth < _MAX_DEPTH and target is not function:
                    self._gives(target, depth + 1)
                elif target is None and _is_other(value) and not self._is_after_failure(node, value):
                    raise _Stop(self.module.span(node), f"`{function.short}` gives something else than the reply", _ONE_REPLY)
        if not returned:
            raise _Stop(_head(self.module.span(function.node)), f"`{function.short}` does not give the reply back", _ONE_REPLY)

    def _is_after_failure(self, node: ast.Return, value: ast.expr) -> bool:
        """Whether a dict only tells of an error."""
        return isinstance(value, ast.Dict) and any(isinstance(above, ast.ExceptHandler) for above in self.module.ancestors(node))

    def _values(self, node: ast.expr | None, function: Function) -> list[ast.expr]:
        node = node.value if isinstance(node, ast.Await) else node
        if isinstance(node, ast.Name):
            found = function.assigned.get(node.id, [])
            return [value.value if isinstance(value, ast.Await) else value for value in found]
        return [node] if node is not None else []

    # -- what a client of 2026-07-28 would lose ---------------------------------
    def _hears(self, owner: str) -> None:
        for fact in self.file.facts:
            if isinstance(fact, Handler) and fact.key in _ASKED | _HEARD and _is_inside(fact, owner):
                if fact.key in _ASKED:
                    raise _Stop(fact.span, f"this client answers `{fact.key}`", "wrap it by hand, with `Era(answer=...)`")
                raise _Stop(fact.span, f"this client hears `{fact.key}`, which needs a `subscriptions/listen` request", "")
        checks: list[ast.Compare | ast.Call] = [*self.module.nodes(ast.Compare)]
        checks += (call for call in self.module.nodes(ast.Call) if dotted(call.func).rpartition(".")[2].startswith("assert"))
        for node in checks:
            function = self.module.function_of(node)
            inside = not owner or (function is not None and function.name.startswith(f"{owner}."))
            if inside and "protocolversion" in self.module.text(node).replace("_", "").lower():
                raise _Stop(self.module.span(node), "this client checks which revision the server chose", "let it accept 2026-07-28")

    # -- how messages leave -----------------------------------------------------
    def _leaves(self, sender: Sender) -> tuple[ast.Call, ...]:
        """What sends over HTTP; empty for a channel that has no headers."""
        posts: list[ast.Call] = []
        channel = False
        for function in self._reached(sender.function):
            own = set(function.assigned) | set(function.parameters) | _bound_by_with(function)
            for node in function.own:
                if isinstance(node, ast.Attribute) and node.attr == "stdin":
                    channel = True
                if not isinstance(node, ast.Call):
                    continue
                last = dotted(node.func).rpartition(".")[2] or getattr(node.func, "attr", "")
                receiver = dotted(node.func).rpartition(".")[0]
                if last in _ENDING and (receiver.partition(".")[0] not in own):
                    raise _Stop(
                        self.module.span(node),
                        f"`{function.short}` ends the connection when something goes wrong",
                        "leave that to its callers",
                    )
                if _is_post(node, last):
                    posts.append(node)
                channel = channel or last in _WRITING or last.lstrip("_").startswith(_ANSWERING)
                channel = channel or (last == "send" and receiver.lower().rpartition(".")[2].lstrip("_").startswith(_CHANNEL))
        if posts:
            for function in self._reached(sender.function):
                for node in function.own:
                    if isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in _ELSEWHERE:
                        raise _Stop(self.module.span(node), "the request is sent in another thread", "use `asyncio.to_thread`")
            for post in posts:
                if any(keyword.arg is None for keyword in post.keywords):
                    raise _Stop(
                        self.module.span(post), "the headers of the request come from a dict of arguments", "name `headers` in the call"
                    )
        elif not channel:
            span = _head(self.module.span(sender.function.node))
            raise _Stop(span, f"how `{sender.function.short}` sends its messages is not known", "wrap it by hand")
        return tuple(posts)

    def _kept(self, sender: Sender) -> str:
        """Where the session that an answer names is kept; "" for a client that keeps none."""
        reads = {fact.span for fact in self.file.facts if isinstance(fact, Header) and fact.key == "mcp-session-id"}
        prefix = "self." if sender.function.owner else ""
        kept: set[str] = set()
        for function in self._reached(sender.function):
            known: set[str] = set()  # local names for it
            shared = {name for node in function.own if isinstance(node, ast.Global) for name in node.names}
            for node in function.own:
                value = node.value if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) else None
                if value is None or not self._tells(value, reads, known):
                    continue
                for target in map(dotted, targets(node)):
                    if target in shared or (prefix and target.startswith(prefix)):
                        kept.add(target.removeprefix(prefix))
                    elif "." not in target and target:
                        known.add(target)
        kept -= {""}
        if len(kept) > 1 or any("." in name for name in kept):
            span = _head(self.module.span(sender.function.node))
            raise _Stop(span, f"the session is kept in several places: {', '.join(sorted(kept))}", "keep it in one attribute")
        return kept.pop() if kept else ""

    def _tells(self, value: ast.expr, reads: set[Span], known: set[str]) -> bool:
        """Whether an expression holds the session of an answer."""
        for node in descend(value):
            if isinstance(node, ast.Name) and node.id in known:
                return True
            if isinstance(node, (ast.Constant, ast.Name, ast.Attribute)) and self.module.span(node) in reads:
                return isinstance(self.module.parents[node], ast.Call | ast.Subscript)
        return False

    def _reached(self, start: Function) -> list[Function]:
        found = [start]
        depth = {start: 0}
        for function in found:
            if depth[function] < _MAX_DEPTH:
                for _, target in self.module.calls(function):
                    if target not in depth:
                        depth[target] = depth[function] + 1
                        found.append(target)
        return found


def _head(span: Span) -> Span:
    return Span(span.start, span.start + 3)


def _is_text(node: ast.expr | None, text: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == text


def _mentions(node: ast.expr | None, name: str) -> bool:
    return node is not None and any(isinstance(inner, ast.Name) and inner.id == name for inner in descend(node))


def _parameter(node: ast.expr | None, function: Function) -> str:
    """The one parameter that an expression is made of."""
    if node is None:
        return ""
    names = {inner.id for inner in descend(node) if isinstance(inner, ast.Name)} & set(function.parameters)
    return names.pop() if len(names) == 1 else ""


def _stored_params(node: ast.AST) -> ast.expr | None:
    match node:
        case ast.Assign(targets=[ast.Subscript(slice=ast.Constant(value="params"))], value=value):
            return value
    return None


def _id_names(message: ast.Dict) -> Iterator[str]:
    for key, value in zip(message.keys, message.values, strict=True):
        if isinstance(key, ast.Constant) and key.value == "id":
            yield from (inner.id for inner in descend(value) if isinstance(inner, ast.Name))


def _bound_by_with(function: Function) -> set[str]:
    found = set()
    for node in function.own:
        if isinstance(node, ast.With | ast.AsyncWith):
            found |= {item.optional_vars.id for item in node.items if isinstance(item.optional_vars, ast.Name)}
    return found


def _is_other(value: ast.expr) -> bool:
    """Whether an expression is surely no reply: raw text, an HTTP response, or the reply among other things."""
    match value:
        case ast.Tuple():
            return True
        case ast.Dict(keys=keys):
            return not all(isinstance(key, ast.Constant) and key.value in _REPLY for key in keys)
        case ast.Attribute(attr=attr):
            return attr in _RAW
        case ast.Call(func=ast.Attribute(attr=attr)) | ast.Call(func=ast.Name(id=attr)):
            return attr in _RAW_CALLS
    return False


def headers_of(post: ast.Call) -> ast.expr | None:
    """The headers that an HTTP call is given."""
    named = next((keyword.value for keyword in post.keywords if keyword.arg == "headers"), None)
    at = {"Request": 2, "request": 3}.get(dotted(post.func).rpartition(".")[2])
    return post.args[at] if named is None and at is not None and len(post.args) > at else named


def _is_post(call: ast.Call, last: str) -> bool:
    names = {keyword.arg for keyword in call.keywords}
    if last == "post":
        return True
    if last in ("request", "stream", "build_request"):
        verbs = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "method")]
        return any(_is_text(verb, "POST") for verb in verbs)
    return last == "Request" and ("data" in names or len(call.args) > 1)
