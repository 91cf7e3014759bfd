"""Runs programs in the environments of the SDK, many of them in a row: what they all load is loaded once.

A program of few lines takes 0.05 s, and the SDK half a second to be loaded before it. So a process that has loaded it waits, and forks for
each program. What is about loading itself, or about a process, needs a process of its own and calls `subprocess`.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import select
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

CHILD = Path(__file__).with_name("warm_child.py")


def run(
    python: Path, *argv: str | Path, cwd: Path, env: Mapping[str, str] | None = None, said: str = "", timeout: float = 120
) -> subprocess.CompletedProcess[str]:
    """As `subprocess.run([python, *argv])` does; in front of the program may be `-W ignore`."""
    quiet, program = argv[:2] == ("-W", "ignore"), [str(one) for one in (argv[2:] if argv[:2] == ("-W", "ignore") else argv)]
    env = dict(os.environ if env is None else env)
    quiet = quiet or env.get("PYTHONWARNINGS") == "ignore"
    if not hasattr(os, "fork"):
        flags = ["-W", "ignore"] if quiet else []
        return subprocess.run(
            [str(python), *flags, *program], cwd=cwd, env=env, input=said, capture_output=True, text=True, timeout=timeout
        )
    with tempfile.TemporaryDirectory() as folder:
        streams = [Path(folder, name) for name in ("stdin", "stdout", "stderr")]
        streams[0].write_text(said, encoding="utf-8")
        status = _waiting(python, quiet).become(
            {"cwd": str(cwd), "streams": [str(one) for one in streams], "env": env, "argv": program}, timeout
        )
        out, err = (one.read_text(encoding="utf-8") if one.exists() else "" for one in streams[1:])
    return subprocess.CompletedProcess([str(python), *program], status, out, err)


class _Waiting:
    """A process that waits for programs."""

    def __init__(self, python: Path, quiet: bool) -> None:
        packages = [name for name in ("fastmcp", "mcp") if [*python.parent.parent.glob(f"lib/*/site-packages/{name}/__init__.py")]]
        argv = [str(python), *(["-W", "ignore"] if quiet else []), str(CHILD), *packages]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._process = subprocess.Popen(argv, text=True, start_new_session=True, **pipes)  # type: ignore[call-overload]
        atexit.register(self.end)

    def become(self, job: Mapping[str, object], timeout: float) -> int:
        """The status of the program that was told."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        if not select.select([self._process.stdout], [], [], timeout)[0]:
            self.end()
            _waiting.cache_clear()
            raise subprocess.TimeoutExpired(str(job["argv"]), timeout)
        return int(self._process.stdout.readline())

    def end(self) -> None:
        """Also of what it has become."""
        if self._process.returncode is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.communicate()


@functools.cache
def _waiting(python: Path, quiet: bool) -> _Waiting:
    return _Waiting(python, quiet)
