"""A client that looks at what the server can do."""

import asyncio

from mcp.server.fastmcp import FastMCP
from mcp.shared.memory import create_connected_server_and_client_session

mcp = FastMCP("x")


async def main() -> None:
    async with create_connected_server_and_client_session(mcp) as session:
        capabilities = session.get_server_capabilities()
        print(capabilities is not None and capabilities.tools is not None)


asyncio.run(main())
