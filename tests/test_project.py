"""Linking: values of other modules, evidence of neighbours, and what a boundary settles."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest
from mcp_migrate import engine
from mcp_migrate.catalog import load
from mcp_migrate.facts.model import Call, ErrorCode, Fact, Handler, Header, Route, Send, Shape, Version
from mcp_migrate.project import Project, module_name, read
from mcp_migrate.rule import Era
from mcp_migrate.source import Source

FIXTURES = Path(__file__).parent.parent / "fixtures"


def link(**files: str) -> Project:
    """Files of a package `app`; `__init__` stands for its own file."""
    return Project.link([read(Source(f"app/{name}.py", text)) for name, text in files.items()])


def found(project: Project, name: str, kind: type[Fact]) -> list[Fact]:
    return sorted((fact for fact in project.files[f"app/{name}.py"].facts if type(fact) is kind), key=lambda fact: fact.span)


CONSTANTS = 'PING = "ping"\nLIST = "tools/list"\nKEY = "method"\nMISSING = -32002\nSID = "Mcp-Session-Id"\nclass M:\n    INIT = "initialize"\n    CALL = "tools/call"\n'


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("from app.constants import PING\nif method == PING: pass\n", "ping"),
        ("from .constants import PING as P\nif method == P: pass\n", "ping"),
        ("from app import constants\nif method == constants.PING: pass\n", "ping"),
        ("import app.constants as c\nif method == c.M.INIT: pass\n", "initialize"),
        ("from app.constants import M\nif method == M.INIT: pass\n", "initialize"),
        ("from .constants import *\nif method == PING: pass\n", "ping"),
        ("from app.shims import PING\nif method == PING: pass\n", "ping"),
        ("from app.constants import M\nOPEN = {M.INIT, M.CALL}\nif method in OPEN: pass\n", "initialize"),
    ],
    ids=["absolute", "relative with alias", "module", "module alias and class", "class", "star", "re-export", "named set"],
)
def test_methods_of_another_module_are_resolved(text, key):
    project = link(constants=CONSTANTS, shims="from .constants import PING, LIST\n", server=text)
    assert key in [fact.key for fact in found(project, "server", Handler)]


def test_keys_headers_and_codes_of_another_module_are_resolved():
    text = "from .constants import *\nsend({KEY: PING})\nsid = headers.get(SID)\nraise RpcError(MISSING, 'resource not found')\n"
    project = link(constants=CONSTANTS, server=text)
    assert [(fact.key, fact.shape) for fact in found(project, "server", Send)] == [("ping", Shape.LITERAL)]
    assert [fact.key for fact in found(project, "server", Header)] == ["mcp-session-id"]
    assert [fact.key for fact in found(project, "server", ErrorCode)] == ["-32002"]


def test_a_lower_cased_constant_of_another_module_is_the_header():
    project = link(constants=CONSTANTS, server="from .constants import SID\nsid = headers.get(SID.lower())\n")
    assert [fact.key for fact in found(project, "server", Header)] == ["mcp-session-id"]


def test_a_version_of_another_module_is_reported_where_it_stands():
    project = link(
        constants='PROTOCOL_VERSION = "2025-06-18"\n',
        server='from .constants import PROTOCOL_VERSION\nr = {"protocolVersion": PROTOCOL_VERSION}\nt = {"tools/list": f}\n',
    )
    assert len(found(project, "constants", Version)) == 1
    assert found(project, "server", Version) == []


def test_circular_and_missing_modules_resolve_to_nothing():
    project = link(
        a="from .b import PING\n",
        b="from .a import PING\n",
        server='from .a import PING\nfrom gone import PONG\nif method == PING or method == PONG: pass\nt = {"tools/list": f}\n',
    )
    assert [fact.key for fact in found(project, "server", Handler)] == ["tools/list"]


def test_a_neighbour_of_a_speaker_may_use_common_words():
    project = link(server='t = {"tools/list": f}\nfrom . import session\n', session='if method == "initialize": pass\n')
    assert [fact.key for fact in found(project, "session", Handler)] == ["initialize"]


def test_a_language_server_beside_an_mcp_server_says_nothing():
    project = link(
        server='t = {"tools/list": f}\nfrom . import lsp\n',
        lsp='if method == "initialize": pass\nelif method == "textDocument/hover": pass\n',
    )
    assert found(project, "lsp", Handler) == []


def test_a_session_of_an_imported_sdk_client_is_known():
    project = link(
        session="from mcp import ClientSession\nclass Mine(ClientSession): pass\n",
        client="from .session import Mine\nasync def f(session):\n    await session.initialize()\n    await storage.initialize()\n",
    )
    assert [(fact.key, fact.receiver) for fact in found(project, "client", Call)] == [("initialize", "session")]


def test_the_boundary_settles_its_file_and_what_it_imports_in_the_dual_era_only():
    project = link(
        server="from .mcp_stateless import Stateless\nfrom .handlers import TABLE\nMCP = Stateless({}, {})\n@MCP.boundary\ndef handle(m):\n    return TABLE[m['method']](m)\n",
        handlers='TABLE = {"initialize": a, "tools/list": b}\n',
        other='if method == "initialize": pass\nelif method == "tools/list": pass\n',
    )
    settled = {
        name: project.settled(project.files[f"app/{name}.py"], found(project, name, Handler)[0], "dual") for name in ("handlers", "other")
    }
    assert settled == {"handlers": True, "other": False}
    assert not project.settled(project.files["app/handlers.py"], found(project, "handlers", Handler)[0], "modern")


@pytest.mark.parametrize(
    ("path", "name"),
    [("server.py", "server"), ("src/app/core.py", "app.core"), ("app/__init__.py", "app"), ("./a/b.py", "a.b")],
)
def test_modules_are_named_as_imports_spell_them(path, name):
    assert module_name(path) == name


WIRED = "from .mcp_stateless import Stateless\nMCP = Stateless({}, {})\n"
LEGACY = "def handle(method):\n    if method == 'initialize': pass\n    elif method == 'tools/list': pass\n"


def settles(project: Project, name: str) -> bool:
    file = project.files[f"app/{name}.py"]
    return project.settled(file, next(fact for fact in file.facts if isinstance(fact, Handler)), "dual")


@pytest.mark.parametrize(
    "more",
    [
        'KNOWN = {"initialize", "tools/list", "server/discover"}\n',
        'if method in ("server/discover", "initialize"): pass\n',
        'class Fake:\n    def answer(self, method):\n        if method == "server/discover":\n            return {"code": -32601}\n        elif method == "initialize":\n            pass\n        elif method == "tools/list":\n            pass\n',
        "from chips import MCP\nMCP.begin(0x20)\n@MCP.boundary\ndef f(m): pass\n",
        "from .other import MCP\nMCP.begin(m)\n",
    ],
    ids=["a set that names it", "membership", "a branch that refuses it", "somebody else's MCP", "a name that makes no boundary"],
)
def test_a_mention_of_the_revision_settles_nothing(more):
    assert not settles(link(server=LEGACY + more, other="MCP = Chip()\n"), "server")


def test_a_test_that_fakes_a_modern_server_settles_nothing():
    fake = 'import app.server\ndef handle(method):\n    if method == "server/discover": return {}\n    elif method == "initialize": pass\n'
    project = Project.link([read(Source("app/server.py", LEGACY)), read(Source("tests/test_server.py", fake))])
    assert not settles(project, "server")
    assert not project.offers_modern(project.files["app/server.py"])


def test_an_imported_boundary_under_any_name_settles_what_it_wraps():
    server = "from .edge import HANDLE_2\n@HANDLE_2.boundary\n" + LEGACY
    assert settles(link(server=server, edge=WIRED.replace("MCP", "HANDLE_2")), "server")


def test_a_client_that_a_server_imports_is_not_settled():
    project = link(
        server=WIRED + "from .client import C\n@MCP.boundary\n" + LEGACY,
        client='def start(c):\n    c.request("initialize", {"protocolVersion": "2025-06-18", "clientInfo": {}})\n',
    )
    file = project.files["app/client.py"]
    assert [project.settled(file, fact, "dual") for fact in file.facts if isinstance(fact, (Send, Version))] == [False, False]


def test_a_function_that_imports_the_same_name_does_not_hide_the_module_s():
    text = "from .constants import PING\ndef f(method):\n    return method == PING\ndef g():\n    from .other import PING\n"
    project = link(constants=CONSTANTS, other="PING = 'pong'\n", server=text)
    assert [fact.key for fact in found(project, "server", Handler)] == ["ping"]


def test_every_star_import_is_looked_through():
    project = link(constants=CONSTANTS, other="X = 1\n", server="from .constants import *\nfrom .other import *\nif method == PING: pass\n")
    assert [fact.key for fact in found(project, "server", Handler)] == ["ping"]


def test_plain_json_rpc_beside_an_mcp_server_says_nothing():
    coin = 'def call(m):\n    if m["method"] == "ping": return {"jsonrpc": "2.0", "id": 1, "result": {}}\nCALL = {"jsonrpc": "2.0", "id": 1, "method": "initialize"}\n'
    project = link(server='t = {"tools/list": f}\n', coin=coin)
    assert [fact for fact in project.files["app/coin.py"].facts if isinstance(fact, (Handler, Send))] == []


def test_a_code_knows_the_others_that_it_stands_beside():
    text = 'NEW = -32602\nOLD = -32002\nt = {"tools/list": f}\nok = error.code in (NEW, OLD)\n'
    codes = [fact for fact in found(link(server=text), "server", ErrorCode) if fact.beside]
    assert [(fact.key, fact.beside) for fact in codes] == [("-32002", frozenset({"-32602"}))]


def test_a_boundary_that_another_file_makes_has_to_refuse_older_clients_before_their_code_goes():
    tools = "def route(method):\n    if method == 'initialize': return 1\n"
    made = "from mcp_stateless import Stateless\nfrom .tools import route\nMCP = Stateless({}, {}%s)\n@MCP.boundary\n" + LEGACY
    refusals = []
    for more in ("", ", legacy=False"):
        project = link(server=made % more, tools=tools)
        refusals.append(project.refuses_legacy(project.files["app/tools.py"]))
    assert refusals == [False, True]


def test_a_boundary_on_one_dispatcher_settles_nothing_of_another_in_the_same_file():
    text = (
        WIRED + "@MCP.boundary\ndef one(method):\n    if method == 'initialize': return 1\n    if method == 'tools/list': return helper()\n"
    )
    text += "def helper(method):\n    return method == 'ping'\n"
    text += "def two(method):\n    if method == 'initialize': return 1\n    if method == 'tools/list': return 2\n    if method == 'tools/call': return 3\n"
    project = link(server=text)
    file = project.files["app/server.py"]
    handlers = [fact for fact in found(project, "server", Handler) if fact.key in ("initialize", "ping")]
    assert [(fact.scope, project.settled(file, fact, "dual")) for fact in handlers] == [("one", True), ("helper", True), ("two", False)]


def test_a_server_that_answers_discover_by_hand_is_still_judged_by_its_codes():
    text = "def f(method):\n    if method == 'server/discover': return 0\n    if method == 'initialize': return 1\n    if method == 'tools/list': return 2\n"
    project = link(server=text + "    raise RpcError(-32002, 'resource not found')\n")
    file = project.files["app/server.py"]
    judged = [*found(project, "server", Handler), *found(project, "server", ErrorCode)]
    assert {(str(fact.key), project.settled(file, fact, "dual")) for fact in judged} >= {("initialize", True), ("-32002", False)}


def test_linking_what_is_linked_changes_nothing():
    server = 'sessions = {}\n@app.post("/mcp")\nasync def post(r):\n    sid = r.headers.get("mcp-session-id")\n    if sid not in sessions: return fail(404)\n    if method == "tools/list": return {"tools": []}\n'
    project = link(server=server + '@app.get("/mcp")\nasync def stream(): return StreamingResponse(x, media_type="text/event-stream")\n')
    assert set(project.replace([]).files["app/server.py"].facts) == set(project.files["app/server.py"].facts)
    assert {fact.key for _, fact in project.facts(Route)} == {"GET", "POST"}


def test_a_boundary_that_is_only_thought_of_leaves_the_facts_alone():
    project = link(server=LEGACY)
    bounded = project.bounded({"app/server.py": {"handle"}})
    assert bounded.files["app/server.py"].facts == project.files["app/server.py"].facts
    assert settles(bounded, "server")
    assert not settles(project, "server")


@pytest.mark.parametrize("case", ["servers/notes_chain/before/server.py", "mcp2/fail_open_elicitation/goes_on_later/before.py"])
def test_nothing_holds_a_project_that_nobody_asks_any_more(case: str) -> None:
    project = Project.link([read(Source("server.py", (FIXTURES / case).read_text(encoding="utf-8")))])
    fixed = engine.fix(project, load(), Era.MODERN)
    assert fixed.texts
    left = [weakref.ref(one) for one in (project, fixed.project)]
    del project, fixed
    gc.collect()
    assert [one() for one in left] == [None, None]
