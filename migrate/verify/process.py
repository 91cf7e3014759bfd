"""Processes that are ended with all that they have started."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO

_LEAVING = 3.0  # seconds that a process has to leave by itself
_LINES = 400  # of a log that are kept
_MARK = "MCP_MIGRATE_PROCESS"  # an environment variable by which those are known that have left the group of their parent


class CannotStart(Exception):
    """The text says in one line why a server is not there."""


class Process:
    """A process in a group of its own. What it writes to standard error is kept, and told when something fails."""

    def __init__(
        self, argv: Sequence[str], *, folder: str | None = None, env: Mapping[str, str] | None = None, piped: bool = False
    ) -> None:
        """Raises CannotStart for a command that is not there."""
        self.argv = argv
        self._mark = uuid.uuid4().hex
        # An unnamed file, and not a pipe: nobody has to empty it for the server to go on.
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 it lives as long as the process
        pipe = subprocess.PIPE if piped else subprocess.DEVNULL
        flags = subprocess.CREATE_NEW_PROCESS_GROUP if os.name == "nt" else 0  # type: ignore[attr-defined, unused-ignore]
        try:
            self._process = subprocess.Popen(
                argv,
                stdin=pipe,
                stdout=pipe if piped else self._log,
                stderr=self._log,
                cwd=folder,
                env={**os.environ, **(env or {}), _MARK: self._mark},
                start_new_session=os.name != "nt",
                creationflags=flags,
            )
        except (OSError, ValueError) as error:
            self._log.close()
            raise CannotStart(
                f"cannot run {argv[0] if argv else 'an empty command'}: {getattr(error, 'strerror', None) or error}"
            ) from None

    @property
    def stdout(self) -> IO[bytes] | None:
        return self._process.stdout

    @property
    def log(self) -> str:
        """The last lines that it wrote to standard error."""
        if self._log.closed:
            return self._last
        self._log.seek(0)
        return "\n".join(self._log.read().decode("utf-8", "replace").splitlines()[-_LINES:])

    _last = ""

    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def write(self, data: bytes) -> bool:
        """Whether the process could still be written to."""
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(data)
            self._process.stdin.flush()
        except (OSError, ValueError):
            return False
        return True

    def leave(self) -> float | None:
        """Closes its standard input; the seconds that it took to leave, None if it had to be killed."""
        start = time.monotonic()
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
        took: float | None
        try:
            self._process.wait(_LEAVING)
            took = time.monotonic() - start
        except subprocess.TimeoutExpired:
            took = None
        self.end()
        return took

    def end(self) -> None:
        """Ends the process, whatever of its group is left, and (on Linux) what it started in other groups."""
        if self._log.closed:
            return
        limit = time.monotonic() + _LEAVING
        if os.name == "nt":
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(self._process.pid)], capture_output=True)
        else:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            # Until there are none: one that is being found may just be starting another.
            while (astray := _marked(f"{_MARK}={self._mark}".encode())) and time.monotonic() < limit:
                for number in astray:
                    with suppress(ProcessLookupError, PermissionError):
                        os.kill(number, signal.SIGKILL)
                time.sleep(0.01)
        self._process.wait()
        self._last = self.log
        self._log.close()
        # Standard output is closed by who reads it: closing it here would wait for that reader.
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()

    def listens(self, port: int, seconds: float) -> None:
        """Waits until something listens on a port of this machine. Raises CannotStart."""
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            with socket.socket() as probe:
                probe.settimeout(1)
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            if self.has_ended():
                raise CannotStart(
                    f"{self.argv[0]} has ended with status {self._process.returncode} before anything listened on port {port}"
                )
            time.sleep(0.05)
        raise CannotStart(f"nothing listens on port {port} after {seconds:g} s")


def _marked(word: bytes) -> list[int]:
    """The processes of this user that have this word in their environment, and live; none where there is no /proc."""
    found = []
    for entry in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        if entry.isdigit():
            with suppress(OSError), open(f"/proc/{entry}/environ", "rb") as environment:
                if word in environment.read().split(b"\0"):
                    found.append(int(entry))
    return found


def free_port() -> int:
    """A port of this machine on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
