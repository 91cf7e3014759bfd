"""aiohttp: a function and a method."""

from __future__ import annotations

import sys

import core
from aiohttp import web


async def answer(request: web.Request) -> web.Response:
    if request.method != "POST":
        return web.Response(status=405)
    message = await request.json()
    if request.headers.get("Authorization") == "Bearer wrong":
        return web.Response(status=401, headers={"WWW-Authenticate": "Bearer"})
    if status := core.refusal(message, request.headers.get("Mcp-Session-Id"), request.path):
        return web.json_response({"error": "session"}, status=status)
    reply = core.reply(message, request.path)
    return web.Response(status=202) if reply is None else web.json_response(reply, headers=core.opened(message))


@core.DUAL.aiohttp
async def function(request: web.Request) -> web.Response:
    return await answer(request)


class Server:
    @core.MODERN.aiohttp
    async def method(self, request: web.Request) -> web.Response:
        return await answer(request)


app = web.Application()
for path, handler in (("/plain", answer), ("/dual", function), ("/modern", Server().method)):
    app.router.add_route("*", path, handler)
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=lambda text: None)
