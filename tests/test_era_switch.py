"""A server that was wired for both eras, and then for the modern one alone: nothing of the first wiring's tests stays behind."""

from __future__ import annotations

import pytest
from mcp_migrate import catalog, engine
from mcp_migrate.project import Project, read
from mcp_migrate.rule import Era
from mcp_migrate.source import Source

CATALOG = catalog.load()
SERVER = """import uuid
from fastapi import FastAPI, HTTPException, Request

app = FastAPI()
sessions = {{}}


@app.post("/mcp")
async def post(request: Request):
    msg = await request.json()
    method, rid = msg.get("method"), msg.get("id")
    if method == "initialize":
        sid = uuid.uuid4().hex
        sessions[sid] = {{}}
        return {{"jsonrpc": "2.0", "id": rid, "result": {{
            "protocolVersion": "2025-06-18", "capabilities": {{"tools": {{}}}}, "serverInfo": {{"name": "s", "version": "1"}}}}}}
    sid = request.headers.get("Mcp-Session-Id")
{gate}
    if method == "tools/list":
        return {{"jsonrpc": "2.0", "id": rid, "result": {{"tools": []}}}}
    return {{"jsonrpc": "2.0", "id": rid, "error": {{"code": -32601, "message": "unknown"}}}}
"""


@pytest.mark.parametrize("test", ["sid not in sessions", "not sid or sid not in sessions", "sid is None", "sessions.get(sid) is None"])
def test_a_gate_that_was_opened_goes_with_the_sessions(test: str) -> None:
    project = Project.link([read(Source("server.py", SERVER.format(gate=f"    if {test}:\n        raise HTTPException(404)")))])
    both = engine.fix(project, CATALOG, Era.DUAL)
    assert "MCP.modern" in both.texts["server.py"]
    alone = engine.fix(both.project, CATALOG, Era.MODERN).texts["server.py"]
    assert "legacy=False" in alone
    assert not any(word in alone for word in ("MCP.modern", "HTTPException", "sid", "sessions"))


def test_what_a_server_calls_modern_itself_is_no_revision() -> None:
    lines = "    if sid not in sessions:\n        raise HTTPException(404)\n    kind = 'flat' if theme.modern else 'round'\n    print(kind)"
    text = f"from look import theme\n{SERVER.format(gate=lines)}"
    alone = engine.fix(Project.link([read(Source("server.py", text))]), CATALOG, Era.MODERN).texts["server.py"]
    assert "kind = 'flat' if theme.modern else 'round'" in alone
    assert "sessions" not in alone
