"""What tools do with their context. Written for 2."""

import asyncio

from fastmcp import Client, Context, FastMCP
from fastmcp.exceptions import McpError
from fastmcp.server.middleware import Middleware, MiddlewareContext
from mcp.types import ErrorData

mcp = FastMCP("contexts")


class Users(Middleware):
    async def on_call_tool(self, context: MiddlewareContext, call_next):
        context.fastmcp_context.set_state("user", {"name": "a"})
        return await call_next(context)


mcp.add_middleware(Users())


@mcp.resource("notes://all")
def notes() -> str:
    return "none"


@mcp.tool
async def who(ctx: Context) -> str:
    ctx.set_state("seen", 1)
    return ctx.get_state("user")["name"] + str(ctx.get_state("seen"))


@mcp.tool
async def read(ctx: Context) -> str:
    found = await ctx.read_resource("notes://all")
    return (await ctx.read_resource("notes://all"))[0].content + str([one.mime_type for one in found])


@mcp.tool
async def tell(ctx: Context) -> str:
    await ctx.send_tool_list_changed()
    return "told"


async def main() -> None:
    async with Client(mcp) as client:
        for name in ("who", "read", "tell"):
            print((await client.call_tool(name)).data)
    try:
        raise McpError(ErrorData(code=-32000, message="no"))
    except McpError as error:
        print(error.error.code, error.error.message)


asyncio.run(main())
