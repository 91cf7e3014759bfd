"""FastMCP servers of version 1, rewritten: version 2 gives the clients of both eras the answers that version 1 gave."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sdk
import warm
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
    done = warm.run(sdk.python(major), "-W", "ignore", *argv, cwd=folder, env=env, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def talk(client: int, job: Mapping[str, Any]) -> dict[str, Any]:
    """What one client gets."""
    done = warm.run(sdk.python(client), CLIENTS / f"client_v{client}.py", cwd=CLIENTS, said=json.dumps(job), timeout=60)
    assert done.stdout, done.stderr
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[0])
    assert "trouble" not in report, report
    return report


def stdio(major: int, folder: Path) -> dict[str, Any]:
    command = [str(sdk.python(major)), "-W", "ignore", "server.py"]
    return {**JOB, "command": command, "cwd": str(folder), "env": {"PATH": os.environ["PATH"]}}


@contextmanager
def served(major: int, folder: Path, path: str, program: str = "server.py") -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sdk.python(major), "-W", "ignore", program, "--port", str(port)]
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


# Each is started with `--port`, and asked under a foreign name: what version 1 let in or refused, version 2 does as well.
HOSTS = {
    "made for all addresses": """
from mcp.server.fastmcp import FastMCP
mcp = FastMCP("x", host="0.0.0.0", port=int(sys.argv[2]), stateless_http=True, json_response=True)
mcp.run(transport="streamable-http")
""",
    "bound to all addresses later": """
from mcp.server.fastmcp import FastMCP
mcp = FastMCP("x", stateless_http=True)
mcp.settings.host = str("0.0.0.0")
mcp.settings.port = int(sys.argv[2])
mcp.run(transport="streamable-http")
""",
    "local": """
from mcp.server.fastmcp import FastMCP
def main(port: int) -> None:
    mcp = FastMCP("x", port=port)
    mcp.run(transport="streamable-http")
main(int(sys.argv[2]))
""",
    "an app for all addresses": """
import uvicorn
from mcp.server.fastmcp import FastMCP
mcp = FastMCP("x", host="0.0.0.0", port=int(sys.argv[2]))
uvicorn.run(mcp.streamable_http_app(), host="127.0.0.1", port=mcp.settings.port)
""",
    "an app with a host set later": """
import uvicorn
from mcp.server.fastmcp import FastMCP
mcp = FastMCP("x")
mcp.settings.host = "0.0.0.0"
uvicorn.run(mcp.streamable_http_app(), host="127.0.0.1", port=int(sys.argv[2]))
""",
    "with names of its own": """
from mcp.server.fastmcp import FastMCP
from mcp.server.transport_security import TransportSecuritySettings
class Service:
    def __init__(self, port: int) -> None:
        security = TransportSecuritySettings(enable_dns_rebinding_protection=True, allowed_hosts=["weather.example"])
        self.server = FastMCP("x", port=port, transport_security=security)
    def run(self) -> None:
        self.server.run("streamable-http")
Service(int(sys.argv[2])).run()
""",
    "chosen when it runs": """
from mcp.server.fastmcp import FastMCP
mcp = FastMCP("x", host=os.environ.get("NONE", "0.0.0.0"), port=int(sys.argv[2]), stateless_http=True)
mcp.run(transport=os.environ.get("NONE", "streamable-http"))
""",
}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}},
}


def status(url: str, host: str) -> int:
    """What a server says to a client that calls it by some name."""
    request = urllib.request.Request(
        url,
        data=json.dumps(INITIALIZE).encode(),
        headers={"Host": host, "Content-Type": "application/json", "Accept": "application/json, text/event-stream"},
    )
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


@pytest.mark.parametrize("name", HOSTS)
def test_the_same_names_are_let_in(name: str, tmp_path: Path) -> None:
    text = f"import os\nimport sys\n{HOSTS[name]}"
    after = fixed({"server.py": text})["server.py"]
    seen = []
    for major, program in ((1, text), (2, after)):
        folder = tmp_path / str(major)
        folder.mkdir()
        (folder / "server.py").write_text(program, encoding="utf-8")
        with served(major, folder, "/mcp") as url:
            seen.append((status(url, "weather.example"), status(url, url.split("/")[2])))
    assert seen[0] == seen[1]


# Programs that print the same under both releases.
PROGRAMS = {
    "results of direct calls": """
import asyncio
from mcp.server.fastmcp import FastMCP
mcp = FastMCP("x")
@mcp.tool()
def add(a: int) -> int:
    return a
@mcp.tool(structured_output=False)
def name(a: int) -> str:
    return "n"
async def main():
    content, structured = await mcp.call_tool("add", {"a": 1})
    print(content[0].text, structured)
    result = await mcp.call_tool("add", {"a": 2})
    print(result[0][0].text, result[1]["result"])
    blocks = await mcp.call_tool("name", {"a": 2})
    print(blocks[0].text, len((await mcp.call_tool("add", {"a": 3}))[0]))
    print(await mcp._tool_manager.call_tool("add", {"a": 4}))
    print(mcp._mcp_server.name, getattr(mcp, "_mcp_server", None) is not None)
asyncio.run(main())
""",
    "settings that are read": """
from mcp.server.fastmcp import FastMCP
mcp = FastMCP("x", port=int("9000"), streamable_http_path="/a")
print(f"http://{mcp.settings.host}:{mcp.settings.port}{mcp.settings.streamable_http_path}{mcp.settings.sse_path}", mcp.settings.log_level)
mcp.settings.port = 7
print(mcp.settings.port)
if mcp.name == "y":
    mcp.run("sse")
""",
    "names and instructions": """
from mcp.server.fastmcp import FastMCP
first, second = FastMCP("x", "do this"), FastMCP()
print(first.instructions, first.name, second.name)
""",
    "files": """
import asyncio, json, pathlib, tempfile
from mcp.server.fastmcp.resources import FileResource, TextResource
folder = pathlib.Path(tempfile.mkdtemp())
for name, mime, binary in (("a.txt", "text/plain", False), ("a.json", "application/json", False), ("a.png", "image/png", True)):
    (folder / name).write_text("{}")
text = FileResource(uri="file:///a", path=folder / "a.txt", is_binary=False)
data = FileResource(uri="file:///a", path=folder / "a.json", mime_type="application/json", is_binary=False)
image = FileResource(uri="file:///a", path=folder / "a.png", mime_type="image/png", is_binary=True)
print([asyncio.run(one.read()) for one in (text, data, image)], text.is_binary, image.is_binary)
print(TextResource(uri="a://b", text="t", typo=1).text)
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_the_same(name: str, tmp_path: Path) -> None:
    seen = []
    for major, program in ((1, PROGRAMS[name]), (2, fixed({"program.py": PROGRAMS[name]})["program.py"])):
        folder = tmp_path / str(major)
        folder.mkdir()
        (folder / "program.py").write_text(program, encoding="utf-8")
        seen.append(run(major, folder, "program.py"))
    assert seen[0] == seen[1]


def test_other_modules_run_the_server(tmp_path: Path) -> None:
    texts = {
        "server.py": 'import os\nfrom mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP("x", host=os.environ.get("NONE", "127.0.0.1"))\n'
        "\n\n@mcp.tool()\ndef add(a: int) -> int:\n    return a\n",
        "deep.py": 'from server import mcp\n\n\n@mcp.tool()\ndef request() -> str:\n    return str(mcp.get_context().request_id != "")\n\n\n'
        'def helper() -> str:\n    return str(mcp.get_context().request_id != "")\n\n\n@mcp.tool()\ndef helped() -> str:\n    return helper()\n',
        "main.py": "import sys\n\nimport deep\nfrom server import mcp\n\nmcp.settings.port = int(sys.argv[2])\nmcp.settings.streamable_http_path = '/here'\n"
        "print(mcp.settings.host)\nmcp.run(transport='streamable-http')\n",
    }
    after = fixed(texts)
    for path, text in {**after, "server.py": after["server.py"]}.items():
        (tmp_path / path).write_text(text, encoding="utf-8")
    job = {"calls": [{"name": name, "args": {"a": 2} if name == "add" else {}} for name in ("add", "request", "helped")]}
    with served(2, tmp_path, "/here", program="main.py") as url:
        for client, mode in ((1, ""), (2, "legacy"), (2, "auto")):
            got = talk(client, {**job, "url": url, "mode": mode})
            assert got["calls"] == ["2", "True", "True"]


def test_the_class_for_the_server_gives_the_text_back(tmp_path: Path) -> None:
    text = (
        'from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP("x")\n\n\ndef deep(n: int) -> str:\n    raise LookupError(f"no book {n}")\n\n\n'
        '@mcp.tool()\ndef book(n: int) -> str:\n    return deep(n)\n\n\nif __name__ == "__main__":\n    mcp.run()\n'
    )
    for unsafe, told in ((False, "Error executing tool book"), (True, "Error executing tool book: no book 3")):
        (tmp_path / "server.py").write_text(fixed({"server.py": text}, unsafe=unsafe)["server.py"], encoding="utf-8")
        for client, mode in ((1, ""), (2, "legacy"), (2, "auto")):
            job = {**stdio(2, tmp_path), "mode": mode, "calls": [{"name": "book", "args": {"n": 3}}], "reads": [], "prompts": {}}
            assert talk(client, job)["calls"] == [told]


REFUSING = """
from mcp import McpError
from mcp.server.fastmcp import FastMCP
from mcp.types import ErrorData

mcp = FastMCP("refusing")


@mcp.tool()
def refuse(code: int) -> str:
    raised(code)
    return "no"


def raised(code):
    raise McpError(ErrorData(code=code, message=f"refused with {code}"))
"""
REFUSED = """
import asyncio
from mcp import MCPError
from mcp.server.mcpserver.exceptions import ToolError
from server import mcp

for code in (-32602, -32021, -32042):
    try:
        asyncio.run(mcp.call_tool("refuse", {"code": code}))
    except (MCPError, ToolError) as error:
        print(type(error).__name__, error)
"""


def test_a_telling_server_hides_no_error_that_a_client_has_to_act_on(tmp_path: Path) -> None:
    project = Project.link([read(Source("server.py", REFUSING))])
    fixed = engine.fix(project, catalog.load(), select=["mcp2"], unsafe=True)
    assert "class TellingServer" in fixed.texts["server.py"]
    (tmp_path / "server.py").write_text(fixed.texts["server.py"], encoding="utf-8")
    done = subprocess.run([sdk.python(2), "-c", REFUSED], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "ToolError Error executing tool refuse: refused with -32602",
        "MCPError refused with -32021",
        "MCPError refused with -32042",
    ]
