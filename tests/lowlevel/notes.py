"""A notebook on the low-level server, with every kind of handler."""

import asyncio
import json
import logging

from mcp import types
from mcp.server import NotificationOptions, Server
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import McpError
from pydantic import AnyUrl

server = Server("notes", "1.2.3", "Keeps notes")
LEVEL = "info"
SEEN: list = []
WATCHED: set = set()
LISTED = 0


@server.list_tools()
async def list_tools() -> list[types.Tool]:
    global LISTED
    LISTED += 1
    number = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    answer = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}
    anything = {"type": "object"}
    return [
        types.Tool(name="double", description="Twice", inputSchema=number),
        types.Tool(name="sum", inputSchema=number, outputSchema=answer),
        types.Tool(name="wrong", inputSchema=anything, outputSchema=answer),
        types.Tool(name="plain", inputSchema=anything, outputSchema=answer),
        types.Tool(name="both", inputSchema=anything),
        types.Tool(name="whole", inputSchema=anything),
        types.Tool(name="fails", inputSchema=anything),
        types.Tool(name="refuses", inputSchema=anything),
        types.Tool(name="nothing", inputSchema=anything),
        types.Tool(name="gen", inputSchema=anything),
        types.Tool(name="context", inputSchema=anything),
        types.Tool(name="works", inputSchema=anything),
        types.Tool(name="listed", inputSchema=anything),
        types.Tool(name="seen", inputSchema=anything),
        types.Tool(name="keyerror", inputSchema=anything),
        types.Tool(name="touch", inputSchema=anything),
    ]


@server.call_tool()
async def call_tool(name: str, arguments: dict):
    if name == "double":
        return [types.TextContent(type="text", text=str(arguments["n"] * 2))]
    if name == "sum":
        return {"sum": arguments["n"]}
    if name == "wrong":
        return {"sum": "much"}
    if name == "plain":
        return [types.TextContent(type="text", text="no structure")]
    if name == "both":
        return [types.TextContent(type="text", text="both")], {"a": [1, {"b": None}]}
    if name == "whole":
        text = types.TextContent(type="text", text="w")
        return types.CallToolResult(content=[text], structuredContent={"x": 1}, isError=True)
    if name == "fails":
        raise RuntimeError("no ink left")
    if name == "keyerror":
        return [types.TextContent(type="text", text=arguments["missing"])]
    if name == "refuses":
        raise McpError(types.ErrorData(code=-32000, message="refused", data={"why": 1}))
    if name == "nothing":
        return None
    if name == "gen":
        return (types.TextContent(type="text", text=t) for t in "ab")
    if name == "context":
        arguments.setdefault("sep", ",")
        context = server.request_context
        found = [type(context.session).__name__, str(context.request_id is not None)]
        return [types.TextContent(type="text", text=arguments["sep"].join(found))]
    if name == "works":
        context = server.request_context
        await context.session.send_log_message("info", {"step": 1}, logger="notes")
        if context.meta and context.meta.progressToken is not None:
            await context.session.send_progress_notification(context.meta.progressToken, 0.5, 1.0, "half")
        return [types.TextContent(type="text", text="done")]
    if name == "listed":
        return [types.TextContent(type="text", text=str(LISTED))]
    if name == "seen":
        return [types.TextContent(type="text", text=json.dumps([SEEN, LEVEL, sorted(WATCHED)]))]
    if name == "touch":
        await server.request_context.session.send_resource_updated(AnyUrl("note://a"))
        return [types.TextContent(type="text", text="touched")]
    raise ValueError(f"Unknown tool: {name}")


@server.list_prompts()
async def list_prompts(request: types.ListPromptsRequest) -> types.ListPromptsResult:
    if request.params and request.params.cursor:
        return types.ListPromptsResult(prompts=[types.Prompt(name="second")])
    return types.ListPromptsResult(prompts=[types.Prompt(name="first", arguments=[types.PromptArgument(name="a")])], nextCursor="2")


@server.get_prompt()
async def get_prompt(name: str, arguments: dict[str, str] | None) -> types.GetPromptResult:
    if name == "odd":
        raise McpError(types.ErrorData(code=-32050, message="odd", data=[1]))
    if name == "broken":
        types.Tool.model_validate({"name": 3})
    if name != "first":
        raise ValueError(f"Unknown prompt: {name}")
    message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=str(arguments)))
    return types.GetPromptResult(description="d", messages=[message])


@server.list_resources()
async def list_resources() -> list[types.Resource]:
    return [types.Resource(uri=AnyUrl("note://a"), name="a", mimeType="text/x-note"), types.Resource(uri="https://x.test/", name="x")]


@server.list_resource_templates()
async def list_resource_templates() -> list[types.ResourceTemplate]:
    return [types.ResourceTemplate(uriTemplate="note://{name}", name="by name")]


@server.read_resource()
async def read_resource(uri: AnyUrl):
    if uri.scheme == "https":
        return b"\x00\x01"
    if uri.scheme != "note":
        raise ValueError(f"Unknown scheme: {uri.scheme}")
    if uri.host == "many":
        one = ReadResourceContents(content="one", mime_type="text/x-note")
        return [one, ReadResourceContents(content=b"two"), ReadResourceContents(content="m", meta={"k": 1})]
    if uri.host == "odd":
        return 7
    return f"note {uri.host}"


@server.completion()
async def complete(ref, argument, context):
    if argument.name == "none":
        return None
    return types.Completion(values=[argument.value + "!", type(ref).__name__], total=2, hasMore=False)


@server.set_logging_level()
async def set_level(level: types.LoggingLevel) -> None:
    global LEVEL
    LEVEL = level


@server.subscribe_resource()
async def subscribe(uri: AnyUrl) -> None:
    WATCHED.add(str(uri))


@server.unsubscribe_resource()
async def unsubscribe(uri: AnyUrl) -> None:
    WATCHED.discard(str(uri))


@server.progress_notification()
async def progress(token, amount, total, message) -> None:
    SEEN.append([token, amount, total, message])


async def main() -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options(NotificationOptions()))


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    asyncio.run(main())
