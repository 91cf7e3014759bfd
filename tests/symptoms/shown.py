"""Brings symptoms of rules/symptoms.yaml about, and prints what their users would see: `python -u shown.py SERVER ID ...`.

`SERVER` is one that speaks 2026-07-28 only. A line `== ID` stands before each.

Runs in an environment with the official SDK, or with the standalone `fastmcp`; `IN` says which major of the SDK a symptom needs, 2 unless it is
named there. Annotations stay objects:
the SDK reads those of functions inside of functions.
"""

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.error
import urllib.request
import warnings
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

IN = {"method-not-found-initialize": 1, "speaks-only": 1, "before-initialization": 1, "left-while-answered": 1}
STANDALONE = "fastmcp-"  # symptoms whose ids begin so are those of the standalone package, release 4
PREFIX = "io.modelcontextprotocol/"
META = {f"{PREFIX}protocolVersion": "2026-07-28", f"{PREFIX}clientInfo": {"name": "a", "version": "1"}, f"{PREFIX}clientCapabilities": {}}
HEADERS = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
ROOT = Path(__file__).resolve().parents[2]

SHOWN: dict[str, Callable[[], object]] = {}


def shows(*ids: str) -> Callable[[Callable[[], object]], Callable[[], object]]:
    """A decorator for what brings these symptoms about."""

    def note(function: Callable[[], object]) -> Callable[[], object]:
        SHOWN.update(dict.fromkeys(ids, function))
        return function

    return note


def code(id: str, text: str) -> None:
    """A symptom that a few lines bring about."""
    SHOWN[id] = lambda: exec(text, {})


# Names and arguments of version 1

TOOL = 'from mcp.types import Tool\ntool = Tool(name="add", input_schema={"type": "object"})\n'
SERVER = 'from mcp.server.mcpserver import Context, MCPServer\nserver = MCPServer("desk")\n'
LOW = 'from mcp.server.lowlevel import Server\nserver = Server("desk")\n'

code("no-module-fastmcp", "from mcp.server.fastmcp import FastMCP")
code("cannot-import-fastmcp", "from mcp.server import FastMCP")
code("cannot-import-mcperror", "from mcp import McpError")
code("cannot-import-http-client", "from mcp.client.streamable_http import streamablehttp_client")
code("cannot-import-memory-session", "from mcp.shared.memory import create_connected_server_and_client_session")
code("cannot-import-name", "from mcp.shared.context import RequestContext")
code("no-module-httpx", "import mcp, httpx")
code("no-attribute-camel", f"{TOOL}tool.inputSchema")
code("no-field-camel", f"{TOOL}tool.inputSchema = {{}}")
code("key-error-camel", f'{TOOL}tool.model_dump()["inputSchema"]')
code("no-attribute-decorator", f"{LOW}@server.list_tools()\nasync def tools(): ...")
code("no-attribute-tables", f"{LOW}server.request_handlers")
code("no-attribute-server", f"{SERVER}server.get_context()")
code("unexpected-keyword-host", f'{SERVER}MCPServer("desk", host="0.0.0.0")')
code("server-positional", f'{LOW}Server("desk", "1.0", "Ask first.")')
code("server-type-arguments", f"{LOW}Server[dict, str]")
code("error-missing-message", 'from mcp import MCPError\nfrom mcp.types import ErrorData\nraise MCPError(ErrorData(code=1, message="no"))')
code("union-not-callable", "from mcp.types import EmptyResult, ServerResult\nServerResult(EmptyResult())")
code("valid-string-uri", 'from mcp.types import Resource\nfrom pydantic import AnyUrl\nResource(name="a", uri=AnyUrl("http://a/"))')
code("str-no-host", 'from mcp.types import Resource\nResource(name="a", uri="http://a/").uri.host')
code(
    "dict-no-progress-token",
    'from mcp.types import CallToolRequestParams\nCallToolRequestParams(name="a", _meta={"progressToken": 7}).meta.progressToken',
)
code(
    "http-client-keyword", 'from mcp.client.streamable_http import streamable_http_client\nstreamable_http_client("http://a/", headers={})'
)
code("keyword-cursor", 'from mcp import ClientSession\nClientSession.list_tools(None, cursor="2")')
code("no-server-capabilities", "from mcp import ClientSession\nClientSession.get_server_capabilities")
code("static-resource-context", f'{SERVER}@server.resource("desk://log")\ndef log(ctx: Context) -> str: ...')
code("mount-path", f'{SERVER}server.sse_app(mount_path="/desk")')


@shows("result-not-subscriptable")
def take_a_result_apart() -> None:
    server = desk()
    asyncio.run(server.call_tool("add", {"number": 1}))[0]


@shows("timedelta")
def wait_for_a_timedelta() -> None:
    from mcp import ClientSession
    from mcp.shared.memory import create_client_server_memory_streams

    async def main() -> None:
        async with (
            create_client_server_memory_streams() as (near, _),
            ClientSession(*near, read_timeout_seconds=timedelta(seconds=1)) as session,
        ):
            await session.initialize()

    asyncio.run(main())


# Servers of version 2 in memory


def desk() -> Any:
    """A server with a tool for each fault."""
    import sqlite3

    from mcp.server.mcpserver import Context, MCPServer
    from pydantic import BaseModel

    class Answer(BaseModel):
        sure: bool

    server = MCPServer("desk")
    kept = sqlite3.connect(":memory:")

    @server.tool()
    def add(number: int) -> int:
        return number + 1

    @server.tool()
    def refuse() -> str:
        raise ValueError("there is no such desk")

    @server.tool()
    def query() -> str:
        return str(kept.execute("select 1").fetchall())

    @server.tool()
    async def ask(ctx: Context) -> str:
        return str(await ctx.elicit("Are you sure?", Answer))

    @server.tool()
    async def note(ctx: Context) -> str:
        await ctx.info("noted")
        return "noted"

    @server.resource("file://{path}")
    def read(path: str) -> str:
        return path

    return server


def talk(say: Callable[[Any], Awaitable[object]], **options: Any) -> None:
    """Has a client of version 2 say something to the desk, and prints the answer."""
    from mcp import Client

    async def main() -> None:
        async with Client(desk(), **options) as client:
            print(await say(client))

    asyncio.run(main())


@shows("hidden-tool-error")
def let_an_exception_out() -> None:
    talk(lambda client: client.call_tool("refuse", {}))


@shows("sqlite-thread")
def query_on_another_thread() -> None:
    talk(lambda client: client.call_tool("query", {}))


@shows("no-back-channel")
def ask_in_the_middle() -> None:
    async def answer(*_: object) -> None: ...

    talk(lambda client: client.call_tool("ask", {}), elicitation_callback=answer)


@shows("deprecation-error")
def make_errors_of_warnings() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        talk(lambda client: client.call_tool("note", {}))


@shows("path-refused", "unknown-resource-code")
def read_a_path_upwards() -> None:
    talk(lambda client: client.read_resource("file://a/../b"))


# Over HTTP


@contextlib.contextmanager
def served() -> Iterator[str]:
    """The address of the desk, served by version 2 of the SDK."""
    import uvicorn

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    running = uvicorn.Server(uvicorn.Config(desk().streamable_http_app(), host="127.0.0.1", port=port, log_level="error"))
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    until = time.monotonic() + 20
    while not running.started and time.monotonic() < until:
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        running.should_exit = True
        thread.join(10)


def ask_over_http(message: dict[str, Any] | None, method: str = "POST", **headers: str) -> None:
    """Prints status and body of what the desk answers."""
    body = None if message is None else json.dumps(message).encode()
    sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    with served() as url:
        request = urllib.request.Request(url, body, sent, method=method)
        try:
            with urllib.request.urlopen(request, timeout=10) as reply:
                print(reply.status, reply.reason, reply.read().decode())
        except urllib.error.HTTPError as error:
            print(error.code, error.reason, error.read().decode())


MODERN = {name.replace("-", "_"): value for name, value in HEADERS.items()}
WITHOUT_META = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
LATER = {**LIST, "params": {"_meta": {**META, f"{PREFIX}protocolVersion": "2027-01-01"}}}

SHOWN["missing-meta"] = lambda: ask_over_http(WITHOUT_META, **MODERN)
SHOWN["missing-session"] = lambda: ask_over_http(WITHOUT_META)
SHOWN["session-not-found"] = lambda: ask_over_http(WITHOUT_META, Mcp_Session_Id="of-yesterday")
SHOWN["header-mismatch"] = lambda: ask_over_http(LIST, **{**MODERN, "Mcp_Method": "tools/call"})
SHOWN["unsupported-version"] = lambda: ask_over_http(LATER, **{**MODERN, "MCP_Protocol_Version": "2027-01-01"})
SHOWN["not-acceptable"] = lambda: ask_over_http(LIST, **{**MODERN, "Accept": "text/html"})
SHOWN["invalid-host"] = lambda: ask_over_http(LIST, **{**MODERN, "Host": "desk.example"})
SHOWN["method-not-allowed"] = lambda: ask_over_http(None, "GET", MCP_Protocol_Version="2026-07-28", Accept="text/event-stream")


@shows("three-values")
def unpack_three() -> None:
    from mcp.client.streamable_http import streamable_http_client

    async def main(url: str) -> None:
        async with streamable_http_client(url) as (_read, _write, _session_id):
            pass

    with served() as url:
        asyncio.run(main(url))


class Forgetful(BaseHTTPRequestHandler):
    """A server that opens a session, and does not know it any more with the next request."""

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if message["method"] == "initialize":
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "desk", "version": "1"}}
            body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
            self._answer(200, body)
        else:
            self._answer(404 if "id" in message else 202)

    def do_GET(self) -> None:
        self._answer(405)

    do_DELETE = do_GET

    def _answer(self, status: int, body: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Mcp-Session-Id", "of-today")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


@shows("session-terminated")
def lose_the_session() -> None:
    from mcp import Client

    async def main(url: str) -> None:
        async with Client(url) as client:
            print(await client.list_tools())

    server = HTTPServer(("127.0.0.1", 0), Forgetful)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        asyncio.run(asyncio.wait_for(main(f"http://127.0.0.1:{server.server_port}/mcp"), 20))
    finally:
        server.shutdown()


# Over standard streams


HAND_WRITTEN = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    method = message["method"]
    if "id" not in message:
        continue
    {first}
    elif method == "tools/list":
        answer = {{"result": {{"tools": []}}}}
    {last}
    print(json.dumps({{"jsonrpc": "2.0", "id": message["id"], **answer}}), flush=True)
"""
HANDSHAKE = 'if method == "initialize":\n        answer = {{"result": {{"protocolVersion": "{}", "capabilities": {{"tools": {{}}}}, "serverInfo": {{"name": "desk", "version": "1"}}}}}}'
DISCOVERY = """if method == "server/discover":
        answer = {"result": {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private"}}"""
REFUSES = 'else:\n        answer = {"error": {"code": -32601, "message": f"Method not found: {method}"}}'
RAISES = "else:\n        raise KeyError(method)"


def speak(argv: list[str]) -> None:
    """Has a client of this environment's release list the tools of a server, and prints them."""
    import mcp
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    async def main() -> None:
        started = stdio_client(StdioServerParameters(command=argv[0], args=argv[1:]))
        if hasattr(mcp, "Client"):
            async with mcp.Client(started) as client:
                print(await client.list_tools())
        else:
            async with started as streams, ClientSession(*streams) as session:
                await session.initialize()
                print(await session.list_tools())

    asyncio.run(asyncio.wait_for(main(), 30))


def write(first: str, last: str, before: str = "") -> list[str]:
    return [sys.executable, "-c", before + HAND_WRITTEN.format(first=first, last=last)]


@shows("left-while-answered")
def leave_a_server_that_still_works() -> None:
    """The server is of the newer release, this client of the older one."""
    from mcp import ClientSession, McpError, StdioServerParameters
    from mcp.client.stdio import stdio_client

    tool = "import asyncio\n@server.tool()\nasync def wait() -> None:\n    await asyncio.sleep(60)\nserver.run()\n"

    async def main() -> None:
        server = StdioServerParameters(command=os.environ["PYTHON_WITH_SDK_2"], args=["-c", SERVER + tool])
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            with contextlib.suppress(McpError):
                await session.call_tool("wait", read_timeout_seconds=timedelta(seconds=0.5))

    asyncio.run(main())


SHOWN["connection-closed"] = lambda: speak(write(HANDSHAKE.format("2025-06-18"), RAISES))
SHOWN["method-not-found-initialize"] = lambda: speak(write(DISCOVERY, REFUSES))
SHOWN["unsupported-version-from-server"] = lambda: speak(write(HANDSHAKE.format("2026-07-28"), REFUSES))
SHOWN["validation-list-result"] = lambda: speak(write(DISCOVERY, REFUSES))
SHOWN["parse-message"] = lambda: speak(write(HANDSHAKE.format("2025-06-18"), REFUSES, 'print("The desk is open.")\n'))


@shows("method-not-found-discover")
def discover_at_an_older_server() -> None:
    argv = write(HANDSHAKE.format("2025-06-18"), REFUSES)
    print(answered(argv, {**LIST, "method": "server/discover"}))


@shows("before-initialization")
def list_without_a_handshake() -> None:
    argv = [sys.executable, "-c", 'from mcp.server.fastmcp import FastMCP\nFastMCP("desk").run()']
    print(answered(argv, LIST))


@shows("speaks-only")
def greet_a_modern_server() -> None:
    speak([sys.executable, sys.argv[1]])


@shows("no-module-boundary")
def ship_the_server_alone() -> None:
    server = ROOT / "fixtures/servers/notes_chain/after_modern/server.py"
    print(subprocess.run([sys.executable, "-B", str(server)], stdin=subprocess.DEVNULL, capture_output=True, text=True).stderr)


def answered(argv: list[str], message: dict[str, Any]) -> str:
    """All that a server writes when it is sent one message."""
    done = subprocess.run(argv, input=f"{json.dumps(message)}\n", capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


# The standalone `fastmcp`

DESK = 'from fastmcp import Client, Context, FastMCP\nmcp = FastMCP("desk")\n'


def calls(body: str, mode: str = "auto") -> str:
    """A tool with this body, and a client that calls it."""
    tool = f"import asyncio\n@mcp.tool\nasync def a(ctx: Context) -> str:\n    {body}\n"
    return f"{DESK}{tool}async def main():\n    async with Client(mcp, mode={mode!r}) as client:\n        await client.call_tool('a')\nasyncio.run(main())\n"


code("fastmcp-constructor", 'from fastmcp import FastMCP\nFastMCP("desk", host="0.0.0.0", port=9000)')
code("fastmcp-argument", f'{DESK}mcp.mount(FastMCP("shop"), prefix="shop")')
code("fastmcp-no-module", "from fastmcp.server.proxy import FastMCPProxy")
code("fastmcp-cannot-import", "from fastmcp.client.transports import WSTransport")
code("fastmcp-decorated", f"{DESK}@mcp.tool\ndef a() -> str:\n    return ''\na.fn()")
code("fastmcp-no-method", f"{DESK}mcp.get_tools()")
code("fastmcp-elicit-modern", calls("return str(await ctx.elicit('Really?', response_type=bool))"))
code("fastmcp-elicit-default", calls("return str(await ctx.elicit('Really?'))", "legacy"))
code("fastmcp-context", calls("return str(await ctx.sample('Say it'))"))
code("fastmcp-state", calls("return ctx.get_state('a')['b']"))
code(
    "fastmcp-prompt",
    f"{DESK}import asyncio\nfrom mcp.types import PromptMessage, TextContent\n@mcp.prompt\ndef a() -> PromptMessage:\n"
    "    return PromptMessage(role='user', content=TextContent(type='text', text='a'))\n"
    "async def main():\n    async with Client(mcp) as client:\n        await client.get_prompt('a')\nasyncio.run(main())\n",
)
code(
    "fastmcp-sources",
    "from fastmcp.server.auth import MultiAuth\nfrom fastmcp.server.auth.providers.jwt import StaticTokenVerifier\n"
    "MultiAuth(verifiers=[StaticTokenVerifier(tokens={}), StaticTokenVerifier(tokens={})])",
)
code(
    "fastmcp-tasks",
    f"{DESK}import asyncio\n@mcp.tool(task=True)\nasync def a() -> str:\n    return ''\nasyncio.run(Client(mcp).__aenter__())",
)


# Installed


@shows("requirement-conflict")
def install_what_keeps_mcp_back() -> None:
    with tempfile.TemporaryDirectory() as folder:
        info = Path(folder, "desk_kit-1.0.dist-info")
        info.mkdir()
        info.joinpath("METADATA").write_text("Metadata-Version: 2.1\nName: desk-kit\nVersion: 1.0\nRequires-Dist: mcp<2\n")
        # Environments that uv made have no pip; the tests' own has.
        pip = [os.environ["PYTHON_WITH_PIP"], "-m", "pip", "--disable-pip-version-check", "--python", sys.executable, "check"]
        told = subprocess.run(pip, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": folder})
        print(told.stdout, told.stderr)


def print_all(error: BaseException) -> None:
    """An exception, and those inside of it."""
    print("".join(traceback.format_exception_only(type(error), error)).strip())
    for inner in getattr(error, "exceptions", ()):
        print_all(inner)


if __name__ == "__main__":
    for wanted in sys.argv[2:]:
        print(f"== {wanted}")
        try:
            SHOWN[wanted]()
        except BaseException as error:
            print_all(error)
