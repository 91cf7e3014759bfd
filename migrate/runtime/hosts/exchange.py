"""HTTP requests without a framework: which ones are of this revision, and what becomes of the answers."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncGenerator, Collection, Iterable, Iterator, Mapping
from contextlib import aclosing, closing, contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ..mcp_stateless import (
    _LEVELS,
    _LISTS,
    _LOG_LEVEL,
    _NAMED,
    VERSION,
    Ending,
    Message,
    Refused,
    Stateless,
    _current,
    _dict,
    _is_modern,
    _Request,
    http_status,
)
from .streams import Host as _Streaming
from .streams import _Stream

Pairs = list[tuple[str, str]]
Paths = str | Collection[str]


class Host(_Streaming):
    def _meet(self, verb: str, headers: Mapping[str, str], body: bytes, peer: str) -> _Answer | _Exchange | None:
        """The answer to an HTTP request, or its exchange with the server's own code; None for older revisions."""
        given = {name.lower(): value for name, value in headers.items()}
        named, foreign = given.get("mcp-protocol-version") == VERSION, _is_rebound(given, peer)
        ours = named or not self.legacy
        if ours and foreign:
            return _FORBIDDEN
        if verb != "POST":
            # A page may be under the same path: browsers ask for no event stream.
            asks = named or verb == "DELETE" or "text/event-stream" in given.get("accept", "").lower()
            return _Answer(405, [("Allow", "POST")], b"") if ours and asks and verb in ("GET", "DELETE") else None
        try:
            message = json.loads(body)
        except (ValueError, RecursionError):
            return _refusal(-32700, "Parse error") if ours else None
        if not (ours or any(map(_is_modern, message if isinstance(message, list) else [message]))):
            return None
        if foreign:
            return _FORBIDDEN
        if not isinstance(message, dict) or "method" not in message:
            return _refusal(-32600, f"Invalid request: MCP {VERSION} wants one request or notification")
        if "id" not in message:
            missing = _refusal(-32020, f"Header mismatch: MCP-Protocol-Version must be {VERSION}")
            return _Answer(202, [], b"") if named or self.legacy else missing
        token = _current.set(None)
        try:
            early, request = self.begin(message, headers), _current.get()
        finally:
            _current.reset(token)
        if request is None or "error" in (early or {}):
            return _json(early or {}, http_status(early or {}))
        try:
            return _Exchange(self, request, message, early)
        except Refused as refusal:
            return _json({"jsonrpc": "2.0", "id": request.id, **refusal.body}, 400)


class _Answer(NamedTuple):
    """An HTTP answer."""

    status: int
    headers: Pairs
    body: bytes


_FORBIDDEN = _Answer(403, [("Content-Type", "text/plain"), ("Content-Length", "19")], b"Forbidden by Origin")


class _Exchange:
    """A request of this revision on its way through the server's own code, which gets `body` in place of what came."""

    def __init__(self, mcp: Stateless, request: _Request, message: Message, early: Message | None) -> None:
        self.mcp, self.request, self.early = mcp, request, early
        # [boundary]
        request.wrapped = True
        # [/boundary]
        # [streams]
        self.stream = _Stream(mcp, request) if request.method == "subscriptions/listen" else None
        if self.stream is not None:
            self.early = self.stream.acknowledged
        # [/streams]
        if self.early is not None:
            # Who may have this answer is for the server's own checks to say; they are asked with a harmless request.
            known = (name for name in ("ping", *sorted(_LISTS)) if mcp.methods is None or name in mcp.methods)
            message = {"jsonrpc": "2.0", "id": request.id, "method": next(known, "ping"), "params": {}}
        self.body = json.dumps(message).encode()

    @contextmanager
    def running(self) -> Iterator[None]:
        """While the server's own code runs."""
        token = _current.set(self.request)
        try:
            yield
        finally:
            _current.reset(token)

    def is_open(self, status: int) -> bool:
        """Whether the answer is about the message. Redirects, access and load are the server's own business."""
        return status < 300 or (400 <= status < 500 and status not in (401, 403, 407, 413, 429))

    def streams(self, status: int, headers: Pairs) -> bool:
        """Whether the server's own code answers with an event stream."""
        return self.early is None and self.is_open(status) and _is_stream(headers)

    # [streams]
    def listens(self, status: int) -> bool:
        """Whether an event stream takes the place of an answer with this status."""
        return self.stream is not None and (self.is_open(status) or status == 500)

    # [/streams]
    def answer(self, status: int, headers: Iterable[tuple[str, str]], body: bytes) -> _Answer:
        """What to send in place of an answer of the server's own code."""
        kept = _kept(headers)
        if self.early is not None and (self.is_open(status) or status == 500):
            return self._sent(self.early, 200, kept)
        if self.streams(status, kept):
            events = _Events(self)
            return _Answer(status, kept, events.feed(body) + events.end())
        try:
            own: Any = json.loads(body)
        except (ValueError, RecursionError):
            own = None
        if _replies(own) and (self.is_open(status) or status == 500):
            reply = self.finished(own)
            return self._sent(reply, _status(reply), kept)
        if not self.is_open(status):
            return _Answer(status, kept, body)
        # A client takes an answer like this one for an older server, and begins the handshake.
        wrong = status in (400, 422)
        # A name that is in no list is unknown here, whatever the answer is.
        wanted = self.request.params.get(_NAMED.get(self.request.method, ""))
        named = f" {wanted}" if isinstance(wanted, str) else ""
        text = f"{self.request.method}{named} was answered with HTTP {status}"
        error: Message = {"code": -32602 if wrong else -32603, "message": text}
        error |= {"data": own} if isinstance(own, dict) and status >= 400 else {}
        reply = self.finished(self.lost(error))
        return self._sent(reply, _status(reply), kept)

    def ended(self, ending: Ending) -> _Answer:
        """The answer to a request that the server's own code has not come back from."""
        reply = self.finished(ending.body)
        return _json(reply, _status(reply))

    def lost(self, error: Message) -> Message:
        """What to answer when the server's own code has no reply: how it ended, in whatever task that was."""
        ending = self.request.ending
        return {"error": error} if ending is None else ending.body

    def finished(self, reply: Message) -> Message:
        with self.running():
            return self.mcp.finish({"jsonrpc": "2.0", **reply, "id": self.request.id})

    def _sent(self, reply: Message, status: int, headers: Pairs) -> _Answer:
        made = _json(reply, status)
        kept = [(name, value) for name, value in headers if name.lower() != "content-type"]
        return _Answer(made.status, kept + made.headers, made.body)


class _Events:
    """An event stream of the server's own code, in the shape of this revision, piece by piece."""

    def __init__(self, exchange: _Exchange) -> None:
        self.exchange, self.rest = exchange, b""
        self.replied: Message | None = None

    @property
    def is_done(self) -> bool:
        return self.replied is not None

    def feed(self, chunk: bytes) -> bytes:
        *events, self.rest = (self.rest + chunk).replace(b"\r\n", b"\n").split(b"\n\n")
        return b"".join(map(self._event, events))

    def end(self) -> bytes:
        """The rest; a stream that ends without a reply gets one."""
        rest = self._event(self.rest)
        lost = {"code": -32603, "message": "The stream ended without a reply"}
        return rest if self.is_done else rest + self.reply(self.exchange.lost(lost))

    def whole(self, headers: Pairs) -> _Answer:
        """The answer of a stream that has brought its reply and nothing else yet: no stream."""
        assert self.replied is not None
        return self.exchange._sent(self.replied, _status(self.replied), headers)

    def reply(self, body: Message) -> bytes:
        self.replied = self.exchange.finished(body)
        return _event(self.replied)

    def _event(self, event: bytes) -> bytes:
        lines = event.split(b"\n")
        data = b"\n".join(line[5:].removeprefix(b" ") for line in lines if line.startswith(b"data:"))
        if not data:
            return _event(None) if event.startswith(b":") else b""
        try:
            message = json.loads(data)
        except (ValueError, RecursionError):
            return b""
        return b"".join(map(self._message, message if isinstance(message, list) else [message]))

    def _message(self, message: Any) -> bytes:
        if self.is_done or not isinstance(message, dict):
            return b""
        if _replies(message):
            return self.reply(message)
        # No requests, and only notifications that belong to this request.
        allowed = "id" not in message and message.get("method") == "notifications/progress"
        # [logging]
        if "id" not in message and message.get("method") == "notifications/message":
            wanted = self.exchange.request.meta.get(_LOG_LEVEL)
            heard = _LEVELS[_LEVELS.index(wanted) :] if wanted in _LEVELS else ()
            allowed = _dict(message.get("params")).get("level") in heard
        # [/logging]
        return _event(message) if allowed else b""


def _event(message: Message | None) -> bytes:
    # A comment is a sign of life.
    return b":\n\n" if message is None else f"event: message\ndata: {json.dumps(message)}\n\n".encode()


# [streams]
def _chunks(stream: _Stream) -> Iterator[bytes]:
    with closing(stream.blocking()) as messages:
        yield from map(_event, messages)


async def _awaited(stream: _Stream) -> AsyncGenerator[bytes, None]:
    async with aclosing(stream.waiting()) as messages:
        async for message in messages:
            yield _event(message)


# [/streams]
def _is_at(path: str, paths: Paths) -> bool:
    """Whether a path is one of these; a segment in brackets stands for any other, and an empty path for all."""
    segments = path.strip("/").split("/")
    for one in [paths] if isinstance(paths, str) else paths:
        wanted = one.strip("/").split("/")
        fits = [want == have or want[:1] in ("{", "<") for want, have in zip(wanted, segments, strict=False)]
        if not one or (len(wanted) == len(segments) and all(fits)):
            return True
    return False


def _is_rebound(headers: Mapping[str, str], peer: str) -> bool:
    """Whether a page sends this through a name that its own DNS gives to this machine.

    A request from another site is for the server's own checks and for CORS, one through a proxy for the proxy.
    """
    proxied = any(name in headers for name in ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"))
    try:
        host, origin = (urlsplit(text).hostname for text in ("//" + headers.get("host", ""), headers.get("origin", "")))
    except ValueError:
        return True
    # Addresses have no DNS.
    named = host is not None and host != "localhost" and ":" not in host and not host.replace(".", "").isdigit()
    return named and host == origin and not proxied and (peer.startswith("127.") or peer == "::1")


def _is_hidden(header: str) -> bool:
    """Whether a header is none of the business of code that was written for older revisions."""
    return header.lower() in ("mcp-session-id", "mcp-protocol-version", "last-event-id", "accept-encoding")


def _environ(environ: Mapping[str, Any], body: bytes) -> Message:
    """What WSGI says of a request, with another body and without hidden headers."""
    hidden = {name for name in environ if name.startswith("HTTP_") and _is_hidden(name[5:].replace("_", "-"))}
    kept = {name: value for name, value in environ.items() if name not in hidden}
    return {**kept, "wsgi.input": io.BytesIO(body), "CONTENT_LENGTH": str(len(body))}


def _is_stream(headers: Pairs) -> bool:
    kind = next((value for name, value in headers if name.lower() == "content-type"), "")
    return kind.startswith("text/event-stream")


def _replies(value: Any) -> bool:
    reply = _dict(value)
    return "method" not in reply and ("result" in reply or isinstance(reply.get("error"), dict))


def _status(reply: Message) -> int:
    # What a server says of a name or an argument is no protocol error, and a 400 would look like an older server.
    return 200 if _dict(reply.get("error")).get("code") == -32602 else http_status(reply)


def _json(reply: Message, status: int) -> _Answer:
    body = json.dumps(reply).encode()
    return _Answer(status, [("Content-Type", "application/json"), ("Content-Length", str(len(body)))], body)


def _refusal(code: int, text: str) -> _Answer:
    return _json({"jsonrpc": "2.0", "error": {"code": code, "message": text}}, 400)


def _kept(headers: Iterable[tuple[str, str]]) -> Pairs:
    """The headers of an answer that do not speak of a session, or of a body that is changed."""
    return [(name, value) for name, value in _without_length(headers) if name.lower() != "mcp-session-id"]


def _without_length(headers: Iterable[tuple[str, str]]) -> Pairs:
    return [(name, value) for name, value in headers if name.lower() not in ("content-length", "transfer-encoding")]
