"""Which names of a host an app lets in."""

import asyncio

from mcp.server.fastmcp import FastMCP
from mcp.server.transport_security import TransportSecuritySettings

mcp = FastMCP(
    "x",
    transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=True, allowed_hosts=["known.example"]),
)
app = mcp.streamable_http_app()


async def status(host: str) -> int:
    """What the app answers to an empty message."""
    headers = {"host": host, "content-type": "application/json", "accept": "application/json, text/event-stream"}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/mcp",
        "raw_path": b"/mcp",
        "root_path": "",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
    }
    said: list[int] = []

    async def receive() -> dict:
        return {"type": "http.request", "body": b"{}", "more_body": False}

    async def send(message: dict) -> None:
        if message["type"] == "http.response.start":
            said.append(message["status"])

    await app(scope, receive, send)
    return said[0]


async def main() -> None:
    async with mcp.session_manager.run():
        for host in ("known.example", "other.example"):
            print(host, await status(host))


asyncio.run(main())
