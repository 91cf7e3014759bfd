"""Protocol revision 2026-07-28 for this client, and the `initialize` handshake for servers that do not know it.

The functions that send what their caller names are wrapped. Where the program opens a connection with `initialize`,
`server/discover` is asked first: a server that answers it gets its requests with all that 2026-07-28 wants, any other one
the handshake as it was. The program gets the same kind of answer from both.
"""

from __future__ import annotations

import asyncio
import base64
import functools
import inspect
import re
import weakref
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

VERSION = "2026-07-28"
_OURS = "io.modelcontextprotocol/"
_PROTOCOL, _INFO, _CAPABILITIES = _OURS + "protocolVersion", _OURS + "clientInfo", _OURS + "clientCapabilities"
_OPENINGS = {"initialize", "server/discover"}
# Removed requests that something else does the work of.
_REPLACEMENTS = {"ping", "logging/setLevel"}
# The revisions that open with `initialize`.
_HANDSHAKES = ("2024-10-07", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
# Seconds that an asynchronous client waits for an answer to `server/discover`.
_PATIENCE = 10.0
# What a header repeats, so that it is known without reading the body.
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
# What a server may ask, and the capability that allows it to.
_QUESTIONS = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}
_REPLACED = {"mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id", "last-event-id"}
_PLAIN = re.compile(r"(?!=\?base64\?.*\?=\Z)[!-~](?:[\t -~]*[!-~])?")

Message = dict[str, Any]
Answer = Callable[[str, Message], Message]
# The method and parameters to send; None for the parameters that the caller gave.
_Step = tuple[str, Message | None]
_Talk = Generator[_Step, Any, Any]


@dataclass(eq=False)
class _Connection:
    """What is known of one server. Unless it was opened as a modern one, everything goes out as the program wrote it."""

    modern: bool = False
    owner: Any = None  # where the connection has to keep it
    meta: Message = field(default_factory=dict)
    http: bool = False
    enveloped: bool = False  # the sending function returns whole replies, not their results
    mirrored: dict[str, dict[tuple[str, ...], str]] = field(default_factory=dict)  # tool -> argument -> header


@dataclass(frozen=True)
class _Sending:
    connection: _Connection
    method: str
    params: Message


# A context variable, so that tasks and threads do not see each other's request.
_current: ContextVar[_Sending | None] = ContextVar("mcp_sending", default=None)


class Era:
    """The revision that each connection of a client speaks. `answer` answers what a server asks: a method and its parameters.

    With `legacy=False` no server of an earlier revision is spoken to.
    """

    def __init__(self, *, answer: Answer | None = None, legacy: bool = True) -> None:
        self.answer, self.legacy = answer, legacy
        self._connections: dict[Any, _Connection] = {}

    def sends(
        self, function: Any = None, *,
        method: str = "method", params: str = "params", message: str = "", owner: str = "", session: str = "",
    ) -> Any:  # fmt: skip
        """Wraps a function, sync or async, that sends a request or notification and returns its reply or result.

        Names its parameters for method and parameters, or the one for a whole message, and the one that tells connections
        apart, which is `self` for a method. `session` is the attribute of `self`, or the global, that keeps the session.
        """

        def wrap(function: Any) -> Any:
            names = inspect.signature(function)
            apart = owner or next((name for name in ("self", "cls") if name in names.parameters), "")

            def start(args: Any, kwargs: Any) -> tuple[_Talk, Callable[[_Step], tuple[_Sending, Any, Any]]]:
                own = names.bind(*args, **kwargs).arguments
                who, whole, sent = own.get(apart), _dict(own.get(message)), 0
                asked, held = (whole.get("method", ""), whole.get("params")) if message else (own[method], own.get(params))

                def prepare(step: _Step) -> tuple[_Sending, Any, Any]:
                    nonlocal sent
                    sent += 1
                    given = names.bind(*args, **kwargs)
                    if step[1] is None:
                        return _Sending(self._connection(who), asked, _dict(held)), given.args, given.kwargs
                    if message:
                        again = {"id": f"{whole['id']}-{sent}"} if sent > 1 and "id" in whole else {}
                        given.arguments[message] = {**whole, **again, "method": step[0], "params": step[1]}
                    else:
                        given.arguments |= {method: step[0], **({params: step[1]} if params in names.parameters else {})}
                    return _Sending(self._connection(who), step[0], step[1]), given.args, given.kwargs

                return self._talk(who, asked, held, functools.partial(keep, who)), prepare

            def keep(who: Any, *value: Any) -> Any:
                """What is kept of the session; a value is kept in its place."""
                if not session:
                    return None
                if owner or apart == "":
                    return function.__globals__.update({session: value[0]}) if value else function.__globals__.get(session)
                return setattr(who, session, value[0]) if value else getattr(who, session, None)

            # One loop each: what is thrown or given back decides what is sent next.
            @functools.wraps(function)
            async def wrapper(*args: Any, **kwargs: Any) -> Any:
                talk, prepare = start(args, kwargs)
                go_on, value = talk.send, None
                while True:
                    try:
                        step = go_on(value)
                    except StopIteration as done:
                        return done.value
                    sending, args, kwargs = prepare(step)
                    # Some older servers do not answer what they do not know.
                    patience = _PATIENCE if step[0] == "server/discover" and self.legacy else None
                    with _as_current(sending):
                        try:
                            go_on, value = talk.send, await _within(patience, function(*args, **kwargs))
                        except (Exception, SystemExit) as error:
                            go_on, value = talk.throw, error

            @functools.wraps(function)
            def sync_wrapper(*args: Any, **kwargs: Any) -> Any:
                talk, prepare = start(args, kwargs)
                go_on, value = talk.send, None
                while True:
                    try:
                        step = go_on(value)
                    except StopIteration as done:
                        return done.value
                    sending, args, kwargs = prepare(step)
                    with _as_current(sending):
                        try:
                            go_on, value = talk.send, function(*args, **kwargs)
                        except (Exception, SystemExit) as error:
                            go_on, value = talk.throw, error

            return wrapper if inspect.iscoroutinefunction(function) else sync_wrapper

        return wrap if function is None else wrap(function)

    def headers(self, headers: Any = None) -> Any:
        """The HTTP headers of the request that is being sent: the program's own, with those that 2026-07-28 wants."""
        sending = _current.get()
        if sending is None or not sending.method or not sending.connection.modern:
            return {} if headers is None else headers
        sending.connection.http = True
        kept = {name: value for name, value in dict(headers or {}).items() if str(name).lower() not in _REPLACED}
        kept |= {"MCP-Protocol-Version": VERSION, "Mcp-Method": sending.method}
        if (name := sending.params.get(_NAMED.get(sending.method, ""))) is not None:
            kept["Mcp-Name"] = _encoded(name)
        for path, header in sending.connection.mirrored.get(str(name), {}).items() if sending.method == "tools/call" else ():
            if (value := _at(sending.params.get("arguments"), path)) is not None:
                kept[f"Mcp-Param-{header}"] = _encoded(str(value).lower() if isinstance(value, bool) else value)
        return kept

    def modern(self, owner: Any = None) -> bool:
        """Whether a connection speaks 2026-07-28."""
        return self._connection(owner).modern

    def _connection(self, owner: Any) -> _Connection:
        key = owner if owner is None or isinstance(owner, (str, int)) else id(owner)
        if key not in self._connections:
            connection = self._connections[key] = _Connection(not self.legacy, meta={_PROTOCOL: VERSION, _CAPABILITIES: {}})
            if key is not owner:
                try:
                    weakref.finalize(owner, self._connections.pop, key, None)
                except TypeError:  # a class with slots: kept, so that no other object gets its number
                    connection.owner = owner
        return self._connections[key]

    def _talk(self, owner: Any, method: str, given: Any, keep: Callable[..., Any]) -> _Talk:
        """What is sent for one call of the program, one after the other, and what the call returns."""
        connection, params = self._connection(owner), dict(given or {})
        if method in _OPENINGS:
            return (yield from self._open(connection, method, params, keep))
        # What has no method is an answer to the server.
        if not connection.modern or not method:
            return (yield method, None)
        if method.startswith("notifications/") and method != "notifications/cancelled":
            # A server of 2026-07-28 wants to hear of nothing else.
            return None
        if method in _REPLACEMENTS:
            # The server's state of the connection has become part of each request; whether it is there, any request tells.
            if method == "logging/setLevel":
                connection.meta[_OURS + "logLevel"] = params.get("level")
            reply = yield "server/discover", {"_meta": connection.meta}
            return {**reply, "result": {}} if connection.enveloped and "result" in reply else reply if connection.enveloped else {}
        again: Message = {}
        while True:
            reply = yield method, {**params, **again, "_meta": {**_dict(params.get("_meta")), **connection.meta}}
            result = _dict(_dict(reply).get("result")) if connection.enveloped else _dict(reply)
            kind = result.get("resultType", "complete")
            if kind == "complete":
                return self._read(connection, method, reply, result)
            if kind != "input_required":
                raise ValueError(f"{method}: the server answers with the unknown resultType {kind!r}")
            again = self._answered(_dict(result.get("inputRequests")))
            again |= {"requestState": result["requestState"]} if "requestState" in result else {}

    def _open(self, connection: _Connection, method: str, params: Message, keep: Callable[..., Any]) -> _Talk:
        """`server/discover`, and where that is not known the program's own handshake."""
        held = _dict(params.get("capabilities"))
        claims = {name: held[name] for name in held if self.answer or name not in _QUESTIONS.values()}
        connection.meta = {_PROTOCOL: VERSION, _CAPABILITIES: claims, **({_INFO: params["clientInfo"]} if "clientInfo" in params else {})}
        reply: Any = None
        failure: BaseException | None = None
        session = keep()
        connection.modern = True
        try:
            reply = yield "server/discover", {"_meta": connection.meta}
        except (Exception, SystemExit) as error:
            failure = error
        connection.enveloped = isinstance(_dict(reply).get("result"), dict)
        result = _dict(reply["result"] if connection.enveloped else reply)
        if VERSION in (result.get("supportedVersions") or ()):
            known = _dict(_dict(result.get("_meta")).get(_OURS + "serverInfo"))
            result = {**result, "protocolVersion": VERSION, "serverInfo": {"name": "", "version": "", **known}}
            return {**reply, "result": result} if connection.enveloped else result
        if not self.legacy or _is_modern_only(failure or reply):
            if failure is not None:
                raise failure
            return reply
        connection.modern = False
        # An older server may have opened a session for a request that it did not know; the handshake opens another one.
        keep(session)
        return (yield method, None)

    def _answered(self, questions: Message) -> Message:
        if questions and self.answer is None:
            raise RuntimeError("the server asks " + ", ".join(str(_dict(asked).get("method")) for asked in questions.values()))
        answers = {key: self.answer(asked["method"], _dict(asked.get("params"))) for key, asked in questions.items()}  # type: ignore[misc]
        return {"inputResponses": answers} if answers else {}

    def _read(self, connection: _Connection, method: str, reply: Any, result: Message) -> Any:
        """The reply, without tools whose annotations are wrong; what is to be repeated in headers is noted."""
        if method != "tools/list" or not connection.http or not isinstance(result.get("tools"), list):
            return reply
        found = [(tool, _mirrored(_dict(tool.get("inputSchema")))) for tool in map(_dict, result["tools"])]
        connection.mirrored |= {str(tool.get("name")): headers for tool, headers in found if headers is not None}
        if all(headers is not None for _, headers in found):
            return reply
        result = {**result, "tools": [tool for tool, headers in found if headers is not None]}
        return {**reply, "result": result} if connection.enveloped else result


async def _within(patience: float | None, sent: Awaitable[Any]) -> Any:
    try:
        asyncio.get_running_loop()
    except RuntimeError:  # another kind of loop
        return await sent
    return await asyncio.wait_for(sent, patience)


@contextmanager
def _as_current(sending: _Sending) -> Generator[None, None, None]:
    token = _current.set(sending)
    try:
        yield
    finally:
        _current.reset(token)


def _is_modern_only(answer: Any) -> bool:
    """Whether a server says that it has 2026-07-28 or later revisions, but none that both sides know."""
    said = str(answer)
    return "-32022" in said and not any(version in said for version in _HANDSHAKES)


def _mirrored(schema: Message) -> dict[tuple[str, ...], str] | None:
    """The arguments of a tool that headers repeat, with the names of these; None for a tool that must not be used."""
    found: dict[tuple[str, ...], str] = {}
    allowed = 0
    pending: list[tuple[tuple[str, ...], Message]] = [((), schema)]
    while pending:
        path, part = pending.pop()
        for name, inner in _dict(part.get("properties")).items():
            pending.append(((*path, name), _dict(inner)))
        if "x-mcp-header" in part:
            header, allowed = part["x-mcp-header"], allowed + 1
            token = isinstance(header, str) and re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", header)
            if not token or not path or part.get("type") not in ("string", "integer", "boolean"):
                return None
            found[path] = header
    distinct = {header.lower() for header in found.values()}
    return found if len(distinct) == len(found) and _count(schema) == allowed else None


def _count(node: Any) -> int:
    """How often a schema asks for a header, wherever it does."""
    if isinstance(node, Mapping):
        return ("x-mcp-header" in node) + sum(map(_count, node.values()))
    return sum(map(_count, node)) if isinstance(node, list) else 0


def _at(arguments: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        arguments = _dict(arguments).get(name)
    return arguments


def _encoded(value: Any) -> str:
    text = str(value)
    return text if _PLAIN.fullmatch(text) else f"=?base64?{base64.b64encode(text.encode()).decode()}?="


def _dict(value: Any) -> Message:
    return value if isinstance(value, dict) else {}
