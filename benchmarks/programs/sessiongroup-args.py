"""A group of sessions that calls a tool with the older name of its arguments."""

import asyncio
import sys

from mcp import StdioServerParameters
from mcp.client.session_group import ClientSessionGroup


async def main() -> None:
    async with ClientSessionGroup() as group:
        await group.connect_to_server(StdioServerParameters(command=sys.executable, args=[sys.argv[1]]))
        result = await group.call_tool("add", args={"a": 1, "b": 2})
        print(result.content[0].text)


asyncio.run(main())
