"""http.server, with connections that are kept."""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import core


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @core.MODERN.http_server("/modern")
    @core.DUAL.http_server("/dual")
    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers.get("Authorization") == "Bearer wrong":
            return self.answer(401, None, {"WWW-Authenticate": "Bearer"})
        if status := core.refusal(message, self.headers.get("Mcp-Session-Id"), self.path):
            return self.answer(status, {"error": "session"}, {})
        reply = core.reply(message, self.path)
        return self.answer(202, None, {}) if reply is None else self.answer(200, reply, core.opened(message))

    @core.MODERN.http_server("/modern")
    @core.DUAL.http_server("/dual")
    def do_GET(self) -> None:
        self.answer(405, None, {})

    do_DELETE = do_GET

    def answer(self, status: int, body: object, headers: dict[str, str]) -> None:
        text = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(text)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args: object) -> None:
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
