"""Handlers of aiohttp."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from importlib import import_module
from typing import Any, TypeVar

from .endpoint import Host as _Decorating
from .endpoint import _Call, _pairs
from .exchange import _Answer, _awaited, _Exchange, _is_hidden, _without_length
from .streams import _STREAM

Handler = TypeVar("Handler", bound=Callable[..., Any])


class Host(_Decorating):
    def aiohttp(self, handler: Handler) -> Handler:
        """Puts the boundary around a handler: a function, or a method of a class."""
        wrapped: Handler = self._endpoint(_AiohttpCall, handler, is_async=True)
        return wrapped


class _AiohttpCall(_Call):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        values = [*args, *kwargs.values()]
        given: list[Any] = [value if hasattr(value, "rel_url") else getattr(value, "request", None) for value in values]
        self.request = next(value for value in given if hasattr(value, "rel_url"))
        self.verb, self.headers, self.peer = self.request.method, self.request.headers, self.request.remote or ""
        self.untouched: Any = None

    def read(self) -> Any:
        return self.request.read()

    def give(self, body: bytes) -> None:
        kept = [(name, value) for name, value in self.request.headers.items() if not _is_hidden(name)]
        self.request._read_bytes = body
        multidict = import_module("multidict")
        self.request._headers = multidict.CIMultiDictProxy(multidict.CIMultiDict(kept))

    def failed(self, error: Exception) -> Any:
        if not isinstance(error, import_module("aiohttp.web").HTTPException):
            raise error
        return error

    def take(self, exchange: _Exchange, returned: Any) -> _Answer:
        body = getattr(returned, "body", None)
        # What a handler has streamed is with the client already.
        sent = getattr(returned, "prepared", False)
        if sent or not (exchange.is_open(returned.status) or returned.status == 500):
            self.untouched = returned
        return exchange.answer(returned.status, _pairs(returned.headers), body if isinstance(body, bytes) else b"")

    def make(self, answer: _Answer) -> Any:
        if isinstance(self.untouched, Exception):
            raise self.untouched
        if self.untouched is not None:
            return self.untouched
        web = import_module("aiohttp.web")
        return web.Response(status=answer.status, headers=_without_length(answer.headers), body=answer.body)

    # [streams]
    async def listen(self, exchange: _Exchange) -> Any:
        assert exchange.stream is not None
        response = import_module("aiohttp.web").StreamResponse(headers=_STREAM)
        await response.prepare(self.request)
        async with aclosing(_awaited(exchange.stream)) as chunks:
            async for chunk in chunks:
                transport = self.request.transport
                if transport is None or transport.is_closing():
                    break
                await response.write(chunk)
        return response

    # [/streams]
