"""Views of Flask whose application is made elsewhere."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import closing
from importlib import import_module
from typing import Any, TypeVar

from .endpoint import Host as _Decorating
from .endpoint import _Call
from .exchange import _Answer, _chunks, _environ, _Events, _Exchange
from .streams import _STREAM

Viewing = TypeVar("Viewing", bound=Callable[..., Any])


class Host(_Decorating):
    def flask(self, view: Viewing) -> Viewing:
        """Puts the boundary around a view, sync or async: a function, or a method of a class."""
        wrapped: Viewing = self._endpoint(_FlaskCall, view)
        return wrapped


class _FlaskCall(_Call):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        flask = import_module("flask")
        self.app, self.context = flask.current_app, import_module("flask.globals").request_ctx._get_current_object()
        self.own = self.context.request
        self.verb, self.headers, self.peer = self.own.method, self.own.headers, self.own.remote_addr or ""
        self.untouched: Any = None

    def read(self) -> bytes:
        body: bytes = self.own.get_data()
        return body

    def put_back(self, body: bytes) -> None:
        if self.verb == "POST":
            self._renew({**self.own.environ, "wsgi.input": io.BytesIO(body)})

    def give(self, body: bytes) -> None:
        self._renew(_environ(self.own.environ, body))

    def _renew(self, environ: Any) -> None:
        request = type(self.own)(environ)
        request.url_rule, request.view_args = self.own.url_rule, self.own.view_args
        self.context.request = request

    def failed(self, error: Exception) -> Any:
        return self.app.handle_user_exception(error)

    def take(self, exchange: _Exchange, returned: Any) -> _Answer:
        response = self.app.make_response(returned)
        if not (exchange.is_open(response.status_code) or response.status_code == 500):
            self.untouched = response
        headers, body = list(response.headers.items()), b""
        if exchange.streams(response.status_code, headers):
            events = _Events(exchange)
            with exchange.running(), closing(response):
                for piece in response.iter_encoded():
                    body += piece
                    events.feed(piece)
                    if events.is_done:
                        break
        elif exchange.early is None or not response.is_streamed:
            body = response.get_data()
        return exchange.answer(response.status_code, headers, body)

    def close(self) -> None:
        self.context.request = self.own

    def make(self, answer: _Answer) -> Any:
        if self.untouched is not None:
            return self.untouched
        return self.app.response_class(answer.body, answer.status, answer.headers)

    # [streams]
    def listen(self, exchange: _Exchange) -> Any:
        assert exchange.stream is not None
        return self.app.response_class(_chunks(exchange.stream), 200, _STREAM)

    # [/streams]
