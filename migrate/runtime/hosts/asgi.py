"""ASGI applications: FastAPI, Starlette and all others."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import aclosing
from typing import Any

from ..mcp_stateless import Ending, Message
from .exchange import Host as _Exchanging
from .exchange import Paths, _Answer, _awaited, _Events, _Exchange, _is_at, _is_hidden, _is_stream, _kept, _without_length
from .streams import _STREAM

Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Any, Any, Any], Awaitable[None]]
# Seconds: a stream that brings its reply sooner is none; an application may take so long to end after its request.
_PATIENCE, _GRACE = 1.0, 0.2


class Host(_Exchanging):
    def asgi(self, app: App, path: Paths) -> App:
        """The application with the boundary around its endpoint: `app.add_middleware(MCP.asgi, path="/mcp")`."""
        return _Asgi(self, app, path)


class _Asgi:
    def __init__(self, mcp: Any, app: App, path: Paths) -> None:
        self.mcp, self.app, self.path = mcp, app, path

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self._is_ours(scope):
            return await self.app(scope, receive, send)
        body, more = b"", scope["method"] == "POST"
        while more:
            part = await receive()
            if part["type"] == "http.disconnect":
                return None
            body, more = body + part.get("body", b""), part.get("more_body", False)
        peer = str((scope.get("client") or ("",))[0])
        met = self.mcp._meet(scope["method"], dict(_decoded_pairs(scope["headers"])), body, peer)
        if isinstance(met, _Answer):
            await _send(send, met)
        elif met is not None:
            await self._exchange(met, scope, receive, send)
        else:
            await self.app(scope, _replay(body, receive) if scope["method"] == "POST" else receive, send)

    def _is_ours(self, scope: Message) -> bool:
        # Servers differ in whether the path holds what the application is mounted at.
        path, root = scope["path"], scope.get("root_path", "")
        inner = path.removeprefix(root)
        return _is_at(path, self.path) or _is_at(inner, self.path)

    async def _exchange(self, exchange: _Exchange, scope: Message, receive: Receive, send: Send) -> None:
        kept = [(name, value) for name, value in _decoded_pairs(scope["headers"]) if not _is_hidden(name)]
        headers = _encoded([*_without_length(kept), ("content-length", str(len(exchange.body)))])
        taken = _Taken(exchange, send)
        with exchange.running():
            try:
                # Without extensions, which could send a body past us.
                given = {**scope, "headers": headers, "extensions": {}}
                await taken.follow(self.app(given, _replay(exchange.body, receive), taken.send))
            except BaseException as error:
                ending = _ending(error)
                if exchange.early is None and ending is not None:
                    return await taken.end(ending)
                # What the harmless request in place of this one brings about is not its client's.
                if exchange.early is None or not (ending or isinstance(error, Exception)):
                    raise
        # [streams]
        stream = exchange.stream
        if stream is not None and exchange.listens(taken.status):
            gone = asyncio.ensure_future(_disconnect(receive))
            gone.add_done_callback(lambda _: stream.close())
            try:
                await send({"type": "http.response.start", "status": 200, "headers": _encoded(_STREAM)})
                async with aclosing(_awaited(stream)) as chunks:
                    async for chunk in chunks:
                        if gone.done():
                            return None
                        await send({"type": "http.response.body", "body": chunk, "more_body": True})
            finally:
                gone.cancel()
        # [/streams]
        await taken.end(None)


class _Taken:
    """What the application sends, held back until it is whole; an event stream goes on as it comes."""

    def __init__(self, exchange: _Exchange, send: Send) -> None:
        self.exchange, self._send = exchange, send
        self.status, self.headers, self.body = 500, list[tuple[str, str]](), b""
        self.events: _Events | None = None
        self.is_begun, self.is_sent = False, False
        self.lock = asyncio.Lock()

    async def follow(self, running: Awaitable[None]) -> None:
        """Waits for the application; not for ever if its request has ended in a task that nobody waits for."""
        loop = asyncio.get_running_loop()
        task, ended = asyncio.ensure_future(running), loop.create_future()
        self.exchange.request.wake = lambda: loop.call_soon_threadsafe(ended.cancel)
        try:
            await asyncio.wait({task, ended}, timeout=_PATIENCE, return_when=asyncio.FIRST_COMPLETED)
            if self.events is not None and not (task.done() or ended.done()):
                # Clients wait longer for the next event than for the first byte.
                async with self.lock:
                    await self._pass(b"")
            await asyncio.wait({task, ended}, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait({task}, timeout=_GRACE if ended.done() else None)
            if not task.done() and self.exchange.request.ending is not None:
                raise self.exchange.request.ending
        finally:
            task.cancel()
            await asyncio.wait({task})
        await task

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = _decoded_pairs(message.get("headers", ()))
            if self.exchange.streams(self.status, self.headers):
                self.events = _Events(self.exchange)
        elif message["type"] == "http.response.body" and self.events is None:
            self.body += message.get("body", b"")
            if self.exchange.early is not None and _is_stream(self.headers):
                # Nobody waits for this stream, and it may have no end.
                raise Ending("the status is known")
        elif message["type"] == "http.response.body" and self.events is not None and not self.is_sent:
            async with self.lock:
                if chunk := self.events.feed(message.get("body", b"")):
                    await self._pass(chunk)

    async def end(self, ending: Ending | None) -> None:
        if self.events is None:
            whole = self.status, self.headers, self.body
            await _send(self._send, self.exchange.ended(ending) if ending else self.exchange.answer(*whole))
        elif not self.is_sent:
            await self._pass(self.events.reply(ending.body) if ending else self.events.end())

    async def _pass(self, chunk: bytes) -> None:
        """A part of the event stream. Whatever comes after the reply is not for this client."""
        assert self.events is not None
        if self.is_sent:
            return
        self.is_sent = self.events.is_done
        if self.is_begun:
            await self._send({"type": "http.response.body", "body": chunk, "more_body": not self.is_sent})
        elif self.is_sent and chunk.count(b"\n\n") == 1:
            await _send(self._send, self.events.whole(_kept(self.headers)))
        else:
            self.is_begun = True
            kept = _encoded(_kept(self.headers))
            await self._send({"type": "http.response.start", "status": self.status, "headers": kept})
            await self._send({"type": "http.response.body", "body": chunk, "more_body": not self.is_sent})


async def _send(send: Send, answer: _Answer) -> None:
    await send({"type": "http.response.start", "status": answer.status, "headers": _encoded(answer.headers)})
    await send({"type": "http.response.body", "body": answer.body})


def _decoded_pairs(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]


def _encoded(headers: list[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]


def _replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the whole body first."""
    left = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return left.pop() if left else await receive()

    return replayed


async def _disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _ending(error: BaseException) -> Ending | None:
    """The ending in an exception; task groups put theirs into groups."""
    if isinstance(error, Ending):
        return error
    return next(filter(None, map(_ending, getattr(error, "exceptions", ()))), None)
