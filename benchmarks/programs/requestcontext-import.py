"""Signatures with the context of a request, of a client and of a server."""

import asyncio
from typing import Any

from mcp import ClientSession
from mcp.server import Server
from mcp.server.session import ServerSession
from mcp.shared.context import RequestContext
from mcp.shared.memory import create_connected_server_and_client_session
from mcp.types import CreateMessageRequestParams, CreateMessageResult, SamplingMessage, TextContent, Tool

server = Server("x", version="1.0")


def asks(context: RequestContext[ServerSession, Any]) -> ServerSession:
    return context.session


@server.list_tools()
async def tools() -> list[Tool]:
    return [Tool(name="t", inputSchema={"type": "object"})]


@server.call_tool()
async def call(name: str, arguments: dict[str, Any]) -> list[TextContent]:
    message = SamplingMessage(role="user", content=TextContent(type="text", text="And?"))
    reply = await asks(server.request_context).create_message([message], max_tokens=5)
    return [reply.content]


async def sample(context: RequestContext[ClientSession, Any], params: CreateMessageRequestParams) -> CreateMessageResult:
    return CreateMessageResult(role="assistant", model="m", content=TextContent(type="text", text=f"So {params.messages[0].content.text}"))


async def main() -> None:
    async with create_connected_server_and_client_session(server, sampling_callback=sample) as session:
        print((await session.call_tool("t", {})).content[0].text)


asyncio.run(main())
