"""Low-level servers in the shapes that programs have: on `self`, derived, made by a function, with tables and a context variable."""

import asyncio
import functools
import sys
from typing import Any

from mcp import types
from mcp.server import Server
from mcp.server.lowlevel.server import request_ctx
from mcp.server.stdio import stdio_server


def text(words: object) -> list[types.TextContent]:
    return [types.TextContent(type="text", text=str(words))]


def caller() -> str:
    try:
        return "asked" if request_ctx.get().request_id is not None else "?"
    except LookupError:
        return "nobody"


def counted(function):
    @functools.wraps(function)
    async def inner(*args):
        inner.calls += 1
        return await function(*args)

    inner.calls = 0
    return inner


class OnSelf:
    def __init__(self) -> None:
        self.server = Server("on self", "1")
        self.names = ["a", "b"]
        self._register()

    def _register(self) -> None:
        @self.server.list_tools()
        async def tools() -> list[types.Tool]:
            return [types.Tool(name=name, inputSchema={"type": "object", "required": ["x"]}) for name in self.names]

        @self.server.call_tool(validate_input=False)
        @counted
        async def call(name: str, arguments: dict[str, Any]) -> list[types.TextContent]:
            return text([name, arguments, caller(), call.calls])


class Derived(Server[Any, Any]):
    def __init__(self) -> None:
        super().__init__("derived", "2", "be brief")
        self.list_tools()(self.tools)
        self.call_tool()(self.call)
        self.get_prompt()(self.prompt)

    async def tools(self, request: types.ListToolsRequest) -> types.ListToolsResult:
        if request is not None and request.params is not None and request.params.cursor:
            return types.ListToolsResult(tools=[types.Tool(name="later", inputSchema={"type": "object"})])
        first = types.Tool(name="first", inputSchema={"type": "object", "properties": {"x": {"type": "string"}}})
        return types.ListToolsResult(tools=[first], nextCursor="more")

    async def call(self, name: str, arguments: dict):
        if arguments.get("x") == "leave":
            raise KeyError("x")
        return {"name": name, "who": type(self.request_context.session).__name__}

    async def prompt(self, name, arguments):
        return types.GetPromptResult(messages=[])


def tables() -> Server:
    app = Server("tables", version="3")

    async def tools(_: types.ListToolsRequest) -> types.ServerResult:
        return types.ServerResult(types.ListToolsResult(tools=[types.Tool(name="t", inputSchema={"type": "object"})]))

    async def call(asked: types.CallToolRequest) -> types.ServerResult:
        if asked.params.name != "t":
            raise ValueError("Unknown tool")
        return types.ServerResult(types.CallToolResult(content=text([asked.params.arguments, caller()])))

    app.request_handlers[types.ListToolsRequest] = tools
    app.request_handlers[types.CallToolRequest] = call
    assert types.CallToolRequest in app.request_handlers
    assert types.CompleteRequest not in app.request_handlers
    return app


async def main(server: Server) -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options(), raise_exceptions=False)


if __name__ == "__main__":
    assert caller() == "nobody"
    made = {"self": lambda: OnSelf().server, "derived": Derived, "tables": tables}
    asyncio.run(main(made[sys.argv[1]]()))
