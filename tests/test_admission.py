"""Servers that ask who may come in only where they hand out sessions: no request that brings none may slip past that."""

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


def error(rid, status):
    return {{"jsonrpc": "2.0", "id": rid, "error": {{"code": -32000, "message": "no"}}, "status": status}}


def login(request):
    if request.headers.get("authorization") != "Bearer secret":
        raise HTTPException(403)

{beside}
@app.post("/mcp")
async def post(request: Request):
    msg = await request.json()
    method, rid, params = msg.get("method"), msg.get("id"), msg.get("params") or {{}}
{common}
    if method == "initialize":
{handshake}
        sid = uuid.uuid4().hex
        sessions[sid] = {{}}
        return {{"jsonrpc": "2.0", "id": rid, "result": {{
            "protocolVersion": "2025-06-18", "capabilities": {{"tools": {{}}}}, "serverInfo": {{"name": "s", "version": "1"}}}}}}
{gate}
    if method == "tools/list":
        return {{"jsonrpc": "2.0", "id": rid, "result": {{"tools": []}}}}
    return {{"jsonrpc": "2.0", "id": rid, "error": {{"code": -32601, "message": "unknown"}}}}
"""
GATE = "    if request.headers.get('Mcp-Session-Id') not in sessions:\n        raise HTTPException(404)"
OTHER = """
@app.post("/login")
async def give(request: Request):
    if (await request.json())["password"] != "secret":
        raise HTTPException(403)
    session_id = uuid.uuid4().hex
    sessions[session_id] = {}
    return session_id

"""
MIDDLEWARE = """
@app.middleware("http")
async def guard(request: Request, call_next):
    sid = request.headers.get("Mcp-Session-Id")
    if sid and sessions.get(sid, {}).get("guest"):
        raise HTTPException(403)
    return await call_next(request)

"""
WRAPPER = """
def members(view):
    async def inner(request: Request):
        session = sessions.get(request.headers.get("Mcp-Session-Id"))
        if session is not None and session["guest"]:
            raise HTTPException(403)
        return await view(request)
    return inner

"""


@pytest.mark.parametrize("era", Era)
@pytest.mark.parametrize(
    "asked",
    [
        "if request.headers.get('authorization') != 'Bearer secret':\n    return error(rid, 401)",
        "if params.get('token') != 'secret':\n    return error(rid, 400)",
        "if not knows(params):\n    raise HTTPException(403)",
        "if not knows(params):\n    raise PermissionError",
        "login(request)",
        "user = find(params.get('pin'))\nif not user:\n    return error(rid, 400)",
        "if params['clientInfo']['name'] not in ALLOWED:\n    return error(rid, 400)",
        "try:\n    decode(params)\nexcept ValueError:\n    return error(rid, 401)",
    ],
)
def test_a_session_that_stands_for_a_login_is_not_passed(asked: str, era: Era) -> None:
    assert reason(server(handshake=asked), era).startswith("not wired: the handshake asks who may come in")


@pytest.mark.parametrize("era", Era)
def test_a_session_that_a_login_elsewhere_gives_is_not_passed(era: Era) -> None:
    assert reason(server(beside=OTHER), era).startswith("not wired: who may come in is asked here")


@pytest.mark.parametrize("era", Era)
@pytest.mark.parametrize(
    ("common", "asked", "beside"),
    [
        ("pass", "if params.get('protocolVersion') != '2025-06-18':\n    return error(rid, 400)", ""),
        ("pass", "if params.get('protocolVersion') not in ALLOWED_VERSIONS:\n    return error(rid, 400)", ""),
        ("login(request)", "login(request)", ""),
        ("if request.headers.get('authorization') != 'Bearer secret':\n    raise HTTPException(401)", "pass", OTHER),
    ],
)
def test_what_is_asked_of_every_request_still_is(common: str, asked: str, beside: str, era: Era) -> None:
    text = server(common=common, handshake=asked, beside=beside)
    assert reason(text, era) == ""


@pytest.mark.parametrize("era", Era)
@pytest.mark.parametrize(
    "asked",
    [
        "session = sessions.get(request.headers.get('Mcp-Session-Id'))\nif session and session['guest']:\n    return error(rid, 403)",
        "session = sessions.get(request.headers.get('Mcp-Session-Id'))\nif session:\n    if session['guest']:\n        raise HTTPException(403)",
    ],
)
def test_what_a_session_forbids_is_not_allowed_without_one(asked: str, era: Era) -> None:
    text = server(gate=GATE + "\n" + "\n".join(f"    {line}" for line in asked.split("\n")))
    assert reason(text, era).startswith("not wired: a session is asked here for what its client may do")


@pytest.mark.parametrize("era", Era)
@pytest.mark.parametrize("around", [MIDDLEWARE, WRAPPER])
def test_what_a_session_forbids_around_the_endpoint_is_not_allowed_without_one(era: Era, around: str) -> None:
    assert reason(server(beside=around), era).startswith("not wired: a session is asked here for what its client may do")


def test_a_session_that_a_case_asks_for_is_told() -> None:
    cases = (
        "    match method:\n        case _ if request.headers.get('Mcp-Session-Id') not in sessions:\n            raise HTTPException(404)"
    )
    assert "not in sessions` needs a session" in reason(server(gate=cases), Era.DUAL)


def test_without_a_gate_the_handshake_may_ask_what_it_likes() -> None:
    assert reason(server(handshake="login(request)", gate="    pass"), Era.DUAL) == ""


def server(*, common: str = "pass", handshake: str = "pass", beside: str = "", gate: str = GATE) -> str:
    def lines(text: str, depth: int) -> str:
        return "\n".join(f"{'    ' * depth}{line}" for line in text.split("\n"))

    return SERVER.format(common=lines(common, 1), handshake=lines(handshake, 2), beside=beside, gate=gate)


def reason(text: str, era: Era) -> str:
    """Why the server is left without a boundary, if it is."""
    fixed = engine.fix(Project.link([read(Source("server.py", text))]), CATALOG, era, select=["server_discover"])
    return "".join(finding.hint for finding in fixed.remaining)
