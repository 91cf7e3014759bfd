"""Decorated functions as components, and components by name. Written for 2."""

import asyncio

from fastmcp import Client, FastMCP
from mcp.types import PromptMessage, TextContent

mcp = FastMCP("components")


@mcp.tool(enabled=True)
def add(a: int, b: int) -> int:
    return a + b


@mcp.tool(tags={"math"})
def twice(a: int) -> int:
    return add.fn(a, a)


@mcp.resource("notes://all")
async def notes() -> str:
    return "none"


@mcp.prompt
def hello(name: str) -> list[PromptMessage]:
    return [PromptMessage(role="assistant", content=TextContent(type="text", text=name))]


async def main() -> None:
    tools = await mcp.get_tools()
    print(sorted(tools), tools["add"].name, len(await mcp.get_prompts()), sorted(await mcp.get_resources()))
    print(add.fn(1, 2), twice.fn(2), await notes.fn(), (await mcp.get_tool(key="add")).name)
    async with Client(mcp) as client:
        message = (await client.get_prompt("hello", {"name": "you"})).messages[0]
        print(message.role, message.content.text)
        print([tool.meta["_fastmcp"]["tags"] for tool in await client.list_tools()])
        print([(tool.name, tool.inputSchema["required"]) for tool in await client.list_tools()])


asyncio.run(main())
