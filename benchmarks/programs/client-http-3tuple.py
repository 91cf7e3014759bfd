"""A client over HTTP that unpacks three values, in a block and on a stack."""

import asyncio
import socket
from contextlib import AsyncExitStack

import uvicorn
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")


@mcp.tool()
def add(a: int, b: int) -> int:
    return a + b


async def main() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(mcp.streamable_http_app(), port=port, log_level="error"))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.05)
    url = f"http://127.0.0.1:{port}/mcp"
    async with streamable_http_client(url) as (read, write, _), ClientSession(read, write) as session:
        await session.initialize()
        print((await session.call_tool("add", {"a": 1, "b": 2})).content[0].text)
    async with AsyncExitStack() as stack:
        read, write, _ = await stack.enter_async_context(streamable_http_client(url))
        session = await stack.enter_async_context(ClientSession(read, write))
        await session.initialize()
        print([tool.name for tool in (await session.list_tools()).tools])
    server.should_exit = True
    await serving


asyncio.run(main())
