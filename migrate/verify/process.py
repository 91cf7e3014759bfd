"""Processes that are ended with all that they have started."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO

_LEAVING = 3.0  # seconds that a process has to leave by itself
_LINES = 40  # of a log that are told


class CannotStart(Exception):
    """The text says in one line why a server is not there."""


class Process:
    """A process in a group of its own. What it writes to standard error is kept, and told when something fails."""

    def __init__(
        self, argv: Sequence[str], *, folder: str | None = None, env: Mapping[str, str] | None = None, piped: bool = False
    ) -> None:
        """Raises CannotStart for a command that is not there."""
        self.argv = argv
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
                env={**os.environ, **(env or {})},
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
        """Ends the process, and whatever of its group is left."""
        if self._log.closed:
            return
        if os.name == "nt":
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(self._process.pid)], capture_output=True)
        else:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._last = self.log
        self._log.close()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None and not stream.closed:
                with suppress(OSError):
                    stream.close()

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


def free_port() -> int:
    """A port of this machine on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
