"""WSGI applications: Flask and all others."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from http import HTTPStatus
from typing import Any

from ..mcp_stateless import Ending, Message
from .exchange import Host as _Exchanging
from .exchange import Paths, _Answer, _chunks, _environ, _Events, _Exchange, _is_at, _is_stream, _kept
from .streams import _STREAM

Wsgi = Callable[[Any, Any], Iterable[bytes]]


class Host(_Exchanging):
    def wsgi(self, app: Wsgi, path: Paths) -> Wsgi:
        """The application with the boundary around its endpoint: `app.wsgi_app = MCP.wsgi(app.wsgi_app, "/mcp")`."""

        def boundary(environ: Message, start: Callable[..., Any]) -> Iterable[bytes]:
            verb = environ["REQUEST_METHOD"]
            if not _is_at(environ.get("PATH_INFO", ""), path):
                return app(environ, start)
            body = _read(environ) if verb == "POST" else b""
            headers = {name[5:].replace("_", "-"): value for name, value in environ.items() if name.startswith("HTTP_")}
            met = self._meet(verb, headers, body, environ.get("REMOTE_ADDR", ""))
            if verb == "POST":
                environ = {**environ, "wsgi.input": io.BytesIO(body)}
            if isinstance(met, _Answer):
                return _started(start, met)
            return app(environ, start) if met is None else _exchanged(met, app, environ, start)

        return boundary


def _read(environ: Message) -> bytes:
    stream, length = environ["wsgi.input"], environ.get("CONTENT_LENGTH")
    # Chunks have no length; only a server that marks the end of the body may be read to the end.
    ends = environ.get("wsgi.input_terminated") and not length
    body: bytes = stream.read() if ends else stream.read(int(length or 0))
    return body


def _exchanged(exchange: _Exchange, app: Wsgi, environ: Message, start: Callable[..., Any]) -> Iterable[bytes]:
    lines, headers = ["500 Internal Server Error"], list[tuple[str, str]]()
    given = _environ(environ, exchange.body)
    written: list[bytes] = []

    def hold(line: str, found: list[tuple[str, str]], exc_info: Any = None) -> Callable[[bytes], None]:
        lines[0], headers[:] = line, found
        return written.append

    try:
        with exchange.running():
            made = app(given, hold)
            pieces = iter(made)
            # An application may begin its answer as late as with the first piece.
            written.append(next(pieces, b""))
        status = int(lines[0].split()[0])
        if exchange.streams(status, headers):
            start(lines[0], _kept(headers))
            return _turned(exchange, made, written, pieces)
        with exchange.running():
            # A stream in answer to the harmless request may have no end.
            written += () if exchange.early is not None and _is_stream(headers) else pieces
            _close(made)
    except Ending as ending:
        return _started(start, exchange.ended(ending))
    except Exception:
        # What the harmless request in place of this one brings about is not its client's.
        if exchange.early is None:
            raise
        status = 500
    # [streams]
    if exchange.stream is not None and exchange.listens(status):
        start("200 OK", [*_STREAM])
        return _chunks(exchange.stream)
    # [/streams]
    return _started(start, exchange.answer(status, headers, b"".join(written)), lines[0])


def _turned(exchange: _Exchange, made: Any, written: list[bytes], pieces: Iterator[bytes]) -> Iterator[bytes]:
    events = _Events(exchange)
    try:
        yield events.feed(b"".join(written))
        while not events.is_done:
            with exchange.running():
                piece = next(pieces, None)
            yield events.end() if piece is None else events.feed(piece)
    except Ending as ending:
        yield events.reply(ending.body)
    finally:
        _close(made)


def _close(made: Any) -> None:
    if hasattr(made, "close"):
        made.close()


def _started(start: Callable[..., Any], answer: _Answer, line: str = "") -> Iterable[bytes]:
    same = line.startswith(str(answer.status))
    start(line if same else f"{answer.status} {HTTPStatus(answer.status).phrase}", answer.headers)
    return [answer.body]
