"""Linking: values of other modules, evidence of neighbours, and what a boundary settles."""

from __future__ import annotations

import pytest
from mcp_migrate.facts.model import Call, ErrorCode, Fact, Handler, Header, Send, Shape, Version
from mcp_migrate.project import Project, module_name, read
from mcp_migrate.source import Source


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
