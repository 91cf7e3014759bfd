"""What a request without a session meets: gates that are about it, book-keeping, what cannot do without, and what only looks like a session."""

from __future__ import annotations

import ast

import pytest
from mcp_migrate import catalog, engine
from mcp_migrate.facts.code import Code, Place
from mcp_migrate.facts.sessionless import Needed, Sessionless, Spared, depends, required
from mcp_migrate.project import Project, read
from mcp_migrate.rule import Era
from mcp_migrate.scope import names_of
from mcp_migrate.source import Source
from modules import Files, place

CATALOG = catalog.load()
RULE = "server_discover"
HEAD = """import json
import uuid
from typing import Annotated, Optional
from fastapi import Depends, FastAPI, Header, HTTPException, Request, Response

HEADER = "Mcp-Session-Id"
sessions = {}
app = FastAPI()

"""
HANDLE = """

def handle(msg):
    method, rid = msg.get("method"), msg.get("id")
    if method == "initialize":
        return {"jsonrpc": "2.0", "id": rid, "result": {
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}}
    if method == "tools/list":
        return {"jsonrpc": "2.0", "id": rid, "result": {"tools": []}}
CALL    return {"jsonrpc": "2.0", "id": rid, "error": {"code": -32601, "message": "unknown"}}
"""
HELPERS = """

def find(request):
    return sessions.get(request.headers.get("Mcp-Session-Id"))


def need(request: Request):
    sid = request.headers.get("Mcp-Session-Id")
    if sid not in sessions:
        raise HTTPException(404)
    return sessions[sid]


def note(request):
    sid = request.headers.get("Mcp-Session-Id")
    if not sid:
        return
    sessions[sid]["calls"] += 1
"""
SID = 'sid = request.headers.get("Mcp-Session-Id")\n'


def indented(text: str, depth: int) -> str:
    return "".join(f"{'    ' * depth}{line}\n" for line in text.rstrip("\n").split("\n"))


def endpoint(body: str, signature: str = "msg: dict, request: Request", call: str = "") -> str:
    post = f'@app.post("/mcp")\nasync def post({signature}):\n{indented(body, 1)}    return handle(msg)\n'
    return HEAD + post + HELPERS + HANDLE.replace("CALL", indented(call, 1) if call else "")


def tool(body: str) -> str:
    """The code of one tool; the endpoint has a gate."""
    call = "if method == 'tools/call':\n" + indented(f"args = msg['params']['arguments']\n{body}\nreturn {{}}", 1)
    return endpoint(SID + "if sid not in sessions:\n    raise HTTPException(404)", call=call)


def wired(server: str, era: Era = Era.DUAL) -> str:
    """The server with its boundary: it can be parsed, every name is known, and a second run does nothing."""
    project = Project.link([read(Source("server.py", server))])
    fixed = engine.fix(project, CATALOG, era, select=[RULE])
    assert [finding.hint for finding in fixed.remaining] == []
    text = fixed.texts["server.py"]
    assert names_of(ast.parse(text)).undefined <= names_of(ast.parse(server)).undefined
    again = engine.fix(fixed.project, CATALOG, era, select=[RULE])
    assert (again.texts, again.created) == ({}, {})
    return text


def refused(server: str) -> str:
    """Why nothing was wired."""
    fixed = engine.fix(Project.link([read(Source("server.py", server))]), CATALOG, select=[RULE])
    assert fixed.texts == {}
    (finding,) = fixed.remaining
    return finding.hint


def sessionless(server: str, start: str = "post") -> Sessionless:
    code = Code(Files({"server": server}))
    first = place(code, start)
    return Sessionless(code, code.reachable(first), frozenset(), (first,))


def uses(server: str) -> list[tuple[str, str]]:
    """The uses of a session that is not there: how each is spared, or that it is needed, with its text."""
    return [
        (use.way.value if isinstance(use, Spared) else "needed", ast.unparse(use.node).split("\n")[0]) for use in sessionless(server).uses()
    ]


# -- gates ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gate", "opened"),
    [
        (SID + "if not sid:\n    raise HTTPException(400)", "if not sid and not MCP.modern:"),
        (SID + "if sid is None or sid not in sessions:\n    raise HTTPException(404)", "if (sid is None or sid not in sessions) and not"),
        ("sid = request.headers.get(HEADER)\nif sid not in sessions:\n    raise HTTPException(404)", "if sid not in sessions and not"),
        (
            "sid = request.headers.get(HEADER.lower())\nif sid not in sessions:\n    raise HTTPException(404)",
            "if sid not in sessions and not",
        ),
        ("sid = request.query_params.get('session_id')\nif not sid:\n    raise HTTPException(400)", "if not sid and not MCP.modern:"),
        ("session = find(request)\nif session is None:\n    raise HTTPException(404)", "if session is None and not MCP.modern:"),
        (SID + "if sessions.get(f's:{sid}') is None:\n    raise HTTPException(404)", "if not MCP.modern and sessions.get(f's:{sid}')"),
        (
            SID + "if msg['method'] != 'initialize' and sid not in sessions:\n    raise HTTPException(404)",
            "sid not in sessions and not MCP",
        ),
        (
            SID + "if not msg:\n    raise HTTPException(400)\nelif not sid:\n    raise HTTPException(400)",
            "elif not sid and not MCP.modern:",
        ),
        ("if not (sid := request.headers.get(HEADER)):\n    raise HTTPException(400)", "if not MCP.modern and not (sid := request"),
        (SID + "if sid in sessions:\n    return handle(msg)\nelse:\n    raise HTTPException(404)", "if sid in sessions or MCP.modern:"),
        (SID + "if sid in sessions:\n    return handle(msg)\nraise HTTPException(404)", "if sid in sessions or MCP.modern:"),
        (SID + "if sid in sessions:\n    return handle(msg)\nprint(sid)\nraise HTTPException(404)", "if sid in sessions or MCP.modern:"),
    ],
    ids=[
        "literal",
        "two parts",
        "constant",
        "lower case",
        "query",
        "helper",
        "key",
        "method",
        "elif",
        "walrus",
        "else",
        "behind it",
        "behind a line",
    ],
)
def test_a_gate_lets_requests_pass_that_name_no_session(gate: str, opened: str) -> None:
    assert opened in wired(endpoint(gate.replace("return handle(msg)\nraise", "return handle(msg)\nraise")))


@pytest.mark.parametrize(
    "parameter",
    [
        "sid: Optional[str] = Header(None, alias='Mcp-Session-Id')",
        "sid: Annotated[str | None, Header(alias='mcp-session-id')] = None",
        "sid: str | None = Header(default=None, alias='MCP-Session-Id')",
    ],
    ids=["alias", "annotated", "keywords"],
)
def test_a_parameter_that_the_framework_fills_from_the_header_is_a_session(parameter: str) -> None:
    text = endpoint("if sid not in sessions:\n    raise HTTPException(404)", f"msg: dict, {parameter}")
    assert "if sid not in sessions and not MCP.modern:" in wired(text)


def test_a_parameter_is_a_session_by_its_own_name() -> None:
    text = endpoint("if mcp_session_id not in sessions:\n    raise HTTPException(404)", "msg: dict, mcp_session_id: str = Header(None)")
    assert "if mcp_session_id not in sessions and not MCP.modern:" in wired(text)


@pytest.mark.parametrize(
    "parameter",
    [
        "sid: str = Header(alias='mcp-session-id')",
        "sid: str = Header(..., alias='mcp-session-id')",
        "sid: Annotated[str, Header(alias='mcp-session-id')]",
    ],
    ids=["no default", "dots", "annotated"],
)
def test_a_header_that_the_signature_demands_is_told(parameter: str) -> None:
    text = endpoint(
        "if sid not in sessions:\n    raise HTTPException(404)",
        f"msg: dict, {parameter}".replace("msg: dict, sid: A", "sid: A") + (", msg: dict = None" if "Annotated[str," in parameter else ""),
    )
    assert "give `sid` the default None" in refused(text)


def test_a_gate_in_a_function_that_fastapi_calls_first() -> None:
    text = wired(endpoint("pass", "msg: dict, session: dict = Depends(need)"))
    assert "def need(request: Request):\n    if MCP.modern:\n        return None\n" in text


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (SID + "if sid not in sessions:\n    raise HTTPException(401)", "who may come in"),
        (SID + "if not sid:\n    raise HTTPException(status_code=403)", "who may come in"),
        (
            SID + "s = sessions.get(sid)\nif s is None or s.user != request.headers.get('X'):\n    raise HTTPException(404)",
            "needs a session",
        ),
    ],
    ids=["unauthorized", "forbidden", "user of the session"],
)
def test_a_gate_that_may_ask_who_comes_in_is_not_opened(body: str, why: str) -> None:
    assert why in refused(endpoint(body))


@pytest.mark.parametrize(
    "body",
    [
        "session = sessions.get(request.cookies.get('session'))\nif not session:\n    raise HTTPException(401)",
        "sid = request.cookies.get('session_id')\nif sid not in sessions:\n    raise HTTPException(404)",
        "sid = request.headers.get('X-Session-Id')\nif sid not in sessions:\n    raise HTTPException(404)",
        "if not request.session.get('user'):\n    raise HTTPException(401)",
        "session = verify(request.headers.get('Authorization'))\nif not session:\n    raise HTTPException(401)",
        "sid = request.headers.get('session')\nif sid not in sessions:\n    raise HTTPException(403)",
        "if not request.headers.get('Authorization'):\n    raise HTTPException(401)",
    ],
    ids=["cookie", "id in a cookie", "another header", "session of the framework", "token", "plain header", "authorization"],
)
def test_a_login_stays_closed(body: str) -> None:
    assert body in wired(endpoint(body)).replace("\n    ", "\n")


# -- what keeps book of sessions --------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (SID + "sessions[sid]['seen'] = 1", [("skip", "sessions[sid]['seen'] = 1")]),
        (SID + "s = sessions.get(sid)\ns.touch()", [("skip", "s.touch()")]),
        (SID + "store.touch(sid)", [("skip", "store.touch(sid)")]),
        (SID + "response.headers[HEADER] = sid", [("skip", "response.headers[HEADER] = sid")]),
        ("s = find(request)\nif s:\n    s['calls'] += 1", []),
        ("s = find(request)\nif s is not None and s['calls']:\n    s['calls'] += 1", []),
        (SID + "print(sid)\nlog.info('from %s', sid)", []),
        (SID + "return Response(headers={'Mcp-Session-Id': sid})", [("empty", "{'Mcp-Session-Id': sid}")]),
        (SID + "return Response(headers={'Mcp-Session-Id': sid, 'x': 'y'})", [("needed", "{'Mcp-Session-Id': sid, 'x': 'y'}")]),
        (SID + "user = sessions[sid]['user']", [("needed", "sessions[sid]['user']")]),
        (SID + "connect(sid)", [("needed", "sid")]),
    ],
    ids=[
        "stored",
        "method",
        "store",
        "header of the answer",
        "guarded",
        "guarded by and",
        "logged",
        "headers",
        "more headers",
        "user",
        "unknown call",
    ],
)
def test_uses_of_a_session_that_is_not_there(body: str, expected: list[tuple[str, str]]) -> None:
    assert [use for use in uses(endpoint(body)) if use not in uses(endpoint("pass"))] == expected


def test_a_function_that_leaves_without_a_session_goes_on_to_nothing_that_needs_one() -> None:
    text = wired(endpoint("note(request)"))
    assert "    if not MCP.modern:\n        sessions[sid]['calls'] += 1".replace("'", '"') in text


@pytest.mark.parametrize(
    ("era", "headers"), [(Era.DUAL, '({} if MCP.modern else {"Mcp-Session-Id": sid})'), (Era.MODERN, "{}")], ids=["dual", "modern"]
)
def test_headers_that_hold_nothing_but_the_session_are_left_out(era: Era, headers: str) -> None:
    text = wired(endpoint(SID + 'return Response(json.dumps(handle(msg)), headers={"Mcp-Session-Id": sid})'), era)
    assert f"headers={headers})" in text


def test_a_session_that_is_looked_up_behind_its_gate_is_none() -> None:
    text = wired(endpoint(SID + "if sid not in sessions:\n    raise HTTPException(404)\nstate = sessions[sid]"))
    assert "    state = sessions.get(sid)\n" in text


def test_a_server_that_makes_sessions_for_requests_without_one_makes_none() -> None:
    text = wired(endpoint(SID + "if not sid:\n    sid = uuid.uuid4().hex\n    sessions[sid] = {}\nsessions[sid]['calls'] = 1"))
    assert "    if not sid and not MCP.modern:\n        sid = uuid.uuid4().hex\n" in text
    assert "    if not MCP.modern:\n        sessions[sid]['calls'] = 1\n" in text


# -- sessions of something else ---------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        "session = Database()\nif session is None:\n    return {'error': {'code': 404}}\nsession.query(1)",
        "session = pickers.get(args.get('session_id'))\nif session is None:\n    return {'error': {'code': 404}}\nsession.pick(1)",
        "session_id = args['session_id']\nif session_id not in pickers:\n    return {'error': {'code': 404}}\npickers[session_id].pick(1)",
        "session = kwargs.get('session')\nsession.pick(1)",
        "if not browser.session:\n    return {'error': {'code': 400}}\nbrowser.session.go()",
    ],
    ids=["database", "argument", "id in the arguments", "keyword", "browser"],
)
@pytest.mark.parametrize("era", list(Era), ids=lambda era: era.value)
def test_a_session_of_a_tool_is_its_own_business(body: str, era: Era) -> None:
    assert indented(body, 2) in wired(tool(body), era)


def test_a_tool_that_needs_the_session_fails_alone() -> None:
    call = "if method == 'tools/call':\n    return {'result': sessions[sid]['basket']}"
    text = endpoint(SID, call=call).replace("handle(msg)", "handle(msg, sid)")
    assert [type(use) for use in sessionless(text).uses() if not use_of(use, "note")] == [Needed]
    assert all(not use.common for use in sessionless(text).uses() if isinstance(use, Needed))
    assert "MCP.asgi" in wired(text)


def test_what_every_request_needs_the_session_for_is_told() -> None:
    assert "needs a session, which no 2026-07-28 request has" in refused(endpoint(SID + "user = sessions[sid]['user']\nprint(user)"))


def use_of(use: Spared | Needed, function: str) -> bool:
    return use.place.name == function


# -- FastAPI ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("def post(session=Depends(need)):\n    pass\n", [("session", "need")]),
        ("def post(*, session: Annotated[dict, Depends(need)]):\n    pass\n", [("session", "need")]),
        ("@app.post('/', dependencies=[Depends(need)])\ndef post():\n    pass\n", [("", "need")]),
        ("def post(session=Security(need)):\n    pass\n", [("session", "need")]),
        ("def post(session=need):\n    pass\n", []),
    ],
    ids=["default", "annotated", "decorator", "security", "plain default"],
)
def test_what_fastapi_calls_before_an_endpoint(function: str, expected: list[tuple[str, str]]) -> None:
    code = Code(Files({"server": HELPERS + function}))
    assert [(name, target.name) for name, target in depends(code, place(code, "post"))] == expected


@pytest.mark.parametrize(
    ("signature", "name"),
    [
        ("sid: str = Header(alias='mcp-session-id')", "sid"),
        ("mcp_session_id: str = Header(...)", "mcp_session_id"),
        ("*, mcp_session_id: Annotated[str, Header()]", "mcp_session_id"),
        ("mcp_session_id: str = Header(default=None)", ""),
        ("mcp_session_id: Annotated[str | None, Header()] = None", ""),
        ("token: str = Header(...)", ""),
        ("sid: str", ""),
    ],
    ids=["alias", "dots", "annotated", "default", "annotated with a default", "another header", "no header"],
)
def test_the_header_that_a_signature_demands(signature: str, name: str) -> None:
    code = Code(Files({"server": f"def post({signature}):\n    pass\n"}))
    found: Place = place(code, "post")
    assert required(found) == name
