"""Messages of a log, with their text by its name."""

import asyncio

from mcp.server.fastmcp import Context, FastMCP
from mcp.shared.memory import create_connected_server_and_client_session
from mcp.types import LoggingMessageNotificationParams

mcp = FastMCP("x")


@mcp.tool()
async def tell(ctx: Context) -> str:
    await ctx.info(message="plain")
    await ctx.log(level="warning", message="named", logger_name="store")
    return "told"


async def heard(params: LoggingMessageNotificationParams) -> None:
    print(params.level, params.data, params.logger)


async def main() -> None:
    async with create_connected_server_and_client_session(mcp, logging_callback=heard) as session:
        await session.call_tool("tell", {})


asyncio.run(main())
