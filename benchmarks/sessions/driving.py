"""Runs snippets, and asks the servers that they define; what each prints is the answer.

Standard input holds a list (JSON) of jobs, [path of a snippet, [["call", "add", {"a": 1}], ...]], standard output a list of
[lines that it printed, what went wrong]. Each runs in a process of its own that has the SDK imported already. Runs under either
major; under 2.x each question is asked over a legacy (L) and over a modern (M) connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import logging
import os
import signal
import sys
import tempfile
import traceback
import types as types_of_modules
import warnings
from pathlib import Path
from typing import Any

import mcp.types as types
from asking import outcome

try:
    from mcp import Client
except ImportError:
    Client = None  # type: ignore[assignment, misc]

SMALL = str(Path(__file__).with_name("small_server.py"))
SHARED = ("mcp.server.fastmcp", "mcp.server.mcpserver", "mcp.server.lowlevel", "mcp.client.stdio", "mcp.shared.memory")
LIMIT = 90  # seconds for one snippet
MODES = {"L": "legacy", "M": "2026-07-28"}


def main() -> None:
    for module in SHARED:
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
    json.dump([_forked(snippet, steps) for snippet, steps in json.load(sys.stdin)], sys.stdout)


def _forked(snippet: str, steps: list[list[Any]]) -> tuple[list[str], str]:
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as complaints:
        child = os.fork()
        if not child:
            os.setsid()
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(said.fileno(), 1)
            os.dup2(complaints.fileno(), 2)
            signal.alarm(LIMIT)
            status = 0
            try:
                _run(snippet, steps)
            except BaseException as error:
                traceback.print_exc()
                status = 0 if isinstance(error, SystemExit) and not error.code else 1
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
        _, status = os.waitpid(child, 0)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        said.seek(0)
        complaints.seek(0)
        fault = f"no end after {LIMIT} s" if os.WIFSIGNALED(status) else complaints.read() or "without a word"
        return [line.rstrip() for line in said.read().splitlines()], fault if status else ""


def _run(snippet: str, steps: list[list[Any]]) -> None:
    sys.path[0] = str(Path(snippet).parent)
    os.chdir(sys.path[0])
    sys.argv = [snippet, SMALL]
    # As a module that can be found: what annotations name is looked up in it.
    module = types_of_modules.ModuleType("snippet")
    sys.modules["snippet"] = module
    exec(compile(Path(snippet).read_bytes(), snippet, "exec"), module.__dict__)
    for step in steps:
        if step[0] == "serve":
            print(_served(module.__dict__, step[1]))
        else:
            asyncio.run(_ask(_server(module.__dict__), step))


def _server(space: dict[str, Any]) -> Any:
    for value in space.values():
        if type(value).__name__ in ("Server", "FastMCP", "MCPServer"):
            return value
        if isinstance(value, types.Tool):
            return _listing(value)
    raise LookupError("no server in the snippet")


def _listing(tool: types.Tool) -> Any:
    """A server that lists this tool."""
    from mcp.server import Server

    server: Any = Server("s")
    if Client is None:

        @server.list_tools()
        async def listed() -> list[types.Tool]:
            return [tool]
    else:

        async def answer(context: Any, params: Any) -> Any:
            return types.ListToolsResult(tools=[tool])

        server.add_request_handler("tools/list", types.PaginatedRequestParams, answer)
    return server


def _served(space: dict[str, Any], names: list[str]) -> str:
    """With which options its `main` serves over HTTP."""
    server, seen = _server(space), {}

    async def record(*args: Any, **options: Any) -> None:
        settings = getattr(server, "settings", None)
        seen.update({name: getattr(settings, name, None) for name in names}, **options)

    type(server).run_streamable_http_async = record
    space["main"]()
    return " ".join(str(seen.get(name)) for name in names)


async def _ask(server: Any, step: list[Any]) -> None:
    logs: list[Any] = []

    async def log(params: Any) -> None:
        logs.append(params.data)

    async def elicit(context: Any, params: Any) -> Any:
        return types.ElicitResult(action="accept", content={"ok": True})

    async def sample(context: Any, params: Any) -> Any:
        return types.CreateMessageResult(role="assistant", model="m", content=types.TextContent(type="text", text="S"))

    async def roots(context: Any) -> Any:
        return types.ListRootsResult(roots=[types.Root(uri="file:///r")])  # type: ignore[arg-type]

    callbacks: dict[str, Any] = {
        "elicitation_callback": elicit,
        "sampling_callback": sample,
        "list_roots_callback": roots,
        "logging_callback": log,
    }
    if Client is None:
        from mcp.shared.memory import create_connected_server_and_client_session

        async with create_connected_server_and_client_session(server, **callbacks) as session:
            answer = await outcome(_answer(session, step))
        print(_line(answer, step, logs))
        return
    if hasattr(server, "add_request_handler") and not server.get_request_handler("tools/list"):
        # The client looks a tool up in the list before it trusts a result.
        server.add_request_handler("tools/list", types.PaginatedRequestParams, _nothing)
    for letter, mode in MODES.items():
        logs.clear()
        async with Client(server, mode=mode, cache=None, **callbacks) as session:
            answer = await outcome(_answer(session, step))
        print(letter, _line(answer, step, logs))


async def _nothing(context: Any, params: Any) -> Any:
    return types.ListToolsResult(tools=[])


async def _answer(session: Any, step: list[Any]) -> dict[str, Any]:
    match step:
        case ["call" | "logs", name, arguments]:
            result = await session.call_tool(name, arguments)
        case ["read", uri]:
            from pydantic import AnyUrl

            result = await session.read_resource(uri if Client else AnyUrl(uri))
        case ["prompt", name, arguments]:
            result = await session.get_prompt(name, arguments)
        case ["list" | "count"]:
            result = await session.list_tools()
        case ["complete", prompt, name, value]:
            result = await session.complete(types.PromptReference(type="ref/prompt", name=prompt), {"name": name, "value": value})
        case _:
            raise ValueError(f"not a step: {step}")
    dumped: dict[str, Any] = result.model_dump(mode="json", by_alias=True)
    return dumped


def _line(answer: dict[str, Any], step: list[Any], logs: list[Any]) -> str:
    if "error" in answer:
        return f"MCPError: {answer['error']['message']}"
    if "raised" in answer:
        return str(answer["raised"])
    result = answer["result"]
    match step[0]:
        case "call":
            return ("ERR " if result["isError"] else "") + " ".join(block.get("text", "") for block in result["content"])
        case "logs":
            return str(logs)
        case "read":
            return " ".join(f"{part['mimeType']} {part.get('text')}" for part in result["contents"])
        case "prompt":
            return " ".join([str(result["description"]), *(str(message["content"]) for message in result["messages"])])
        case "list":
            return str([tool["name"] for tool in result["tools"]])
        case "count":
            return str(len(result["tools"]))
        case _:
            return str(result["completion"]["values"])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.disable()
    main()
