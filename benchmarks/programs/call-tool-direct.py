"""Tests that call tools of a server directly: by places, and by names."""

import asyncio

from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")


@mcp.tool()
def add(a: int) -> int:
    return a


async def main() -> None:
    result = await mcp.call_tool("add", {"a": 2})
    print(result[0][0].text, result[1])
    content, structured = await mcp.call_tool("add", {"a": 3})
    print(content[0].text, structured["result"])


asyncio.run(main())
