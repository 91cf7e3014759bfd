"""Components that are copied, turned and taken away. Written for 2, 3. Unsafe."""

import asyncio

from fastmcp import Client, FastMCP
from fastmcp.tools.tool_transform import ToolTransformConfig

main, child = FastMCP("main"), FastMCP("child")


@child.tool
def add(a: int, b: int) -> int:
    return a + b


@main.tool
def gone() -> int:
    return 1


@main.tool
def old(a: int) -> int:
    return a


async def run() -> None:
    await main.import_server(child, prefix="inner")
    main.remove_tool("gone")
    main.add_tool_transformation("old", ToolTransformConfig(name="new"))
    async with Client(main) as client:
        print(sorted(tool.name for tool in await client.list_tools()))
        print((await client.call_tool("inner_add", {"a": 1, "b": 2})).data, (await client.call_tool("new", {"a": 3})).data)


asyncio.run(run())
