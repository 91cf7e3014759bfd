"""`fix --commit --summary` on clones of whole projects: a series that is sound commit by commit, or nothing at all."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import sdk
from mcp_migrate import catalog
from servers import SERVERS, load, migrate, texts

DESK = {
    "pyproject.toml": """\
[project]
name = "desk"
version = "1"
requires-python = ">=3.10"
dependencies = ["mcp>=1.9"]
""",
    "desk/__init__.py": "",
    "desk/shapes.py": """\
from mcp.types import TextContent, Tool


def shape() -> Tool:
    return Tool(name="lend", inputSchema={"type": "object"})


def told(text: str) -> list[TextContent]:
    return [TextContent(type="text", text=text)]
""",
    "desk/server.py": """\
from mcp.server.fastmcp import FastMCP

from desk.shapes import shape

mcp = FastMCP("desk", host="127.0.0.1", port=8123)
BOOKS = {"emma": 1}


@mcp.tool()
def lend(book: str) -> str:
    if book not in BOOKS:
        raise ValueError(f"no book called {book}")
    return f"{book} is yours"


@mcp.tool()
def fields() -> str:
    return ", ".join(sorted(shape().inputSchema))


def main() -> None:
    mcp.run()


if __name__ == "__main__":
    main()
""",
}
RENAMED = 'from mcp.types import Tool\n\n\ndef names(tool: Tool) -> str:\n    return str(tool.inputSchema["type"])\n'
ASKS_SDK = '[project]\nname = "x"\nversion = "1"\nrequires-python = ">=3.10"\ndependencies = ["mcp>=1.9"]\n'
LOW = {
    "pyproject.toml": ASKS_SDK,
    "low/__init__.py": "",
    "low/errors.py": """\
from mcp.shared.exceptions import McpError
from mcp.types import INVALID_PARAMS, ErrorData


def refusal(text: str) -> McpError:
    return McpError(ErrorData(code=INVALID_PARAMS, message=text))
""",
    "low/server.py": """\
import asyncio
from datetime import timedelta

import mcp.types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from low.errors import refusal

server = Server("low")
PATIENCE = timedelta(seconds=3)


@server.list_tools()
async def tools() -> list[types.Tool]:
    return [types.Tool(name="echo", inputSchema={"type": "object"})]


@server.call_tool()
async def call(name: str, arguments: dict) -> list[types.TextContent]:
    if name != "echo":
        raise refusal(f"no tool called {name}")
    client = server.request_context.session.client_params
    return [types.TextContent(type="text", text=f"{arguments} for {client is not None}")]


async def main() -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(main())
""",
}
PROBING = """\
from mcp import ClientSession


async def probe(session: ClientSession) -> None:
    await session.send_ping()
"""
MODULE = "mcp_stateless.py"
HANDWRITTEN = texts(SERVERS / "notes_chain" / "before")
CARELESS = texts(SERVERS / "quotes_lenient" / "before")
BOARD = next(server for server in load() if server.name == "board_async")


def git(folder: Path, *arguments: str, check: bool = True) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0 or not check, done.stderr
    return done.stdout.strip()


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def clone(tmp_path: Path, files: Mapping[str, str]) -> Path:
    """A clone of a repository with these files, whose user has a name."""
    origin, here = tmp_path / "origin", tmp_path / "clone"
    write(origin, files)
    for arguments in (["init", "-q", "-b", "main"], ["add", "-A"]):
        git(origin, *arguments)
    git(origin, "-c", "user.name=o", "-c", "user.email=o@example.org", "commit", "-qm", "as it was")
    git(tmp_path, "clone", "-q", str(origin), str(here))
    git(here, "config", "user.name", "Ada Migrant")
    git(here, "config", "user.email", "ada@example.org")
    return here


def series(here: Path) -> list[str]:
    """The commits since the clone, the oldest first."""
    return git(here, "rev-list", "--reverse", "origin/main..HEAD").split()


def hook(here: Path, name: str, text: str) -> None:
    file = here / ".git" / "hooks" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


def files_at(here: Path, commit: str) -> dict[str, str]:
    names = git(here, "ls-tree", "-r", "--name-only", commit).splitlines()
    return {name: subprocess.run(["git", "show", f"{commit}:{name}"], cwd=here, capture_output=True).stdout.decode() for name in names}


def imports(here: Path, commit: str, module: str, python: Path, scratch: Path) -> str:
    """What goes wrong when a module is imported as it was at a commit."""
    write(scratch / commit, files_at(here, commit))
    argv = [str(python), "-c", f"import {module}"]
    done = subprocess.run(argv, cwd=scratch / commit, capture_output=True, text=True, timeout=60, env={**os.environ, "PYTHONPATH": "."})
    return done.stderr if done.returncode else ""


def test_a_handwritten_server_is_cloned_fixed_proven_and_told(tmp_path: Path) -> None:
    here = clone(tmp_path, texts(BOARD.before))
    assert migrate("check", cwd=here).returncode == 1
    fixed = migrate("fix", "--commit", "--summary", "pr.md", cwd=here)
    assert fixed.returncode == 0
    commits = series(here)
    told = "".join(f"{commit[:10]} {git(here, 'log', '-1', '--format=%s', commit)}\n" for commit in commits)
    assert f"\n\n{told}\n" in fixed.stdout
    assert git(here, "log", "--reverse", "--format=%s", "origin/main..HEAD").splitlines() == [
        "Speak MCP 2026-07-28 at the boundary of the code",
        "Keep answers right under MCP 2026-07-28",
    ]
    assert git(here, "log", "--format=%an <%ae>", "-1") == "Ada Migrant <ada@example.org>"
    for commit in commits:
        for name, text in files_at(here, commit).items():
            ast.parse(text, name)
        assert imports(here, commit, Path(BOARD.argv[1]).stem, Path(sys.executable), tmp_path / "at") == ""
    made = files_at(here, "HEAD")
    assert made.pop(MODULE)
    assert made == texts(BOARD.after("dual"))
    assert git(here, "status", "--porcelain") == "?? pr.md"
    assert migrate("check", cwd=here).returncode == 0
    ask = ("--stdio", shlex.join(BOARD.argv), "--against", f"HEAD~{len(commits)}", "--call", BOARD.calls[0])
    proof = migrate("verify", *ask, cwd=here)
    assert proof.returncode == 0, proof.stdout + proof.stderr


def test_a_project_on_the_sdk_is_importable_and_proven_commit_by_commit(tmp_path: Path) -> None:
    here = clone(tmp_path, DESK)
    assert migrate("check", cwd=here).returncode == 1
    fixed = migrate("fix", "--commit", "--summary", "pr.md", cwd=here)
    assert fixed.returncode == 0, fixed.stdout + fixed.stderr
    commits = series(here)
    assert [list(git(here, "show", "--format=", "--name-only", one).split()) for one in commits] == [
        ["desk/server.py", "desk/shapes.py"],
        ["desk/server.py"],
        ["pyproject.toml"],
    ]
    old, new = sdk.python(1), sdk.python(2)
    assert imports(here, "origin/main", "desk.server", old, tmp_path / "at") == ""
    for commit in commits:
        assert imports(here, commit, "desk.server", new, tmp_path / "at") == ""
    body = git(here, "log", "-1", "--format=%B", commits[1])
    assert "tool_error_text (1)" in body
    assert "Mcp-Migrate-Rules: MCP514=1" in body
    assert migrate("check", cwd=here).returncode == 0
    proof = migrate(
        "verify",
        *("--stdio", f"{new} -m desk.server", "--against", f"HEAD~{len(commits)}", "--against-command", f"{old} -m desk.server"),
        *("--call", 'lend {"book": "emma"} => emma is yours', "--output-format", "markdown", "-o", "proof.md"),
        cwd=here,
    )
    assert proof.returncode == 0, (here / "proof.md").read_text() + proof.stderr
    summary = (here / "pr.md").read_text(encoding="utf-8")
    assert "| MCP514 `tool_error_text` |" in summary
    assert f"`git revert --no-edit {git(here, 'rev-parse', 'origin/main')[:10]}..{commits[-1][:10]}`" in summary
    git(here, "revert", "--no-edit", "origin/main..HEAD")
    assert files_at(here, "HEAD") == DESK


def test_what_a_low_level_server_loads_goes_with_the_first_commit(tmp_path: Path) -> None:
    here = clone(tmp_path, LOW)
    migrate("fix", "--commit", cwd=here)
    commits = series(here)
    assert len(commits) >= 2
    assert imports(here, "origin/main", "low.server", sdk.python(1), tmp_path / "at") == ""
    for commit in commits:
        assert imports(here, commit, "low.server", sdk.python(2), tmp_path / "at") == ""
    assert "mcp_handlers.py" in git(here, "show", "--format=", "--name-only", commits[0])
    # Without its commits the same files come out.
    other = tmp_path / "other"
    write(other, LOW)
    migrate("fix", cwd=other)
    assert files_at(here, "HEAD") == texts(other)


@pytest.mark.parametrize("name", ["board_async", "tally_sessions", "recipes_flask", "garden_blueprint"])
@pytest.mark.parametrize("era", ["dual", "modern"])
def test_every_commit_of_a_server_parses_and_the_last_one_is_what_fix_makes(tmp_path: Path, name: str, era: str) -> None:
    here = clone(tmp_path, texts(SERVERS / name / "before"))
    migrate("fix", "--commit", "--era", era, cwd=here)
    commits = series(here)
    assert commits
    for commit in commits:
        for path, text in files_at(here, commit).items():
            assert not path.endswith(".py") or ast.parse(text, path)
    made = files_at(here, "HEAD")
    assert {path: text for path, text in made.items() if Path(path).name != MODULE} == texts(SERVERS / name / f"after_{era}")
    assert [path for path in made if Path(path).name == MODULE]


def test_the_groups_are_in_the_order_of_the_catalog_and_every_rule_has_one() -> None:
    held = catalog.load()
    assert [group.name for group in held.groups] == ["names", "boundary", "behaviour", "dependencies"]
    assert all(0 <= held.group_of(entry.id) < len(held.groups) for entry in held.entries)
    assert {held.groups[held.group_of(entry.id)].name for entry in held.entries if entry.pack == "deps"} == {"dependencies"}
    for group in held.groups:
        assert len(group.title) <= 60
        assert group.why


def test_a_dirty_tree_and_a_dirty_index_are_refused(tmp_path: Path) -> None:
    here = clone(tmp_path, {**HANDWRITTEN, "notes.txt": "a\n"})
    (here / "notes.txt").write_text("b\n")
    for _ in range(2):
        refused = migrate("fix", "--commit", cwd=here)
        assert refused.returncode == 2
        assert refused.stderr.strip().endswith("so nothing was written; commit or stash what has changed: notes.txt")
        assert series(here) == []
        assert git(here, "diff", "--name-only", "HEAD") == "notes.txt"
        git(here, "add", "notes.txt")


def test_files_that_are_not_ours_stay_uncommitted(tmp_path: Path) -> None:
    here = clone(tmp_path, HANDWRITTEN)
    (here / "scratch.txt").write_text("mine\n")
    assert migrate("fix", "--commit", cwd=here).returncode == 0
    assert git(here, "status", "--porcelain") == "?? scratch.txt"
    assert sorted(git(here, "diff", "--name-only", "origin/main").splitlines()) == ["mcp_stateless.py", "server.py"]


def test_a_hook_that_refuses_a_later_commit_takes_back_the_whole_series(tmp_path: Path) -> None:
    here = clone(tmp_path, CARELESS)
    start = git(here, "rev-parse", "HEAD")
    # It also changes the file that is to be committed, as formatters do.
    hook(
        here,
        "pre-commit",
        'n=$(git rev-list --count HEAD)\n[ "$n" -lt 2 ] && exit 0\necho "# x" >> quotes.py\necho "style: no" >&2\nexit 1',
    )
    refused = migrate("fix", "--commit", "--summary", "pr.md", cwd=here)
    assert refused.returncode == 2
    assert refused.stderr.strip().splitlines() == [
        "mcp-migrate: error: commit 2 of 2, “Keep answers right under MCP 2026-07-28”, was not made: a hook or git said: style: no; "
        "nothing is changed"
    ]
    assert git(here, "rev-parse", "HEAD") == start
    assert git(here, "status", "--porcelain") == ""
    assert files_at(here, "HEAD") == CARELESS
    assert not (here / "pr.md").exists()
    (here / ".git/hooks/pre-commit").unlink()
    assert migrate("fix", "--commit", cwd=here).returncode == 0
    assert len(series(here)) == 2


def test_what_a_hook_leaves_behind_elsewhere_is_named(tmp_path: Path) -> None:
    here = clone(tmp_path, {**HANDWRITTEN, "notes.txt": "a\n"})
    hook(here, "pre-commit", "echo b > notes.txt\nexit 1")
    refused = migrate("fix", "--commit", cwd=here)
    assert refused.returncode == 2
    assert "the changes were taken back; a hook has left others in notes.txt" in refused.stderr
    assert git(here, "status", "--porcelain") == "M notes.txt"


@pytest.mark.parametrize(
    ("prepare", "said"),
    [
        (lambda here: (here / ".git/MERGE_HEAD").write_text(git(here, "rev-parse", "HEAD")), "in the middle of something (MERGE_HEAD)"),
        (lambda here: (git(here, "config", "user.useConfigOnly", "true"), git(here, "config", "--unset", "user.email")), "set user.name"),
        (lambda here: (here / ".git/info/exclude").write_text("mcp_stateless.py\n"), "git would leave out mcp_stateless.py"),
    ],
    ids=["a merge", "nobody", "an ignored module"],
)
def test_what_git_could_not_do_is_said_before_anything_is_written(tmp_path, monkeypatch, prepare, said) -> None:
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)
    here = clone(tmp_path, HANDWRITTEN)
    prepare(here)
    refused = migrate("fix", "--commit", cwd=here)
    assert (refused.returncode, said in refused.stderr) == (2, True), refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1
    assert series(here) == []
    assert (here / "server.py").read_text() == HANDWRITTEN["server.py"]


def test_outside_of_git_nothing_can_be_committed(tmp_path: Path) -> None:
    write(tmp_path, HANDWRITTEN)
    refused = migrate("fix", "--commit", cwd=tmp_path)
    assert refused.returncode == 2
    assert "is in no work tree" in refused.stderr
    assert (tmp_path / "server.py").read_text() == HANDWRITTEN["server.py"]


@pytest.mark.parametrize("option", [["--diff"], ["--allow-dirty"], ["-"]], ids=str)
def test_options_that_do_not_go_with_commits_are_refused(tmp_path: Path, option: list[str]) -> None:
    refused = migrate("fix", "--commit", *option, cwd=tmp_path, given="")
    assert refused.returncode == 2
    assert "it takes no --diff" in refused.stderr


def packages(**more: str) -> dict[str, str]:
    """Three packages that do not need each other, and one that imports another."""
    files = {"README.md": "all of it\n"}
    for name in ("apple", "berry"):
        files[f"{name}/pyproject.toml"] = ASKS_SDK
        files[f"{name}/{name}/__init__.py"] = ""
        files[f"{name}/{name}/names.py"] = RENAMED
    files["cedar/requirements.txt"] = "flask\n"
    files.update({f"cedar/{name}": text for name, text in CARELESS.items()})
    return {**files, **more}


def test_each_package_gets_its_own_commits(tmp_path: Path) -> None:
    here = clone(tmp_path, packages())
    assert migrate("fix", "--commit", "--summary", "pr.md", cwd=here).returncode == 0
    assert git(here, "log", "--reverse", "--format=%s", "origin/main..HEAD").splitlines() == [
        "apple: Use the names of the new MCP packages",
        "apple: Ask for the MCP packages that the code runs with",
        "berry: Use the names of the new MCP packages",
        "berry: Ask for the MCP packages that the code runs with",
        "cedar: Speak MCP 2026-07-28 at the boundary of the code",
        "cedar: Keep answers right under MCP 2026-07-28",
    ]
    summary = (here / "pr.md").read_text()
    assert re.findall(r"^\| `(\w+)` \| (\w+) \| (\d+) \| (\d+) \| (\d+) \|$", summary, re.MULTILINE) == [
        ("apple", "dual", "2", "2", "0"),
        ("berry", "dual", "2", "2", "0"),
        ("cedar", "dual", "2", "2", "0"),
    ]


def test_packages_that_import_each_other_are_committed_together(tmp_path: Path) -> None:
    using = "from mcp.types import Tool\n\nfrom apple.names import names\n\n\ndef all_of(tool: Tool) -> str:\n    return names(tool) + str(tool.inputSchema)\n"
    here = clone(tmp_path, packages(**{"berry/berry/names.py": using}))
    migrate("fix", "--commit", cwd=here)
    subjects = git(here, "log", "--reverse", "--format=%s", "origin/main..HEAD").splitlines()
    assert subjects[:2] == [
        "apple, berry: Use the names of the new MCP packages",
        "apple, berry: Ask for the MCP packages that the code runs with",
    ]


def test_a_run_that_was_stopped_goes_on_with_the_next_package(tmp_path: Path) -> None:
    here = clone(tmp_path, packages())
    hook(here, "pre-commit", "git diff --cached --name-only | grep -q ^berry && exit 1\nexit 0")
    stopped = migrate("fix", "--commit", cwd=here)
    assert stopped.returncode == 2
    assert "1 of 3 packages are committed, and another run goes on from there" in stopped.stderr
    first = series(here)
    assert len(first) == 2
    assert git(here, "status", "--porcelain") == ""
    (here / ".git/hooks/pre-commit").unlink()
    assert migrate("fix", "--commit", "--summary", "pr.md", cwd=here).returncode == 0
    assert series(here)[:2] == first
    assert len(series(here)) == 6
    summary = (here / "pr.md").read_text()
    # The body is about the whole series.
    assert [commit[:10] in summary for commit in series(here)] == [True] * 6
    assert f"--against HEAD~{6}" in summary
    assert f"git revert --no-edit {git(here, 'rev-parse', 'origin/main')[:10]}.." in summary
    again = migrate("fix", "--commit", cwd=here)
    assert again.returncode == 0
    assert len(series(here)) == 6


def test_paths_limit_what_is_written_and_told(tmp_path: Path) -> None:
    here = clone(tmp_path, packages())
    assert migrate("fix", "--paths", "cedar", cwd=here).returncode == 0
    assert git(here, "status", "--porcelain").splitlines() == ["M cedar/quotes.py", "?? cedar/mcp_stateless.py"]


def test_paths_leave_alone_what_would_need_a_file_elsewhere(tmp_path: Path) -> None:
    here = clone(tmp_path, packages())
    held = migrate("fix", "--paths", "apple/apple", cwd=here)
    assert held.returncode == 1
    assert held.stderr.strip() == (
        "mcp-migrate: apple/apple/names.py stays as it is: it would have to change together with apple/pyproject.toml, "
        "which is not among --paths"
    )
    assert git(here, "status", "--porcelain") == ""
    assert migrate("fix", "--paths", "apple/apple", "--paths", "apple/pyproject.toml", cwd=here).returncode == 0
    assert git(here, "status", "--porcelain").split() == ["M", "apple/apple/names.py", "M", "apple/pyproject.toml"]


def test_only_says_what_select_says(tmp_path: Path) -> None:
    here = clone(tmp_path, DESK)
    only, select = (migrate("fix", "--diff", word, "camel_case_field", cwd=here) for word in ("--only", "--select"))
    assert only.stdout == select.stdout
    assert "input_schema" in only.stdout
    assert "MCPServer" not in only.stdout


def test_the_nearest_settings_hold_for_a_file(tmp_path: Path) -> None:
    here = clone(
        tmp_path,
        packages(
            **{
                "pyproject.toml": '[tool.mcp-migrate]\nignore = ["MCP205"]\n',
                "cedar/.mcp-migrate.toml": 'era = "modern"\nexclude = ["old"]\n',
                "cedar/old/server.py": HANDWRITTEN["server.py"],
                "dates/server.py": CARELESS["quotes.py"],
                "apple/pyproject.toml": ASKS_SDK + '[tool.mcp-migrate]\nfail-on = "never"\nignore = ["camel_case_field"]\n',
            }
        ),
    )
    assert migrate("fix", "--summary", "pr.md", cwd=here).returncode == 0
    assert (here / "cedar/quotes.py").read_text() == texts(SERVERS / "quotes_lenient" / "after_modern")["quotes.py"]
    assert (here / "cedar/old/server.py").read_text() == HANDWRITTEN["server.py"]
    outer = (here / "dates/server.py").read_text()
    assert "legacy=False" not in outer
    assert "@MCP.boundary" in outer
    assert outer != texts(SERVERS / "quotes_lenient" / "after_dual")["quotes.py"]  # MCP205 is ignored there
    assert "inputSchema" in (here / "apple/apple/names.py").read_text()
    assert "input_schema" in (here / "berry/berry/names.py").read_text()
    summary = (here / "pr.md").read_text()
    assert "| `cedar` | modern |" in summary
    assert "| `berry` | dual |" in summary


def test_the_command_line_goes_before_all_settings(tmp_path: Path) -> None:
    here = clone(tmp_path, packages(**{"cedar/.mcp-migrate.toml": 'era = "modern"\n'}))
    assert migrate("fix", "--era", "dual", cwd=here).returncode == 0
    assert (here / "cedar/quotes.py").read_text() == texts(SERVERS / "quotes_lenient" / "after_dual")["quotes.py"]


def test_the_summary_tells_what_is_left_with_a_way_out(tmp_path: Path) -> None:
    here = clone(tmp_path, {"server.py": CARELESS["quotes.py"], "client.py": PROBING})
    migrate("fix", "--summary", "pr.md", cwd=here)
    summary = (here / "pr.md").read_text()
    told = migrate("check", "--output-format", "concise", cwd=here).stdout.splitlines()
    assert told
    for line in told:
        path, number = line.split(":")[:2]
        assert re.search(rf"^- \[ \] `{re.escape(path)}:{number}` MCP\d{{3}} .* Way out: ", summary, re.MULTILINE)
    assert "Before the changes are committed: `git restore` `server.py`, and delete `mcp_stateless.py`." in summary
    assert "<!-- verify: " in summary
