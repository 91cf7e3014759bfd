"""A client that wraps the URI it reads."""

import asyncio

from mcp.server.fastmcp import FastMCP
from mcp.shared.memory import create_connected_server_and_client_session
from pydantic import AnyUrl

mcp = FastMCP("x")


@mcp.resource("note://{name}")
def note(name: str) -> str:
    return f"about {name}"


async def main() -> None:
    async with create_connected_server_and_client_session(mcp) as session:
        result = await session.read_resource(AnyUrl("note://rain"))
        print(result.contents[0].text)
        for name in ("sun", "snow"):
            uri = AnyUrl(f"note://{name}")
            print((await session.read_resource(uri)).contents[0].text)


asyncio.run(main())
