"""Request handlers that serve MCP beside pages and interfaces of their own: the boundary stands before the endpoint alone."""

from __future__ import annotations

import re

import pytest
from mcp_migrate import catalog, engine
from mcp_migrate.project import Project, read
from mcp_migrate.rule import Era
from mcp_migrate.source import Source

CATALOG = catalog.load()
SERVER = """import json
from http.server import BaseHTTPRequestHandler


def handle(msg):
    method, rid = msg.get("method"), msg.get("id")
    if method == "initialize":
        return {{"jsonrpc": "2.0", "id": rid, "result": {{
            "protocolVersion": "2025-06-18", "capabilities": {{"tools": {{}}}}, "serverInfo": {{"name": "s", "version": "1"}}}}}}
    if method == "tools/list":
        return {{"jsonrpc": "2.0", "id": rid, "result": {{"tools": []}}}}
    return {{"jsonrpc": "2.0", "id": rid, "error": {{"code": -32601, "message": "unknown"}}}}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        path = self.path
{get}

    def do_POST(self):
        path = self.path
{post}
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
{items}
        self.reply(200, handle(body))
"""
LET_BY = "if path not in ('/', '/items', '/rpc'):\n    self.reply(404, {})\n    return"
ITEMS = "if path == '/items':\n    self.reply(200, body)\n    return"


@pytest.mark.parametrize("era", Era)
@pytest.mark.parametrize(
    ("get", "wired"),
    [
        ("if path == '/':\n    self.reply(200, PAGE)", ["do_POST"]),
        ("if path == '/rpc':\n    self.reply(405, {})", ["do_GET", "do_POST"]),
        ("if path == '/':\n    self.stream('text/event-stream')", ["do_GET", "do_POST"]),
        ("self.reply(404, {})", ["do_GET", "do_POST"]),
    ],
)
def test_a_page_under_the_path_of_the_endpoint_is_left_alone(get: str, wired: list[str], era: Era) -> None:
    assert re.findall(r"@MCP\.http_server\(.*\)\n    def (\w+)", fixed(get=get, post=LET_BY, items=ITEMS, era=era)) == wired


def test_a_path_that_is_let_by_for_something_else_is_not_the_endpoints() -> None:
    assert '@MCP.http_server(("/", "/rpc"))' in fixed(get="pass", post=LET_BY, items=ITEMS)


def test_a_path_that_is_only_asked_for_on_the_way_stays() -> None:
    asked = "if path == '/rpc':\n    self.log(body)"
    assert '@MCP.http_server(("/", "/items", "/rpc"))' in fixed(get="pass", post=LET_BY, items=asked)


def fixed(*, get: str, post: str, items: str, era: Era = Era.DUAL) -> str:
    def lines(text: str) -> str:
        return "\n".join(f"        {line}" for line in text.split("\n"))

    text = SERVER.format(get=lines(get), post=lines(post), items=lines(items))
    return engine.fix(Project.link([read(Source("server.py", text))]), CATALOG, era).texts["server.py"]
