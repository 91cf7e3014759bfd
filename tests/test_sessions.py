"""Gates that refuse requests for want of a session, and what only looks like one."""

from __future__ import annotations

import ast

import pytest
from mcp_migrate.facts.functions import read
from mcp_migrate.facts.sessions import session_gates
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
    ],
)
def test_a_refusal_for_want_of_a_session_is_a_gate(test: str, refusal: str) -> None:
    assert len(gates(f"def post(request):\n    if {test}:\n        {refusal}\n    return reply(200)\n")) == 1


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


def test_the_gate_is_the_part_of_the_test_that_asks_for_the_session() -> None:
    text = "class App:\n    def post(self):\n        try:\n            if body and sid not in live:\n                return 404\n        finally:\n            pass\n"
    source = Source("app.py", text)
    (gate,) = session_gates(read(source, ast.parse(text)))
    assert (source.slice(gate.span), gate.scope, gate.key) == ("sid not in live", "App.post", "session")


def gates(text: str) -> list[str]:
    source = Source("app.py", text)
    return [source.slice(gate.span) for gate in session_gates(read(source, ast.parse(text)))]
