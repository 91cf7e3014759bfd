"""What findings say where one sentence does not fit all of a rule's cases."""

from __future__ import annotations

from mcp_migrate import catalog, engine
from mcp_migrate.project import Project, read
from mcp_migrate.source import Source


def messages(rule: str, text: str) -> list[str]:
    project = Project.link([read(Source("server.py", text))])
    return [finding.message for finding in engine.check(project, catalog.load(), select=[rule])]


def test_a_gate_says_which_message_it_waits_for() -> None:
    text = """
def serve(stream):
    first = stream.read()
    if first.get("method") != "initialize":
        raise RuntimeError("no handshake")
    second = stream.read()
    if second.get("method") != "notifications/initialized":
        raise RuntimeError("not confirmed")
    for message in stream:
        if message["method"] == "tools/list":
            yield {"jsonrpc": "2.0", "id": message["id"], "result": {"tools": []}}
        elif message["method"] == "tools/call":
            yield {"jsonrpc": "2.0", "id": message["id"], "result": {"content": []}}
"""
    assert messages("initialization_gate", text) == [
        "this ends when the first message is not the one of the handshake",
        "this ends when the message after `initialize` is not `notifications/initialized`",
    ]
