"""Sessions of the client of `mcp` 1.x: one job (JSON) per line on stdin, one report (JSON) per line on stdout.

Runs inside the environment that holds that SDK. It reports what happened and judges nothing.
"""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Any

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import McpError


class Talk:
    """One session and what it has seen."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.job = job
        self.asked: list[str] = []
        self.logs: list[Any] = []
        self.events: list[Any] = []
        self.report: dict[str, Any] = {"asked": self.asked, "logs": self.logs, "events": self.events}

    async def elicit(self, context: Any, params: Any) -> types.ElicitResult:
        self.asked.append("elicitation/create")
        fields = (params.requestedSchema or {}).get("properties", {})
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

    async def seen(self, message: Any) -> None:
        root = getattr(message, "root", None)
        if isinstance(root, (types.ResourceListChangedNotification, types.ResourceUpdatedNotification)):
            uri = getattr(root.params, "uri", None)
            self.events.append(f"{root.method} {uri}" if uri else root.method)

    async def run(self) -> dict[str, Any]:
        async with (
            transport(self.job) as (read, write, *_),
            ClientSession(
                read,
                write,
                logging_callback=self.log,
                message_handler=self.seen,
                read_timeout_seconds=timedelta(seconds=10),
                elicitation_callback=self.elicit,
                sampling_callback=self.sample,
                list_roots_callback=self.roots,
            ) as session,
        ):
            await self.talk(session)
        return self.report

    async def talk(self, session: ClientSession) -> None:
        job, report = self.job, self.report
        hello = await session.initialize()
        report["version"] = hello.protocolVersion
        report["server"] = hello.serverInfo.name
        report["capabilities"] = hello.capabilities.model_dump(by_alias=True, exclude_none=True)
        report["instructions"] = hello.instructions
        await session.send_ping()
        if job.get("log_level"):
            await session.set_logging_level(job["log_level"])
        report["tools"] = [tool.name for tool in (await session.list_tools()).tools]
        report["calls"] = [await outcome(session.call_tool(call["name"], call["args"])) for call in job.get("calls", [])]
        report["resources"] = [str(r.uri) for r in (await session.list_resources()).resources] if job.get("reads") else []
        report["reads"] = {uri: await outcome(session.read_resource(uri)) for uri in job.get("reads", [])}
        report["missing"] = await outcome(session.read_resource(job["missing"])) if job.get("missing") else None
        report["prompts"] = [p.name for p in (await session.list_prompts()).prompts] if job.get("prompts") else []
        report["gets"] = {name: await outcome(session.get_prompt(name, args)) for name, args in job.get("prompts", {}).items()}
        self.events.clear()
        for call in job.get("notify", []):
            uri = call["expect"].partition(" ")[2]
            if uri:
                await session.subscribe_resource(uri)
            await session.call_tool(call["name"], call["args"])
            if uri:
                await session.unsubscribe_resource(uri)
                await session.call_tool(call["name"], call["args"])
        await session.send_ping()  # everything that was on its way has arrived
        if "url" in job and job.get("notify"):
            await self.settled()

    async def settled(self) -> None:
        """Over HTTP notifications come on a way of their own: wait until none does any more."""
        seen = -1
        while seen < len(self.events) + len(self.logs):
            seen = len(self.events) + len(self.logs)
            await asyncio.sleep(0.3)


def transport(job: dict[str, Any]) -> AbstractAsyncContextManager[Any]:
    if "url" in job:
        return streamable_http_client(job["url"])
    return stdio_client(StdioServerParameters(command=job["command"][0], args=job["command"][1:], cwd=job["cwd"], env=job["env"]))


async def outcome(request: Any) -> Any:
    """The text of an answer, or the code of an error."""
    try:
        result = await request
    except McpError as exc:
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
    asyncio.run(serve())
