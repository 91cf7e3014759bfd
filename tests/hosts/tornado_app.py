"""Tornado: a sync method that is answered at its end, and an async one that ends its answer itself."""

from __future__ import annotations

import asyncio
import json
import sys

import core
import tornado.web


class Plain(tornado.web.RequestHandler):
    def post(self) -> None:
        message = json.loads(self.request.body)
        if self.request.headers.get("Authorization") == "Bearer wrong":
            self.set_header("WWW-Authenticate", "Bearer")
            self.set_status(401)
            return
        if status := core.refusal(message, self.request.headers.get("Mcp-Session-Id"), self.request.path):
            self.set_status(status)
            self.write("session")
            return
        for name, value in core.opened(message).items():
            self.set_header(name, value)
        reply = core.reply(message, self.request.path)
        if reply is None:
            self.set_status(202)
        else:
            self.write(reply)

    def get(self) -> None:
        self.set_status(405)

    delete = get


class Dual(Plain):
    post = core.DUAL.tornado(Plain.post)
    get = delete = core.DUAL.tornado(Plain.get)


class Modern(Plain):
    @core.MODERN.tornado
    async def post(self) -> None:
        super().post()
        await self.finish()

    @core.MODERN.tornado
    async def get(self) -> None:
        self.set_status(405)

    delete = get


async def main() -> None:
    tornado.web.Application([("/plain", Plain), ("/dual", Dual), ("/modern", Modern)]).listen(int(sys.argv[1]), "127.0.0.1")
    await asyncio.Event().wait()


asyncio.run(main())
