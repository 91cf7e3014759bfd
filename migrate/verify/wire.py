"""Connections to a server: over its standard streams, or over Streamable HTTP."""

from __future__ import annotations

import http.client
import json
import os
import queue
import socket
import ssl
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Any, Protocol

from .messages import Message, usual_headers
from .process import Process

_LONGEST = 120  # characters of something strange that are told
_END = object()  # behind the last line of a process
_BYTES = 1 << 28  # of one line; a server that sends more without an end sends no message
_WAITING = 100_000  # messages that nobody has taken yet


@dataclass(slots=True)
class Exchange:
    """One message that was sent, and what came back for it."""

    request: Message
    messages: list[Any] = field(default_factory=list)
    status: int | None = None  # of HTTP
    headers: dict[str, str] = field(default_factory=dict)  # of HTTP, in lower case
    trouble: str = ""  # why nothing could come back

    @property
    def response(self) -> Message | None:
        """The answer with the id of the request; otherwise an error whose id the server could not read."""
        answers = [one for one in self.messages if isinstance(one, dict) and "method" not in one]
        number = self.request.get("id")
        own = (one for one in answers if one.get("id") == number and type(one.get("id")) is type(number))
        return next(own, None) or next((one for one in answers if "error" in one and one.get("id") is None), None)

    @property
    def result(self) -> Message | None:
        result = (self.response or {}).get("result")
        return result if isinstance(result, dict) else None

    @property
    def error(self) -> Message | None:
        error = (self.response or {}).get("error")
        return error if isinstance(error, dict) else None

    @property
    def code(self) -> int | None:
        return (self.error or {}).get("code")

    @property
    def brief(self) -> str:
        """What came back, in a few words."""
        status = f"HTTP {self.status}, " if self.status else ""
        if self.trouble:
            return self.trouble
        if self.error is not None:
            return f"{status}error {self.code}: {self.error.get('message')}"
        if self.response is not None:
            return f"{status}result {json.dumps(self.response.get('result'))[:_LONGEST]}"
        other = next((one.get("id") for one in self.messages if isinstance(one, dict) and "method" not in one), None)
        return f"{status}an answer to {other!r}" if other is not None else f"{status}no answer"


Responder = Callable[[Message], Message]


class Wire(Protocol):
    """One connection. Over standard streams it is a process of its own."""

    transport: str
    strange: list[str]  # what came and is no JSON message
    responder: Responder | None  # answers the server's own requests, as clients of the handshake era do

    def ask(self, message: Message, *, headers: Mapping[str, str | None] | None = None, hold: float | None = None) -> Exchange:
        """Sends a request and waits for its answer, or for all that comes within `hold` seconds. None takes a header away."""

    def tell(self, message: Message, *, headers: Mapping[str, str | None] | None = None) -> Exchange:
        """Sends a notification."""

    def together(self, messages: Sequence[Message]) -> list[Exchange]:
        """Sends requests without waiting for the first one's answer."""

    def close(self) -> float | None:
        """Ends the connection; the seconds that a process took to leave, None if it had to be killed."""


class Stdio:
    """A process that is spoken to in lines."""

    transport = "stdio"

    def __init__(self, process: Process, *, timeout: float, startup: float) -> None:
        self.process, self.timeout, self.startup = process, timeout, startup
        self.strange: list[str] = []
        self.responder: Responder | None = None
        self._heard = False  # until then, the process may still be loading
        self._lines: queue.Queue[Any] = queue.Queue(_WAITING)  # a server that sends more has to wait
        assert process.stdout is not None
        threading.Thread(target=self._read, args=(process.stdout,), daemon=True).start()

    def _read(self, stream: IO[bytes]) -> None:
        with stream:
            for line in _lines(stream):
                if text := line.decode("utf-8", "replace").strip():
                    try:
                        self._lines.put(_parsed(text))
                    except ValueError:
                        self.strange.append(text[:_LONGEST])
        self._lines.put(_END)

    def ask(self, message: Message, *, headers: Mapping[str, str | None] | None = None, hold: float | None = None) -> Exchange:
        exchange = self.tell(message)
        if not exchange.trouble:
            self._collect([exchange], hold)
        return exchange

    def tell(self, message: Message, *, headers: Mapping[str, str | None] | None = None) -> Exchange:
        exchange = Exchange(message)
        if not self.process.write(json.dumps(message).encode() + b"\n"):
            exchange.trouble = "no answer: the process has ended"
        return exchange

    def together(self, messages: Sequence[Message]) -> list[Exchange]:
        exchanges = [self.tell(message) for message in messages]
        self._collect(exchanges, None)
        return exchanges

    def more(self, seconds: float) -> list[Any]:
        """What else comes within these seconds."""
        exchange = Exchange({})
        self._collect([exchange], seconds)
        return exchange.messages

    def _collect(self, exchanges: list[Exchange], hold: float | None) -> None:
        wait = hold if hold is not None else self.timeout
        end = time.monotonic() + (wait if self._heard else max(wait, self.startup))
        while (left := end - time.monotonic()) > 0:
            try:
                message = self._lines.get(timeout=left)
            except queue.Empty:
                return
            if message is _END:
                self._lines.put(_END)
                for exchange in exchanges:
                    exchange.trouble = "" if exchange.messages else "no answer: the process has ended"
                return
            if not self._heard:
                self._heard = True
                end = time.monotonic() + wait
            for exchange in exchanges:
                exchange.messages.append(message)
            if self.responder is not None and _is_request(message):
                self.process.write(json.dumps(self.responder(message)).encode() + b"\n")
            if hold is None and all(exchange.response is not None for exchange in exchanges):
                return

    def close(self) -> float | None:
        return self.process.leave()


def _lines(stream: IO[bytes]) -> Iterator[bytes]:
    """The lines of a pipe. The stream's own buffer is left alone: nobody could end this program while a thread waits in it."""
    parts: list[bytes] = []
    size = 0
    while block := os.read(stream.fileno(), 1 << 16):
        first, *more = block.split(b"\n")
        parts.append(first if size < _BYTES else b"")
        size += len(first)
        for part in more:
            yield b"".join(parts)
            parts, size = [part], len(part)
    yield b"".join(parts)


def _parsed(text: str) -> Any:
    """Raises ValueError for what is no JSON, also for what is nested too deep to be read."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deep") from None


class Http:
    """An endpoint that messages are posted to, one connection each."""

    transport = "http"

    def __init__(self, url: str, *, timeout: float, headers: Mapping[str, str]) -> None:
        self.url, self.timeout, self.headers = urllib.parse.urlsplit(url), timeout, headers
        self.strange: list[str] = []
        self.responder: Responder | None = None

    def ask(self, message: Message, *, headers: Mapping[str, str | None] | None = None, hold: float | None = None) -> Exchange:
        wanted = {**self.headers, **usual_headers(message)}
        for name, value in (headers or {}).items():
            wanted = {other: kept for other, kept in wanted.items() if other.lower() != name.lower()}
            if value is not None:
                wanted[name] = value
        return self.send("POST", json.dumps(message), wanted, Exchange(message), hold)

    def tell(self, message: Message, *, headers: Mapping[str, str | None] | None = None) -> Exchange:
        return self.ask(message, headers=headers)

    def together(self, messages: Sequence[Message]) -> list[Exchange]:
        found: dict[int, Exchange] = {}

        def post(number: int) -> None:
            found[number] = self.ask(messages[number])

        threads = [threading.Thread(target=post, args=(number,)) for number in range(len(messages))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [found[number] for number in range(len(messages))]

    def close(self) -> float | None:
        return 0.0

    def send(
        self, verb: str, body: str | None, headers: Mapping[str, str], exchange: Exchange | None = None, hold: float | None = None
    ) -> Exchange:
        """Any request to the endpoint."""
        exchange = exchange or Exchange({})
        host, port = self.url.hostname or "", self.url.port
        wait = hold or self.timeout
        if self.url.scheme == "https":
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                host, port, timeout=wait, context=ssl.create_default_context()
            )
        else:
            connection = http.client.HTTPConnection(host, port, timeout=wait)
        limit: threading.Timer | None = None
        try:
            connection.connect()
            # The timeout of a socket starts anew with every byte, and some servers never come to an end.
            limit = threading.Timer(wait, _cut, [connection.sock])
            limit.daemon = True
            limit.start()
            path = urllib.parse.urlunsplit(("", "", self.url.path or "/", self.url.query, ""))
            connection.request(verb, path, body, dict(headers))
            answer = connection.getresponse()
            exchange.status = answer.status
            exchange.headers = {name.lower(): value for name, value in answer.getheaders()}
            if "text/event-stream" in exchange.headers.get("content-type", ""):
                self._stream(answer, exchange, hold, headers)
            else:
                self._whole(answer, exchange)
        except (OSError, http.client.HTTPException, ValueError) as error:  # ValueError: what is no header
            if not exchange.messages and exchange.status is None:
                exchange.trouble = f"{type(error).__name__}: {error}"
        finally:
            if limit is not None:
                limit.cancel()
            connection.close()
        return exchange

    def _whole(self, answer: http.client.HTTPResponse, exchange: Exchange) -> None:
        text = answer.read().decode("utf-8", "replace").strip()
        if text:
            try:
                exchange.messages.append(_parsed(text))
            except ValueError:
                if "json" in exchange.headers.get("content-type", ""):
                    self.strange.append(text[:_LONGEST])

    def _stream(self, answer: http.client.HTTPResponse, exchange: Exchange, hold: float | None, headers: Mapping[str, str]) -> None:
        end = time.monotonic() + (hold or self.timeout)
        data: list[str] = []
        while time.monotonic() < end and (line := answer.readline()):
            text = line.decode("utf-8", "replace").rstrip("\r\n")
            if text.startswith("data:"):
                data.append(text[5:].removeprefix(" "))
            elif not text and data:
                whole, data = "\n".join(data), []
                if whole.strip():
                    try:
                        message = _parsed(whole)
                    except ValueError:
                        self.strange.append(whole[:_LONGEST])
                        continue
                    exchange.messages.append(message)
                    if self.responder is not None and _is_request(message):
                        self.send("POST", json.dumps(self.responder(message)), headers)
                if hold is None and exchange.response is not None:
                    return


def _cut(connected: socket.socket) -> None:
    with suppress(OSError):
        connected.shutdown(socket.SHUT_RDWR)


def _is_request(message: Any) -> bool:
    return isinstance(message, dict) and "method" in message and "id" in message
