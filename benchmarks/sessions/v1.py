"""A session of the client of `mcp` 1.x: a job (JSON) on stdin, the answers (JSON) on stdout. Runs where that SDK is installed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from asking import PATIENCE, START, Client, content, dump, main
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from pydantic import AnyUrl


class Session:
    """One session, and the questions to it."""

    def __init__(self, session: ClientSession, opened: types.InitializeResult) -> None:
        self.session, self.opened = session, opened

    async def server(self) -> dict[str, Any]:
        told = dump(self.opened)
        return {"info": told["serverInfo"], "instructions": told.get("instructions"), "capabilities": told["capabilities"]}

    async def list(self, what: str) -> dict[str, Any]:
        ask = {
            "tools": self.session.list_tools,
            "resources": self.session.list_resources,
            "templates": self.session.list_resource_templates,
            "prompts": self.session.list_prompts,
        }
        return dump(await ask[what]())

    async def call(self, name: str, arguments: dict[str, Any] | None) -> dict[str, Any]:
        return dump(await self.session.call_tool(name, arguments))

    async def read(self, uri: str) -> dict[str, Any]:
        return dump(await self.session.read_resource(AnyUrl(uri)))

    async def prompt(self, name: str, arguments: dict[str, str] | None) -> dict[str, Any]:
        return dump(await self.session.get_prompt(name, arguments))


async def elicit(context: Any, params: Any) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content=content(getattr(params, "requestedSchema", None) or {}))


async def sample(context: Any, params: Any) -> types.CreateMessageResult:
    return types.CreateMessageResult(role="assistant", model="m", content=types.TextContent(type="text", text="sampled"))


async def roots(context: Any) -> types.ListRootsResult:
    return types.ListRootsResult(roots=[])


async def talk(job: dict[str, Any], ask: Callable[[Client], Awaitable[None]]) -> None:
    if "url" in job:
        transport: Any = sse_client(job["url"]) if job.get("sse") else streamablehttp_client(job["url"])
    else:
        command, *rest = job["argv"]
        transport = stdio_client(StdioServerParameters(command=command, args=rest, env=job["env"], cwd=job["cwd"]))
    callbacks: dict[str, Any] = {"elicitation_callback": elicit, "sampling_callback": sample, "list_roots_callback": roots}
    async with transport as (read, write, *_), ClientSession(read, write, timedelta(seconds=START), **callbacks) as session:
        opened = await session.initialize()
        session._session_read_timeout_seconds = timedelta(seconds=PATIENCE)
        await ask(Session(session, opened))


if __name__ == "__main__":
    main(talk)
