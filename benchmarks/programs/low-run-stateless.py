"""A low-level server that is run over streams of one's own."""

import asyncio

import anyio
from mcp import ClientSession
from mcp.server import Server
from mcp.shared.memory import create_client_server_memory_streams
from mcp.types import Tool

server = Server("x", version="1.0")


@server.list_tools()
async def tools() -> list[Tool]:
    return [Tool(name="t", inputSchema={"type": "object"})]


async def main() -> None:
    async with create_client_server_memory_streams() as (ours, theirs), anyio.create_task_group() as group:

        async def serve() -> None:
            await server.run(*theirs, server.create_initialization_options(), stateless=False)

        group.start_soon(serve)
        async with ClientSession(*ours) as session:
            await session.initialize()
            print([tool.name for tool in (await session.list_tools()).tools])
        group.cancel_scope.cancel()


asyncio.run(main())
