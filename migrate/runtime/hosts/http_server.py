"""Request handlers of `http.server`."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable
from typing import Any, TypeVar

from .endpoint import Host as _Decorating
from .endpoint import _Call
from .exchange import Paths, _Answer, _chunks, _Exchange, _is_hidden, _without_length
from .streams import _STREAM

Do = TypeVar("Do", bound=Callable[..., Any])


class Host(_Decorating):
    def http_server(self, path: Paths = "") -> Callable[[Do], Do]:
        """Puts the boundary around `do_POST`, `do_GET` or `do_DELETE`, for this path or for all."""
        return lambda method: self._endpoint(_HandlerCall, method, path)


class _HandlerCall(_Call):
    def __init__(self, handler: Any) -> None:
        self.handler = handler
        self.own = handler.rfile, handler.wfile, handler.headers
        self.verb, self.path = handler.command, handler.path.partition("?")[0]
        self.headers, self.peer = dict(handler.headers.items()), str(handler.client_address[0])

    def read(self) -> bytes:
        length = self.handler.headers.get("Content-Length") or ""
        body: bytes = self.handler.rfile.read(int(length)) if length.isdecimal() else b""
        return body

    def put_back(self, body: bytes) -> None:
        if self.verb == "POST":
            self.handler.rfile = io.BytesIO(body)

    def give(self, body: bytes) -> None:
        headers = copy.copy(self.handler.headers)
        for name in [name for name in headers if _is_hidden(name)]:
            del headers[name]
        headers.replace_header("Content-Length", str(len(body)))
        self.handler.headers, self.handler.rfile, self.handler.wfile = headers, io.BytesIO(body), io.BytesIO()

    def failed(self, error: Exception) -> None:
        # The standard library would tell it on stderr as well, and close the connection without an answer.
        self.handler.server.handle_error(self.handler.request, self.handler.client_address)
        self.handler.wfile = io.BytesIO()

    def take(self, exchange: _Exchange, returned: Any) -> _Answer:
        head, _, body = self.handler.wfile.getvalue().partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
        if any(name.lower() == "transfer-encoding" for name, _ in headers):
            body = _unchunked(body)
        return exchange.answer(int(first.split()[1]) if first else 500, headers, body)

    def close(self) -> None:
        self.handler.rfile, self.handler.wfile, self.handler.headers = self.own

    def make(self, answer: _Answer) -> None:
        # An answer of the handler has been logged, and has its date.
        has_date = any(name.lower() == "date" for name, _ in answer.headers)
        (self.handler.send_response_only if has_date else self.handler.send_response)(answer.status)
        for name, value in [*_without_length(answer.headers), ("Content-Length", str(len(answer.body)))]:
            self.handler.send_header(name, value)
        self.handler.end_headers()
        self.handler.wfile.write(answer.body)

    # [streams]
    def listen(self, exchange: _Exchange) -> None:
        assert exchange.stream is not None
        self.handler.send_response(200)
        for name, value in [*_STREAM, ("Connection", "close")]:
            self.handler.send_header(name, value)
        self.handler.end_headers()
        try:
            for chunk in _chunks(exchange.stream):
                self.handler.wfile.write(chunk)
                self.handler.wfile.flush()
        except OSError:
            # The client has gone.
            self.handler.close_connection = True

    # [/streams]


def _unchunked(body: bytes) -> bytes:
    whole = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        length = int(size.partition(b";")[0] or b"0", 16)
        whole, body = whole + body[:length], body[length + 2 :]
        if not length:
            break
    return whole
