"""The servers that can be talked to: a command that speaks in lines, one that listens, an address."""

from __future__ import annotations

import os
import shlex
import socket
import urllib.parse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from . import logs
from .process import CannotStart, Process, free_port
from .wire import Http, Stdio, Wire

PORT = "{port}"
_REACHING = 5.0  # seconds


@dataclass(frozen=True, slots=True)
class Target:
    """Which server, and how it is reached; exactly one of `stdio`, `start` and `url` is given. Times are in seconds."""

    stdio: str = ""  # a command line
    start: str = ""  # a command line in which `{port}` stands for a free port
    url: str = ""
    path: str = "/mcp"  # of the endpoint of `start`
    port: int = 0  # of `start`; a free one where it is 0
    folder: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout: float = 10.0
    startup: float = 30.0


class Server:
    """A server that is there, for as long as its target is `up`."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.url = target.url
        self._processes: list[Process] = []
        self._log = ""

    @property
    def transport(self) -> str:
        return "stdio" if self.target.stdio else "http"

    def connect(self) -> Wire:
        """A new connection; over standard streams, to a new process. Raises CannotStart."""
        target = self.target
        if not target.stdio:
            return Http(self.url, timeout=target.timeout, headers=target.headers)
        process = Process(split(target.stdio), folder=target.folder, env=target.env, piped=True)
        self._processes.append(process)
        return Stdio(process, timeout=target.timeout, startup=target.startup)

    @property
    def log(self) -> str:
        """The last lines that the server wrote to standard error, of the process that wrote last."""
        return next((log for process in reversed(self._processes) if (log := process.log).strip()), "")

    def begin(self) -> None:
        """Starts an HTTP server, or looks for the one that runs already. Raises CannotStart."""
        if self.target.url:
            reach(self.target.url)
        if not self.target.start:
            return
        port = self.target.port or free_port()
        env = {name: value.replace(PORT, str(port)) for name, value in self.target.env.items()}
        process = Process([word.replace(PORT, str(port)) for word in split(self.target.start)], folder=self.target.folder, env=env)
        self._processes.append(process)
        process.listens(port, self.target.startup)
        self.url = f"http://127.0.0.1:{port}{self.target.path}"

    def end(self) -> None:
        """Ends every process that was started."""
        for process in self._processes:
            process.end()


def reach(url: str) -> None:
    """Raises CannotStart where nothing listens at an address."""
    parts = urllib.parse.urlsplit(url)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)), timeout=_REACHING):
            return
    except (OSError, ValueError) as error:
        raise CannotStart(f"nothing answers at {url}: {getattr(error, 'strerror', None) or error}") from None


@contextmanager
def up(target: Target) -> Iterator[Server]:
    """The server of a target. Whatever was started for it has ended afterwards. Raises CannotStart."""
    server = Server(target)
    try:
        try:
            server.begin()
        except CannotStart as error:
            raise CannotStart(f"{error}\n{logs.last(server.log)}".strip()) from None
        yield server
    finally:
        server.end()


def split(command: str) -> list[str]:
    """A command line as its words. Raises CannotStart for quotes that do not close."""
    words = shlex.shlex(command, posix=True)
    words.whitespace_split, words.commenters = True, ""
    if os.sep == "\\":  # of Windows, where it is no escape
        words.escape = ""
    try:
        return [*words]
    except ValueError as error:
        raise CannotStart(f"{command!r} is no command line: {error}") from None
