"""Components that are not for all. Written for 2."""

import asyncio
import os

from fastmcp import Client, FastMCP

HIDDEN = {"secret"}
writes: bool = not os.environ.get("READ_ONLY", "1")
prefix = "notes_"
mcp = FastMCP(
    "hidden",
    include_tags={"public", "shared"},  # all that others may see
    exclude_tags=["internal"],
)
other: FastMCP = FastMCP("other", exclude_tags=HIDDEN, include_tags=None)
main = FastMCP("main", exclude_tags={"internal"})


@mcp.tool(tags={"public"}, enabled=False)
def retired() -> str:
    return ""


@mcp.tool(tags={"public"})
def shown() -> str:
    return "shown"


@mcp.tool(tags={"shared", "internal"})
def inner() -> str:
    return ""


@mcp.tool
def untagged() -> str:
    return ""


@mcp.resource("notes://old", tags={"public"}, enabled=False)
def old() -> str:
    return ""


@mcp.resource("notes://{name}/old", tags={"public"}, enabled=False)
def old_of(name: str) -> str:
    return name


@mcp.resource("notes://new", tags={"public"})
def new() -> str:
    return "new"


@mcp.prompt("greet", tags={"public"}, enabled=False)
def greeting() -> str:
    return "hello"


def register(server: FastMCP, allowed: bool) -> None:
    @server.tool(name=prefix + "write", enabled=allowed)
    def write() -> str:
        return "written"

    @server.tool(enabled=writes)
    def erase() -> str:
        return "erased"


@other.tool(tags={"secret"})
def secret() -> str:
    return ""


@other.tool(tags={"internal"})
def plain() -> str:
    return ""


register(other, True)
main.mount(other, prefix="other")


async def main_() -> None:
    for server in (mcp, other, main):
        async with Client(server) as client:
            print(sorted(tool.name for tool in await client.list_tools()))
            print(sorted(str(one.uri) for one in await client.list_resources()))
            print([one.uriTemplate for one in await client.list_resource_templates()], [one.name for one in await client.list_prompts()])
            for name in ("retired", "shown", "inner", "untagged", "secret", "plain", "erase", "notes_write", "other_secret", "other_plain"):
                result = await client.call_tool(name, raise_on_error=False)
                print(name, result.is_error)


asyncio.run(main_())
