"""Names of modules that have moved. Written for 2, 3."""

import asyncio

from fastmcp import Client, FastMCP
from fastmcp.prompts.prompt import Message, Prompt
from fastmcp.resources.resource import FunctionResource
from fastmcp.server.openapi import MCPType, RouteMap
from fastmcp.server.proxy import FastMCPProxy, ProxyClient
from fastmcp.tools.tool import FunctionTool, Tool, ToolResult

mcp = FastMCP("names")


@mcp.tool
def add(a: int, b: int) -> ToolResult:
    return ToolResult(content=str(a + b))


@mcp.prompt
def hello(name: str) -> list[Message]:
    return [Message(f"hello {name}")]


async def main() -> None:
    proxy = FastMCPProxy(client_factory=lambda: ProxyClient(mcp), name="proxy")
    async with Client(proxy) as client:
        print((await client.call_tool("add", {"a": 1, "b": 2})).content[0].text)
        print((await client.get_prompt("hello", {"name": "you"})).messages[0].content.text)
    print(issubclass(FunctionTool, Tool), Prompt.__name__, FunctionResource.__name__, RouteMap(mcp_type=MCPType.TOOL).mcp_type.value)


asyncio.run(main())
