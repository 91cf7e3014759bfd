"""A server of the standalone `fastmcp` that is moved to release 4 is compared with what it was: what the release says otherwise is no fault."""

from __future__ import annotations

import copy
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import sdk
import servers
from mcp_migrate.verify import fastmcp

# Code that every release takes as it is.
SERVER = '''"""Some of all that a server may have."""

from fastmcp import FastMCP
from pydantic import BaseModel, Field

mcp = FastMCP("notes")


class Note(BaseModel):
    """A note."""

    text: str
    kind: str = Field("plain", title="Which kind")


@mcp.tool(tags={"sum"})
def add(a: int, b: int = 1) -> int:
    """Add two numbers.

    Args:
        a: the first
        b: the second
    """
    return a + b


@mcp.tool
def keep(note: Note) -> list[str]:
    """Keep a note."""
    return [note.text]


@mcp.resource("note://one")
def one() -> str:
    """The one."""
    return "one"


@mcp.resource("note://{name}")
def some(name: str) -> str:
    """One of many."""
    return name


@mcp.prompt
def ask(about: str) -> str:
    """Ask.

    Args:
        about: of what
    """
    return f"What of {about}?"


if __name__ == "__main__":
    mcp.run()
'''


def compared(folder: Path, release: int, now: str) -> dict[str, str]:
    """The outcomes of the comparison of a server on an older release with one on 4."""
    server = folder / "server.py"
    server.write_text(SERVER)
    for argv in (("init", "-q"), ("add", "."), ("commit", "-qm", "before")):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *argv], cwd=folder, check=True, capture_output=True)
    server.write_text(now)
    former, newer = (f"{sdk.fastmcp(major)} server.py" for major in (release, 4))
    done = servers.migrate(
        "verify", "--stdio", newer, "--against", "HEAD", "--against-command", former, "--output-format", "json", cwd=folder
    )
    return {check["name"]: check["outcome"] for check in json.loads(done.stdout)["checks"] if check["group"] == "compared"}


@pytest.mark.parametrize("release", [2, 3])
def test_what_the_release_says_otherwise_is_worth_a_look_and_no_failure(release: int, tmp_path: Path) -> None:
    outcomes = compared(tmp_path, release, SERVER)
    assert [name for name, outcome in outcomes.items() if outcome == "failed"] == []
    assert outcomes["older clients are told the same by tools/list as at HEAD"] == "warned"


def test_what_the_move_has_changed_is_a_failure(tmp_path: Path) -> None:
    changed = SERVER.replace('"""Keep a note."""', '"""Keep it."""').replace('title="Which kind"', 'title="Of what kind"')
    outcomes = compared(tmp_path, 2, changed.replace("def ask(about: str)", "def ask(about: str, more: str)"))
    assert {name.split()[7] for name, outcome in outcomes.items() if outcome == "failed"} == {"tools/list", "prompts/list"}


ITEM: dict[str, Any] = {
    "name": "add_up",
    "description": "Add.",
    "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}},
}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({}, {"title": "Sum"}),
        ({}, {"description": "Take."}),
        ({}, {"description": ""}),
        ({}, {"inputSchema": {"type": "object", "properties": {"a": {"type": "integer", "description": "not said before"}}}}),
        ({}, {"inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}}}),
        ({"_meta": {"_fastmcp": {"tags": ["a"]}}}, {"_meta": {"fastmcp": {"tags": []}}}),
        ({"annotations": {"own": True}}, {"annotations": {}}),
    ],
    ids=["title", "description", "no description", "a parameter", "its type", "tags", "annotations"],
)
def test_what_is_like_it_is_not_the_release(old: dict[str, Any], new: dict[str, Any]) -> None:
    def listed(more: dict[str, Any]) -> dict[str, Any]:
        return {"id": 1, "result": {"tools": [copy.deepcopy(ITEM) | more]}}

    assert fastmcp.own("tools/list", listed(old), listed(new)) == ""
    assert fastmcp.own("tools/list", listed(old), {"result": {"tools": []}}) == ""


def test_tasks_that_a_server_had_are_missed() -> None:
    one, two = ({"result": {"capabilities": capabilities}} for capabilities in ({"tasks": {"list": {}}}, {"logging": {}}))
    assert fastmcp.own("initialize", one, two) == "result.capabilities.logging, result.capabilities.tasks"
    assert fastmcp.own("initialize", one, two, tasks=True) == ""
