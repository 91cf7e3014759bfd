"""Relays between a client and a real server that note what the client says: over pipes as a program, over HTTP as a thread."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


@dataclass
class Heard:
    """One message of a client, with the headers that it came with (their names in lower case)."""

    message: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


def piped(log: Path, command: list[str]) -> list[str]:
    """The command of a stdio server that writes what it is told to a file."""
    return [sys.executable, __file__, str(log), *command]


def read(log: Path) -> list[Heard]:
    return [Heard(json.loads(line)) for line in log.read_text(encoding="utf-8").splitlines()]


@contextmanager
def posted(port: int) -> Iterator[tuple[int, list[Heard]]]:
    """A port before another one, and what comes in there."""
    heard: list[Heard] = []

    class Relay(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            heard.append(Heard(json.loads(body), {name.lower(): value for name, value in self.headers.items()}))
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            connection.request("POST", self.path, body, {**self.headers, "Host": f"127.0.0.1:{port}"})
            answer = connection.getresponse()
            text = answer.read()
            self.send_response(answer.status)
            for name in ("Content-Type", "Mcp-Session-Id"):
                if (value := answer.headers.get(name)) is not None:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)
            connection.close()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Relay)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1], heard
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def main() -> None:
    log, *command = sys.argv[1:]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert server.stdin
    with open(log, "ab") as noted:
        for line in sys.stdin.buffer:
            noted.write(line)
            noted.flush()
            server.stdin.write(line)
            server.stdin.flush()
    server.stdin.close()
    server.wait()


if __name__ == "__main__":
    main()
