"""Each project gets the sections that it needs, and no others."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from mcp_migrate import catalog, guide
from mcp_migrate.cli import app
from mcp_migrate.flags import Flags
from mcp_migrate.rule import Severity
from mcp_migrate.run import Run

STDIO = """import json, sys
def handle(message):
    method = message["method"]
    if method == "initialize":
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "a", "version": "1"}}
    if method == "tools/list":
        return {"tools": []}
    if method == "tools/call":
        return {"content": []}
"""
LOOP = "for line in sys.stdin:\n    print(json.dumps(handle(json.loads(line))))\n"
FLASK = 'from flask import Flask, request\napp = Flask("a")\n@app.post("/mcp")\ndef mcp():\n    return handle(request.json)\n'
FASTMCP = 'from mcp.server.fastmcp import FastMCP\nserver = FastMCP("a")\n'
OWN = "from fastmcp import FastMCP\nfrom mcp.types import Tool\n"
LOW = 'from mcp.server.lowlevel import Server\nserver = Server("a")\n'
CLIENT = "from mcp import ClientSession\nfrom mcp.client.stdio import stdio_client\n"
ALWAYS = {"start", "prove", "rollout"}


def chosen(folder: Path, files: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    read = Run(Flags(paths=(str(folder),))).read(lambda number: None)
    return {section.id: tuple(Path(path).name for path in paths) for section, paths in guide.choose(read.project)}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a.py": STDIO + LOOP}, {"stdio": ("a.py",)}),
        ({"a.py": STDIO}, {"stdio": ("a.py",)}),
        ({"a.py": STDIO + FLASK}, {"http": ("a.py",)}),
        ({"a.py": STDIO, "b.py": "import sys\nfrom a import handle\n" + LOOP, "c.py": "from a import handle\n" + FLASK}, {"stdio": ("b.py",), "http": ("c.py",)}),
        ({"a.py": FASTMCP}, {"fastmcp": ("a.py",)}),
        ({"a.py": LOW}, {"lowlevel": ("a.py",)}),
        ({"a.py": CLIENT}, {"sdk-clients": ("a.py",)}),
        ({"a.py": FASTMCP, "tests/test_a.py": FASTMCP}, {"fastmcp": ("a.py", "test_a.py"), "tests": ("test_a.py",)}),
        ({"a.py": FASTMCP, "requirements.txt": "mcp\n"}, {"fastmcp": ("a.py",), "dependencies": ("requirements.txt",)}),
        ({"a.py": "from fastmcp import FastMCP\n"}, {"standalone-fastmcp": ("a.py",)}),
        ({"a.py": OWN, "test_a.py": OWN}, {"standalone-fastmcp": ("a.py", "test_a.py"), "standalone-tests": ("test_a.py",)}),
        ({"a.py": OWN, "b.py": LOW, "test_a.py": OWN}, {"standalone-fastmcp": ("a.py", "test_a.py"), "lowlevel": ("b.py",), "standalone-tests": ("test_a.py",), "tests": ("test_a.py",)}),
        ({"a.py": STDIO + LOOP, "test_a.py": "from a import handle\n" + STDIO}, {"stdio": ("a.py",), "tests": ("test_a.py",)}),
        ({"a.py": FASTMCP + "@server.tool()\nasync def ask(ctx): await ctx.elicit('?', int)\n"}, {"fastmcp": ("a.py",), "asking": ("a.py",)}),
        ({"a.py": 'send({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})\nsend({"jsonrpc": "2.0", "id": 0, "method": "initialize"})\n'}, {"clients": ("a.py",)}),
    ],
    ids=["stdio", "loop elsewhere", "http", "both", "fastmcp", "low level", "sdk client", "tests", "requirements", "standalone", "its tests", "tests of both", "hand-written", "asking", "client"],
)  # fmt: skip
def test_a_project_gets_the_sections_of_its_kinds(tmp_path, files, expected):
    found = chosen(tmp_path, files)
    assert {id: paths for id, paths in found.items() if paths} == expected
    assert found.keys() == expected.keys() | ALWAYS


@pytest.mark.parametrize(
    "text",
    [
        "import sys, flask\nfor line in sys.stdin: print(line)\n",
        'requests.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "textDocument/hover"})\nmethods = ["initialize", "window/showMessage"]\n',
        "from mcp.server.mcpserver import MCPServer\nserver = MCPServer('a')\n",
    ],
    ids=["no MCP", "LSP", "moved already"],
)
@pytest.mark.parametrize("path", ["a.py", "tests/test_a.py"])
def test_a_project_without_anything_to_move_gets_none(tmp_path, path, text):
    assert chosen(tmp_path, {path: text}) == {}


def test_every_rule_about_code_is_told_by_a_section():
    assert [
        entry.id
        for entry in catalog.load().entries
        if entry.severity > Severity.NOTE and not any(it.covers(entry.id) for it in guide.load())
    ] == []


def test_every_rule_that_a_section_names_exists():
    entries = catalog.load().entries
    named = {(section.id, prefix) for section in guide.load() for prefix in section.rules}
    assert {(id, prefix) for id, prefix in named if not any(entry.id.startswith(prefix) for entry in entries)} == set()


def run(capsys, *arguments: str) -> str:
    with pytest.raises(SystemExit) as left:
        app(["guide", *arguments])
    assert not left.value.code
    return capsys.readouterr().out


def test_a_personal_guide_names_files_and_findings(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text(STDIO + LOOP)
    said = run(capsys, ".")
    assert "## Hand-written servers over standard streams\n\n> In this project: `a.py`.\n>\n> " in said
    assert "MCP101 `initialize` (1)" in said
    assert "FastMCP servers" not in said


def test_what_no_fix_does_is_told_at_the_end(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text(FASTMCP + "@server.tool()\nasync def ask(ctx):\n    open('log', 'w')\n    await ctx.session.list_roots()\n")
    said = run(capsys)
    assert "## Left to you" in said
    assert "- **MCP110** A server sends a request to its client: a.py:6" in said


def test_a_project_without_mcp_code_is_told_so(tmp_path, capsys):
    (tmp_path / "a.py").write_text("print(1)\n")
    assert "nothing to migrate" in run(capsys, str(tmp_path))


def test_the_whole_guide_has_every_section(capsys):
    said = run(capsys, "--all")
    assert [section.title for section in guide.load() if f"## {section.title}\n\n{section.text}" not in said] == []


def test_a_guide_can_go_to_a_file(tmp_path, capsys):
    assert run(capsys, "--all", "--output-file", str(tmp_path / "guide.md")) == ""
    assert (tmp_path / "guide.md").read_text(encoding="utf-8").startswith("# Migration guide\n")
