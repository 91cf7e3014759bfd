"""Timeouts as time differences: in a call, by a name, and out of a computation."""

import asyncio
from datetime import timedelta

from mcp import McpError
from mcp.server.fastmcp import FastMCP
from mcp.shared.memory import create_connected_server_and_client_session

SOON = timedelta(milliseconds=200)
mcp = FastMCP("x")


@mcp.tool()
async def slow() -> str:
    await asyncio.sleep(30)
    return "done"


@mcp.tool()
async def quick() -> str:
    return "done"


async def main() -> None:
    async with create_connected_server_and_client_session(mcp, read_timeout_seconds=timedelta(minutes=1)) as session:
        print((await session.call_tool("quick", {}, read_timeout_seconds=SOON * 50)).content[0].text)
        for patience in (SOON, SOON / 2):
            try:
                await session.call_tool("slow", {}, read_timeout_seconds=patience)
            except McpError:
                print("too slow")


asyncio.run(main())
