"""A small stdio server for snippets of clients, on either major of the SDK: it adds, and it is slow."""

import asyncio

try:
    from mcp.server.mcpserver import MCPServer as Server
except ImportError:
    from mcp.server.fastmcp import FastMCP as Server

server = Server("srv")


@server.tool()
def add(a: int, b: int) -> int:
    return a + b


@server.tool()
async def slow() -> str:
    await asyncio.sleep(5)
    return "done"


if __name__ == "__main__":
    server.run()
