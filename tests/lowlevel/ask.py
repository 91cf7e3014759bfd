"""Asks a stdio server everything that a client can, and prints the answers as JSON, with field names as on the wire.

python ask.py v1 COMMAND...             with `ClientSession` of version 1
python ask.py legacy|auto COMMAND...    with `Client` of version 2, in one of its modes
"""

import asyncio
import json
import sys
import warnings

from mcp import StdioServerParameters, types
from pydantic import AnyUrl

MODE, COMMAND, *ARGUMENTS = sys.argv[1:]
TOOLS = [{}, None, {"n": 4}, {"n": "four"}, {"x": "leave"}, {"x": 1}]
ENVELOPE = ("_meta", "ttlMs", "cacheScope", "resultType")
NOTES: list = []


def plain(result):
    found = result.model_dump(by_alias=True, mode="json", exclude_none=True)
    return {name: value for name, value in found.items() if name not in ENVELOPE}


async def outcome(ask):
    try:
        return plain(await ask)
    except Exception as error:
        data = getattr(error, "error", None)
        if data is None and not isinstance(error, RuntimeError):
            raise
        return {"error": [data.code, data.message, data.data] if data else "the client refuses the result"}


async def everything(session, told):
    def cursor(text):
        return {"params": types.PaginatedRequestParams(cursor=text)} if MODE == "v1" else {"cursor": text}

    url = AnyUrl if MODE == "v1" else str
    answers = {"tools": await outcome(session.list_tools()), "more tools": await outcome(session.list_tools(**cursor("more")))}
    names = [tool["name"] for tool in answers["tools"].get("tools", ())]
    for name in [*names, "nope"]:
        for arguments in TOOLS:
            answers[f"call {name} {arguments}"] = await outcome(session.call_tool(name, arguments))
    answers["prompts"] = await outcome(session.list_prompts())
    answers["more prompts"] = await outcome(session.list_prompts(**cursor("2")))
    for name, arguments in (("first", {"a": "1"}), ("first", None), ("none", None), ("odd", None), ("broken", None)):
        answers[f"prompt {name} {arguments}"] = await outcome(session.get_prompt(name, arguments))
    answers["resources"] = await outcome(session.list_resources())
    answers["templates"] = await outcome(session.list_resource_templates())
    for uri in ("note://a", "note://many", "note://odd", "https://x.test", "far://x"):
        answers[f"read {uri}"] = await outcome(session.read_resource(url(uri)))
    for argument in ("a", "none"):
        prompt = types.PromptReference(type="ref/prompt", name="first")
        answers[f"complete {argument}"] = await outcome(session.complete(prompt, {"name": argument, "value": "x"}))
    if MODE != "auto" and "seen" in names:
        raw = session if MODE == "v1" else session.session
        await raw.send_progress_notification("t", 0.25, 1.0, "quarter")
        await session.set_logging_level("debug")
        await session.subscribe_resource(url("note://a"))
        answers["seen"] = await outcome(session.call_tool("seen", {}))
        await session.unsubscribe_resource(url("note://a"))
        answers["seen then"] = await outcome(session.call_tool("seen", {}))
    NOTES.clear()
    if "works" in names:
        answers["works"] = await outcome(session.call_tool("works", {}, progress_callback=told))
        await asyncio.sleep(0.2)
    if MODE == "auto" and "touch" in names:
        async with session.listen(resource_subscriptions=["note://a"]) as events:
            await session.call_tool("touch", {})
            async for event in events:
                NOTES.append(["heard", type(event).__name__, event.uri])
                break
        answers["seen"] = await outcome(session.call_tool("seen", {}))
    return answers


async def main():
    async def told(progress, total, message):
        NOTES.append(["progress", progress, total, message])

    async def logged(params):
        NOTES.append(["log", params.level, params.data, params.logger])

    parameters = StdioServerParameters(command=COMMAND, args=ARGUMENTS)
    if MODE == "v1":
        from mcp import ClientSession
        from mcp.client.stdio import stdio_client

        async with stdio_client(parameters) as (read, write), ClientSession(read, write, logging_callback=logged) as session:
            start = plain(await session.initialize())
            answers = await everything(session, told)
    else:
        from mcp import Client

        async with Client(parameters, mode=MODE, logging_callback=logged) as client:
            start = {"serverInfo": plain(client.server_info), "capabilities": plain(client.server_capabilities)}
            start["instructions"] = client.instructions
            answers = await everything(client, told)
    print(json.dumps({"start": start, "answers": answers, "notes": NOTES}))


warnings.simplefilter("ignore")
asyncio.run(main())
