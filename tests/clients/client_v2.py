"""Sessions of the client of `mcp` 2.x: one job (JSON) per line on stdin, one report (JSON) per line on stdout.

Runs inside the environment that holds that SDK. It reports what happened and judges nothing.
"""

from __future__ import annotations

import asyncio
import json
import sys
import warnings
from typing import Any

import mcp_types as types
from mcp import Client, MCPDeprecationWarning, StdioServerParameters
from mcp.shared.exceptions import MCPError

LEGACY = "legacy"


class Talk:
    """One session and what it has seen."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.job = job
        self.asked: list[str] = []
        self.logs: list[Any] = []
        self.report: dict[str, Any] = {"asked": self.asked, "logs": self.logs}

    async def elicit(self, context: Any, params: Any) -> types.ElicitResult:
        self.asked.append("elicitation/create")
        fields = (params.requested_schema or {}).get("properties", {})
        return types.ElicitResult(action="accept", content={name: True for name, f in fields.items() if f.get("type") == "boolean"})

    async def sample(self, context: Any, params: Any) -> types.CreateMessageResult:
        self.asked.append("sampling/createMessage")
        content = types.TextContent(type="text", text="sampled text")
        return types.CreateMessageResult(role="assistant", model="test", content=content)

    async def roots(self, context: Any) -> types.ListRootsResult:
        self.asked.append("roots/list")
        return types.ListRootsResult(roots=[types.Root(uri="file:///srv")])

    async def log(self, params: Any) -> None:
        self.logs.append(params.data)

    async def run(self) -> dict[str, Any]:
        job = self.job
        client = Client(
            target(job),
            mode=job["mode"],
            log_level=job.get("log_level"),
            logging_callback=self.log,
            elicitation_callback=self.elicit,
            sampling_callback=self.sample,
            list_roots_callback=self.roots,
            read_timeout_seconds=10,
            cache=None,
        )
        async with client:
            await self.talk(client)
        return self.report

    async def talk(self, client: Client) -> None:
        job, report = self.job, self.report
        legacy = job["mode"] == LEGACY
        report["version"] = client.protocol_version
        report["server"] = client.server_info.name if client.server_info else None
        report["capabilities"] = client.server_capabilities.model_dump(by_alias=True, exclude_none=True)
        report["instructions"] = client.instructions
        if legacy:
            await client.send_ping()
        report["tools"] = [tool.name for tool in (await client.list_tools()).tools]
        report["calls"] = [await outcome(client.call_tool(call["name"], call["args"])) for call in job.get("calls", [])]
        report["resources"] = [str(r.uri) for r in (await client.list_resources()).resources] if job.get("reads") else []
        report["reads"] = {uri: await outcome(client.read_resource(uri)) for uri in job.get("reads", [])}
        report["missing"] = await outcome(client.read_resource(job["missing"])) if job.get("missing") else None
        report["prompts"] = [p.name for p in (await client.list_prompts()).prompts] if job.get("prompts") else []
        report["gets"] = {name: await outcome(client.get_prompt(name, args)) for name, args in job.get("prompts", {}).items()}
        if legacy and "url" in job and job.get("notify"):
            await self.settled()
        if not legacy:
            report["events"] = [await self.event(client, call) for call in job.get("notify", [])]

    async def settled(self) -> None:
        """Over HTTP notifications come on a way of their own: wait until none does any more."""
        seen = -1
        while seen < len(self.logs):
            seen = len(self.logs)
            await asyncio.sleep(0.3)

    async def event(self, client: Client, call: dict[str, Any]) -> Any:
        """What an open listen stream brings first after a tool call."""
        method, _, uri = call["expect"].partition(" ")
        kind = method.removeprefix("notifications/").replace("/", "_")
        wanted = {"resource_subscriptions": [uri]} if uri else {kind: True}
        async with client.listen(**wanted) as stream:
            await client.call_tool(call["name"], call["args"])
            async for event in stream:
                return [type(event).__name__, getattr(event, "uri", None)]


def target(job: dict[str, Any]) -> Any:
    if "url" in job:
        return job["url"]
    return StdioServerParameters(command=job["command"][0], args=job["command"][1:], cwd=job["cwd"], env=job["env"])


async def outcome(request: Any) -> Any:
    """The text of an answer, or the code of an error."""
    try:
        result = await request
    except MCPError as exc:
        return exc.error.code
    parts = result.model_dump(by_alias=True, exclude_none=True)
    blocks = parts.get("contents") or parts.get("content") or [m["content"] for m in parts.get("messages", [])]
    return "\n".join(block.get("text", "") for block in blocks)


async def serve() -> None:
    while line := await asyncio.to_thread(sys.stdin.readline):
        talk = Talk(json.loads(line))
        try:
            report = await asyncio.wait_for(talk.run(), 30)
        except BaseException as exc:  # an ExceptionGroup may hold a cancellation
            if isinstance(exc, (KeyboardInterrupt, SystemExit)):
                raise
            report = {**talk.report, "trouble": why(exc)}
        print(json.dumps(report), flush=True)


def why(exc: BaseException) -> str:
    while getattr(exc, "exceptions", None):
        exc = exc.exceptions[0]  # type: ignore[attr-defined]
    return f"{type(exc).__name__}: {exc}"


if __name__ == "__main__":
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    asyncio.run(serve())
