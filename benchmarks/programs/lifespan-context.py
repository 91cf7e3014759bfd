"""A tool that reads what the lifespan yields, through a context that does not name its class."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from mcp.server.fastmcp import Context, FastMCP
from mcp.shared.memory import create_connected_server_and_client_session


@dataclass
class App:
    rows: list[str]


@asynccontextmanager
async def lifespan(server: FastMCP) -> AsyncIterator[App]:
    yield App(["a", "b", "a"])


mcp = FastMCP("x", lifespan=lifespan)


@mcp.tool()
def count(word: str, ctx: Context = None) -> int:
    return ctx.request_context.lifespan_context.rows.count(word)


async def main() -> None:
    async with create_connected_server_and_client_session(mcp._mcp_server) as session:
        tools = await session.list_tools()
        print(sorted(tools.tools[0].inputSchema["properties"]))
        result = await session.call_tool("count", {"word": "a"})
        print(result.content[0].text)


asyncio.run(main())
