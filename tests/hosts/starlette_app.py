"""Starlette with answers as event streams, made inside of other middleware."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from typing import Any

import core
import uvicorn
from starlette.applications import Starlette
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route


async def post(request: Request) -> Response:
    path, message = f"/{request.path_params['path']}", await request.json()
    if request.headers.get("authorization") == "Bearer wrong":
        return Response(status_code=401, headers={"WWW-Authenticate": "Bearer"})
    if status := core.refusal(message, request.headers.get("mcp-session-id"), path):
        return Response(status_code=status)
    if "id" not in message:
        return Response(status_code=202)

    async def events() -> AsyncIterator[str]:
        for method, params in (("progress", {"progressToken": 1, "progress": 1}), ("message", {"level": "info", "data": "x"})):
            yield f"data: {json.dumps({'jsonrpc': '2.0', 'method': f'notifications/{method}', 'params': params})}\r\n\r\n"
        yield f"id: 7\nevent: message\ndata: {json.dumps(core.reply(message, path))}\n\n"

    return StreamingResponse(events(), media_type="text/event-stream", headers=core.opened(message))


class Passing(BaseHTTPMiddleware):
    async def dispatch(self, request: Request, call_next: Any) -> Response:
        return await call_next(request)


inner = Starlette(routes=[Route("/{path}", post, methods=["POST"])])
inner.add_middleware(Passing)
inner.add_middleware(GZipMiddleware, minimum_size=1)
app = core.MODERN.asgi(core.DUAL.asgi(inner, "/dual"), "/modern")
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="critical")
