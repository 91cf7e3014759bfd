"""What the findings about fastmcp say of connections of either era, seen with the installed release; and that the ways out work."""

from __future__ import annotations

import functools
import json
import subprocess
from typing import Any

import pytest
import sdk

ASK = """
import asyncio, json, logging, os, sys, warnings
os.environ["FASTMCP_CHECK_FOR_UPDATES"] = "off"
warnings.simplefilter("ignore")
import fastmcp
logging.disable(logging.CRITICAL)
from fastmcp import Client, Context, FastMCP
from fastmcp.resources import ResourceSecurity
from fastmcp.server.dependencies import get_session
from fastmcp.server.middleware import Middleware
from fastmcp.server.sessions import SessionId, SessionProvider
from mcp.types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

seen = []
counted = []


class Gate(Middleware):
    async def on_initialize(self, context, call_next):
        seen.append("initialize")
        return await call_next(context)

    async def on_message(self, context, call_next):
        counted.append(context.method)
        return await call_next(context)


mcp = FastMCP("eras", middleware=[Gate()])
mcp.add_provider(SessionProvider())


@mcp.tool
async def ask(ctx: Context) -> str:
    answer = await ctx.elicit("Really?", response_type=bool)
    return f"{answer.action} {answer.data}"


@mcp.tool
async def either(ctx: Context) -> str | InputRequiredResult:
    if ctx.request_context.protocol_version < "2026-07-28":
        answer = await ctx.elicit("Really?", response_type=bool)
        return f"{answer.action} {answer.data}"
    if not ctx.input_responses:
        schema = {"type": "object", "properties": {"value": {"type": "boolean"}}, "required": ["value"]}
        return InputRequiredResult(
            input_requests={"ok": ElicitRequest(params=ElicitRequestFormParams(message="Really?", requested_schema=schema))}
        )
    answer = ctx.input_responses["ok"]
    return f"{answer.action} {answer.content['value']}"


@mcp.tool
async def keep(ctx: Context) -> str:
    await ctx.set_state("kept", "yes")
    return ctx.session_id


@mcp.tool
async def kept(ctx: Context) -> str:
    return f"{await ctx.get_state('kept')} {ctx.session_id}"


@mcp.tool
async def add(item: str, session_id: SessionId) -> int:
    session = await get_session(session_id)
    found = [*await session.get("items", default=[]), item]
    await session.set("items", found)
    return len(found)


@mcp.resource("files://{path*}")
def read(path: str) -> str:
    return path


@mcp.resource("raw://{path*}", security=ResourceSecurity(exempt_params={"path"}))
def raw(path: str) -> str:
    return path


async def answer(message, response_type, params, context):
    return response_type(value=True) if response_type else {"value": True}


async def tried(call):
    try:
        return str(await call)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


async def main(mode):
    seen.clear()
    counted.clear()
    said = {}
    async with Client(mcp, elicitation_handler=answer, **({"mode": mode} if mode else {})) as client:
        for name in ("ask", "either"):
            said[name] = str((await client.call_tool(name, raise_on_error=False)).content[0].text)
        first = (await client.call_tool("keep")).data
        said["kept"], second = (await client.call_tool("kept")).data.split()
        said["same session"] = first == second
        handle = (await client.call_tool("create_session")).data
        said["handles"] = [(await client.call_tool("add", {"item": "a", "session_id": handle})).data for _ in range(2)]
        said["result"] = client.initialize_result is not None
        said["ping"] = await tried(client.ping())
        said["level"] = await tried(client.set_logging_level("debug"))
        said["read"] = await tried(client.read_resource("files://..%2Fb"))
        said["raw"] = (await tried(client.read_resource("raw://..%2Fb")))[:9]
    said["initialize"] = [*seen]
    said["counted"] = [*counted]
    return said


async def parts():
    tasks = FastMCP("tasks")

    @tasks.tool
    def slow() -> None: ...

    component = await tasks.get_tool("slow")
    said = {"missing": await tasks.get_tool("none") is None, "setting": hasattr(fastmcp.settings, "decorator_mode")}
    try:
        component.disable()
    except NotImplementedError:
        said["disable"] = True

    @tasks.tool(task=True)
    async def slower() -> None: ...

    said["task"] = await tried(Client(tasks).__aenter__())
    return said


async def all_of_it():
    return {"default": await main(""), "legacy": await main("legacy"), "parts": await parts()}


print(json.dumps(asyncio.run(all_of_it())))
"""


@functools.cache
def said() -> dict[str, Any]:
    done = subprocess.run([sdk.fastmcp(4), "-W", "ignore", "-c", ASK], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_a_question_in_the_middle_of_a_call_needs_an_older_connection() -> None:
    assert said()["legacy"]["ask"] == "accept True"
    assert "unavailable on 2026-07-28" in said()["default"]["ask"]


@pytest.mark.parametrize("mode", ["default", "legacy"])
def test_a_tool_that_asks_for_the_revision_serves_both(mode: str) -> None:
    assert said()[mode]["either"] == "accept True"


def test_state_and_session_are_lost_without_an_error() -> None:
    assert (said()["legacy"]["kept"], said()["legacy"]["same session"]) == ("yes", True)
    assert (said()["default"]["kept"], said()["default"]["same session"]) == ("None", False)


@pytest.mark.parametrize("mode", ["default", "legacy"])
def test_a_handle_that_the_client_hands_over_keeps_state(mode: str) -> None:
    assert said()[mode]["handles"] == [1, 2]


def test_middleware_waits_for_a_handshake_that_does_not_come_and_sees_every_message() -> None:
    assert said()["legacy"]["initialize"] == ["initialize"]
    assert said()["default"]["initialize"] == []
    assert "notifications/initialized" in said()["legacy"]["counted"]


def test_a_client_without_a_handshake_has_less_to_ask_for() -> None:
    assert (said()["legacy"]["result"], said()["legacy"]["ping"]) == (True, "True")
    assert not said()["default"]["result"]
    assert "Error" in said()["default"]["ping"]
    assert "Error" in said()["default"]["level"]


@pytest.mark.parametrize("mode", ["default", "legacy"])
def test_paths_are_looked_at_unless_they_are_exempt(mode: str) -> None:
    assert "Error" in said()[mode]["read"]
    assert "Error" not in said()[mode]["raw"]


def test_parts_that_are_gone_say_so_or_are_not_there() -> None:
    parts = said()["parts"]
    assert parts["missing"]
    assert parts["disable"]
    assert not parts["setting"]
    assert "TasksExtension" in parts["task"]
