"""Views of Django and of Django REST framework."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import closing
from importlib import import_module
from typing import Any, TypeVar

from .endpoint import Host as _Decorating
from .endpoint import _Call, _pairs
from .exchange import _Answer, _awaited, _chunks, _Events, _Exchange, _is_hidden
from .streams import _STREAM

View = TypeVar("View", bound=Callable[..., Any])


class Host(_Decorating):
    def django(self, view: View) -> View:
        """Puts the boundary around a view, sync or async: a function, a method of a class, or a whole class."""
        if isinstance(view, type):
            made: Any = view
            made.dispatch = self._endpoint(_DjangoCall, made.dispatch, is_async=getattr(made, "view_is_async", False))
            return view
        wrapped: View = self._endpoint(_DjangoCall, view)
        return wrapped


class _DjangoCall(_Call):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.view: Any = args[0] if args else None
        seen: Any = next(value for value in (*args, *kwargs.values()) if hasattr(value, "META"))
        self.request = getattr(seen, "_request", seen)
        self.verb, self.headers = self.request.method, self.request.headers
        self.peer = self.request.META.get("REMOTE_ADDR") or ""
        self.untouched: Any = None

    def read(self) -> bytes:
        body: bytes = self.request.body
        return body

    def give(self, body: bytes) -> None:
        request = self.request
        request._body, request._stream = body, io.BytesIO(body)
        for name in [name for name in request.META if _is_hidden(name[5:].replace("_", "-"))]:
            del request.META[name]
        request.META["CONTENT_LENGTH"] = str(len(body))
        request.__dict__.pop("headers", None)

    def failed(self, error: Exception) -> Any:
        # A view of Django REST framework knows what to make of its own exceptions.
        if hasattr(self.view, "handle_exception"):
            return self.view.handle_exception(error)
        known = import_module("django.core.exceptions")
        missing = import_module("django.http").Http404
        if not isinstance(error, (missing, known.PermissionDenied, known.BadRequest, known.SuspiciousOperation)):
            raise error
        return import_module("django.core.handlers.exception").response_for_exception(self.request, error)

    async def take(self, exchange: _Exchange, returned: Any) -> _Answer:
        if not (exchange.is_open(returned.status_code) or returned.status_code == 500):
            self.untouched = returned
        if getattr(returned, "streaming", False):
            body = await _streamed(exchange, returned)
        elif getattr(returned, "is_rendered", True):
            body = returned.content
        else:
            body = json.dumps(returned.data, default=str).encode()
        return exchange.answer(returned.status_code, _pairs(returned), body)

    def make(self, answer: _Answer) -> Any:
        if self.untouched is not None:
            return self.untouched
        http = import_module("django.http")
        return http.HttpResponse(answer.body, status=answer.status, headers=dict(answer.headers))

    # [streams]
    def listen(self, exchange: _Exchange) -> Any:
        assert exchange.stream is not None
        # An application server of the other kind would wait for the end of the stream.
        is_async = hasattr(self.request, "scope")
        chunks: Any = _awaited(exchange.stream) if is_async else _chunks(exchange.stream)
        return import_module("django.http").StreamingHttpResponse(chunks, headers=dict(_STREAM))

    # [/streams]


async def _streamed(exchange: _Exchange, response: Any) -> bytes:
    """What a streaming response holds, up to the reply."""
    body, events = b"", _Events(exchange)
    with exchange.running(), closing(response):
        pieces = aiter(response) if getattr(response, "is_async", False) else iter(response)
        while not events.is_done:
            piece = await anext(pieces, None) if hasattr(pieces, "__anext__") else next(pieces, None)
            if piece is None:
                break
            body += piece
            events.feed(piece)
    return body
