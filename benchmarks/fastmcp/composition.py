"""Servers that are mounted and stand before others. Written for 2, 3."""

import asyncio

from fastmcp import Client, FastMCP

main, child = FastMCP("main"), FastMCP("child")
proxy = FastMCP.as_proxy(backend=child, name="proxy")


@child.tool
def add(a: int, b: int) -> int:
    return a + b


main.mount(child, prefix="inner", as_proxy=False)
main.mount(proxy, "outer")


async def run() -> None:
    async with Client(main) as client:
        print(sorted(tool.name for tool in await client.list_tools()))
        print((await client.call_tool("inner_add", {"a": 1, "b": 2})).data, (await client.call_tool("outer_add", {"a": 3, "b": 4})).data)


asyncio.run(run())
