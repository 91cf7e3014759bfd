"""A question that a session asks with a schema."""

import asyncio

from mcp.server.fastmcp import Context, FastMCP
from mcp.shared.memory import create_connected_server_and_client_session
from mcp.types import ElicitResult

SCHEMA = {"type": "object", "properties": {"size": {"type": "string"}}, "required": ["size"]}
mcp = FastMCP("x")


@mcp.tool()
async def order(ctx: Context) -> str:
    reply = await ctx.session.elicit_form(message="Which size?", requestedSchema=SCHEMA)
    return f"{reply.action} {reply.content}"


async def answer(context, params) -> ElicitResult:
    return ElicitResult(action="accept", content={"size": "m"})


async def main() -> None:
    async with create_connected_server_and_client_session(mcp, elicitation_callback=answer) as session:
        result = await session.call_tool("order", {})
        print(result.content[0].text)


asyncio.run(main())
