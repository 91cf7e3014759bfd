"""Options of the transport at the constructor. Written for 2."""

import asyncio

import uvicorn
from fastmcp import FastMCP


async def serve(self: uvicorn.Server) -> None:
    print(self.config.host, self.config.port, sorted({route.path for route in self.config.app.routes}))


uvicorn.Server.serve = serve
PORT = 9000 + 1
mcp = FastMCP("served", host="0.0.0.0", port=PORT, streamable_http_path="/tools", stateless_http=True)
other = FastMCP("other", port=9002, on_duplicate_tools="error", on_duplicate_resources="error", on_duplicate_prompts="error")

mcp.run(transport="http", show_banner=False)
asyncio.run(other.run_async("streamable-http", show_banner=False, host="127.0.0.2"))
