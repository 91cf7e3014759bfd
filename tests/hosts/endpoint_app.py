"""Starlette: endpoints that know nothing of their application: a function, a method, and one that another one calls."""

from __future__ import annotations

import sys

import core
import uvicorn
from starlette.applications import Starlette
from starlette.endpoints import HTTPEndpoint
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route


async def answer(request: Request) -> Response:
    path, message = request.url.path, await request.json()
    if request.headers.get("authorization") == "Bearer wrong":
        raise HTTPException(401, "", headers={"WWW-Authenticate": "Bearer"})
    if status := core.refusal(message, request.headers.get("mcp-session-id"), path):
        return Response(status_code=status)
    reply = core.reply(message, path)
    return Response(status_code=202) if reply is None else JSONResponse(reply, headers=core.opened(message))


@core.DUAL.starlette
async def inner(request: Request) -> Response:
    return await answer(request)


async def dual(request: Request) -> Response:
    await request.body()
    return await inner(request)


@core.DUAL.starlette
def stream(request: Request) -> Response:
    return Response(status_code=405)


class Modern(HTTPEndpoint):
    @core.MODERN.starlette
    async def post(self, request: Request) -> Response:
        return await answer(request)

    @core.MODERN.starlette
    async def get(self, request: Request) -> Response:
        return Response(status_code=405)

    delete = get


def plain_stream(request: Request) -> Response:
    return Response(status_code=405)


routes = [
    Route("/plain", answer, methods=["POST"]),
    Route("/plain", plain_stream, methods=["GET", "DELETE"]),
    Route("/dual", dual, methods=["POST"]),
    Route("/dual", stream, methods=["GET", "DELETE"]),
    Route("/modern", Modern),
]
app = Starlette(routes=[Mount("/", routes=routes)])
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="critical")
