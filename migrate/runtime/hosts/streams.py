"""subscriptions/listen over HTTP: one event stream for each client that listens."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import AsyncGenerator, Callable, Generator

from ..mcp_stateless import _CHANGES, Message, Stateless, _dict, _Request, _tagged

# Seconds between signs of life, which also show that a client has gone.
_QUIET = 5.0
_STREAM = [("Content-Type", "text/event-stream"), ("Cache-Control", "no-cache"), ("X-Accel-Buffering", "no")]


class Host(Stateless):
    def publish(self, message: Message) -> None:
        """Hands a change notification to all open streams that asked for it, from any thread."""
        wanted = _CHANGES.get(message["method"]) or _dict(message.get("params")).get("uri")
        for stream in list(self._streams):
            if wanted in stream.granted:
                stream.put(_tagged(message, stream.id))


class _Stream:
    """One open subscriptions/listen: what it was granted, and the messages for it, or None as a sign of life."""

    def __init__(self, mcp: Stateless, request: _Request) -> None:
        self.mcp, self.id = mcp, request.id
        self.granted, _, self.acknowledged = mcp._acknowledged(request)
        self.put: Callable[[Message | None], object] = lambda message: None

    def close(self) -> None:
        """Ends the stream, as after the loss of its client."""
        self.put(None)

    def blocking(self) -> Generator[Message | None, None, None]:
        box: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self.put = box.put
        self.mcp._streams.append(self)
        try:
            message: Message | None = self.acknowledged
            while True:
                yield message
                try:
                    message = box.get(timeout=_QUIET)
                except queue.Empty:
                    message = None
        finally:
            self.mcp._streams.remove(self)

    async def waiting(self) -> AsyncGenerator[Message | None, None]:
        box: asyncio.Queue[Message | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        self.put = lambda message: None if loop.is_closed() else loop.call_soon_threadsafe(box.put_nowait, message)
        self.mcp._streams.append(self)
        try:
            message: Message | None = self.acknowledged
            while True:
                yield message
                try:
                    message = await asyncio.wait_for(box.get(), _QUIET)
                except asyncio.TimeoutError:
                    message = None
        finally:
            self.mcp._streams.remove(self)
