"""Which releases of fastmcp code is written for, and what that means for its facts."""

from __future__ import annotations

import pytest
from mcp_migrate.facts.model import Standalone, Symbol
from mcp_migrate.project import Project, read
from mcp_migrate.sdk.majors import Line
from mcp_migrate.source import Source

BOTH = "try:\n    from fastmcp.server.providers.proxy import ProxyClient\nexcept ImportError:\n    from fastmcp.server.proxy import ProxyClient\n"


def link(**files: str) -> Project:
    return Project.link(read(Source(f"{name}.py", text)) for name, text in files.items())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from fastmcp import FastMCP\n", Line.EITHER),
        ("from fastmcp.tools.tool import Tool\n", Line.OLD),
        ("import fastmcp.server.proxy\n", Line.OLD),
        ("from fastmcp.server.sessions import UserSession\n", Line.NEW),
        (BOTH, Line.BOTH),
        ("import fastmcp\nif fastmcp.__version__ < '4':\n    from fastmcp.tools.tool import Tool\nelse:\n    from fastmcp.tools import Tool\n", Line.BOTH),
        ("from mcp.server.fastmcp import FastMCP\nimport app\n", Line.NONE),
    ],
    ids=["either", "old", "module", "new", "guard", "version", "sdk"],
)  # fmt: skip
def test_a_file_is_written_for_the_releases_that_its_imports_tell(text: str, expected: Line) -> None:
    project = link(main=text, app="from fastmcp import Client\n")
    assert project.sdk is not None
    assert project.sdk.line("main.py") is expected


def test_code_for_both_has_no_uses_that_a_rule_could_take() -> None:
    project = link(main=f"{BOTH}from mcp.server.fastmcp import FastMCP\nclient = ProxyClient('x')\n")
    assert not project.of("main.py", Standalone)
    assert project.of("main.py", Symbol)


def test_a_project_without_fastmcp_does_not_read_its_table() -> None:
    project = link(main="from mcp.server.fastmcp import FastMCP\nmcp = FastMCP('a')\n")
    assert project.sdk is not None
    assert not project.sdk.api.standalone


def test_the_two_classes_of_one_name_are_told_apart_by_their_imports() -> None:
    text = "from fastmcp import FastMCP\nfrom mcp.server.fastmcp import FastMCP as Bundled\na = FastMCP('a')\nb = Bundled('b')\na.run()\nb.run()\n"
    project = link(main=text)
    calls = {str(fact.key) for kind in (Standalone, Symbol) for fact in project.of("main.py", kind) if fact.use.value == "call"}
    assert calls == {
        "fastmcp.FastMCP",
        "fastmcp.FastMCP.run",
        "mcp.server.fastmcp.server.FastMCP",
        "mcp.server.fastmcp.server.FastMCP.run",
    }
