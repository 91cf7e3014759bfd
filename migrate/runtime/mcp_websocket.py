"""Opens WebSocket connections for a client session; the transport is no part of MCP, and servers that speak it are of one's own.

    async with mcp_websocket.websocket_client(url) as (read, write): ...
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter
from pydantic import ValidationError
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol


@asynccontextmanager
async def websocket_client(url: str) -> AsyncIterator[tuple[Any, Any]]:
    """Two streams: one of messages and of the errors of those that are none, and one for messages to send."""
    received, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, sent = anyio.create_memory_object_stream[SessionMessage](0)

    async with connect(url, subprotocols=[Subprotocol("mcp")]) as socket:

        async def receive() -> None:
            async with received:
                async for text in socket:
                    try:
                        message = SessionMessage(jsonrpc_message_adapter.validate_json(text, by_name=False))
                    except ValidationError as error:
                        await received.send(error)
                    else:
                        await received.send(message)

        async def send() -> None:
            async with sent:
                async for item in sent:
                    await socket.send(item.message.model_dump_json(by_alias=True, exclude_unset=True))

        async with anyio.create_task_group() as tasks, read, write:
            tasks.start_soon(receive)
            tasks.start_soon(send)
            yield read, write
            tasks.cancel_scope.cancel()
