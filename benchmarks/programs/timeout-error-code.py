"""A client that tells a call that took too long from one that failed."""

import asyncio
from datetime import timedelta

from mcp import McpError
from mcp.server.fastmcp import FastMCP
from mcp.shared.memory import create_connected_server_and_client_session

mcp = FastMCP("x")


@mcp.tool()
async def slow() -> str:
    await asyncio.sleep(30)
    return "done"


async def main() -> None:
    async with create_connected_server_and_client_session(mcp) as session:
        try:
            await session.call_tool("slow", {}, read_timeout_seconds=timedelta(seconds=0.2))
        except McpError as error:
            print("too slow" if error.error.code == 408 else "failed")


asyncio.run(main())
