"""Opens Streamable HTTP connections with headers, timeouts and credentials, and tells the session's identity.

    async with mcp_http.streamablehttp_client(url, headers=headers) as (read, write, get_session_id): ...
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import httpx2
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client


@asynccontextmanager
async def streamablehttp_client(
    url: str,
    headers: dict[str, str] | None = None,
    timeout: float | timedelta = 30,
    sse_read_timeout: float | timedelta = 300,
    terminate_on_close: bool = True,
    httpx_client_factory: Callable[..., httpx2.AsyncClient] = create_mcp_http_client,
    auth: httpx2.Auth | None = None,
) -> AsyncIterator[tuple[Any, Any, Callable[[], str | None]]]:
    """Two streams, and a function that tells the session's identity; None before the handshake and on servers that keep no session."""
    client = httpx_client_factory(
        headers=headers,
        timeout=httpx2.Timeout(_seconds(timeout), read=_seconds(sse_read_timeout)),
        auth=auth,
    )
    identity: str | None = None

    async def remember(response: httpx2.Response) -> None:
        nonlocal identity
        identity = response.headers.get("mcp-session-id", identity)

    client.event_hooks["response"].append(remember)
    async with client, streamable_http_client(url, http_client=client, terminate_on_close=terminate_on_close) as (read, write):
        yield read, write, lambda: identity


def _seconds(time: float | timedelta) -> float:
    return time.total_seconds() if isinstance(time, timedelta) else time
