"""FastMCP servers of version 1, rewritten: version 2 gives the clients of both eras the answers that version 1 gave."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sdk
from mcp_migrate import catalog, engine
from mcp_migrate.project import Project, read
from mcp_migrate.source import Source

CLIENTS = Path(__file__).parent / "clients"
MODERN = "2026-07-28"
PATIENCE = 30.0

SHAPES = '''
import asyncio
import sqlite3
import sys
from typing import Any

from mcp import McpError
from mcp.server.fastmcp import Context, FastMCP
from mcp.server.fastmcp.resources import TextResource
from mcp.server.session import ServerSession
from mcp.types import INVALID_PARAMS, ErrorData

mcp = FastMCP("shapes", "Ask for shapes.")
mcp._mcp_server.version = "7.1"
connection = sqlite3.connect(":memory:")
connection.execute("create table shapes (name text)")


class NoShape(LookupError):
    pass


@mcp.tool()
def area(width: float, height: float = 2.0) -> float:
    """The area of a rectangle."""
    if width < 0:
        raise ValueError(f"negative width: {width}")
    return width * height


@mcp.tool()
async def corners(name: str) -> str:
    if name == "circle":
        raise McpError(ErrorData(code=INVALID_PARAMS, message="a circle has none"))
    if name == "blob":
        raise NoShape("a blob is no shape")
    if name == "":
        raise KeyError("name")
    return "4"


@mcp.tool()
def store(name: str) -> str:
    connection.execute("insert into shapes values (?)", (name,))
    return str(connection.execute("select count(*) from shapes").fetchone()[0])


@mcp.tool()
def loop() -> str:
    return type(asyncio.get_running_loop()).__name__


@mcp.tool()
async def asked(n: int, label: str = "x") -> str:
    ctx = mcp.get_context()
    await ctx.info(message="asked")
    return f"{n} {label} {ctx.request_id != ''}"


def helper() -> str:
    return str(mcp.get_context().request_id != "")


@mcp.tool()
def through() -> str:
    return helper()


@mcp.tool()
async def named(ctx: Context[ServerSession, None]) -> str:
    return ctx.fastmcp.name


@mcp.resource("shape://{name}")
def shape(name: str) -> str:
    if name == "none":
        raise ValueError("shape not found: none")
    return f"shape {name}"


@mcp.resource("config://app")
def config() -> str:
    return helper()


mcp.add_resource(TextResource(uri="text://a", text="t", colour="red"))


@mcp.prompt()
def draw(what: str) -> str:
    return f"draw {what}"


def main() -> None:
    if "--port" in sys.argv:
        mcp.settings.port = int(sys.argv[sys.argv.index("--port") + 1])
    mcp.settings.streamable_http_path = "/shapes"
    mcp.run(transport="streamable-http" if "--port" in sys.argv else "stdio")


if __name__ == "__main__":
    main()
'''
JOB: dict[str, Any] = {
    "calls": [
        {"name": "area", "args": {"width": 3}},
        {"name": "area", "args": {"width": -1}},
        {"name": "area", "args": {"width": "wide"}},
        {"name": "corners", "args": {"name": "square"}},
        {"name": "corners", "args": {"name": "circle"}},
        {"name": "corners", "args": {"name": "blob"}},
        {"name": "corners", "args": {"name": ""}},
        {"name": "store", "args": {"name": "square"}},
        {"name": "loop", "args": {}},
        {"name": "asked", "args": {"n": 3}},
        {"name": "through", "args": {}},
        {"name": "named", "args": {}},
    ],
    "reads": ["shape://square", "config://app", "text://a"],
    "prompts": {"draw": {"what": "a square"}},
}
SAME = ("server", "instructions", "tools", "calls", "resources", "reads", "prompts", "gets")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """The server as it was, and as it is after `fix`."""
    found = {}
    for major, texts in ((1, {"server.py": SHAPES}), (2, fixed({"server.py": SHAPES}))):
        folder = tmp_path_factory.mktemp(f"v{major}")
        (folder / "server.py").write_text(texts["server.py"], encoding="utf-8")
        found[major] = folder
    return found


def fixed(texts: Mapping[str, str], *, unsafe: bool = False) -> dict[str, str]:
    """Programs after all rules have been at them."""
    project = Project.link(read(Source(path, text)) for path, text in texts.items())
    done = engine.fix(project, catalog.load(), unsafe=unsafe)
    assert done.dropped == ()
    return {**texts, **done.texts}


def run(major: int, folder: Path, *argv: str) -> str:
    env = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run([sdk.python(major), "-W", "ignore", *argv], cwd=folder, env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def talk(client: int, job: Mapping[str, Any]) -> dict[str, Any]:
    """What one client gets."""
    done = subprocess.run(
        [sdk.python(client), str(CLIENTS / f"client_v{client}.py")], input=json.dumps(job), capture_output=True, text=True, timeout=60
    )
    assert done.stdout, done.stderr
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[0])
    assert "trouble" not in report, report
    return report


def stdio(major: int, folder: Path) -> dict[str, Any]:
    command = [str(sdk.python(major)), "-W", "ignore", "server.py"]
    return {**JOB, "command": command, "cwd": str(folder), "env": {"PATH": os.environ["PATH"]}}


@contextmanager
def served(major: int, folder: Path, path: str, *argv: str) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sdk.python(major), "-W", "ignore", "server.py", "--port", str(port), *argv]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None, "the server has ended"
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}{path}"
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def expected(programs: dict[int, Path]) -> dict[str, Any]:
    return talk(1, stdio(1, programs[1]))


@pytest.mark.parametrize(("client", "mode"), [(1, ""), (2, "legacy"), (2, "auto")])
def test_stdio_gives_the_answers_of_version_1(programs: dict[int, Path], expected: dict[str, Any], client: int, mode: str) -> None:
    got = talk(client, {**stdio(2, programs[2]), "mode": mode})
    assert (got["version"] == MODERN) == (mode == "auto")
    assert {name: got.get(name) for name in SAME} == {name: expected.get(name) for name in SAME}


@pytest.mark.parametrize(("client", "mode"), [(1, ""), (2, "legacy"), (2, "auto")])
def test_http_gives_the_answers_of_version_1(programs: dict[int, Path], expected: dict[str, Any], client: int, mode: str) -> None:
    with served(2, programs[2], "/shapes") as url:
        got = talk(client, {**JOB, "url": url, "mode": mode})
    # The database counts what each connection has stored, so that this server begins anew.
    assert {name: got.get(name) for name in SAME} == {name: expected.get(name) for name in SAME}


def test_the_rewritten_server_comes_to_rest(programs: dict[int, Path]) -> None:
    text = (programs[2] / "server.py").read_text(encoding="utf-8")
    assert fixed({"server.py": text})["server.py"] == text
