"""Gates that refuse requests for want of a session, and what only looks like one."""

from __future__ import annotations

import ast

import pytest
from mcp_migrate.facts.functions import read
from mcp_migrate.facts.sessions import conditions, session_gates
from mcp_migrate.source import Source


@pytest.mark.parametrize(
    ("test", "refusal"),
    [
        ("sid not in sessions", "return 404, None"),
        ("not session_id", "raise HTTPException(400)"),
        ("self.session is None", "return {'error': 'unknown session'}"),
        ("sessions.get(sid) is None", "return reply(410)"),
        ("'Mcp-Session-Id' not in request.headers", "return reply(400)"),
        ("not await load(session_id)", "return reply(404)"),
        ("not (session := find(key))", "return reply(404)"),
        ("method != 'initialize' and not mcp_session_id", "return reply(400)"),
        ("sid not in live", "abort(404)"),
        ("sid not in live", "refuse(404)"),
    ],
)
def test_a_refusal_for_want_of_a_session_is_a_gate(test: str, refusal: str) -> None:
    text = (
        f"def post(request):\n    if {test}:\n        {refusal}\n    return reply(200)\n\ndef refuse(status):\n    raise Refused(status)\n"
    )
    assert len(gates(text)) == 1


@pytest.mark.parametrize(
    ("test", "body"),
    [
        ("sid not in sessions", "sessions[sid] = {}"),
        ("not session_id", "session_id = new_id()"),
        ("sid in sessions", "return reply(404)"),
        ("not token", "return reply(401)"),
        ("session.closed", "return reply(404)"),
        ("not session_id", "return None"),
    ],
)
def test_what_makes_a_session_or_refuses_for_another_reason_is_none(test: str, body: str) -> None:
    assert gates(f"def post(request):\n    if {test}:\n        {body}\n    return reply(200)\n") == []


@pytest.mark.parametrize(
    ("given", "number"),
    [
        ("args['session_id']", 0),
        ("params['arguments'].get('session_id')", 0),
        ("params.get('arguments', {}).get('session_id')", 0),
        ("request.cookies.get('session_id')", 0),
        ("pickers.get(args.get('session'))", 0),
        ("request.args.get('session_id')", 1),
        ("request.headers.get('Mcp-Session-Id')", 1),
        ("request.query_params['session_id']", 1),
        ("sessions.get(request.headers.get('Mcp-Session-Id'))", 1),
    ],
)
def test_a_session_of_a_tool_and_a_login_are_none(given: str, number: int) -> None:
    assert (
        len(gates(f"def post(request, params, args):\n    session_id = {given}\n    if not session_id:\n        return reply(404)\n"))
        == number
    )


def test_the_gate_is_the_part_of_the_test_that_asks_for_the_session() -> None:
    text = "class App:\n    def post(self):\n        try:\n            if body and sid not in live:\n                return 404\n        finally:\n            pass\n"
    source = Source("app.py", text)
    (gate,) = session_gates(read(source, ast.parse(text)))
    assert (source.slice(gate.span), gate.scope, gate.key) == ("sid not in live", "App.post", "session")


@pytest.mark.parametrize(
    "test",
    [
        "sid not in sessions and request.headers.get('x-key') != KEY",
        "session is None and not is_admin(request)",
        "not session and not current_user",
        "not (session and session['admin'])",
        "not (session and session.user == user)",
        "not (session or api_key == KEY)",
        "not (sid in sessions and may_call(tool))",
    ],
)
def test_a_test_that_asks_for_a_session_and_for_who_may_come_in_is_not_opened(test: str) -> None:
    assert accesses(f"def post(request):\n    if {test}:\n        return reply(400)\n    return reply(200)\n") == [True]


def test_a_session_that_saves_a_credential_is_not_opened_where_the_other_branch_refuses() -> None:
    text = "def post(request):\n    if session or token == TOKEN:\n        return handle(request)\n    else:\n        return reply(400)\n"
    assert accesses(text) == [True]


@pytest.mark.parametrize(
    "test",
    [
        "method not in ALLOWED_METHODS and sid not in sessions",
        "self.stateful and not session",
        "not (sid and sid in sessions)",
        "not (session and session.initialized)",
        "request.headers.get('Mcp-Session-Id') is None and sid not in sessions",
        "sid not in sessions or request.headers.get('x-key') != KEY",
    ],
)
def test_what_else_stands_beside_a_session_leaves_the_gate_one_that_can_be_opened(test: str) -> None:
    assert not any(accesses(f"def post(request):\n    if {test}:\n        return reply(400)\n    return reply(200)\n"))


def test_what_only_holds_with_a_session_is_none_itself() -> None:
    text = "def post(request):\n    allowed = session and session['admin']\n    if not allowed:\n        return reply(400)\n    return reply(200)\n"
    assert gates(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "if method == 'x':\n        reply(200)\n    elif sid not in live:\n        reply(404)\n    else:\n        reply(200)\n",
        "if sid not in live:\n        answer = reply(404)\n    else:\n        answer = reply(200)\n    return answer\n",
        "if sid not in live:\n        self.reply(404)\n",
    ],
)
def test_a_branch_that_answers_no_and_is_followed_by_nothing_is_a_gate(text: str) -> None:
    assert gates(f"def post(self, method, sid):\n    {text}") == ["sid not in live"]


def test_a_branch_after_which_the_request_goes_on_is_none() -> None:
    assert gates("def post(self, sid):\n    if sid not in live:\n        count(404)\n    return handle()\n") == []


def accesses(text: str) -> list[bool]:
    return [one.is_access for one in conditions(read(Source("app.py", text), ast.parse(text)))]


def gates(text: str) -> list[str]:
    source = Source("app.py", text)
    return [source.slice(gate.span) for gate in session_gates(read(source, ast.parse(text)))]
