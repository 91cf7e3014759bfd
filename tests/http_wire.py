"""HTTP servers under test: started on a free port, and spoken to message by message."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PATIENCE = 20.0
PREFIX = "io.modelcontextprotocol/"
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
SESSION = "Mcp-Session-Id"
ACCEPT = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
CHANGING = re.compile(r"\b[0-9a-f]{32}\b|\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")


@dataclass(slots=True)
class Answer:
    """One HTTP answer; the events of a stream are its messages."""

    status: int
    headers: Mapping[str, str]  # names in lower case
    body: str

    @property
    def messages(self) -> list[Any]:
        if self.headers.get("content-type", "").startswith("text/event-stream"):
            return [json.loads(line[5:]) for line in self.body.splitlines() if line.startswith("data:")]
        return [json.loads(self.body)] if self.body else []


@dataclass(slots=True)
class HttpWire:
    """A running HTTP server; every message is a POST of its own."""

    port: int
    path: str
    headers: dict[str, str] = field(default_factory=dict)  # of every request to come
    unasked: list[str] = field(default_factory=list)  # bodies of answers to notifications

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.path}"

    def send(
        self, body: str | bytes, headers: Mapping[str, str] | None = None, *, verb: str = "POST", answers: Mapping[str, Any] | None = None
    ) -> Answer:
        """One request and its answer; requests of the server within a stream get what `answers` holds for their method."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            data = body.encode() if isinstance(body, str) else body
            connection.request(verb, self.path, data, {**ACCEPT, **self.headers, **(headers or {})})
            response = connection.getresponse()
            named = {name.lower(): value for name, value in response.getheaders()}
            text = b"".join(self._lines(response, answers or {}))
        finally:
            connection.close()
        return Answer(response.status, named, text.decode("utf-8"))

    def _lines(self, response: http.client.HTTPResponse, answers: Mapping[str, Any]) -> Iterator[bytes]:
        for line in response:
            yield line
            asked = json.loads(line[5:]) if line.startswith(b"data:") and line[5:].strip() else {}
            if "id" in asked and asked.get("method") in answers:
                self.send(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answers[asked["method"]]}))

    def exchange(self, method: str, params: Mapping[str, Any] | None, *, meta: Mapping[str, Any] | None, **changed: str | None) -> Answer:
        """The answer to one request, with the headers that its `_meta` calls for, or (None leaves one out) changed ones."""
        params = {**(params or {}), **({"_meta": meta} if meta is not None else {})}
        headers = {**mirrored(method, params, meta), **{name.replace("_", "-"): value for name, value in changed.items()}}
        body = json.dumps({"jsonrpc": "2.0", "id": f"ask {method}", "method": method, "params": params})
        return self.send(body, {name: value for name, value in headers.items() if value is not None})

    def ask(self, method: str, params: Mapping[str, Any] | None = None, *, meta: Mapping[str, Any] | None) -> dict[str, Any]:
        """The reply to one request."""
        answer = self.exchange(method, params, meta=meta)
        for message in answer.messages:
            if isinstance(message, dict) and message.get("id") == f"ask {method}" and "method" not in message:
                return message
        raise AssertionError(f"no reply to {method}: {answer}")

    def notify(self, method: str, params: Mapping[str, Any], *, meta: Mapping[str, Any]) -> None:
        params = {**params, "_meta": meta}
        answer = self.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}), mirrored(method, params, meta))
        self.unasked.append(answer.body)

    def close(self) -> bytes:
        return "".join(self.unasked).encode()


def mirrored(method: str, params: Mapping[str, Any], meta: Mapping[str, Any] | None) -> dict[str, str | None]:
    """The headers that repeat what a 2026-07-28 message says."""
    if meta is None:
        return {}
    name = params.get(NAMED.get(method, ""))
    headers: dict[str, str | None] = {"MCP-Protocol-Version": meta.get(f"{PREFIX}protocolVersion"), "Mcp-Method": method}
    return {**headers, **({"Mcp-Name": name} if isinstance(name, str) else {})}


def dialogue(wire: HttpWire, script: str, answers: Mapping[str, Any]) -> Iterator[str]:
    """All that an HTTP server says in a session of a legacy script: status, what the answer is, and the answer."""
    for line in script.splitlines():
        answer = wire.send(line, answers=answers)
        issued = answer.headers.get(SESSION.lower())
        if issued is not None:
            wire.headers[SESSION] = issued
        kind = answer.headers.get("content-type")
        yield CHANGING.sub("*", f"{answer.status} {kind} {SESSION if issued else '-'} {answer.body}")


@contextmanager
def serving(argv: list[str], cwd: Path, path: str, environment: Mapping[str, str]) -> Iterator[HttpWire]:
    """A server process that listens, and that cannot outlive the test."""
    port = free_port()
    command = [part.replace("{port}", str(port)) for part in argv]
    settings = {key: value.replace("{port}", str(port)) for key, value in environment.items()}
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env={**os.environ, **bytecode(), **settings},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=complaints,
        )
        try:
            if not _listens(port, process):
                complaints.seek(0)
                raise AssertionError(f"{command} does not listen:\n{complaints.read().decode()}")
            yield HttpWire(port, path)
        finally:
            process.kill()
            process.wait()


def bytecode() -> dict[str, str]:
    """Where a server puts what it has compiled: beside its files it would be taken for one of them."""
    prefix = os.environ.get("PYTHONPYCACHEPREFIX")
    return {"PYTHONPYCACHEPREFIX": prefix} if prefix else {"PYTHONDONTWRITEBYTECODE": "1"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _listens(port: int, process: subprocess.Popen[bytes]) -> bool:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return True
        time.sleep(0.01)
    return False
