"""Where changes are published to clients of 2026-07-28: beside what tells those with a session, and outside of who wants to hear it."""

from __future__ import annotations

import ast

import pytest
from mcp_migrate import catalog, engine
from mcp_migrate.facts.functions import read
from mcp_migrate.facts.publications import Publication, publications
from mcp_migrate.project import Project
from mcp_migrate.project import read as read_file
from mcp_migrate.rewrite import edits
from mcp_migrate.rewrite.module import FILE_NAME, Part, parts_of
from mcp_migrate.rewrite.publishing import published
from mcp_migrate.rule import Era
from mcp_migrate.source import Source

UPDATED = "notifications/resources/updated"
TOOLS = "notifications/tools/list_changed"
SESSION = """
class Session:
    def send(self, method, **params):
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        self.events.append(message)
def start(params):
    session = Session()
    sessions[session.id] = session
"""


def added(text: str) -> list[str]:
    """What `fix` writes, as `line: code` of the text that it is given."""
    source = Source("server.py", text)
    module = read(source, ast.parse(text))
    found = list(published(module, "MCP"))
    ast.parse(edits.apply(text.encode(), found).decode())
    return [f"{source.position(edit.span.start).line}: {edit.text.strip()}" for edit in found]


def test_a_broadcast_publishes_its_message_before_its_lock_and_its_loop() -> None:
    text = f"""def notify(method, params=None, only=None):
    message = {{"jsonrpc": "2.0", "method": method}}
    if params:
        message["params"] = params
    with lock:
        for session in SESSIONS.values():
            if only is None or only(session):
                session["queue"].put(message)
def put(uri):
    notify("{UPDATED}", {{"uri": uri}}, lambda s: uri in s["uris"])
    notify("notifications/message", {{"level": "info"}})
"""
    assert added(text) == ["5: MCP.publish(message)"]


def test_a_message_that_is_made_in_the_loop_is_made_once_more_before_it() -> None:
    text = f"""async def tools_changed():
    for queue in list(QUEUES.values()):
        try:
            queue.put_nowait({{"jsonrpc": "2.0", "method": "{TOOLS}"}})
        except asyncio.QueueFull:
            pass
"""
    assert added(text) == [f'2: MCP.publish({{"jsonrpc": "2.0", "method": "{TOOLS}"}})']


def test_a_session_that_sends_for_itself_leaves_it_to_those_who_tell_all_sessions() -> None:
    text = f"""{SESSION}
def changed(uri):
    for session in sessions.values():
        if uri in session.watched:
            session.send("{UPDATED}", uri=uri)
def renamed(session):
    TOOLS.clear()
    session.send("{TOOLS}")
    session.send("notifications/message", level="info", data="x")
"""
    assert added(text) == [
        f'11: MCP.publish({{"jsonrpc": "2.0", "method": "{UPDATED}", "params": {{"uri": uri}}}})',
        f'16: MCP.publish({{"jsonrpc": "2.0", "method": "{TOOLS}"}})',
    ]


def test_a_test_of_who_has_subscribed_is_no_test_for_others() -> None:
    text = f"""def notify(method, params):
    for queue in queues:
        queue.put({{"jsonrpc": "2.0", "method": method, "params": params}})
def changed(uri):
    if uri in SUBSCRIBED:
        notify("{UPDATED}", {{"uri": uri}})
def tools_changed():
    notify("{TOOLS}", {{}})
"""
    assert added(text) == [
        f'5: MCP.publish({{"jsonrpc": "2.0", "method": "{UPDATED}", "params": {{"uri": uri}}}})',
        f'8: MCP.publish({{"jsonrpc": "2.0", "method": "{TOOLS}", "params": {{}}}})',
    ]


def test_a_message_is_made_above_what_leaves_where_nobody_listens() -> None:
    text = f"""async def changed(self, uri):
    if self.sessions is None:
        return
    message = {{"jsonrpc": "2.0", "method": "{UPDATED}", "params": {{"uri": uri}}}}
    ids = await self.sessions.subscribers(uri)
    await gather(*(self.put(one, message) for one in ids))
"""
    assert added(text) == [f'2: MCP.publish({{"jsonrpc": "2.0", "method": "{UPDATED}", "params": {{"uri": uri}}}})']


def test_what_happens_only_if_something_has_changed_stays_so() -> None:
    text = f"""def add(name):
    if name not in TOOLS:
        TOOLS[name] = 1
        broadcast({{"jsonrpc": "2.0", "method": "{TOOLS}"}})
"""
    assert added(text) == [f'4: MCP.publish({{"jsonrpc": "2.0", "method": "{TOOLS}"}})']


def test_a_message_that_a_function_gives_is_published_where_it_is_handed_on() -> None:
    text = f"""def notification(method, params):
    return {{"jsonrpc": "2.0", "method": method, "params": params}}
def changed(uri):
    message = notification("{UPDATED}", {{"uri": uri}})
    for client in CLIENTS:
        client.send(message)
"""
    assert added(text) == ["5: MCP.publish(message)"]


@pytest.mark.parametrize(
    "text",
    [
        f"def changed():\n    outbox.put(('{TOOLS}', None))\n",
        f"def changed():\n    if not sessions:\n        return\n    drop()\n    for s in sessions:\n        s.put({{'method': '{TOOLS}'}})\n",
        f"def changed():\n    for s in sessions:\n        n = next(s)\n        s.put({{'method': '{TOOLS}', 'params': {{'n': n}}}})\n",
        f"def changed(): broadcast({{'method': '{TOOLS}'}})\n",
        "def changed(kind):\n    if kind in listeners: pass\n    elif sessions:\n"
        f"        send({{'method': '{TOOLS}'}})\n    elif kind:\n        tell('notifications/prompts/list_changed')\n",
    ],
    ids=["a pair", "an early return", "a message for each client", "one line", "one of two"],
)
def test_one_doubt_and_nothing_is_published(text: str) -> None:
    assert added(text) == []


@pytest.mark.parametrize(
    "text",
    [
        f"CHANGES = {{'{TOOLS}', '{UPDATED}'}}\n",
        f"def handle(method):\n    if method == '{TOOLS}':\n        refresh()\n",
        f"def handle(method):\n    log.info('{TOOLS}')\n",
        "def progress(t):\n    queue.put({'method': 'notifications/progress', 'params': {'t': t}})\n",
        f"def ask(i):\n    queue.put({{'id': i, 'method': '{TOOLS}'}})\n",
    ],
    ids=["a list", "a client", "a log", "progress", "a request"],
)
def test_what_announces_nothing_publishes_nothing(text: str) -> None:
    module = read(Source("server.py", text), ast.parse(text))
    assert [one for one in publications(module) if isinstance(one, Publication)] == []


SERVER = """
from flask import Flask, request
from hub import Hub

app = Flask(__name__)
hub = Hub()
TOOLS = {}


@app.post("/mcp")
def mcp():
    message = request.get_json()
    method, params = message.get("method"), message.get("params") or {}
    if method == "initialize":
        capabilities = {"tools": {"listChanged": True}, "resources": {"subscribe": True}}
        result = {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": {"name": "two", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": list(TOOLS)}
    elif method == "tools/call":
        TOOLS[params["name"]] = 1
        hub.broadcast({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        result = {"content": []}
    elif method == "resources/list":
        result = {"resources": []}
    elif method == "resources/subscribe":
        hub.subscribe(params)
        result = {}
    else:
        return {"jsonrpc": "2.0", "id": message.get("id"), "error": {"code": -32601, "message": "Method not found"}}
    return {"jsonrpc": "2.0", "id": message.get("id"), "result": result}
"""
HUB = """
import queue


class Hub:
    def __init__(self):
        self.queues, self.uris = [], set()

    def subscribe(self, params):
        self.uris.add(params["uri"])

    def broadcast(self, message):
        for one in self.queues:
            one.put(message)
"""
TELLS = """
    def changed(self, uri):
        if uri in self.uris:
            self.broadcast({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}})
"""


@pytest.mark.parametrize(("hub", "publishes"), [(HUB, True), (HUB + TELLS, False)], ids=["keeps", "tells"])
def test_another_module_may_keep_who_is_subscribed_but_not_tell_them(hub: str, publishes: bool) -> None:
    project = Project.link(read_file(Source(path, text)) for path, text in {"server.py": SERVER, "hub.py": hub}.items())
    done = engine.fix(project, catalog.load(), Era.DUAL)
    parts = parts_of(done.created[FILE_NAME])
    assert parts is not None
    assert ("MCP.publish(" in done.texts["server.py"], Part.STREAMS in parts) == (publishes, publishes)
    told = {(finding.path, finding.name) for finding in done.remaining if finding.name == "unserved_listen"}
    assert told == (set() if publishes else {("server.py", "unserved_listen"), ("hub.py", "unserved_listen")})
