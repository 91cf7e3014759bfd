"""Parameters that are for tests alone. Written for 2, 3."""

import asyncio
from typing import Any

from fastmcp import Client, Context, FastMCP

mcp = FastMCP("left out")


class Store:
    name = "store"


@mcp.tool(exclude_args=["store", "unit"])
async def count(ctx: Context, number: int = 1, store: Any | None = None, *, unit: str = "each") -> str:
    """Counts what is there."""
    return f"{number} {unit} {store.name if store else store}"


@mcp.tool(exclude_args=("depth",))
def walk(depth: int = -1) -> int:
    return depth


async def main() -> None:
    async with Client(mcp) as client:
        print([(tool.name, sorted(tool.inputSchema["properties"])) for tool in await client.list_tools()])
        print((await client.call_tool("count", {"number": 2})).data, (await client.call_tool("count")).data)
        print((await client.call_tool("walk")).data)
    function = (await mcp.get_tool("count")).fn
    print(await function(None), await function(None, 3, Store(), unit="none"))


asyncio.run(main())
