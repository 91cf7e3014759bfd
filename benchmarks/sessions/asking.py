"""A session of questions with a server, for the clients beside this file: what each question is answered. Standard library only."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Protocol

PATIENCE = 20.0  # seconds for one answer
START = 60.0
LISTS = ("tools", "resources", "templates", "prompts")
MISTAKES = 6  # tools that are called with mistakes, of each kind
NOBODY = "nobody_has_this_name"

Step = list[Any]


class Client(Protocol):
    """What both clients are asked for; every answer comes as the client's own model dumps it."""

    async def server(self) -> dict[str, Any]: ...
    async def list(self, what: str) -> dict[str, Any]: ...
    async def call(self, name: str, arguments: dict[str, Any] | None) -> dict[str, Any]: ...
    async def read(self, uri: str) -> dict[str, Any]: ...
    async def prompt(self, name: str, arguments: dict[str, str] | None) -> dict[str, Any]: ...


def main(talk: Callable[[dict[str, Any], Callable[[Client], Awaitable[None]]], Awaitable[None]]) -> None:
    """Read a job from stdin, hold the session, and print what was answered."""
    job = json.load(sys.stdin)
    said: dict[str, Any] = {}

    async def ask(client: Client) -> None:
        await _ask(client, job, said)

    try:
        asyncio.run(asyncio.wait_for(talk(job, ask), job.get("limit", 240)))
    except BaseException as error:
        said["trouble"] = why(error)
    json.dump(said, sys.stdout)
    sys.stdout.flush()
    os._exit(0)  # whatever a server leaves behind does not hold the measurement up


async def _ask(client: Client, job: dict[str, Any], said: dict[str, Any]) -> None:
    said["server"] = await client.server()
    said["lists"] = lists = {what: await outcome(client.list(what)) for what in LISTS}
    steps = job["steps"]
    if job.get("mistakes"):
        steps = [*steps, *_mistakes(lists, steps)]
    said["steps"] = steps
    said["answers"] = {json.dumps(step, ensure_ascii=False): await outcome(_step(client, step)) for step in steps}


def _step(client: Client, step: Step) -> Awaitable[dict[str, Any]]:
    match step:
        case ["call", name, arguments]:
            return client.call(name, arguments)
        case ["read", uri]:
            return client.read(uri)
        case ["prompt", name, arguments]:
            return client.prompt(name, arguments)
    raise ValueError(f"not a step: {step}")


def _mistakes(lists: dict[str, Any], steps: list[Step]) -> Iterator[Step]:
    """What nobody has, arguments that are missing, and arguments of the wrong type."""
    tools = lists["tools"].get("result", {}).get("tools", [])
    if tools:
        yield ["call", NOBODY, {}]
    if lists["resources"].get("result", {}).get("resources"):
        yield ["read", f"nobody://{NOBODY}"]
    if lists["prompts"].get("result", {}).get("prompts"):
        yield ["prompt", NOBODY, {}]
    schemas = {tool["name"]: tool["inputSchema"] for tool in tools}
    needy = [name for name, schema in schemas.items() if schema.get("required")]
    for name in needy[:MISTAKES]:
        yield ["call", name, {}]
    for name in needy[:MISTAKES]:
        properties, required = schemas[name].get("properties", {}), schemas[name]["required"]
        yield ["call", name, {key: _wrong(properties.get(key, {})) for key in required}]
    # What has no required argument is called without any object at all, too.
    asked = {step[1] for step in steps if step[0] == "call"}
    for name in [name for name in schemas if name in asked and name not in needy][:2]:
        yield ["call", name, None]


def _wrong(schema: dict[str, Any]) -> Any:
    return "nothing of the kind" if schema.get("type") in ("object", "array", "integer", "number", "boolean") else {"wrong": [1]}


async def outcome(request: Awaitable[dict[str, Any]]) -> dict[str, Any]:
    """The result, the error of the protocol, or what the client itself raised."""
    try:
        return {"result": await asyncio.wait_for(request, PATIENCE)}
    except (Exception, asyncio.CancelledError) as error:
        told = getattr(error, "error", None)
        if hasattr(told, "code"):
            data = {} if getattr(told, "data", None) is None else {"data": told.data}
            return {"error": {"code": told.code, "message": told.message, **data}}
        return {"raised": why(error)}


def why(error: BaseException) -> str:
    while getattr(error, "exceptions", None):
        error = error.exceptions[0]  # type: ignore[attr-defined]
    return f"{type(error).__name__}: {error}"[:500]


def dump(model: Any) -> dict[str, Any]:
    dumped: dict[str, Any] = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return dumped


def content(schema: dict[str, Any]) -> dict[str, Any]:
    """An answer to a question of the server."""
    kinds: dict[str, Any] = {"boolean": True, "integer": 1, "number": 1, "array": []}
    return {name: kinds.get(field.get("type", ""), "x") for name, field in schema.get("properties", {}).items()}
