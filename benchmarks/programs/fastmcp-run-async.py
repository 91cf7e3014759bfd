"""A server that is run by one of the coroutines; who asks it what it serves looks at its `main`."""

import asyncio

from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x", host="127.0.0.9", port=9100, streamable_http_path="/p")


def main() -> None:
    asyncio.run(mcp.run_streamable_http_async())
