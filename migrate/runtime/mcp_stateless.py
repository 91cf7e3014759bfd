"""Protocol revision 2026-07-28 at the edge of this server.

A request with the 2026-07-28 envelope in `params._meta` is checked here, answered by the code that was there before,
and its reply is finished here. Any other message passes through untouched, or is refused with `legacy=False`.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import hmac
import inspect
import json
import os
import re
import time
from collections.abc import Callable, Collection, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast, overload

VERSION = "2026-07-28"
_OURS = "io.modelcontextprotocol/"
_PROTOCOL, _CAPABILITIES = _OURS + "protocolVersion", _OURS + "clientCapabilities"
_REMOVED = {"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"}
_LISTS = {"tools/list", "prompts/list", "resources/list", "resources/templates/list"}
_CACHEABLE = _LISTS | {"resources/read", "server/discover"}
# These name what they want, so an unknown name is a wrong parameter. And only these may ask the client.
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
# What servers say of a name that they do not know.
_UNKNOWN = re.compile(r"unknown|unsupported|invalid|no such|n[o']t (be )?(found|exist|available|registered)", re.I)
_FAMILIES = {
    "prompts": ("prompts/list", "prompts/get"),
    "resources": ("resources/list", "resources/read", "resources/templates/list"),
    "tools": ("tools/list", "tools/call"),
}
# The capability to claim for methods that begin with this word.
_FEATURES = {word: word for word in ("tools", "prompts", "resources", "tasks")} | {"completion": "completions"}
# Claims that are left out, because nothing here serves them.
_UNSERVED = {"tasks", "logging", "listChanged", "subscribe"}
# [logging]
_UNSERVED -= {"logging"}
_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
_LOG_LEVEL = _OURS + "logLevel"
# [/logging]
# [changes]
_UNSERVED -= {"listChanged", "subscribe"}
_CHANGES = {f"notifications/{kind}/list_changed": f"{kind}ListChanged" for kind in ("tools", "prompts", "resources")}
# [/changes]
# [listen]
_UPDATED = "notifications/resources/updated"
# [/listen]
# [handshake]
# The revisions that open with `initialize`.
_HANDSHAKES = ("2024-10-07", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
# [/handshake]
# [ask]
# What may be asked: the capability that it needs, and what its answer must hold.
_QUESTIONS: dict[str, tuple[str, str, type | tuple[type, ...]]] = {
    "elicitation/create": ("elicitation", "action", str),
    "sampling/createMessage": ("sampling", "content", (dict, list)),
    "roots/list": ("roots", "roots", list),
}
# With several processes set MCP_STATE_KEY; otherwise an answer only counts in the process that asked.
_STATE_KEY, _STATE_SECONDS = os.environ.get("MCP_STATE_KEY", "").encode() or os.urandom(32), 3600
# [/ask]

Message = dict[str, Any]
Source = Message | Callable[[], Message]
Reply = TypeVar("Reply")
# [boundary]
Dispatcher = TypeVar("Dispatcher", bound=Callable[..., Any])
Wrapper = Callable[[Dispatcher], Dispatcher]
# [/boundary]
# [send]
Writer = Callable[[Message], Any] | str
# [/send]
# [returns]
Shape = tuple[str | None, ...]
# [/returns]
# [http]
Headers = Mapping[str, str] | None
# [/http]


@dataclass(eq=False)
class _Request:
    """The 2026-07-28 message in progress. A notification has no id."""

    id: str | int | None
    method: str
    params: Message
    meta: Message
    # [boundary]
    wrapped: bool = False  # `boundary` is around the code that runs
    # [/boundary]
    # [listen]
    settled: bool = False  # the server's own code has no part in it
    # [/listen]
    # [ask]
    asked: int = 0
    answers: Message = field(default_factory=dict)
    question: Any = None  # that the client has been asked in the round before
    # [/ask]
    # [exchange]
    ending: Ending | None = None  # what has ended it, in whatever task
    wake: Callable[[], object] = int
    # [/exchange]


# A context variable, so that tasks and threads do not see each other's request.
_current: ContextVar[_Request | None] = ContextVar("mcp_request", default=None)


class Ending(BaseException):
    """Ends the request with `body`. Not an Exception, so that a tool's own `except Exception` lets it through."""

    def __init__(self, text: str, **body: Message) -> None:
        super().__init__(text)
        self.body = body
        # [exchange]
        request = _current.get()
        if request is not None:
            request.ending = self
            request.wake()
        # [/exchange]


class Refused(Ending):
    """Ends the request with a protocol error."""

    def __init__(self, code: int, message: str, **data: Any) -> None:
        super().__init__(message, error={"code": code, "message": message} | ({"data": data} if data else {}))


# [ask]
class InputRequired(Ending):
    """Ends the request with a question; the client sends it again with the answer."""


# [/ask]
class Stateless:
    """What the server says of itself, and the hooks for its code. `methods` are what it answers, or whole families.

    The first three may be functions without arguments, which are called when the answer is needed.
    """

    def __init__(
        self, info: Source, capabilities: Source, instructions: str | Callable[[], str | None] | None = None,
        *, methods: Collection[str] | None = None, legacy: bool = True,
    ) -> None:
        self.info, self.capabilities, self.instructions = info, capabilities, instructions
        self.methods = None if methods is None else {name for word in methods for name in _FAMILIES.get(word, (word,))}
        self.legacy = legacy
        self._met_legacy, self._last_modern = False, not legacy
        # Of lists in one page, by the word that they begin with: all names that were ever in them.
        self._listed: dict[str, set[str]] = {}
        # [listen]
        self._granted: dict[Any, set[str]] = {}
        # For the server's own resources/subscribe; what listen requests watch is in it as well.
        self.subscribed: set[str] = set()
        # [/listen]
        # [streams]
        self._streams: list[Any] = []
        # [/streams]

    @property
    def modern(self) -> bool:
        """Whether the message in progress is a 2026-07-28 one."""
        return _current.get() is not None

    def begin(self, message: Any, headers: Headers = None) -> Message | None:  # -http: , headers: Headers = None
        """The message to send at once, or None when the server's own code has to run, with its own parameters only."""
        _current.set(None)
        try:
            request = self._admit(message, headers)  # -http: , headers
            _current.set(request)
            early = None if request is None else self._answer(request, headers)  # -http: , headers
            if request is not None and early is None and request.id is not None:
                message["params"] = _own(request)
            return early
        except Refused as refusal:
            _current.set(None)
            name = _dict(message).get("id")
            return {"jsonrpc": "2.0", **({"id": name} if type(name) in (str, int) else {}), **refusal.body}

    def finish(self, reply: Reply) -> Reply:
        """A reply in the shape of the request in progress; for a legacy request it is the same object."""
        request = _current.get()
        if request is None or not isinstance(reply, dict) or not _is_reply(reply):
            return reply
        error, result = reply.get("error"), reply.get("result")
        # Typed replies may come with their empty fields.
        done: Message = {key: reply[key] for key in reply if key not in ("error", "result") and reply[key] is not None}
        # [ask]
        if _dict(error).get("code") == -32042:
            # "URL elicitation required" has become a question like any other.
            try:
                for asked in _dict(_dict(error).get("data")).get("elicitations") or ():
                    self.ask("elicitation/create", {"mode": "url", **_dict(asked)})
            except Ending as ending:
                error, result = ending.body.get("error"), ending.body.get("result")
        # [/ask]
        if unknown := self._unknown(error, result, request):
            done["error"] = _error({"code": -32602, "message": unknown}, request)
        elif error is not None:
            done["error"] = _error(error, request)
        elif _dict(result).get("resultType") == "input_required" and request.method not in _NAMED:
            done["error"] = {"code": -32603, "message": f"{request.method} may not ask the client"}
        else:
            done["result"] = self._stamped({} if result is None else result, request)
        return cast(Reply, done)

    # [boundary]
    @overload
    def boundary(self, function: Dispatcher) -> Dispatcher: ...
    @overload
    def boundary(self, *, message: str = "", send: Writer = "", returns: Shape = ()) -> Wrapper[Dispatcher]: ...  # -send: , send: Writer = ""  # -returns: , returns: Shape = ()
    def boundary(self, function: Any = None, *, message: str = "", send: Writer = "", returns: Shape = ()) -> Any:  # -send: , send: Writer = ""  # -returns: , returns: Shape = ()
        """Wraps a dispatcher, sync or async: `begin`, the call and `finish` in one.

        `message` names its parameter for the message, if that is not the first.
        # [send]
        `send` writes a message, for a dispatcher that does not return its replies: a function, or the name of an
        attribute of `self`, of a parameter or of a global.
        # [/send]
        # [returns]
        `returns` is the tuple that it returns: "reply" stands for the reply, and a parameter or None for what goes with
        one that the function has no part in.
        # [/returns]
        """
        wrap = functools.partial(self._wrap, message=message, send=send, returns=returns)  # -send: , send=send  # -returns: , returns=returns
        return wrap if function is None else wrap(function)

    def _wrap(self, function: Any, message: str, send: Writer, returns: Shape) -> Any:  # -send: , send: Writer  # -returns: , returns: Shape
        if not callable(function) or inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(f"boundary needs a function that returns whole replies, not {function!r}")
        names = list(inspect.signature(function).parameters)
        name = message or next((name for name in names if name not in ("self", "cls")), "")
        if name not in names:
            raise TypeError(f"boundary finds no parameter {name!r} for the message in {function!r}")
        at, is_async = names.index(name), inspect.iscoroutinefunction(function)

        def enter(args: tuple[Any, ...], kwargs: Message) -> tuple[Message | None, bool, tuple[Any, ...], Message]:
            """The reply to give at once, and whether the function has to run, with its arguments."""
            own = {**given} if isinstance(given := find(args, kwargs), dict) else given
            early = self.begin(own)
            request = _current.get()
            # [listen]
            if request is not None and request.settled:
                return None, False, args, kwargs
            # [/listen]
            if early is None and request is not None:
                request.wrapped = True
                kwargs = {**kwargs, name: own} if name in kwargs else kwargs
                args = args if name in kwargs else (*args[:at], own, *args[at + 1 :])
            return early, early is None, args, kwargs

        def find(args: tuple[Any, ...], kwargs: Message) -> Any:
            return kwargs[name] if name in kwargs else args[at] if at < len(args) else None

        def is_inner(args: tuple[Any, ...], kwargs: Message) -> bool:
            # The server calls itself: that is part of the request in progress.
            outer = _current.get()
            return outer is not None and outer.wrapped and not _is_modern(find(args, kwargs))

        def leave(reply: Any) -> Any:
            request = _current.get()
            # [returns]
            if request is not None and returns and isinstance(reply, tuple):
                return tuple(leave(one) if name == "reply" else one for name, one in zip(returns, reply, strict=True))
            # [/returns]
            if request is None or not _is_reply(reply):
                return reply
            # A notification is never answered.
            return None if request.id is None else self.finish({**reply, "id": request.id})

        def end(ending: Ending, args: tuple[Any, ...], kwargs: Message) -> Message | None:
            given = _dict(find(args, kwargs))
            return self.finish({"jsonrpc": "2.0", "id": given["id"], **ending.body}) if "id" in given else None

        # [send]
        def write(reply: Message, args: tuple[Any, ...], kwargs: Message) -> Any:
            me = args[0] if names[0] in ("self", "cls") and args else getattr(function, "__self__", None)
            known = {**function.__globals__, **dict(zip(names, args, strict=False)), **kwargs}
            return (send if callable(send) else getattr(me, send, None) or known[send])(reply)

        # [/send]
        # [returns]
        def packed(reply: Message | None, args: tuple[Any, ...], kwargs: Message) -> Any:
            given = inspect.signature(function).bind(*args, **kwargs)
            given.apply_defaults()
            return tuple(reply if name == "reply" else given.arguments.get(name or "") for name in returns)

        # [/returns]
        # Two wrappers, for a coroutine may not let a StopIteration of the function through.
        @functools.wraps(function)
        async def wrapper(*args: Any, **kwargs: Any) -> Any:
            if is_inner(args, kwargs):
                return await function(*args, **kwargs)
            token = _current.set(None)
            try:
                early, runs, args, kwargs = enter(args, kwargs)
                if runs:
                    try:
                        return leave(await function(*args, **kwargs))
                    except Ending as ending:
                        early = end(ending, args, kwargs)
                # [send]
                if send and early is not None:
                    sent = write(early, args, kwargs)
                    return await sent if inspect.isawaitable(sent) else None
                # [/send]
                return early if not returns else packed(early, args, kwargs)  # -returns:  if not returns else packed(early, args, kwargs)
            finally:
                # Not set(None): when a tool called the dispatcher, its own request goes on.
                _current.reset(token)

        @functools.wraps(function)
        def sync_wrapper(*args: Any, **kwargs: Any) -> Any:
            if is_inner(args, kwargs):
                return function(*args, **kwargs)
            token = _current.set(None)
            try:
                early, runs, args, kwargs = enter(args, kwargs)
                if runs:
                    try:
                        return leave(function(*args, **kwargs))
                    except Ending as ending:
                        early = end(ending, args, kwargs)
                # [send]
                if send and early is not None:
                    write(early, args, kwargs)
                    return None
                # [/send]
                return early if not returns else packed(early, args, kwargs)  # -returns:  if not returns else packed(early, args, kwargs)
            finally:
                _current.reset(token)

        return wrapper if is_async else sync_wrapper

    # [/boundary]
    # [handshake]
    def handshake(self, asked: Any) -> Any:
        """The version to answer `initialize` with: the one that is asked for, or the newest that has a handshake."""
        return asked if asked in _HANDSHAKES else _HANDSHAKES[-1]

    # [/handshake]
    # [outgoing]
    def outgoing(self, message: Message) -> list[Message]:
        """On a channel that replies and notifications share: the messages to write in place of this one."""
        request, legacy = _current.get(), [message] if self._met_legacy else []
        if _is_reply(message):
            if message.get("id") is None and self._last_modern:
                # Notifications are never answered, and what could not be read is answered without an id.
                if request is not None and request.id is None and _dict(message.get("error")).get("code") != -32700:
                    return []
                message = {key: value for key, value in message.items() if key != "id"}
            return [self.finish(message)]
        method = message.get("method")
        if method is not None and "id" in message and request is not None:
            raise Refused(-32603, f"{method} cannot be sent to a client of {VERSION}")
        # [logging]
        if method == "notifications/message" and request is not None:
            wanted = request.meta.get(_LOG_LEVEL)
            heard = _LEVELS[_LEVELS.index(wanted) :] if wanted in _LEVELS else ()
            return [message] if _dict(message.get("params")).get("level") in heard else []
        # [/logging]
        # [listen]
        if method in _CHANGES or method == _UPDATED:
            wanted = _CHANGES.get(method) or _dict(message.get("params")).get("uri")
            tagged = [_tagged(message, listener) for listener, granted in [*self._granted.items()] if wanted in granted]
            return tagged + (legacy if method in _CHANGES or not tagged else [])
        # [/listen]
        # Nothing else may reach a client of this revision that it did not ask for, and no request at all.
        asked = method is None or method in ("notifications/progress", "notifications/subscriptions/acknowledged")
        return [message] if asked else legacy

    # [/outgoing]
    # [logging]
    def log_level(self, stored: str) -> str:
        """The threshold of the request in progress; `stored` is what a legacy client has set."""
        request = _current.get()
        return stored if request is None else str(request.meta.get(_LOG_LEVEL, "emergency"))

    # [/logging]
    # [capabilities]
    def client_capabilities(self, stored: Message) -> Message:
        """What the client of the request in progress can do; `stored` is what a legacy client has said."""
        request = _current.get()
        return stored if request is None else _dict(request.meta.get(_CAPABILITIES))

    # [/capabilities]
    # [ask]
    def ask(self, method: str, params: Message | None = None) -> Message:
        """The client's answer. On the first round the request ends here, and comes again with the answer.

        A tool runs from its start on every round, so what it does before this call is done again.
        """
        request = _current.get()
        if request is None:
            raise RuntimeError(f"{method} can only be asked during a request of {VERSION}")
        if request.method not in _NAMED:
            raise Refused(-32603, f"{request.method} may not ask the client")
        capability, member, kind = _QUESTIONS[method]
        asked = {key: value for key, value in (params or {}).items() if key not in ("elicitationId", "task")}
        mode, context = str(asked.get("mode", "form")), asked.get("includeContext", "none") != "none"
        parts = ["tools"] * bool(asked.get("tools")) + ["context"] * context
        parts = [mode] if capability == "elicitation" else parts
        declared = _dict(request.meta.get(_CAPABILITIES)).get(capability)
        if not isinstance(declared, dict) or not {*parts} <= {*(declared or {"form": {}})}:
            required: Message = {capability: {part: {} for part in parts}}
            raise Refused(-32021, f"The client cannot answer {method}", requiredCapabilities=required)
        request.asked += 1
        key = name = f"{capability}-{request.asked}"
        if capability == "elicitation" and mode == "form":
            # Consent is for the exact question: if it changes between the rounds, it is asked again.
            key += "-" + _digest(asked)[:8]
            name = _sole_field(asked) or key
        if key not in request.answers:
            given = _dict(request.params.get("inputResponses"))
            # A name of the server's own may be known before it is asked, but not what a later question will be.
            fits = name == key or request.question == key or (request.question is None and request.asked == 1)
            if name not in given or not fits:
                questions = {name: {"method": method, **({"params": asked} if asked else {})}}
                result: Message = {"resultType": "input_required", "inputRequests": questions}
                raise InputRequired("input required", result={**result, "requestState": _sealed(request, key)})
            answer = _dict(given[name])
            fits = isinstance(answer.get(member), kind)
            if capability == "elicitation":
                fits = answer.get(member) in ("accept", "decline", "cancel")
                fits = fits and isinstance(answer.get("content") or {}, dict)
            if not fits:
                raise Refused(-32602, f"Invalid params: inputResponses[{name!r}] does not answer {method}")
            request.answers[key] = answer
        return _dict(request.answers[key])

    # [/ask]
    def _admit(self, message: Any, headers: Headers) -> _Request | None:  # -http: , headers: Headers
        """The 2026-07-28 message that this is, or None for any other; checked as the protocol wants it."""
        if not isinstance(message, dict):
            if self.legacy:
                return None
            raise Refused(-32600, "Invalid request: not an object")
        method, params = message.get("method"), _dict(message.get("params"))
        meta = _dict(params.get("_meta"))
        if method is None and ("result" in message or "error" in message):
            return None
        modern = _is_modern(message)
        # [http]
        given = {name.lower(): value for name, value in (headers or {}).items()}
        modern = modern or given.get("mcp-protocol-version") == VERSION
        # [/http]
        if "id" not in message and isinstance(method, str):
            # A notification does not say its revision; without headers it comes from the client of the latest request.
            modern = modern or (self._last_modern and headers is None)  # -http:  and headers is None
            return _Request(None, method, params, meta) if modern else None
        self._last_modern = modern or not self.legacy
        if not self._last_modern:
            self._met_legacy = True
            return None
        if method == "initialize" and not modern:
            asked = str(params.get("protocolVersion"))
            raise Refused(-32022, f"This server speaks MCP {VERSION} only", supported=[VERSION], requested=asked)
        if not isinstance(method, str) or type(message.get("id")) not in (str, int):
            raise Refused(-32600, "Invalid request")
        version = meta.get(_PROTOCOL)
        if not isinstance(version, str) or not isinstance(meta.get(_CAPABILITIES), dict):
            raise Refused(-32602, f"Invalid params: MCP {VERSION} wants {_PROTOCOL} and {_CAPABILITIES} in _meta")
        # [http]
        name = params.get(_NAMED.get(method, ""))
        for header, value in (("mcp-protocol-version", version), ("mcp-method", method), ("mcp-name", name)):
            if headers is not None and value is not None and _decoded(given.get(header, "")) != value:
                raise Refused(-32020, f"Header mismatch: {header} does not match the body")
        # [/http]
        if version != VERSION:
            raise Refused(-32022, f"This server speaks MCP {VERSION}", supported=[VERSION], requested=version)
        if not self._serves(method):
            wanted, kind = params.get(_NAMED.get(method, "")), method.partition("/")[0]
            if isinstance(wanted, str) and kind in self._claims() and wanted not in self._listed.get(kind, ()):
                # It lists such things, and answers for none of them.
                raise Refused(-32602, f"Unknown name in {method}: {wanted}")
            raise Refused(-32601, f"Method not found in MCP {VERSION}: {method}")
        # [logging]
        if meta.get(_LOG_LEVEL, "info") not in _LEVELS:
            raise Refused(-32602, f"Invalid params: unknown {_LOG_LEVEL}")
        # [/logging]
        request = _Request(message["id"], method, params, meta)
        # [ask]
        if method in _NAMED:
            request.answers, request.question = _opened(request)
        # [/ask]
        return request

    def _answer(self, request: _Request, headers: Headers) -> Message | None:  # -http: , headers: Headers
        own = self.methods is not None and request.method in self.methods
        if request.id is not None and request.method == "server/discover" and not own:
            result: Message = {"supportedVersions": [VERSION], "capabilities": self._claims()}
            text = self.instructions() if callable(self.instructions) else self.instructions
            result |= {"instructions": text} if text else {}
            return self.finish({"jsonrpc": "2.0", "id": request.id, "result": result})
        # [listen]
        if request.id is not None and request.method == "subscriptions/listen" and headers is None:  # -http:  and headers is None
            return self._listen(request)
        if request.method == "notifications/cancelled":
            gone = request.params.get("requestId")
            granted = self._granted.pop(gone, None) if type(gone) in (str, int) else None
            if granted is not None:
                self.subscribed -= granted.difference(*self._granted.values())
                request.settled = True
        # [/listen]
        return None

    def _serves(self, method: str) -> bool:
        # [changes]
        if method == "subscriptions/listen":
            return bool(self._grants())
        # [/changes]
        feature = _FEATURES.get(method.partition("/")[0])
        known = self.methods is None or method in self.methods or method == "server/discover"
        return known and method not in _REMOVED and (feature is None or feature in self._claims())

    def _claims(self) -> Message:
        """The declared capabilities, as far as they are served at this revision."""
        declared = _dict(self.capabilities() if callable(self.capabilities) else self.capabilities)
        claims = {
            name: {key: part for key, part in _dict(claim).items() if part is not None and key not in _UNSERVED}
            for name, claim in declared.items()
            if claim is not None and claim is not False and name not in _UNSERVED
        }
        if self.methods is None:
            return claims
        features, served = {*_FEATURES.values()}, {_FEATURES.get(method.partition("/")[0]) for method in self.methods}
        if features.isdisjoint(claims):
            # Older clients try tools/list whatever is declared; those of this revision go by the claims.
            return claims | {name: {} for name in _FEATURES.values() if name in served - _UNSERVED}
        return {name: claim for name, claim in claims.items() if name in served or name not in features}

    # [changes]
    def _grants(self) -> set[str]:
        """What subscriptions/listen can be granted."""
        claims = self._claims()
        kinds = [kind for kind in ("tools", "prompts", "resources") if _dict(claims.get(kind)).get("listChanged")]
        subscribe = _dict(claims.get("resources")).get("subscribe")
        return {f"{kind}ListChanged" for kind in kinds} | ({"resourceSubscriptions"} if subscribe else set())

    def _acknowledged(self, request: _Request) -> tuple[set[str], list[str], Message]:
        """What a subscriptions/listen is granted, the URIs it watches, and the first message of its stream."""
        wanted, grants = request.params.get("notifications"), self._grants()
        if not isinstance(wanted, dict):
            raise Refused(-32602, "Invalid params: notifications must be an object")
        granted: Message = {name: True for name in sorted(grants) if wanted.get(name) is True}
        uris = wanted.get("resourceSubscriptions")
        if isinstance(uris, list) and "resourceSubscriptions" in grants:
            granted["resourceSubscriptions"] = [uri for uri in uris if isinstance(uri, str)]
        watched = granted.get("resourceSubscriptions", [])
        method = "notifications/subscriptions/acknowledged"
        first = {"jsonrpc": "2.0", "method": method, "params": {"notifications": granted}}
        return {*granted, *watched}, watched, _tagged(first, request.id)

    # [/changes]
    # [listen]
    def _listen(self, request: _Request) -> Message:
        """Opens a stream on the shared channel; its first message is the acknowledgement."""
        self._granted[request.id], watched, first = self._acknowledged(request)
        self.subscribed.update(watched)
        return first

    # [/listen]
    def _unknown(self, error: Any, result: Any, request: _Request) -> str:
        """What the server says of a name that it does not know, if it says so with another code or as a result."""
        name, kind = request.params.get(_NAMED.get(request.method, "")), request.method.partition("/")[0]
        code, result = _dict(error).get("code"), _dict(result)
        if not isinstance(name, str) or code in (-32700, -32602, -32601, -32002, -32020, -32021, -32022, -32042):
            return ""
        texts = [block.get("text") for block in _dicts(result.get("content"))] if kind == "tools" else []
        said = str(texts[0]) if len(texts) == 1 else ""
        said = said if error is None else str(_dict(error).get("message") or error)
        hints = (name in said) + (_UNKNOWN.search(said) is not None)
        if kind == "resources":
            # A list need not hold all that can be read.
            return said if error is not None and hints == 2 else ""
        failed = error is not None or result.get("isError") is True
        return said if name not in self._listed.get(kind, {name}) and hints >= (1 if failed else 2) else ""

    def _stamped(self, result: Any, request: _Request) -> Any:
        if not isinstance(result, dict):
            return result
        kind = request.method.partition("/")[0]
        whole = not (request.params.get("cursor") or result.get("nextCursor"))
        if request.method in ("tools/list", "prompts/list") and whole:
            self._listed.setdefault(kind, set()).update(str(one.get("name")) for one in _dicts(result.get(kind)))
        result = _repaired(result, request.method)
        result.setdefault("resultType", "complete")
        if result["resultType"] == "complete" and request.method in _CACHEABLE:
            # The only hints that are safe to make up: stale at once, and for this user only.
            result = {"ttlMs": 0, "cacheScope": "private"} | result
        info = _dict(self.info() if callable(self.info) else self.info)
        identity = {_OURS + "serverInfo": info} if info.get("name") and info.get("version") else {}
        return {**result, "_meta": {**identity, **_dict(result.get("_meta"))}}


# [apart]
def is_modern() -> bool:
    """Whether the message in progress is a 2026-07-28 one, for modules that know no boundary object."""
    return _current.get() is not None


# [/apart]
def _error(error: Any, request: _Request) -> Message:
    """The error with a code that exists in this revision."""
    error = dict(error) if isinstance(error, dict) else {"message": str(error)}
    code = error.get("code")
    if type(code) is not int or code == -32042:
        code = -32603
    elif code == -32002 or (code == -32601 and request.method in _NAMED):
        code = -32602
    if code == -32602 and request.method == "resources/read" and error.get("data") is None:
        error["data"] = {"uri": request.params.get("uri")}
    return {**error, "code": code, "message": str(error.get("message") or "Internal error")}


def _repaired(result: Message, method: str) -> Message:
    """The result without what servers get wrong: fields that are empty, a text for blocks, tools without a schema."""
    if method not in _CACHEABLE and method not in _NAMED:
        return {key: value for key, value in result.items() if value is not None}
    result = cast(Message, _filled(result))
    if method == "tools/call" and isinstance(text := result.get("content"), str):
        result["content"] = [{"type": "text", "text": text}]
    if method == "tools/list":
        for tool in _dicts(result.get("tools")):
            if isinstance(schema := tool.get("inputSchema", {}), dict):
                # No more than what is true of all arguments.
                tool["inputSchema"] = {"type": "object", **schema}
    return result


def _filled(value: Any) -> Any:
    if isinstance(value, list):
        return [_filled(one) for one in value]
    if not isinstance(value, dict):
        return value
    # What these hold is of the server's own shape.
    own = {"inputSchema", "outputSchema", "structuredContent", "_meta"}
    kept = {key: part for key, part in value.items() if part is not None or key == "structuredContent"}
    return {key: part if key in own else _filled(part) for key, part in kept.items()}


def _dict(value: Any) -> Message:
    return value if isinstance(value, dict) else {}


def _dicts(value: Any) -> list[Message]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _is_modern(message: Any) -> bool:
    meta, method = _dict(_dict(_dict(message).get("params")).get("_meta")), _dict(message).get("method")
    return _PROTOCOL in meta or _CAPABILITIES in meta or method in ("server/discover", "subscriptions/listen")


def _is_reply(value: Any) -> bool:
    found = {"jsonrpc", "method", "error", "result"}.intersection(value) if isinstance(value, dict) else set()
    return "jsonrpc" in found and "method" not in found and len(found) > 1


def _own(request: _Request) -> Message:
    """The parameters without what is for us: a strict server refuses those that it does not know."""
    hidden = {"_meta", "inputResponses", "requestState"}  # -ask: , "inputResponses", "requestState"
    params = {key: value for key, value in request.params.items() if key not in hidden}
    meta = {key: value for key, value in request.meta.items() if not key.startswith(_OURS)}
    return {**params, **({"_meta": meta} if meta else {})}


# [changes]
def _tagged(message: Message, stream: Any) -> Message:
    params = _dict(message.get("params"))
    return {**message, "params": {**params, "_meta": {**_dict(params.get("_meta")), _OURS + "subscriptionId": stream}}}


# [/changes]
# [ask]
def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def _about(request: _Request) -> str:
    hidden = ("_meta", "inputResponses", "requestState")
    return _digest([request.method, {key: value for key, value in request.params.items() if key not in hidden}])


def _sole_field(asked: Message) -> str:
    """The name of the only field of a form, if that is one to fill in; what is only to be agreed to has none."""
    (name, kind), *more = [*_dict(_dict(asked.get("requestedSchema")).get("properties")).items()] or [("", None)]
    fills = _dict(kind).get("type") in ("string", "number", "integer") and "enum" not in kind and not more
    return str(name) if fills else ""


def _sealed(request: _Request, question: str) -> str:
    """What this round knows, for the client to bring back: signed, for this request only, and not for ever."""
    until = int(time.time()) + _STATE_SECONDS
    state = {"about": _about(request), "until": until, "answers": request.answers, "question": question}
    body = json.dumps(state).encode()
    return base64.urlsafe_b64encode(hmac.digest(_STATE_KEY, body, "sha256") + body).decode()


def _opened(request: _Request) -> tuple[Message, Any]:
    """What earlier rounds knew, and what was asked in the last one. What the client has made up is refused."""
    if not isinstance(request.params.get("inputResponses", {}), dict):
        raise Refused(-32602, "Invalid params: inputResponses must be an object")
    if "requestState" not in request.params:
        return {}, None
    try:
        raw = base64.urlsafe_b64decode(request.params["requestState"])
        # Base64 has many spellings of the same bytes; only the one that was given counts.
        ours = base64.urlsafe_b64encode(raw).decode() == request.params["requestState"]
        if ours and hmac.compare_digest(raw[:32], hmac.digest(_STATE_KEY, raw[32:], "sha256")):
            state = _dict(json.loads(raw[32:]))
            if state["about"] == _about(request) and state["until"] >= time.time():
                return _dict(state["answers"]), state["question"]
    except (TypeError, ValueError):
        pass
    raise Refused(-32602, "Invalid params: requestState does not belong to this request or is too old")


# [/ask]
# [http]
def _decoded(value: str) -> str | None:
    if not (value.startswith("=?base64?") and value.endswith("?=")):
        return value.strip()
    try:
        return base64.b64decode(value[9:-2], validate=True).decode()
    except ValueError:
        return None


def http_status(reply: Message) -> int:
    """The HTTP status of a reply to a 2026-07-28 request."""
    code = _dict(reply.get("error")).get("code")
    return 404 if code == -32601 else 400 if code in (-32700, -32600, -32602, -32020, -32021, -32022) else 200
# [/http]
