"""Documents and notebooks in whole runs: what is told of them, and what `fix` writes."""

from __future__ import annotations

import io
import json
import subprocess
from pathlib import Path

import pytest
from mcp_migrate.cli import app

README = """# Quotes

```python title="server.py"
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("quotes")
```

Then:

```python
@mcp.tool()
def quote(number: int) -> str:
    return f"Quote {number}"


mcp.run(transport="stdio")
```
"""
BY_HAND = """
```python
from mcp import ClientSession


async def ask(session: ClientSession) -> None:
    await session.send_ping()
```
"""
LOWLEVEL = """
```python
from mcp import types
from mcp.server.lowlevel import Server

server = Server("quotes")


@server.list_tools()
async def tools() -> list[types.Tool]:
    return []
```
"""
SERVER = 'from mcp.server.mcpserver import MCPServer\n\nmcp = MCPServer("quotes", version="1")\n'


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        app([*arguments])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


@pytest.fixture
def here(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def notebook(*listed: str) -> str:
    found = [
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": text.splitlines(True)} for text in listed
    ]
    return json.dumps({"cells": found, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def findings(capsys, *arguments: str) -> list[dict]:
    _, said, _ = run(capsys, "check", "--output-format", "json", *arguments)
    return json.loads(said)["findings"]


def test_examples_are_notes_at_their_place_in_the_document(here, capsys) -> None:
    (here / "docs").mkdir()
    (here / "docs" / "start.md").write_text(README)
    code, _, _ = run(capsys, "check")
    assert code == 0
    (found,) = findings(capsys)
    assert {key: found[key] for key in ("rule", "severity", "applicability", "path", "line", "column", "document", "cell")} == {
        "rule": "MCP501", "severity": "note", "applicability": "safe", "path": "docs/start.md", "line": 4, "column": 32, "document": True, "cell": None,
    }  # fmt: skip
    assert found["message"].endswith(", in an example")
    assert run(capsys, "check", "--fail-on", "note")[0] == 1
    assert run(capsys, "check", "--exclude", "*.md")[1].startswith("No findings")


def test_text_says_how_an_example_is_fixed(here, capsys) -> None:
    (here / "README.md").write_text(README)
    said = run(capsys, "check")[1]
    assert "= fix needs --docs" in said
    assert "`mcp-migrate fix --docs` would settle 1 in examples of documents." in said
    assert "`mcp-migrate fix` would settle" not in said


def test_fix_leaves_documents_alone_unless_asked(here, capsys) -> None:
    (here / "README.md").write_text(README)
    run(capsys, "fix", "--allow-dirty")
    run(capsys, "fix", "--mark", "--allow-dirty")
    assert (here / "README.md").read_text() == README
    wanted = README.replace("mcp.server.fastmcp", "mcp.server.mcpserver").replace("FastMCP", "MCPServer")
    assert run(capsys, "fix", "--docs", "--diff")[0] == 1
    run(capsys, "fix", "--docs", "--allow-dirty")
    assert (here / "README.md").read_text() == wanted
    assert run(capsys, "fix", "--docs", "--diff")[:2] == (0, "")


@pytest.mark.parametrize("more", [BY_HAND, LOWLEVEL], ids=["no fix", "a module beside it"])
def test_one_finding_for_a_human_leaves_the_whole_document_as_it_is(here, capsys, more) -> None:
    (here / "README.md").write_text(README + more)
    _, out, err = run(capsys, "fix", "--docs", "--diff")
    assert out == ""
    assert "README.md: not fixed: MCP" in err
    assert "line " in err
    found = findings(capsys)
    assert {one["applicability"] for one in found} == {"manual"}
    assert any(one["hint"].startswith("not without MCP") for one in found)


def test_an_example_that_is_silenced_stands_in_nobodys_way(here, capsys) -> None:
    comment = "<!-- mcp-migrate: ignore[MCP103] -- of the past -->"
    (here / "README.md").write_text(README + comment + BY_HAND)
    assert [one["rule"] for one in findings(capsys)] == ["MCP501"]
    run(capsys, "fix", "--docs", "--allow-dirty")
    text = (here / "README.md").read_text()
    assert "MCPServer" in text
    assert "send_ping" in text


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("a.md", "<!-- mcp-migrate: ignore -->\n```python\nfrom mcp import McpError\nraise McpError\n```\n", ""),
        ("a.md", "```python\nfrom mcp import McpError  # mcp-migrate: ignore[MCP501]\nraise McpError\n```\n", ""),
        ("a.rst", ".. mcp-migrate: ignore[moved_name]\n\n.. code:: python\n\n   from mcp import McpError\n   raise McpError\n", ""),
        ("a.md", "<!-- mcp-migrate: ignore-file -->\n\nText\n\n```python\nfrom mcp import McpError\nraise McpError\n```\n", ""),
        ("a.md", "<!-- mcp-migrate: ignore -->\n\nText\n\n```python\nfrom mcp import McpError\nraise McpError\n```\n", "MCP001 MCP501"),
        ("a.md", "Say `# mcp-migrate: ignore[X]`.\n\n```python\nfrom mcp import McpError\nraise McpError\n```\n", "MCP501"),
    ],
    ids=["above", "in the line", "rst", "whole file", "text between", "prose"],
)
def test_comments_silence_examples(here, capsys, name, before, after) -> None:
    (here / name).write_text(before)
    assert " ".join(one["rule"] for one in findings(capsys)) == after


def test_a_baseline_accepts_examples_and_cells(here, capsys) -> None:
    (here / "README.md").write_text(README)
    (here / "a.ipynb").write_text(notebook("from mcp import McpError\n", "raise McpError"))
    run(capsys, "check", "--write-baseline", "baseline.json")
    code, said, _ = run(capsys, "check", "--baseline", "baseline.json")
    assert code == 0
    assert "2 accepted by the baseline" in said


def test_examples_say_nothing_about_the_code_beside_them(here, capsys) -> None:
    (here / "server.py").write_text(SERVER)
    (here / "pyproject.toml").write_text('[project]\nname = "quotes"\ndependencies = ["mcp>=2.3,<3"]\n')
    (here / "README.md").write_text(README)
    assert {one["path"] for one in findings(capsys)} == {"README.md"}
    run(capsys, "fix", "--docs", "--allow-dirty")
    assert (here / "pyproject.toml").read_text().count("mcp>=2.3,<3") == 1
    assert findings(capsys) == []


def test_commands_and_examples_of_one_document_are_fixed_together(here, capsys) -> None:
    (here / "server.py").write_text(SERVER.replace("mcpserver", "fastmcp").replace("MCPServer", "FastMCP").replace(', version="1"', ""))
    (here / "README.md").write_text(f'```bash\npip install "mcp<2"\n```\n\n{README}')
    run(capsys, "fix", "--docs", "--allow-dirty")
    text = (here / "README.md").read_text()
    assert 'pip install "mcp>=2.3,<3"' in text
    assert "from mcp.server.mcpserver import MCPServer" in text


def test_an_import_that_is_only_shown_moves(here, capsys) -> None:
    (here / "README.md").write_text("```python\nfrom mcp.server.fastmcp import FastMCP  # embed it\n```\n")
    run(capsys, "fix", "--docs", "--allow-dirty")
    assert "\nfrom mcp.server.mcpserver import MCPServer  # embed it\n" in (here / "README.md").read_text()


def test_no_import_that_is_only_shown_goes(here, capsys) -> None:
    (here / "README.md").write_text("```python\nfrom mcp.types import Cursor, Tool\n```\n")
    assert run(capsys, "fix", "--docs", "--diff")[1] == ""
    assert "Cursor, Tool" in (here / "README.md").read_text()


def test_an_import_that_is_only_shown_and_that_nothing_replaces_is_left_to_a_human(here, capsys) -> None:
    text = "```python\nfrom fastmcp import FastMCP\nfrom fastmcp.server.openapi import FastMCPOpenAPI\n```\n"
    (here / "a.md").write_text(text)
    told = run(capsys, "check", "a.md")[1]
    assert "by hand: the example only shows the import: say what it is to show now" in told
    said = run(capsys, "fix", "--docs", "--diff", "a.md")[2]
    assert "not fixed: MCP601 in line 3: the example only shows the import" in said
    assert (here / "a.md").read_text() == text


def test_the_cells_of_a_notebook_are_checked_and_fixed_like_code(here, capsys) -> None:
    before = notebook(
        "%pip install mcp\n",
        "from mcp.server.fastmcp import FastMCP\n",
        'mcp = FastMCP("é")\n@mcp.tool()\ndef quote() -> str:\n    return ""',
    )
    (here / "a.ipynb").write_text(before)
    found = [one for one in findings(capsys) if one["severity"] == "error"]
    assert [(one["rule"], one["cell"], one["line"], one["column"]) for one in found] == [("MCP701", 1, 1, 14), ("MCP501", 2, 1, 32)]
    assert "a.ipynb:cell 2:1:32" in run(capsys, "check", "--output-format", "concise")[1]
    (shown,) = [line for line in run(capsys, "check", "--output-format", "github")[1].splitlines() if "MCP501" in line]
    (row,) = [number for number, line in enumerate(before.splitlines(), start=1) if "fastmcp" in line]
    assert f"line={row},endLine={row}" in shown
    run(capsys, "fix", "--allow-dirty")
    after = (here / "a.ipynb").read_text()
    assert after == before.replace("mcp.server.fastmcp", "mcp.server.mcpserver").replace("FastMCP", "MCPServer").replace(
        "install mcp\\n", 'install \\"mcp>=2.3,<3\\"\\n'
    )
    assert run(capsys, "fix", "--diff")[:2] == (0, "")


def test_sarif_points_into_the_file_of_a_notebook(here, capsys) -> None:
    (here / "a.ipynb").write_text(notebook("x = 1", "from mcp import McpError\n", "raise McpError"))
    result = json.loads(run(capsys, "check", "--output-format", "sarif")[1])["runs"][0]["results"][0]
    region = result["locations"][0]["physicalLocation"]["region"]
    lines = (here / "a.ipynb").read_text().splitlines()
    assert lines[region["startLine"] - 1][region["startColumn"] - 1 : region["endColumn"] - 1] == "McpError"


def test_a_notebook_gets_a_module_beside_it(here, capsys) -> None:
    (here / "a.ipynb").write_text(
        notebook(
            "from mcp import types\nfrom mcp.server.lowlevel import Server\nserver = Server('x', version='1')",
            LOWLEVEL.partition("\n\n\n")[2].rstrip("`\n"),
        )
    )
    run(capsys, "fix", "--allow-dirty")
    assert (here / "mcp_handlers.py").exists()
    cells = ["".join(cell["source"]) for cell in json.loads((here / "a.ipynb").read_text())["cells"]]
    assert any("import mcp_handlers" in cell for cell in cells)
    assert "@mcp_handlers.list_tools(server)" in cells[1]
    assert run(capsys, "fix", "--diff")[:2] == (0, "")


def test_what_a_notebook_writes_gets_none(here, capsys) -> None:
    (here / "a.ipynb").write_text(notebook("%%writefile server.py\n" + LOWLEVEL.strip("`\n").removeprefix("python\n")))
    _, out, err = run(capsys, "fix", "--diff")
    assert "mcp_handlers" not in out
    assert "would have to write as well" in err


def test_a_broken_notebook_is_one_line_and_the_rest_goes_on(here, capsys) -> None:
    (here / "a.ipynb").write_text('{"cells": ["import mcp"')
    (here / "server.py").write_text("from mcp import McpError\nraise McpError\n")
    code, said, _ = run(capsys, "check", "--output-format", "concise")
    assert code == 2
    assert [line.partition(" [")[0] for line in said.splitlines()] == ["a.ipynb:1:1: MCP000", "server.py:1:17: MCP501"]


def test_marks_go_into_cells(here, capsys) -> None:
    (here / "a.ipynb").write_text(
        notebook("!ls\n", "from mcp import ClientSession\n\n\nasync def ask(session: ClientSession):\n    await session.send_ping()")
    )
    run(capsys, "fix", "--mark", "--allow-dirty")
    first, second = ("".join(cell["source"]) for cell in json.loads((here / "a.ipynb").read_text())["cells"])
    assert first == "!ls\n"
    assert "    # mcp-migrate: TODO[MCP103]" in second


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("docs/a.md", README, ["--docs"]),
        ("a.ipynb", notebook("from mcp.server.fastmcp import FastMCP\n", 'mcp = FastMCP("x")'), []),
    ],
    ids=["document", "notebook"],
)
def test_standard_input_may_be_a_document_or_a_notebook(here, capsys, monkeypatch, name, text, options) -> None:
    class Input:
        buffer = io.BytesIO(text.encode())

    monkeypatch.setattr("sys.stdin", Input)
    _, said, _ = run(capsys, "fix", "-", "--stdin-filename", name, *options)
    assert said == text.replace("mcp.server.fastmcp", "mcp.server.mcpserver").replace("FastMCP", "MCPServer")


def test_a_series_holds_documents_and_notebooks(here, capsys) -> None:
    for command in (["init", "-q"], ["config", "user.email", "a@b.example"], ["config", "user.name", "A"]):
        subprocess.run(["git", *command], check=True)
    (here / "README.md").write_text(README)
    (here / "docs").mkdir()
    (here / "docs" / "b.md").write_text(README)
    (here / "a.ipynb").write_text(notebook("from mcp.server.fastmcp import FastMCP\n", 'mcp = FastMCP("x")'))
    subprocess.run(["git", "add", "-A"], check=True)
    subprocess.run(["git", "commit", "-qm", "start"], check=True)
    run(capsys, "fix", "--docs", "--commit")
    assert subprocess.run(["git", "status", "--porcelain"], check=True, capture_output=True, text=True).stdout == ""
    for name in ("README.md", "docs/b.md", "a.ipynb"):
        assert "MCPServer" in (here / name).read_text()
