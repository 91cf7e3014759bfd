"""A session of the client of `mcp` 2.x, in the mode of the job: a job (JSON) on stdin, the answers (JSON) on stdout."""

from __future__ import annotations

import warnings
from collections.abc import Awaitable, Callable
from typing import Any

from asking import START, content, dump, main
from asking import Client as Asked
from mcp import Client, StdioServerParameters, types
from mcp.client.sse import sse_client


class Session:
    """One session, and the questions to it."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def server(self) -> dict[str, Any]:
        info = self.client.server_info
        return {
            "info": dump(info) if info else {},
            "instructions": self.client.instructions,
            "version": self.client.protocol_version,
            "capabilities": dump(self.client.server_capabilities),
        }

    async def list(self, what: str) -> dict[str, Any]:
        ask = {
            "tools": self.client.list_tools,
            "resources": self.client.list_resources,
            "templates": self.client.list_resource_templates,
            "prompts": self.client.list_prompts,
        }
        return dump(await ask[what]())

    async def call(self, name: str, arguments: dict[str, Any] | None) -> dict[str, Any]:
        return dump(await self.client.call_tool(name, arguments))

    async def read(self, uri: str) -> dict[str, Any]:
        return dump(await self.client.read_resource(uri))

    async def prompt(self, name: str, arguments: dict[str, str] | None) -> dict[str, Any]:
        return dump(await self.client.get_prompt(name, arguments))


async def elicit(context: Any, params: Any) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content=content(getattr(params, "requested_schema", None) or {}))


async def sample(context: Any, params: Any) -> types.CreateMessageResult:
    return types.CreateMessageResult(role="assistant", model="m", content=types.TextContent(type="text", text="sampled"))


async def roots(context: Any) -> types.ListRootsResult:
    return types.ListRootsResult(roots=[])


async def talk(job: dict[str, Any], ask: Callable[[Asked], Awaitable[None]]) -> None:
    if "url" in job:
        target: Any = sse_client(job["url"]) if job.get("sse") else job["url"]
    else:
        command, *rest = job["argv"]
        target = StdioServerParameters(command=command, args=rest, env=job["env"], cwd=job["cwd"])
    callbacks: dict[str, Any] = {"elicitation_callback": elicit, "sampling_callback": sample, "list_roots_callback": roots}
    async with Client(target, mode=job["mode"], read_timeout_seconds=START, cache=None, **callbacks) as client:
        await ask(Session(client))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(talk)
