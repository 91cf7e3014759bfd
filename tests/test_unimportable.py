"""Which imports keep a program from starting once the rest has been moved."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from mcp_migrate import engine
from mcp_migrate.catalog import load
from mcp_migrate.project import Project, read
from mcp_migrate.source import Source
from mcp_migrate.unimportable import stops

CATALOG = load()
SESSION = "mcp.shared.session.BaseSession"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from mcp.shared.session import BaseSession\nBaseSession(1, 2, 3, 4)\n", [("app.py", 1, [SESSION])]),
        ("import mcp.client.websocket\n", [("app.py", 1, ["mcp.client.websocket"])]),
        (
            "from mcp.shared.progress import Progress, progress\nprint(Progress, progress)\n",
            [("app.py", 1, ["mcp.shared.progress.Progress", "mcp.shared.progress.progress"])],
        ),
        ("if True:\n    from mcp.shared.session import BaseSession\n    BaseSession._handle = 1\n", [("app.py", 2, [SESSION])]),
        ("def f():\n    from mcp.shared.session import BaseSession\n    BaseSession(1, 2, 3, 4)\n", []),
        ("try:\n    from mcp.shared.progress import progress\nexcept ImportError:\n    progress = None\n", []),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from mcp.shared.progress import Progress\n", []),
        ("from mcp.server.fastmcp import FastMCP\nmcp = FastMCP('x')\n", []),  # `fix` moves it
        ("from mcp.types import Tool\n", []),
        ("from mcp.shared.progress import progress\n", []),  # nothing uses it, so that `fix` takes it out
        (
            "from fastmcp import FastMCP\nfrom fastmcp.server.openapi import FastMCPOpenAPI\nprint(FastMCPOpenAPI)\n",
            [("app.py", 2, ["fastmcp.server.openapi.FastMCPOpenAPI"])],
        ),
        ("from fastmcp.server.proxy import FastMCPProxy\n", []),
        ("from mcp.server.session import ServerSession\nclass Mine(ServerSession): pass\n", []),  # an error, but it can be imported
    ],
    ids=[
        "name",
        "module",
        "names",
        "block",
        "function",
        "guarded",
        "types",
        "moved",
        "fine",
        "idle",
        "name of fastmcp",
        "moved name of fastmcp",
        "other error",
    ],
)
def test_only_imports_that_fail_at_once_are_told(text: str, expected: list[object]) -> None:
    project = Project.link([read(Source("app.py", text))])
    assert [*stops(engine.check(project, CATALOG), project)] == expected


def test_fix_says_at_the_end_what_keeps_the_program_from_starting(tmp_path: Path) -> None:
    text = "from mcp.server.fastmcp import FastMCP\nfrom mcp.shared.progress import progress\n\nserver = FastMCP('x', version='1')\nprint(progress)\n"
    (tmp_path / "app.py").write_text(text)
    argv = [sys.executable, "-c", "from mcp_migrate.cli import main; main()", "fix", "."]
    fixed = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True).stdout.splitlines()
    assert fixed[-2].startswith("Does not start yet: the rest is written for newer releases")
    assert fixed[-1] == "  app.py:2 mcp.shared.progress.progress"
    # A second run changes nothing of the kind, so that it says nothing new.
    again = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True).stdout
    assert "MCP501" in again
    assert "Does not start yet" not in again


def test_a_program_that_is_to_run_with_both_releases_starts_with_the_older_one(tmp_path: Path) -> None:
    text = "from mcp.server.fastmcp import FastMCP\nfrom mcp.shared.progress import progress\n\nserver = FastMCP('x', version='1')\nprint(progress)\n"
    (tmp_path / "app.py").write_text(text)
    argv = [sys.executable, "-c", "from mcp_migrate.cli import main; main()", "fix", "--keep-v1", "."]
    said = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True).stdout
    assert "Fixed" in said
    assert "Does not start yet" not in said
