"""The servers of `fixtures/servers`: what they promise, and how tests talk to them."""

from __future__ import annotations

import functools
import io
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import http_wire
import sdk
import yaml
from http_wire import HttpWire
from mcp_migrate import cli

ROOT = Path(__file__).resolve().parents[1]
SERVERS = ROOT / "fixtures" / "servers"
MODERN = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
PATIENCE = 20.0


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call, and text that its result (or the notification that it causes) must hold."""

    name: str
    args: dict[str, Any]
    expect: str

    @classmethod
    def parse(cls, text: str) -> Call:
        body, _, expect = text.partition(" => ")
        name, _, args = body.partition(" ")
        return cls(name, json.loads(args or "{}"), expect)

    @property
    def job(self) -> dict[str, Any]:
        return {"name": self.name, "args": self.args, "expect": self.expect}


@dataclass(frozen=True, slots=True)
class Server:
    """One server of the fixtures, as its `server.yaml` describes it."""

    name: str
    command: str
    calls: tuple[str, ...]
    legacy_script: str
    notify: tuple[str, ...] = ()
    reads: Mapping[str, str] = field(default_factory=dict)  # uri -> text in it
    missing: str | None = None  # a resource that is not there
    prompts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # name -> arguments
    needs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # tools that ask the client -> arguments
    logs: Mapping[str, list[str]] = field(default_factory=dict)  # level -> what the calls log at it
    questions: int | None = None  # that the calls and prompts bring; None: one for each of `needs`
    answers: Mapping[str, Any] = field(default_factory=dict)  # to the server's own requests, in the legacy script
    path: str = "/mcp"  # of the endpoint, when the command (or the environment) names a {port}
    environment: Mapping[str, str] = field(default_factory=dict)
    left: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # era -> rules whose findings remain for a human
    fix: str = "migrates"  # or "report": no safe fix exists, and `fix` leaves every byte alone
    judged_dual: str = "dual"  # or "any": the outside judge does not get on with the legacy side, neither before nor after
    description: str = ""

    @property
    def before(self) -> Path:
        return SERVERS / self.name / "before"

    def after(self, era: str) -> Path:
        return SERVERS / self.name / f"after_{era}"

    @property
    def http(self) -> bool:
        return "{port}" in self.command or "{port}" in "".join(self.environment.values())

    @property
    def argv(self) -> list[str]:
        python, *rest = shlex.split(self.command)
        assert python == "python"
        return [str(sdk.frameworks()) if self.http else sys.executable, *rest]


def load() -> list[Server]:
    """Every server, by name."""
    return [_load(path) for path in sorted(SERVERS.glob("*/server.yaml"))]


def _load(path: Path) -> Server:
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    lists: dict[str, Any] = {key: tuple(data.pop(key, ())) for key in ("calls", "notify")}
    tables: dict[str, Any] = {key: data.pop(key, {}) for key in ("reads", "prompts", "needs", "logs", "answers", "environment", "left")}
    return Server(name=path.parent.name, **lists, **tables, **data)


def texts(folder: Path) -> dict[str, str]:
    """Every file below a folder, by its relative path; what running the server leaves behind is not looked at."""
    files = sorted(p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    return {p.relative_to(folder).as_posix(): p.read_bytes().decode("utf-8") for p in files}


def copy(source: Path, target: Path) -> Path:
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    return target


def migrate(*argv: str, cwd: Path, given: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command line of the product; `given` is its standard input.

    It runs in this process: to start Python and load everything costs several times what a run over a small program does. What
    only a process can show (signals, pipes, what is loaded at all) has tests of its own.
    """
    assert threading.current_thread() is threading.main_thread(), "the working folder and the streams are the process's"
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors=errors) for errors in ("strict", "backslashreplace"))
    said = io.TextIOWrapper(io.BytesIO((given or "").encode()), encoding="utf-8")
    here, streams, environment = os.getcwd(), (sys.stdin, sys.stdout, sys.stderr), dict(os.environ)
    os.chdir(cwd)
    os.environ.update(_quiet())
    sys.stdin, sys.stdout, sys.stderr = said, out, err
    status: object = 0
    try:
        cli.app([*argv], prog_name="mcp-migrate")
    except SystemExit as end:
        status = end.code
    finally:
        sys.stdin, sys.stdout, sys.stderr = streams
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(here)
    return subprocess.CompletedProcess(argv, status or 0, _told(out), _told(err))  # type: ignore[arg-type]


class Migrated(NamedTuple):
    """A copy of a server that `fix` has been run on; what changes it works on a copy of its own."""

    folder: Path
    status: int
    output: str


def migrated(server: Server, era: str) -> Migrated:
    """`fix` is run once for each server and era, however many tests look at the result, in whichever process."""
    return _migrated(server.name, era)  # a Server holds dicts, so the cache goes by name


@functools.cache
def _migrated(name: str, era: str) -> Migrated:
    def make(home: Path) -> None:
        done = migrate("fix", "--era", era, ".", cwd=copy(SERVERS / name / "before", home / "server"))
        (home / "told.json").write_text(json.dumps([done.returncode, done.stdout + done.stderr]), encoding="utf-8")

    home = _once(f"{name}-{era}", make)
    return Migrated(home / "server", *json.loads((home / "told.json").read_text(encoding="utf-8")))


def left(server: Server, era: str) -> list[dict[str, Any]]:
    """The findings of `check` in what `fix` has made of a server; it runs once, too."""
    folder = migrated(server, era).folder

    def make(home: Path) -> None:
        done = migrate("check", "--era", era, "--output-format", "json", ".", cwd=folder)
        (home / "told.json").write_text(done.stdout, encoding="utf-8")

    told = (_once(f"{server.name}-{era}-left", make) / "told.json").read_text(encoding="utf-8")
    findings: list[dict[str, Any]] = json.loads(told)["findings"]
    return findings


def _once(name: str, make: Callable[[Path], None]) -> Path:
    """A folder that the first process of this run to want it has filled."""
    shared = Path(os.environ["MCP_MIGRATE_SHARED"])
    home = shared / name
    if not home.is_dir():
        draft = Path(tempfile.mkdtemp(prefix="draft-", dir=shared))
        make(draft)
        # Whatever has the final name is complete; two may have made the same.
        with suppress(OSError):
            draft.rename(home)
    return home


def _told(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


def _quiet() -> dict[str, str]:
    return {**os.environ, "NO_COLOR": "1", "COLUMNS": "160"}


class Wire:
    """A running stdio server; reads and writes raw lines."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin
        assert process.stdout
        self._stdin, self._stdout = process.stdin, process.stdout

    def write(self, line: str) -> None:
        self._stdin.write(line.encode() + b"\n")
        self._stdin.flush()

    def read(self) -> bytes:
        """The next line, newline included; empty at the end."""
        return self._stdout.readline()

    def ask(self, method: str, params: Mapping[str, Any] | None = None, *, meta: Mapping[str, Any] | None = META) -> dict[str, Any]:
        """The reply to one request (2026-07-28, or without `_meta` when that is None)."""
        body = {**(params or {}), **({"_meta": meta} if meta is not None else {})}
        self.write(json.dumps({"jsonrpc": "2.0", "id": f"ask {method}", "method": method, "params": body}))
        while line := self.read():
            message = json.loads(line)
            if isinstance(message, dict) and message.get("id") == f"ask {method}" and "method" not in message:
                return message
        raise AssertionError(f"no reply to {method}")

    def notify(self, method: str, params: Mapping[str, Any], *, meta: Mapping[str, Any] | None = None) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": {**params, **({"_meta": meta} if meta is not None else {})}}))

    def close(self) -> bytes:
        """End the input; what was still to come."""
        self._stdin.close()
        return self._stdout.read()


@contextmanager
def running(argv: list[str], cwd: Path) -> Iterator[Wire]:
    """A server process that cannot outlive the test, nor hang it."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(argv, cwd=cwd, env=_quiet(), **pipes)  # type: ignore[call-overload]
    guard = threading.Timer(PATIENCE, process.kill)
    guard.start()
    try:
        yield Wire(process)
    finally:
        guard.cancel()
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            stream.close()


@contextmanager
def talking(server: Server, folder: Path) -> Iterator[Wire | HttpWire]:
    """A fresh process of a server."""
    if server.http:
        with http_wire.serving(server.argv, folder, server.path, server.environment) as remote:
            yield remote
    else:
        with running(server.argv, folder) as wire:
            yield wire


class Hosts:
    """HTTP servers that stay up from test to test, since most of their time goes into the start; the oldest goes first."""

    def __init__(self, most: int = 6) -> None:
        self._most = most
        self._up: OrderedDict[Path, tuple[HttpWire, ExitStack]] = OrderedDict()

    def url(self, server: Server, folder: Path) -> str:
        if folder not in self._up:
            while len(self._up) >= self._most:
                self._up.popitem(last=False)[1][1].close()
            stack = ExitStack()
            wire = stack.enter_context(http_wire.serving(server.argv, folder, server.path, server.environment))
            self._up[folder] = wire, stack
        return self._up[folder][0].url

    def close(self) -> None:
        for _, stack in self._up.values():
            stack.close()


def dialogue(server: Server, folder: Path) -> list[str]:
    """All that the server says, line by line, in a session of its legacy script."""
    if server.http:
        with http_wire.serving(server.argv, folder, server.path, server.environment) as remote:
            return list(http_wire.dialogue(remote, server.legacy_script, server.answers))
    said: list[bytes] = []
    with running(server.argv, folder) as wire:
        for line in server.legacy_script.splitlines():
            wire.write(line)
            awaited = _request_id(line)
            while awaited is not None:
                reply = wire.read()
                said.append(reply)
                message = json.loads(reply)
                if "method" not in message:
                    awaited = None if message.get("id") == awaited else awaited
                elif "id" in message:
                    wire.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": server.answers[message["method"]]}))
        said.append(wire.close())
    return b"".join(said).decode("utf-8").splitlines()


def _request_id(line: str) -> Any:
    try:
        message = json.loads(line)
    except ValueError:
        return None
    return message.get("id") if isinstance(message, dict) and "method" in message else None


class Client:
    """A process that runs sessions of one SDK's client."""

    def __init__(self, interpreter: Path, script: Path, hosts: Hosts) -> None:
        argv = [str(interpreter), str(script)]
        self._hosts = hosts
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(argv, text=True, encoding="utf-8", env=_quiet(), **pipes)  # type: ignore[call-overload]

    def session(self, server: Server, folder: Path, **job: Any) -> dict[str, Any]:
        """The report of one session."""
        start = {"command": server.argv, "cwd": str(folder), "env": http_wire.bytecode()}
        full = {
            **({"url": self._hosts.url(server, folder)} if server.http else start),
            "calls": [Call.parse(text).job for text in server.calls],
            "notify": [Call.parse(text).job for text in server.notify],
            "reads": list(server.reads),
            "missing": server.missing,
            "prompts": dict(server.prompts),
            **job,
        }
        self._process.stdin.write(json.dumps(full) + "\n")
        self._process.stdin.flush()
        report: dict[str, Any] = json.loads(self._process.stdout.readline() or '{"trouble": "the client died"}')
        return report

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait(PATIENCE)
        self._process.stdout.close()
