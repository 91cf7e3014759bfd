"""What one file says: every shape of code gives the fact that names it, at its place, and look-alikes give none."""

from __future__ import annotations

import pytest
from mcp_migrate.facts.model import (
    CodeUse,
    ErrorCode,
    Fact,
    FileFacts,
    Handler,
    Header,
    HeaderUse,
    Result,
    Route,
    Send,
    Shape,
    Store,
    Version,
    VersionUse,
)
from mcp_migrate.project import Project, read
from mcp_migrate.source import Source, decode

ANCHOR = 'KNOWN = {"tools/list": list_tools}\n'
"""A line that proves a file to be MCP, for shapes that need such company."""


def facts(text: str, kind: type[Fact], path: str = "server.py") -> list[Fact]:
    file = link(text, path)
    return sorted((fact for fact in file.facts if type(fact) is kind), key=lambda fact: fact.span)


def link(text: str, path: str = "server.py") -> FileFacts:
    return Project.link([read(Source(path, text))]).files[path]


def handled(text: str) -> list[tuple[object, Shape]]:
    return [(fact.key, fact.shape) for fact in facts(text + ANCHOR, Handler) if isinstance(fact, Handler) and fact.key != "tools/list"]


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ('if method == "ping": pass\n', Shape.COMPARE),
        ('if "ping" == method: pass\n', Shape.COMPARE),
        ('if msg["method"] == "ping": pass\n', Shape.COMPARE),
        ('if msg.get("method") == "ping": pass\n', Shape.COMPARE),
        ('if request.method == "ping": pass\n', Shape.COMPARE),
        ('if (m := msg["method"]) == "ping": pass\n', Shape.COMPARE),
        ('if a: pass\nelif method == "ping": pass\n', Shape.COMPARE),
        ('x = 1 if method == "ping" else 2\n', Shape.COMPARE),
        ('match method:\n    case "ping": pass\n', Shape.CASE),
        ('match method:\n    case "tools/call" | "ping": pass\n', Shape.CASE),
        ('PING = "ping"\nTOOLS = "tools/call"\nif method == PING: pass\n', Shape.COMPARE),
        ('class M:\n    PING = "ping"\nif method == M.PING: pass\n', Shape.COMPARE),
        ('class M(str, Enum):\n    PING = "ping"\nif method == M.PING.value: pass\n', Shape.COMPARE),
        ('def f(method):\n    p = "ping"\n    return method == p\n', Shape.COMPARE),
        ('if method == "pi" "ng": pass\n', Shape.COMPARE),
        ('P = "pi"\nif method == P + "ng": pass\n', Shape.COMPARE),
        ('P = "pi"\nif method == f"{P}ng": pass\n', Shape.COMPARE),
        ('TABLE = {"ping": pong, "tools/call": call}\n', Shape.TABLE),
        ("TABLE = dict(initialize=hello, ping=pong)\n", Shape.TABLE),
        ('TABLE["ping"] = pong\n', Shape.TABLE),
        ('class S:\n    table = {"ping": "handle_ping", "tools/call": "handle_call"}\n', Shape.TABLE),
        ('register("ping", pong)\nregister("tools/call", call)\n', Shape.REGISTER),
        ('server.add_method("ping", pong)\n', Shape.REGISTER),
        ('@method("ping")\ndef pong(): pass\n', Shape.DECORATOR),
        ('@rpc.handler(method="ping")\nasync def pong(): pass\n', Shape.DECORATOR),
        ('if method in ("ping", "tools/call"): pass\n', Shape.MEMBER),
        ('class Ping:\n    method: Literal["ping"]\n', Shape.TYPE),
        (
            'class S:\n    def route(self, method, p):\n        return getattr(self, f"handle_{method}")(p)\n    def handle_ping(self, p): pass\n',
            Shape.ATTRIBUTE,
        ),
        (
            'class S:\n    def route(self, method, p):\n        n = "on_" + method\n        return getattr(self, n)(p)\n    def on_ping(self, p): pass\n',
            Shape.ATTRIBUTE,
        ),
    ],
)
def test_a_handler_is_found_in_every_shape(text, shape):
    found = [entry for entry in handled(text) if entry[0] == "ping"]
    assert (("ping", shape)) in found
    assert len(found) == 1


@pytest.mark.parametrize(
    "text",
    [
        'if name == "ping": pass\n',
        'if event["type"] == "ping": pass\n',
        'TOOLS = [{"name": "ping"}]\n',
        'LABELS = {"ping": ("heart", "alive")}\n',
        'run(["ping", "-c", "1", host])\n',
        'calls.append("ping")\n',
        'log.info("ping")\n',
        '@app.get("/ping")\ndef ping(): return {"ping": "pong"}\n',
        '@cli.command("ping")\ndef ping(): pass\n',
        'redis.execute_command("ping")\n',
        'assert message["method"] == "ping"\n',
        '"""Answers ping and initialize."""\n',
        '# if method == "ping"\n',
        'subprocess.run("ping")\n',
        'asyncio.create_subprocess_exec("ping", "-c", "1", host)\n',
        'x = hasattr(client, "initialize")\n',
        'span.set_attribute("initialized", ready)\n',
        'conn.send_event("ping", {})\n',
        'skip = os.getenv("SKIP", "tools/call").split(",")\n',
        'self.create_context("completion", "completion/complete")\n',
    ],
)
def test_words_that_mean_something_else_are_left_alone(text):
    assert handled(text) == []
    assert facts(text + ANCHOR, Send) == []


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ('send({"jsonrpc": "2.0", "id": 1, "method": "ping"})\n', Shape.LITERAL),
        ('KEY = "method"\nsend({"id": 1, KEY: "ping", "params": {}})\n', Shape.LITERAL),
        ('message["method"] = "ping"\n', Shape.LITERAL),
        ('client.request("ping")\n', Shape.ARGUMENT),
        ('await self._send_request("ping", params)\n', Shape.ARGUMENT),
        ('Request(method="ping")\n', Shape.KEYWORD),
        ("""pipe.write('{"jsonrpc": "2.0", "id": 1, "method": "ping"}')\n""", Shape.TEXT),
        ("""pipe.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')\n""", Shape.TEXT),
        ("""pipe.write(f'{{"jsonrpc":"2.0","id":{n},"method":"ping"}}')\n""", Shape.TEXT),
    ],
)
def test_a_send_is_found_in_every_shape(text, shape):
    assert [(fact.key, fact.shape) for fact in facts(text + ANCHOR, Send)] == [("ping", shape)]


def test_a_notification_is_told_from_a_request():
    (sent,) = facts('notify({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})\n', Send)
    assert sent.notification


@pytest.mark.parametrize(
    ("text", "use"),
    [
        ('raise RpcError(-32002, "Resource not found")\n', CodeUse.SEND),
        ('raise RpcError(code=-32002, message="Resource not found")\n', CodeUse.SEND),
        ('e = {"code": -32002, "message": "Resource not found"}\n', CodeUse.SEND),
        ('e = {"code": int("-32002"), "message": "Resource not found"}\n', CodeUse.SEND),
        ('e = {"code": -(32002), "message": "Resource not found"}\n', CodeUse.SEND),
        ("RESOURCE_NOT_FOUND = -32_002\n", CodeUse.CONSTANT),
        ("RESOURCE_NOT_FOUND = -0x7d02\n", CodeUse.CONSTANT),
        ("class Codes(IntEnum):\n    RESOURCE_NOT_FOUND = -32002\n", CodeUse.CONSTANT),
        ("CODES = dict(resource_not_found=-32002)\n", CodeUse.CONSTANT),
        ("if error.code == -32002: pass\n", CodeUse.COMPARE),
        ("if code in (-32002, -32602): pass\n", CodeUse.COMPARE),
        ('NAMES = {-32002: "missing"}\n', CodeUse.COMPARE),
    ],
)
def test_a_code_is_found_in_every_spelling_with_its_use(text, use):
    (code,) = facts(text + ANCHOR, ErrorCode)
    assert (code.key, code.use) == ("-32002", use)


def test_a_code_carries_the_text_and_the_method_that_show_its_meaning():
    text = (
        ANCHOR
        + 'if method == "resources/read":\n    raise RpcError(-32002, "no such file")\nraise RpcError(-32002, f"session {sid} is gone")\n'
    )
    first, second = facts(text, ErrorCode)
    assert (first.method, first.text) == ("resources/read", "no such file")
    assert second.method == ""
    assert "session" in second.text


@pytest.mark.parametrize("text", ['HEADERS = {"X-Error-Code": "-32002"}\n', "PORT = 32002\n", 'STATES = {"-32002": 2}\n'])
def test_other_numbers_are_no_codes(text):
    assert facts(text + ANCHOR, ErrorCode) == []


@pytest.mark.parametrize(
    ("text", "use"),
    [
        ('r = {"protocolVersion": "2025-06-18", "capabilities": {}}\n', VersionUse.REPLY),
        ('r = {"protocolVersion": "0.1.0", "capabilities": {}}\n', VersionUse.REPLY),
        ('r = {"protocolVersion": "2025-06-18", "clientInfo": {}}\n', VersionUse.SEND),
        ('PROTOCOL_VERSION = "2025-06-18"\n', VersionUse.CONSTANT),
        ('SUPPORTED = ("2024-11-05", "2025-06-18")\n', VersionUse.LIST),
        ('SUPPORTED = tuple(dict.fromkeys(("2024-11-05", "2025-06-18")))\n', VersionUse.LIST),
        ('Revision = Literal["2024-11-05", "2025-06-18"]\n', VersionUse.LIST),
        ('v = params.get("protocolVersion", "2025-06-18")\n', VersionUse.DEFAULT),
        ('v = params.get("protocolVersion") or "2025-06-18"\n', VersionUse.DEFAULT),
        ('v = os.environ.get("MCP_VERSION", "2025-06-18")\n', VersionUse.DEFAULT),
        ('def start(protocol_version="2025-06-18"): pass\n', VersionUse.DEFAULT),
        ('h = {"MCP-Protocol-Version": "2025-06-18"}\n', VersionUse.HEADER),
        ('if version == "2025-06-18": pass\n', VersionUse.COMPARE),
        ('if version >= "2025-06-18": pass\n', VersionUse.ORDER),
        ('r = {"protocolVersion": params.get("protocolVersion"), "capabilities": {}}\n', VersionUse.ECHO),
        ('r = {"protocolVersion": params["protocolVersion"], "capabilities": {}}\n', VersionUse.ECHO),
    ],
)
def test_a_version_is_found_with_its_use(text, use):
    assert [fact.use for fact in facts(text + ANCHOR, Version)] == [use]


@pytest.mark.parametrize("text", ['RELEASED = "2025-06-18"\n', 'x = {"date": "2025-06-18"}\n', '"""The revision of 2025-06-18."""\n'])
def test_a_date_is_no_version(text):
    assert facts(text + ANCHOR, Version) == []


def test_a_version_that_stands_by_its_name_is_reported_at_the_constant_only():
    text = ANCHOR + 'VERSION = "2025-06-18"\nr = {"protocolVersion": VERSION, "capabilities": {}}\n'
    assert [fact.use for fact in facts(text, Version)] == [VersionUse.CONSTANT]


@pytest.mark.parametrize(
    ("text", "use"),
    [
        ('sid = request.headers.get("Mcp-Session-Id")\n', HeaderUse.READ),
        ('sid = request.headers["mcp-session-id"]\n', HeaderUse.READ),
        ('sid = environ.get("HTTP_MCP_SESSION_ID")\n', HeaderUse.READ),
        ('SID = "Mcp-Session-Id"\n', HeaderUse.CONSTANT),
        ('response.headers["Mcp-Session-Id"] = sid\n', HeaderUse.WRITE),
        ('h = {"Mcp-Session-Id": sid}\n', HeaderUse.WRITE),
        ('h = [(b"mcp-session-id", sid)]\n', HeaderUse.WRITE),
        ('self.send_header("Mcp-Session-Id", sid)\n', HeaderUse.WRITE),
        ("def f(mcp_session_id: str = Header(None)): pass\n", HeaderUse.ALIAS),
        ("def f(mcp_session_id: Annotated[str, Header()]): pass\n", HeaderUse.ALIAS),
        ('def f(sid: str = Header(None, alias="Mcp-Session-Id")): pass\n', HeaderUse.ALIAS),
        ('cors(expose_headers=["mcp-session-id"])\n', HeaderUse.LIST),
        ('self.allow("Content-Type, Mcp-Session-Id, Accept")\n', HeaderUse.LIST),
        ('ok = "mcp-session-id" in response.headers\n', HeaderUse.READ),
    ],
)
def test_a_header_is_found_in_every_spelling(text, use):
    assert [(fact.key, fact.use) for fact in facts(text, Header)] == [("mcp-session-id", use)]


def test_a_header_constant_counts_where_it_is_used():
    text = 'SID = "Mcp-Session-Id"\nx = request.headers.get(SID.lower())\n'
    assert [fact.use for fact in facts(text, Header)] == [HeaderUse.CONSTANT, HeaderUse.READ]


def test_results_are_known_by_their_fields_and_not_mistaken_for_capabilities():
    text = (
        ANCHOR
        + 'c = {"capabilities": {"tools": {}}}\nr = {"tools": TOOLS}\ns = {"tools": TOOLS, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}\n'
    )
    first, second = facts(text, Result)
    assert (first.key, first.stamped, first.cached) == ("tools/list", False, False)
    assert (second.stamped, second.cached) == (True, True)


def test_routes_of_the_endpoint_are_told_from_others():
    text = (
        ANCHOR
        + '@app.post("/mcp")\nasync def post(r):\n    sid = r.headers.get("mcp-session-id")\n'
        + '@app.get("/mcp")\nasync def stream(): return StreamingResponse(x, media_type="text/event-stream")\n'
        + '@app.delete("/mcp")\nasync def end(): pass\n@app.get("/health")\nasync def health(): pass\n'
    )
    assert [fact.key for fact in facts(text, Route) if fact.key != "POST"] == ["GET", "DELETE"]


def test_a_registered_page_beside_the_endpoint_is_no_stream():
    text = (
        ANCHOR
        + 'ROUTES = [Route("/health", health, methods=["GET"]), Route("/mcp", mcp, methods=["POST"])]\nsid = r.headers.get("mcp-session-id")\n'
    )
    assert [fact.key for fact in facts(text, Route) if fact.key != "POST"] == []
    both = ANCHOR + 'app.add_api_route("/mcp", mcp, methods=["GET", "POST", "DELETE"])\nsid = r.headers.get("mcp-session-id")\n'
    assert [fact.key for fact in facts(both, Route) if fact.key != "POST"] == ["GET", "DELETE"]


def test_expected_and_faked_results_of_tests_are_nobodys_answers():
    text = 'if method == "tools/list": pass\nr = {"tools": TOOLS}\n'
    assert facts(text, Result, "tests/test_server.py") == []
    assert len(facts(text, Result, "server.py")) == 1


def test_a_session_store_needs_the_session_header():
    text = "sessions: dict[str, dict] = {}\n" + ANCHOR
    assert facts(text, Store) == []
    assert len(facts(text + 'sid = headers.get("mcp-session-id")\n', Store)) == 1


@pytest.mark.parametrize(
    "text",
    [
        'METHODS = {"message/send": a, "tasks/list": b}\nif body["method"] == "tasks/list": pass\n',
        'if method == "initialize": pass\nelif method == "textDocument/hover": pass\n',
        'web.post(url, json={"method": "resources/list"})\nif method == "textDocument/hover": pass\n',
        'if method == "initialize": pass\nif method == "session/prompt": raise E(-32002, "Resource not found")\n',
        'def ping(): pass\nregister_method("ping", ping)\n',
        "HW_LOCKED = -32002\n",
    ],
    ids=["a2a", "lsp", "lsp that posts", "acp", "plain json-rpc", "wallet"],
)
def test_other_protocols_say_nothing(text):
    assert [fact for fact in link(text).facts if isinstance(fact, (Handler, ErrorCode, Version))] == []


def test_spans_are_utf8_bytes_whatever_stands_before():
    for text in (
        "é = 'ß'; m = method == \"ping\"\n" + ANCHOR,
        'x = 1\r\nif method == "ping": pass\r\n' + ANCHOR,
        'x = 1\rif method == "ping": pass\r' + ANCHOR,
    ):
        (fact,) = [fact for fact in facts(text, Handler) if fact.key == "ping"]
        assert Source("x.py", text).slice(fact.span) == '"ping"'


def test_the_declared_encoding_is_read():
    source = decode("cafe.py", '# -*- coding: latin-1 -*-\nname = "café"\nif method == "ping": pass\n'.encode("latin-1") + ANCHOR.encode())
    file = Project.link([read(source)]).files["cafe.py"]
    (ping,) = [fact for fact in file.facts if isinstance(fact, Handler) and fact.key == "ping"]
    assert source.position(ping.span.start).line == 3
    assert (
        source.encode(source.text)
        == '# -*- coding: latin-1 -*-\nname = "café"\nif method == "ping": pass\n'.encode("latin-1") + ANCHOR.encode()
    )


def test_a_chain_of_a_thousand_branches_is_no_problem():
    chain = "".join(f'{"el" if number else ""}if method == "x/{number}": pass\n' for number in range(1000))
    assert handled(chain + 'elif method == "ping": pass\n') == [("ping", Shape.COMPARE)]
