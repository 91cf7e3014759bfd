"""The clients of `fixtures/clients`: rewritten as shown, and run against real servers of both majors."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import http_wire
import pytest
import relays
import sdk
from mcp_migrate import catalog, engine
from mcp_migrate.project import Project, read
from mcp_migrate.rewrite import module
from mcp_migrate.rule import Applicability, Era, Finding
from mcp_migrate.source import Source
from relays import Heard

CLIENTS = Path(__file__).parent.parent / "fixtures" / "clients"
NAMES = sorted(path.name for path in CLIENTS.iterdir())
OVER_HTTP = {"urllib_messages", "httpx_session"}
CATALOG = catalog.load()
PREFIX = "io.modelcontextprotocol/"
MODERN = "2026-07-28"
# One tool that adds; the second major serves both revisions.
SERVERS = {
    1: """\
import sys
from mcp.server.fastmcp import FastMCP
app = FastMCP("adder", port=int(sys.argv[2]), log_level="ERROR")
@app.tool()
def add(a: int, b: int) -> int:
    return a + b
app.run(sys.argv[1])
""",
    2: """\
import sys
from mcp.server import MCPServer
app = MCPServer("adder")
@app.tool()
def add(a: int, b: int) -> int:
    return a + b
app.run(sys.argv[1], **({"port": int(sys.argv[2])} if sys.argv[1] != "stdio" else {}))
""",
}
SAID = {
    "pipe_methods": ["adder", "add", "3"],
    "urllib_messages": ["adder", "3"],
    "httpx_session": ["adder", "['add']", "3", "refused"],
    "plain_functions": ["adder", "3", "4"],
}

each_client = pytest.mark.parametrize("name", NAMES)
each_era = pytest.mark.parametrize("era", list(Era), ids=lambda era: era.value)


def fixed(text: str, era: Era = Era.DUAL, path: str = "client.py", *, unsafe: bool = False) -> engine.Fixed:
    return engine.fix(Project.link([read(Source(path, text))]), CATALOG, era, unsafe=unsafe)


def findings(text: str, rule: str = "MCP101", era: Era = Era.DUAL, path: str = "client.py") -> list[Finding]:
    return engine.check(Project.link([read(Source(path, text))]), CATALOG, era, select=[rule])


def text_of(name: str, form: str) -> str:
    return (CLIENTS / name / f"{form}.py").read_text(encoding="utf-8")


@each_era
@each_client
def test_a_client_is_rewritten_as_shown(name: str, era: Era) -> None:
    made = fixed(text_of(name, "before"), era)
    assert made.texts["client.py"] == text_of(name, f"after_{era.value}")
    assert made.created == {module.CLIENT_FILE_NAME: module.client()}
    assert made.dropped == ()
    again = engine.fix(made.project, CATALOG, era)
    assert (again.texts, again.created) == ({}, {})


@each_era
@each_client
def test_nothing_that_fails_is_left(name: str, era: Era) -> None:
    left = fixed(text_of(name, "before"), era).remaining
    # The version of the handshake is a constant that only older servers are told, and roots are deprecated.
    assert {finding.rule for finding in left} <= {"MCP204", "MCP401"}
    assert all(finding.severity.word != "error" for finding in left)


def run(folder: Path, name: str, form: str, major: int) -> tuple[list[str], list[Heard], str]:
    """What a client prints that speaks to a real server, what the server hears, and what it complains of."""
    (folder / "client.py").write_text(text_of(name, form), encoding="utf-8")
    (folder / module.CLIENT_FILE_NAME).write_text(module.client(), encoding="utf-8")
    (folder / "server.py").write_text(SERVERS[major], encoding="utf-8")
    command = [str(sdk.python(major)), str(folder / "server.py")]
    client = [str(sdk.python(1)) if name == "httpx_session" else sys.executable, "client.py"]

    def result(*argv: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*client, *argv], cwd=folder, capture_output=True, text=True, timeout=60)

    if name not in OVER_HTTP:
        log = folder / "heard"
        done = result(*relays.piped(log, [*command, "stdio", "0"]))
        return done.stdout.splitlines(), relays.read(log), done.stderr
    with (
        http_wire.serving([*command, "streamable-http", "{port}"], folder, "/mcp", {}) as server,
        relays.posted(server.port) as (port, heard),
    ):
        done = result(f"http://127.0.0.1:{port}/mcp")
        return done.stdout.splitlines(), heard, done.stderr


@each_client
def test_a_client_of_both_eras_speaks_the_new_revision_where_it_is_known(name: str, tmp_path: Path) -> None:
    said, heard, complaints = run(tmp_path, name, "after_dual", 2)
    assert said == SAID[name], complaints
    assert_modern(heard, over_http=name in OVER_HTTP)


@each_client
def test_a_client_of_the_new_era_speaks_nothing_else(name: str, tmp_path: Path) -> None:
    said, heard, complaints = run(tmp_path, name, "after_modern", 2)
    assert said == SAID[name], complaints
    assert_modern(heard, over_http=name in OVER_HTTP)


@each_client
def test_a_client_of_both_eras_says_to_an_older_server_what_it_always_said(name: str, tmp_path: Path) -> None:
    (before := tmp_path / "before").mkdir()
    (after := tmp_path / "after").mkdir()
    said, expected, complaints = run(before, name, "before", 1)
    assert said == SAID[name], complaints
    said, heard, complaints = run(after, name, "after_dual", 1)
    assert said == SAID[name], complaints
    assert heard[0].message["method"] == "server/discover"
    assert [plain(one) for one in heard[1:]] == [plain(one) for one in expected]


@each_client
def test_a_client_of_the_new_era_does_not_fall_back(name: str, tmp_path: Path) -> None:
    said, heard, complaints = run(tmp_path, name, "after_modern", 1)
    assert said == []
    assert complaints
    assert [one.message["method"] for one in heard] == ["server/discover"]


def assert_modern(heard: list[Heard], *, over_http: bool) -> None:
    methods = [one.message["method"] for one in heard]
    assert methods[0] == "server/discover"
    assert "initialize" not in methods
    assert not [method for method in methods if method.startswith("notifications/")]
    for one in heard:
        meta = one.message["params"]["_meta"]
        assert meta[f"{PREFIX}protocolVersion"] == MODERN
        assert meta[f"{PREFIX}clientCapabilities"] == {}
        assert meta[f"{PREFIX}clientInfo"]["name"]
        if over_http:
            assert one.headers["mcp-protocol-version"] == MODERN
            assert one.headers["mcp-method"] == one.message["method"]
            assert one.headers.get("mcp-name") == one.message["params"].get("name")
            assert "mcp-session-id" not in one.headers


def plain(one: Heard) -> tuple[Any, ...]:
    """A message without its number, and whether it names a session and a version."""
    message = {key: value for key, value in one.message.items() if key != "id"}
    return message, list(message), "mcp-session-id" in one.headers, one.headers.get("mcp-protocol-version")


# -- what is not rewritten ----------------------------------------------------
HELLO = '{"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}'
CLIENT = f"""\
import json


class Client:
    def open(self):
        self.request("initialize", {HELLO})
        # <open>

    def request(self, method, params=None):
        # <send>
        message = {{"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {{}}}}
        self.pipe.stdin.write(json.dumps(message) + "\\n")
        return json.loads(self.pipe.stdout.readline())["result"]

    # <more>
"""


def changed(**places: str) -> str:
    text = CLIENT
    for name, code in places.items():
        indent = {"open": 8, "send": 8, "more": 4, "top": 0}[name]
        text = text.replace(f"{' ' * indent}# <{name}>\n", textwrap.indent(textwrap.dedent(code).strip("\n"), " " * indent) + "\n")
    return text


def reason(text: str, path: str = "client.py") -> str:
    (finding,) = findings(text, path=path)
    assert finding.applicability is Applicability.MANUAL
    made = fixed(text, path=path)
    assert (made.texts, made.created) == ({}, {})
    return finding.hint


def test_the_client_that_the_others_are_made_of_is_rewritten() -> None:
    (finding,) = findings(CLIENT)
    assert finding.applicability is Applicability.SAFE
    assert "@ERA.sends" in fixed(CLIENT).texts["client.py"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            changed(more='def tools(self):\n    self.pipe.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}))'),
            "this request is built where it is sent (line 16)",
            id="a second place",
        ),
        pytest.param(
            changed(more='def alive(self):\n    self.request("resources/subscribe")'),
            "this client also sends `resources/subscribe`, which 2026-07-28 does not have (line 16)",
            id="a removed request",
        ),
        pytest.param(
            changed(
                more='def hear(self, message):\n    if message["method"] == "elicitation/create":\n        return {"action": "cancel"}'
            ),
            "this client answers `elicitation/create` (line 16)",
            id="answers questions",
        ),
        pytest.param(
            changed(
                more='def hear(self, message):\n    if message["method"] == "notifications/tools/list_changed":\n        self.request("tools/list")'
            ),
            "this client hears `notifications/tools/list_changed`, which needs a `subscriptions/listen` request (line 16)",
            id="hears of changes",
        ),
        pytest.param(
            CLIENT.replace("        # <open>", "").replace(
                f'self.request("initialize", {HELLO})',
                f'found = self.request("initialize", {HELLO})\n        if found["protocolVersion"] != "2025-06-18":\n            raise ValueError',
            ),
            "this client checks which revision the server chose (line 7)",
            id="checks the version",
        ),
        pytest.param(
            CLIENT.replace('        return json.loads(self.pipe.stdout.readline())["result"]\n', ""),
            "`request` does not give the reply back (line 9)",
            id="gives nothing",
        ),
        pytest.param(
            CLIENT.replace('return json.loads(self.pipe.stdout.readline())["result"]', "return self.pipe.stdout.readline()"),
            "`request` gives something else than the reply (line 13)",
            id="gives text",
        ),
        pytest.param(
            changed(send="if not self.pipe:\n    self.close()") + "    def close(self):\n        self.pipe = None\n",
            "`request` ends the connection when something goes wrong (line 11)",
            id="closes",
        ),
        pytest.param(
            CLIENT.replace('self.pipe.stdin.write(json.dumps(message) + "\\n")', "self.carrier.take(message)"),
            "how `request` sends its messages is not known (line 9)",
            id="an unknown way",
        ),
        pytest.param(
            CLIENT.replace("    def request", "    @retrying\n    def request"),
            "`request` has a decorator (line 10)",
            id="a decorator",
        ),
        pytest.param(CLIENT + "\n\nclass Era:\n    pass\n", "`Era` is something else in this file (line 6)", id="a name that is taken"),
        pytest.param(
            CLIENT.replace("self, method, params=None", "self, url, method, params=None").replace(
                'request("initialize"', 'request("u", "initialize"'
            ),
            "`request` does not tell which of url is the connection (line 9)",
            id="many connections",
        ),
    ],
)
def test_what_is_not_proven_is_told_with_its_line(text: str, expected: str) -> None:
    assert reason(text).startswith(f"not rewritten: {expected}")


def test_a_module_of_that_name_that_others_wrote_is_left_alone() -> None:
    files = {"client.py": CLIENT, module.CLIENT_FILE_NAME: "VERSION = 1\n"}
    made = engine.fix(Project.link([read(Source(path, text)) for path, text in files.items()]), CATALOG)
    assert (made.texts, made.created) == ({}, {})
    (finding,) = (one for one in made.remaining if one.rule == "MCP101")
    assert finding.hint == "mcp_stateless_client.py exists, and is not as `fix` writes it"


def test_a_client_of_a_test_is_only_rewritten_on_demand() -> None:
    (finding,) = findings(CLIENT, path="tests/test_it.py")
    assert finding.applicability is Applicability.UNSAFE
    assert fixed(CLIENT, path="tests/test_it.py").texts == {}
    assert "@ERA.sends" in fixed(CLIENT, path="tests/test_it.py", unsafe=True).texts["tests/test_it.py"]


def test_a_client_in_a_package_imports_its_module_as_its_neighbours_do() -> None:
    text = CLIENT.replace("import json\n", "import json\n\nfrom .other import thing\n", 1) + "\n\nprint(thing)\n"
    files = {"pack/__init__.py": "", "pack/client.py": text, "pack/other.py": "thing = 1\n"}
    made = engine.fix(Project.link([read(Source(path, text)) for path, text in files.items()]), CATALOG)
    assert "from .mcp_stateless_client import Era\n" in made.texts["pack/client.py"]
    assert [*made.created] == ["pack/mcp_stateless_client.py"]


def test_headers_are_handed_through_wherever_a_call_takes_them() -> None:
    sent = [
        ("self.http.request('POST', self.url, body, held)", "self.http.request('POST', self.url, body, ERA.headers(held))"),
        ("Request(self.url, body, held)", "Request(self.url, body, ERA.headers(held))"),
        ("self.http.post(self.url, data=body)", "self.http.post(self.url, data=body, headers=ERA.headers())"),
        (
            "self.http.request(method='POST', url=self.url, headers={})",
            "self.http.request(method='POST', url=self.url, headers=ERA.headers({}))",
        ),
    ]
    for before, after in sent:
        text = CLIENT.replace('self.pipe.stdin.write(json.dumps(message) + "\\n")', f"response = {before}")
        text = text.replace("self.pipe.stdout.readline()", "response.read()")
        assert f"response = {after}\n" in fixed(text).texts["client.py"]


def test_a_ping_is_no_obstacle_and_is_left_where_only_the_new_revision_is_spoken() -> None:
    text = changed(more='def alive(self):\n    return self.request("ping")')
    assert fixed(text).remaining == []
    assert [finding.rule for finding in fixed(text, Era.MODERN).remaining] == ["MCP103"]


def test_what_keeps_a_session_goes_with_its_test_where_only_the_new_revision_is_spoken() -> None:
    text = changed(send="held = {}\nif self.session:\n    held['Mcp-Session-Id'] = self.session")
    text = text.replace(
        "    def open(self):", "    def __init__(self, http):\n        self.http = http\n        self.session = ''\n\n    def open(self):"
    )
    text = text.replace(
        'self.pipe.stdin.write(json.dumps(message) + "\\n")',
        "response = self.http.post('/mcp', json=message, headers=held)\n"
        "        if not self.session:\n            self.session = str(response.headers.get('Mcp-Session-Id') or '')",
    ).replace("self.pipe.stdout.readline()", "response.text")
    assert '@ERA.sends(session="session")' in fixed(text).texts["client.py"]
    modern = fixed(text, Era.MODERN)
    assert "session" not in modern.texts["client.py"].lower()
    assert modern.remaining == []


def test_what_the_opening_says_belongs_to_the_client_wherever_it_stands() -> None:
    opening = f'self.request("initialize", {HELLO})'
    text = CLIENT.replace(opening, "pass") + f"\n\ndef main(client):\n    client{opening.removeprefix('self')}\n"
    assert [finding.applicability for finding in findings(text, "MCP204")] == [Applicability.SAFE]
    assert fixed(text).remaining == []
