"""A helper that asks for the request in hand, on a server of the higher level."""

import asyncio

from mcp.server.fastmcp import FastMCP
from mcp.server.lowlevel.server import request_ctx
from mcp.shared.memory import create_connected_server_and_client_session

mcp = FastMCP("x")


def caller() -> str:
    try:
        return type(request_ctx.get().request_id).__name__
    except LookupError:
        return "nobody"


@mcp.tool()
async def who() -> str:
    return caller()


async def main() -> None:
    print(caller())
    async with create_connected_server_and_client_session(mcp) as session:
        result = await session.call_tool("who", {})
        print(result.content[0].text)


asyncio.run(main())
