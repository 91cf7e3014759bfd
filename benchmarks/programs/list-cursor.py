"""A client that turns pages."""

import asyncio

from mcp.server import Server
from mcp.shared.memory import create_connected_server_and_client_session
from mcp.types import ListToolsRequest, ListToolsResult, Tool

server = Server("x", version="1.0")
NAMES = ["a", "b", "c", "d", "e"]


@server.list_tools()
async def tools(request: ListToolsRequest) -> ListToolsResult:
    start = int(request.params.cursor) if request.params and request.params.cursor else 0
    page = [Tool(name=name, inputSchema={"type": "object"}) for name in NAMES[start : start + 2]]
    return ListToolsResult(tools=page, nextCursor=str(start + 2) if start + 2 < len(NAMES) else None)


async def main() -> None:
    async with create_connected_server_and_client_session(server) as session:
        cursor, names = None, []
        while True:
            page = await session.list_tools(cursor=cursor)
            names += [tool.name for tool in page.tools]
            cursor = page.nextCursor
            if cursor is None:
                break
        print(names)
        print([tool.name for tool in (await session.list_tools("4")).tools])


asyncio.run(main())
