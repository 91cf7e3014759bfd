"""Clients say the same before and after: under version 1, and fixed under version 2, to one server over Streamable HTTP."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import sdk
from mcp_migrate import catalog, engine
from mcp_migrate.project import Project, read
from mcp_migrate.source import Source

SERVER = """
import sys
from mcp.server.mcpserver import Context, MCPServer
from mcp.types import SamplingMessage, TextContent

mcp = MCPServer("sums", version="1.2")

@mcp.tool()
def add(a: int, b: int) -> int:
    return a + b

@mcp.tool()
def told(ctx: Context) -> str:
    return (ctx.headers or {}).get("x-who", "nobody")

@mcp.tool()
async def asked(ctx: Context) -> str:
    message = SamplingMessage(role="user", content=TextContent(type="text", text="well?"))
    return (await ctx.session.create_message([message], max_tokens=5)).content.text

mcp.run(transport="streamable-http", port=int(sys.argv[1]))
"""
HEAD = """
import asyncio, sys
from contextlib import AsyncExitStack
from datetime import timedelta
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client

URL = sys.argv[1]
"""
CLIENTS = {
    "one with": """
async def main() -> None:
    async with streamablehttp_client(URL, headers={"x-who": "me"}, timeout=7) as (read, write, _):
        async with ClientSession(read, write, read_timeout_seconds=timedelta(seconds=20)) as session:
            ready = await session.initialize()
            print(ready.serverInfo.name, ready.protocolVersion, session.get_server_capabilities().tools is not None)
            print((await session.call_tool("told", {}, timedelta(minutes=1))).content[0].text)
""",
    "stack": """
class Client:
    def __init__(self) -> None:
        self.stack = AsyncExitStack()

    async def open(self, headers: dict[str, str]) -> ClientSession:
        read, write, _ = await self.stack.enter_async_context(streamablehttp_client(URL, headers))
        session = await self.stack.enter_async_context(ClientSession(read, write))
        await session.initialize()
        return session


async def main() -> None:
    client = Client()
    async with client.stack:
        session = await client.open({"x-who": "stack"})
        found = await session.list_tools(cursor=None)
        print(sorted(tool.name for tool in found.tools), found.nextCursor, [tool.inputSchema["type"] for tool in found.tools])
        result = await session.call_tool("add", {"a": 1, "b": "x"})
        print(result.isError)
        print((await session.call_tool("told", {})).content[0].text)
""",
    "streams": """
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCMessage, JSONRPCRequest, JSONRPCResponse


async def main() -> None:
    async with streamablehttp_client(URL) as (read, write, _):
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
        await write.send(SessionMessage(JSONRPCMessage(JSONRPCRequest(jsonrpc="2.0", id=1, method="initialize", params=params))))
        async for message in read:
            if isinstance(message, Exception):
                raise message
            if isinstance(message.message.root, JSONRPCResponse):
                print(message.message.root.result["serverInfo"]["name"])
                break
""",
    "own session": """
from mcp.shared.session import BaseSession, RequestResponder
from mcp.types import (
    LATEST_PROTOCOL_VERSION, CallToolRequest, CallToolRequestParams, CallToolResult, ClientCapabilities, ClientNotification,
    ClientRequest, ClientResult, CreateMessageRequest, CreateMessageResult, Implementation, InitializedNotification, InitializeRequest,
    InitializeRequestParams, InitializeResult, SamplingCapability, ServerNotification, ServerRequest, TextContent,
)
from mcp.shared.exceptions import McpError


class Session(BaseSession[ClientRequest, ClientNotification, ClientResult, ServerRequest, ServerNotification]):
    def __init__(self, read, write) -> None:
        super().__init__(read, write, ServerRequest, ServerNotification, read_timeout_seconds=timedelta(seconds=20))

    async def initialize(self) -> InitializeResult:
        params = InitializeRequestParams(
            protocolVersion=LATEST_PROTOCOL_VERSION,
            capabilities=ClientCapabilities(sampling=SamplingCapability()),
            clientInfo=Implementation(name="own", version="1"),
        )
        ready = await self.send_request(ClientRequest(InitializeRequest(method="initialize", params=params)), InitializeResult)
        await self.send_notification(ClientNotification(InitializedNotification(method="notifications/initialized")))
        return ready

    async def call(self, name: str, arguments: dict) -> CallToolResult:
        params = CallToolRequestParams(name=name, arguments=arguments)
        return await self.send_request(ClientRequest(CallToolRequest(method="tools/call", params=params)), CallToolResult)

    async def _received_request(self, responder: RequestResponder[ServerRequest, ClientResult]) -> None:
        if isinstance(responder.request.root, CreateMessageRequest):
            text = responder.request.root.params.messages[0].content.text
            answer = CreateMessageResult(role="assistant", content=TextContent(type="text", text=f"{text} yes"), model="m")
            with responder:
                await responder.respond(ClientResult(answer))


async def main() -> None:
    async with streamablehttp_client(URL) as (read, write, _), Session(read, write) as session:
        ready = await session.initialize()
        print(ready.serverInfo.name, ready.protocolVersion)
        result = await session.call("add", {"a": 1, "b": 2})
        print(result.isError, result.structuredContent)
        print((await session.call("asked", {})).content[0].text)
        try:
            await session.send_request(ClientRequest(CallToolRequest(method="tools/call", params=CallToolRequestParams(name=""))), InitializeResult)
        except Exception as error:
            print(isinstance(error, McpError))
""",
    "handed on": """
def transport(**options):
    return streamablehttp_client(URL, **options)


async def main() -> None:
    async with transport(headers={"x-who": "us"}, timeout=timedelta(seconds=9)) as (read, write, get_session_id):
        async with ClientSession(read, write) as session:
            await session.initialize()
            print(get_session_id() is not None)
            print((await session.call_tool("told", {})).content[0].text)
""",
}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path = tmp_path_factory.mktemp("server") / "server.py"
    path.write_text(SERVER, encoding="utf-8")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen([sdk.python(2), path, str(port)], stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(10)


@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_says_what_it_said(name: str, url: str, tmp_path: Path) -> None:
    text = f"{HEAD}{CLIENTS[name]}\n\nasyncio.run(main())\n"
    project = Project.link([read(Source("client.py", text))])
    done = engine.fix(project, catalog.load(), select=["mcp2"])
    assert done.dropped == ()
    for path, new in {**done.texts, **done.created}.items():
        (tmp_path / path).write_text(new, encoding="utf-8")
    (tmp_path / "before.py").write_text(text, encoding="utf-8")
    before, after = said(1, tmp_path / "before.py", url), said(2, tmp_path / "client.py", url)
    assert before
    assert after == before


def said(major: int, path: Path, url: str) -> str:
    done = subprocess.run(
        [sdk.python(major), path, url], capture_output=True, text=True, timeout=120, env={**os.environ, "PYTHONWARNINGS": "ignore"}
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
