"""Request handlers of Tornado."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import Any, TypeVar

from .endpoint import Host as _Decorating
from .endpoint import _Call
from .exchange import _Answer, _awaited, _Exchange, _is_hidden, _without_length
from .streams import _STREAM

Method = TypeVar("Method", bound=Callable[..., Any])


class Host(_Decorating):
    def tornado(self, method: Method) -> Method:
        """Puts the boundary around `post`, `get` or `delete` of a request handler; it is awaited in any case."""
        wrapped: Method = self._endpoint(_TornadoCall, method, is_async=True)
        return wrapped


class _TornadoCall(_Call):
    def __init__(self, handler: Any, *args: Any, **kwargs: Any) -> None:
        self.handler = handler
        self.verb, self.headers, self.peer = handler.request.method, handler.request.headers, handler.request.remote_ip

    def read(self) -> bytes:
        body: bytes = self.handler.request.body
        return body

    def give(self, body: bytes) -> None:
        self.handler.request.body = body
        for name in filter(_is_hidden, list(self.headers)):
            del self.handler.request.headers[name]
        # What is written stays in the buffer until it is taken from there.
        self.handler.finish, self.handler.flush = self._hold, self._hold

    def _hold(self, chunk: Any = None) -> asyncio.Future[None]:
        if chunk is not None and not isinstance(chunk, bool):
            self.handler.write(chunk)
        held: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        held.set_result(None)
        return held

    def failed(self, error: Exception) -> Any:
        # It writes the answer, for `raise Finish()` as well.
        return self.handler._handle_request_exception(error)

    def take(self, exchange: _Exchange, returned: Any) -> _Answer:
        headers = list(self.handler._headers.get_all())
        return exchange.answer(self.handler.get_status(), headers, b"".join(self.handler._write_buffer))

    def close(self) -> None:
        vars(self.handler).pop("finish", None)
        vars(self.handler).pop("flush", None)

    def make(self, answer: _Answer) -> Any:
        self._begin(answer)
        return self.handler.finish(answer.body)

    def _begin(self, answer: _Answer) -> None:
        handler = self.handler
        handler._write_buffer = []
        handler.set_status(answer.status)
        for name in {name for name, _ in answer.headers} | {"Content-Length", "Mcp-Session-Id"}:
            handler.clear_header(name)
        for name, value in _without_length(answer.headers):
            handler.add_header(name, value)

    # [streams]
    async def listen(self, exchange: _Exchange) -> None:
        assert exchange.stream is not None
        self.handler.request.connection.set_close_callback(exchange.stream.close)
        self._begin(_Answer(200, [*_STREAM], b""))
        async with aclosing(_awaited(exchange.stream)) as chunks:
            async for chunk in chunks:
                self.handler.write(chunk)
                try:
                    await self.handler.flush()
                except OSError:
                    break

    # [/streams]
