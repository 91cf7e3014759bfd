"""Starts servers of other people from recipes, and records a legacy session with them."""

from __future__ import annotations

import hashlib
import json
import os
import queue
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, NamedTuple

import yaml
from mcp_migrate.verify.masking import masked

START = 30.0  # seconds until a server listens, or answers its first message
REPLY = 10.0
BUILDING: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)  # two projects may need one environment


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one project is started."""

    run: str = ""  # a command that speaks over stdin and stdout
    serve: str = ""  # or one that listens on {port}
    path: str = "/mcp"
    pip: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()  # what the copies that `fix` has rewritten need in place of packages of the same names
    env: Mapping[str, str] = field(default_factory=dict)
    folder: str = "."  # working directory, below the project
    files: Mapping[str, str] = field(default_factory=dict)  # what a host of the project writes: written after `fix`
    before: str = ""  # a command to run once in each copy
    calls: tuple[str, ...] = ()  # 'NAME {arguments} => text', as the judge takes them
    mask: str = ""  # what else changes from run to run

    @property
    def after(self) -> Recipe:
        """The recipe of a copy that `fix` has rewritten: uses of the official SDK need its newer release."""
        newer = {name.partition("==")[0] for name in self.moved}
        return replace(self, pip=(*(name for name in self.pip if name.partition("==")[0] not in newer), *self.moved))

    @property
    def how(self) -> str:
        """Its command, without what the commands of all projects have."""
        return (self.run or self.serve).replace("python -m ", "").replace(" --port {port}", "").replace(" {port}", "") + (
            f" {self.path}" if self.serve else ""
        )


class Recipes(NamedTuple):
    """What a file says of projects."""

    ways: dict[str, tuple[Recipe, ...]]  # to start each of them
    aside: dict[str, dict[str, str]]  # places that look like a dispatcher and serve nobody, and why


def read(path: Path) -> Recipes:
    tables = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    aside = tables.pop("no-servers", {})
    return Recipes({name: tuple(map(_recipe, told if isinstance(told, list) else [told])) for name, told in tables.items()}, aside)


def _recipe(table: Mapping[str, Any]) -> Recipe:
    lists: dict[str, Any] = {key: tuple(table.get(key, ())) for key in ("pip", "moved", "calls")}
    env = {key: str(value) for key, value in table.get("env", {}).items()}
    return Recipe(**{**table, **lists, "env": env})


@dataclass(frozen=True, slots=True)
class Host:
    """A copy of a project that can be started, with the environment that it needs."""

    recipe: Recipe
    folder: Path
    bin: Path

    @classmethod
    def prepare(cls, recipe: Recipe, copy: Path, environments: Path) -> Host:
        """Install what the recipe names (once for all that name the same), write its files, run its first command."""
        host = cls(recipe, (copy / recipe.folder).resolve(), environment(recipe.pip, environments))
        for name, text in recipe.files.items():
            (host.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (host.folder / name).write_text(text, encoding="utf-8")
        if recipe.before:
            done = subprocess.run(host.argv(recipe.before), cwd=host.folder, capture_output=True, text=True)
            if done.returncode:
                raise OSError(f"{recipe.before}: {done.stderr.strip()[-200:]}")
        return host

    def argv(self, command: str) -> list[str]:
        """The command, with the programs of its own environment, a home of its own, and the recipe's variables."""
        program, *rest = shlex.split(command)
        own = self.bin / program
        home = self.folder.parent / f"home-{self.folder.name}"
        home.mkdir(exist_ok=True)
        # What packages are compiled to is kept with them, out of the project.
        variables = {
            "HOME": str(home),
            "PYTHONPYCACHEPREFIX": str(self.bin.parent / "bytecode"),
            "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}",
        }
        settings = [f"{key}={value}" for key, value in {**variables, **self.recipe.env}.items()]
        return ["env", *settings, str(own) if own.exists() else program, *rest]


def key_of(packages: Iterable[str]) -> str:
    """The name of the folder of an environment."""
    return hashlib.sha256("\n".join(sorted(packages)).encode()).hexdigest()[:12]


def environment(packages: tuple[str, ...], environments: Path) -> Path:
    """The programs of an environment that holds these packages."""
    key = key_of(packages)
    # The tests lead to environments of their own, and what is compiled there is compiled for their place.
    home = (environments / key).resolve()
    done = home / "complete"
    with BUILDING[key]:
        if not done.exists():
            uv = shutil.which("uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
            bare = ["--without-pip"] if uv or not packages else []
            subprocess.run([sys.executable, "-m", "venv", "--clear", *bare, str(home)], check=True)
            if packages:
                python = str(home / "bin" / "python")
                pip = [uv, "pip", "install", "--python", python] if uv else [python, "-m", "pip", "install", "--disable-pip-version-check"]
                put = subprocess.run([*pip, "--quiet", *packages], capture_output=True, text=True)
                if put.returncode:
                    raise OSError(f"cannot be installed: {put.stderr.strip()[-400:]}")
            done.touch()
    return home / "bin"


def session(host: Host, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    """All that a server says to a client of the handshake era that also makes mistakes; what changes from run to run is masked."""
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}
    steps = {
        "initialize": [_request(0, "initialize", client)],
        "ping": [json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}), _request(1, "ping", None)],
        "list": [_request(2, "tools/list", {})],
        "call": [_request(3, "tools/call", {"name": tool, "arguments": arguments})],
        "unknown tool": [_request(4, "tools/call", {"name": "no_such_tool", "arguments": {}})],
        "unknown method": [_request(5, "no/such/method", {})],
        # What comes before the answer to the request behind it is the answer.
        "bad JSON": ["{not json", _request(6, "tools/list", {})],
    }
    said: dict[str, str] = {}
    for step, text in (_over_http if host.recipe.serve else _over_stdio)(host, steps):
        said[step] = said.get(step, "") + mask(text, host)
    return said


def _request(number: int, method: str, params: Mapping[str, Any] | None) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, **({} if params is None else {"params": params})})


def mask(line: str, host: Host) -> str:
    """The text without what changes from run to run, or from folder to folder."""
    text = line.replace(str(host.folder), "FOLDER").replace(str(host.folder.parent), "ABOVE")
    alike = masked(text)
    return re.sub(host.recipe.mask, "*", alike) if host.recipe.mask else alike


def _over_stdio(host: Host, steps: Mapping[str, list[str]]) -> Iterator[tuple[str, str]]:
    with started(host.argv(host.recipe.run), host.folder, piped=True) as running:
        process = running.process
        assert process.stdin
        assert process.stdout
        said: queue.Queue[str] = queue.Queue()
        reply = None
        threading.Thread(target=_drain, args=(process.stdout, said), daemon=True).start()
        for step, line in ((step, line) for step, lines in steps.items() for line in lines):
            try:
                process.stdin.write(line.encode() + b"\n")
                process.stdin.flush()
            except BrokenPipeError:
                yield step, f"gone before the {step}: {running.last_words()}"
                break
            number = json.loads(line).get("id") if line.startswith('{"') else None
            while number is not None:
                try:
                    reply = said.get(timeout=START if number == 0 else REPLY)
                except queue.Empty:
                    yield step, f"no reply to the {step}"
                    break
                yield step, reply
                if not reply or _answers(reply, number):
                    break
        with suppress(BrokenPipeError):
            process.stdin.close()
        while reply != "" and (reply := _next(said)) != "":
            yield "end", reply


def _drain(stream: IO[bytes], said: queue.Queue[str]) -> None:
    for line in stream:
        said.put(line.decode("utf-8", "replace"))
    said.put("")


def _next(said: queue.Queue[str]) -> str:
    try:
        return said.get(timeout=3)
    except queue.Empty:
        return ""


def _answers(text: str, number: int) -> bool:
    try:
        message = json.loads(text)
    except ValueError:
        return False
    return isinstance(message, dict) and message.get("id") == number and "method" not in message


def _over_http(host: Host, steps: Mapping[str, list[str]]) -> Iterator[tuple[str, str]]:
    port = free_port()
    with started(host.argv(host.recipe.serve.replace("{port}", str(port))), host.folder) as running:
        running.listens(port)
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        for step, line in ((step, line) for step, lines in steps.items() for line in lines):
            status, answered, body = post(f"http://127.0.0.1:{port}{host.recipe.path}", headers, line)
            issued = answered.get("mcp-session-id")
            if issued:
                headers["Mcp-Session-Id"] = issued
            yield step, f"{status} {answered.get('content-type')} {'session' if issued else ''} {body}\n".replace(f":{port}", ":PORT")


def post(url: str, headers: Mapping[str, str], body: str) -> tuple[int, dict[str, str], str]:
    """Status, headers (in lower case) and body of the answer."""
    request = urllib.request.Request(url, body.encode(), dict(headers))
    try:
        answer = urllib.request.urlopen(request, timeout=REPLY)
    except urllib.error.HTTPError as error:
        answer = error
    except OSError as error:
        return 0, {}, type(error).__name__
    with answer:
        return answer.status, {key.lower(): value for key, value in answer.headers.items()}, _body(answer)


def _body(answer: Any) -> str:
    """The body, or of a stream that stays open what comes first."""
    try:
        return str(answer.read().decode("utf-8", "replace"))
    except OSError as error:
        return type(error).__name__


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Running(NamedTuple):
    """A server process, and what it writes to its standard error."""

    process: subprocess.Popen[bytes]
    complaints: IO[bytes]

    def last_words(self) -> str:
        self.complaints.seek(0)
        lines = self.complaints.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""

    def listens(self, port: int) -> None:
        """Wait until it does."""
        limit = time.monotonic() + START
        while time.monotonic() < limit and self.process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.05)
        raise OSError(f"nothing listens on port {port}: {self.last_words()}")


@contextmanager
def started(argv: list[str], folder: Path, *, piped: bool = False) -> Iterator[Running]:
    """A process that is ended with all that it has started."""
    pipe = subprocess.PIPE if piped else subprocess.DEVNULL
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(argv, cwd=folder, stdin=pipe, stdout=pipe, stderr=complaints, start_new_session=True)
        try:
            yield Running(process, complaints)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None and not stream.closed:
                    with suppress(BrokenPipeError):
                        stream.close()
