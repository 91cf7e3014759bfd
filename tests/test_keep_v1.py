"""Code that `fix --keep-v1` has rewritten does the same under mcp 1 and mcp 2, from one source."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import sdk
import warm
from fixture_cases import FIXTURES, cases, plain
from mcp_migrate import catalog, engine
from mcp_migrate.counterparts import older
from mcp_migrate.manifests import files as manifests
from mcp_migrate.project import Project, read
from mcp_migrate.rewrite import imports, module, written
from mcp_migrate.rewrite.edits import apply
from mcp_migrate.rewrite.tree import Tree
from mcp_migrate.rule import Aim, Applicability, Both, Finding, Import, Severity
from mcp_migrate.sdk import majors
from mcp_migrate.sdk.api import load
from mcp_migrate.source import Source
from servers import ROOT

CATALOG = catalog.load()
WHOLE = {path.name: path for path in sorted((FIXTURES / "both").iterdir())}
PROGRAMS = {path.stem: path for path in sorted((ROOT / "benchmarks" / "programs").glob("*.py"))}
STEPS = {"fastmcp-run-async": [["serve", ["port", "host", "streamable_http_path"]]]}
OF_SDK = [case for case in cases() if case.pack == "mcp2"]
SERVERS: Mapping[str, list[tuple[str, dict[str, Any]]]] = {
    "fastmcp_server": [
        ("tools/list", {}),
        ("tools/call", {"name": "read", "arguments": {"name": "rain"}}),
        ("tools/call", {"name": "read", "arguments": {"name": "snow"}}),
        ("tools/call", {"name": "where", "arguments": {}}),
        ("resources/templates/list", {}),
        ("resources/read", {"uri": "note://sun"}),
        ("prompts/get", {"name": "ask", "arguments": {"name": "rain"}}),
    ],
    "lowlevel_server": [
        ("tools/list", {}),
        ("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}}),
        ("tools/call", {"name": "add", "arguments": {"a": "x"}}),
        ("tools/call", {"name": "tell", "arguments": {}, "_meta": {"progressToken": 7}}),
        ("tools/call", {"name": "tell"}),
        ("tools/call", {"name": "other"}),
        ("resources/list", {}),
        ("resources/templates/list", {}),
        ("resources/read", {"uri": "note://rain"}),
        ("prompts/list", {}),
        ("prompts/get", {"name": "ask", "arguments": {"what": "rain"}}),
    ],
}
# Fails with either release; the code of the error is that of the program, which mcp 1 does not send.
FAILING = ("resources/read", {"uri": "note://snow"})


# -- whole programs ----------------------------------------------------------------
@pytest.mark.parametrize("name", WHOLE)
def test_fix_makes_exactly_this_text_and_a_second_run_nothing(name: str) -> None:
    first = fixed(texts_of(WHOLE[name] / "before"))
    assert first.dropped == ()
    made = texts(first)
    expected = texts_of(WHOLE[name] / "after") or texts_of(WHOLE[name] / "before")
    assert _without_modules(made) == _without_modules(expected)
    second = fixed(made)
    assert (second.texts, second.created) == ({}, {})
    assert not [finding for finding in second.remaining if finding.severity is Severity.ERROR]


def test_a_shim_of_the_project_itself_is_left_alone_and_nothing_is_found() -> None:
    made = fixed(texts_of(WHOLE["own_shim"] / "before"))
    assert (made.texts, made.created, made.remaining) == ({}, {}, [])


@pytest.mark.parametrize("name", WHOLE)
def test_a_look_without_the_option_finds_no_errors_in_what_it_makes(name: str) -> None:
    made = texts(fixed(texts_of(WHOLE[name] / "before")))
    assert not [finding for finding in engine.check(link(made, keeps=False), CATALOG) if finding.severity is Severity.ERROR]


@pytest.mark.parametrize("name", [name for name, path in WHOLE.items() if (path / "before" / "program.py").exists()])
def test_a_program_prints_the_same_under_both(name: str, tmp_path: Path) -> None:
    before, after = texts_of(WHOLE[name] / "before"), texts(fixed(texts_of(WHOLE[name] / "before")))
    said = printed(1, before, tmp_path / "before")
    assert said
    assert printed(1, after, tmp_path / "one") == said
    assert printed(2, after, tmp_path / "two") == said


@pytest.mark.parametrize("name", SERVERS)
def test_a_server_answers_the_same_under_both(name: str, tmp_path: Path) -> None:
    before, after = texts_of(WHOLE[name] / "before"), texts(fixed(texts_of(WHOLE[name] / "before")))
    said = answers(1, before, SERVERS[name], tmp_path / "before")
    assert len(said) == len(SERVERS[name])
    assert answers(1, after, SERVERS[name], tmp_path / "one") == said
    assert answers(2, after, SERVERS[name], tmp_path / "two") == said


def test_an_error_of_a_handler_is_an_error_under_both(tmp_path: Path) -> None:
    after = texts(fixed(texts_of(WHOLE["lowlevel_server"] / "before")))
    for major in (1, 2):
        assert "no such note" in answers(major, after, [FAILING], tmp_path / str(major))[0]["error"]["message"]


# -- small programs and fixtures of rules --------------------------------------------
@pytest.fixture(scope="module")
def driven(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, tuple[list[str], str]]]:
    before = {name: {"program.py": path.read_text()} for name, path in PROGRAMS.items()}
    after = {name: texts(fixed(files)) for name, files in before.items()}
    home = tmp_path_factory.mktemp("programs")
    return {
        "before": drive(1, before, home / "before"),
        "one": drive(1, after, home / "one"),
        "two": drive(2, after, home / "two"),
    }


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_small_program_does_the_same_under_mcp_1(name: str, driven: dict[str, dict[str, tuple[list[str], str]]]) -> None:
    said, fault = driven["before"][name]
    assert said
    assert driven["one"][name] == (said, fault) == (said, "")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_small_program_does_the_same_under_mcp_2_or_a_finding_says_why_not(
    name: str, driven: dict[str, dict[str, tuple[list[str], str]]]
) -> None:
    made = texts(fixed({"program.py": PROGRAMS[name].read_text()}))
    left = [finding for finding in engine.check(link(made), CATALOG, aim=Aim.BOTH) if finding.severity is Severity.ERROR]
    assert left or driven["two"][name] == driven["before"][name]


def test_most_small_programs_do_the_same_under_both(driven: dict[str, dict[str, tuple[list[str], str]]]) -> None:
    same = [name for name in PROGRAMS if driven["before"][name] == driven["one"][name] == driven["two"][name]]
    assert len(same) >= 12


@pytest.mark.parametrize("case", OF_SDK, ids=lambda case: case.id)
def test_no_fixture_gets_an_import_that_only_one_release_has(case: Any) -> None:
    before = {path: plain(text) for path, text in case.before().items()}
    first = fixed(before)
    made = texts(first)
    api = load()
    for path, text in made.items():
        if path.endswith(".py") and written.parts(text) is None:
            old = majors.unguarded(module_of(path, before[path]), api) if path in before else frozenset()
            assert majors.unguarded(module_of(path, text), api) <= old
    second = fixed(made)
    assert (second.texts, second.created) == ({}, {})
    # What was left to a human is found again by a run that knows nothing of the first one.
    assert errors(first.remaining) == errors(second.remaining)


# -- parts ---------------------------------------------------------------------------
def test_every_rule_about_the_sdk_says_what_becomes_of_it_where_both_have_to_work() -> None:
    for path in sorted((ROOT / "rules" / "mcp2").glob("*.yaml")):
        entry = CATALOG.rule(path.stem)
        assert entry is not None
        rule = CATALOG.module(entry)
        assert ("\nboth: " in path.read_text()) is (entry.fix != "never"), entry.name
        assert hasattr(rule, "keep") is (entry.both is Both.OWN), entry.name


def test_every_counterpart_is_there_in_its_release() -> None:
    api = load()
    for pair in CATALOG.entries[-1].data["counterparts"]:
        new, _, old = pair.partition(" -> ")
        if new == "httpx2":
            continue
        for dotted, table, has in ((new, api.new, api.stays), (old, api.old, api.was)):
            home, _, name = dotted.rpartition(".")
            assert dotted in table["modules"] or has(home, name), dotted


def test_a_name_below_a_module_that_moved_is_found_in_the_older_one() -> None:
    pairs = CATALOG.entries[-1].data["counterparts"]
    found = older(Import("mcp.server.mcpserver.exceptions", "ToolError"), pairs, load())
    assert found == Import("mcp.server.fastmcp.exceptions", "ToolError")
    assert older(Import("mcp.server.mcpserver.exceptions", "ResourceNotFoundError"), pairs, load()) is None


GUARD = """\
try:
    from mcp.server.mcpserver import MCPServer as FastMCP
except ImportError:  # mcp 1
    from mcp.server.fastmcp import FastMCP
"""
NEED = (("mcp.server.mcpserver", "MCPServer"), ("mcp.server.fastmcp", "FastMCP"), "FastMCP")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = FastMCP()\n", f"{GUARD}\nx = FastMCP()\n"),
        ("import os\n\nx = FastMCP()\n", f"import os\n\n{GUARD}\nx = FastMCP()\n"),
        (
            "import os\nos.x()\nimport re\n\nx = FastMCP()\nimport json\n",
            f"import os\nos.x()\nimport re\n\n{GUARD}\nx = FastMCP()\nimport json\n",
        ),
        (f"{GUARD}\nx = FastMCP()\n", f"{GUARD}\nx = FastMCP()\n"),
        (
            "try:\n    from mcp import MCPError as McpError\nexcept ImportError:  # mcp 1\n    from mcp import McpError\n",
            "try:\n    from mcp import MCPError as McpError\n    from mcp.server.mcpserver import MCPServer as FastMCP\n"
            "except ImportError:  # mcp 1\n    from mcp import McpError\n    from mcp.server.fastmcp import FastMCP\n",
        ),
        ("from __future__ import annotations\n", f"from __future__ import annotations\n\n{GUARD}"),
    ],
    ids=["top", "below imports", "above the first use", "already there", "in the block that is there", "below the future"],
)
def test_a_file_has_one_guard(text: str, expected: str) -> None:
    tree = Tree(Source("server.py", text))
    assert apply(tree.source.utf8, imports.guard(tree, [NEED])).decode() == expected


@pytest.mark.parametrize("major", [1, 2])
def test_the_modules_load_with_all_their_parts(major: int, tmp_path: Path) -> None:
    (tmp_path / "mcp_compat.py").write_text(module.compat(module.COMPAT_PARTS))
    (tmp_path / "mcp_handlers.py").write_text(module.handlers(module.HANDLER_PARTS))
    assert (
        run(major, "-c", "import mcp_compat, mcp_handlers; print(mcp_compat.MCP_1, mcp_handlers.MCP_1)", cwd=tmp_path)
        == f"{major == 1} {major == 1}\n"
    )


def test_a_module_for_one_release_holds_nothing_for_the_other() -> None:
    assert "MCP_1" not in module.handlers(set(module.HANDLER_PARTS) - {"both"})


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("mcp>=1.9", "mcp>=1.30,<3"),
        ("mcp", "mcp>=1.30,<3"),
        ("mcp>=1.31,<2", "mcp>=1.31,<3"),
        ("mcp[cli]==1.12.1", "mcp[cli]>=1.30,<3"),
        ("mcp>=1.31,<3", "mcp>=1.31,<3"),
    ],
)
def test_a_range_has_room_for_both(asked: str, expected: str) -> None:
    code = "from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP('x')\n"
    made = texts(fixed({"server.py": code, "requirements.txt": f"{asked}\n"}))
    assert made["requirements.txt"] == f"{expected}\n"


def test_what_has_no_form_for_both_is_a_finding_and_stays() -> None:
    code = "from mcp.types import CallToolResult\n\n\nclass Job(CallToolResult):\n    job_id: str = ''\n"
    made = fixed({"server.py": code})
    assert made.texts == {}
    assert [(one.rule, one.applicability) for one in made.remaining] == [("MCP559", Applicability.MANUAL)]
    assert "both releases" in made.remaining[0].hint


def test_a_test_of_another_project_in_the_repository_gets_a_module_of_its_own() -> None:
    test = "from mcp.types import Tool\n\n\ndef test_tool(tool: Tool) -> None:\n    assert tool.inputSchema == {}\n"
    server = "from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP('x', port=9000)\n"
    files = {"a/server.py": server, "a/requirements.txt": "mcp<2\n", "b/tests/test_b.py": test, "b/requirements.txt": "fastmcp<4\n"}
    made = texts(fixed(files))
    assert "\nimport mcp_compat\n" in made["b/tests/test_b.py"]
    assert {"a/mcp_compat.py", "b/tests/mcp_compat.py"} <= made.keys()
    # The test of the same project, or one above both, takes what the server has.
    for path in ("a/tests/test_a.py", "test_all.py"):
        made = texts(fixed({**files, path: test}))
        assert "mcp_compat.field(tool" in made[path]
        assert {one for one in made if one.endswith("mcp_compat.py")} == {"a/mcp_compat.py", "b/tests/mcp_compat.py"}


@pytest.mark.parametrize(
    "line",
    [
        'if (type(error).__name__, code) == ("McpError", 500):',
        "if tool.inputSchema is not None:\n        tool.inputSchema = one, two\n    if code:",
    ],
    ids=["a pair", "a tuple without brackets"],
)
def test_what_would_mean_something_else_with_more_in_it_stays(line: str) -> None:
    code = f"from mcp.types import Tool\n\n\ndef f(error: Exception, code: int, tool: Tool, one, two):\n    {line}\n        return 1\n"
    made = fixed({"server.py": code})
    kept = line.splitlines()[-2 if "one, two" in line else -1].strip()
    assert kept in texts(made)["server.py"]
    assert [one.applicability for one in made.remaining] == [Applicability.MANUAL]


# -- helpers ---------------------------------------------------------------------------
def link(files: Mapping[str, str], *, keeps: bool = True) -> Project:
    sources = [Source(path, text) for path, text in files.items()]
    beside = {source.path: manifests.read(source) for source in sources if manifests.kind_of(source.path) is not None}
    return Project.link((read(source) for source in sources if source.path not in beside), manifests=beside, keeps=keeps)


def fixed(files: Mapping[str, str]) -> engine.Fixed:
    return _fixed(tuple(sorted(files.items())))


@cache
def _fixed(files: tuple[tuple[str, str], ...]) -> engine.Fixed:
    return engine.fix(link(dict(files)), CATALOG, aim=Aim.BOTH)


def texts(made: engine.Fixed) -> dict[str, str]:
    return {path: file.source.text for held in (made.project.files, made.project.manifests) for path, file in held.items()}


def texts_of(folder: Path) -> dict[str, str]:
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_text() for path in found}


def _without_modules(files: Mapping[str, str]) -> dict[str, str]:
    """The program without the modules that `fix` writes, which have tests of their own."""
    return {path: text for path, text in files.items() if written.parts(text) is None}


def errors(findings: list[Finding]) -> list[str]:
    return sorted({finding.rule for finding in findings if finding.severity is Severity.ERROR})


def module_of(path: str, text: str) -> Any:
    from mcp_migrate.sdk.modules import Module

    return Module(Source(path, text), path.removesuffix(".py").replace("/", "."), package=False)


def write(files: Mapping[str, str], folder: Path) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def run(major: int, *argv: str, cwd: Path, said: str = "") -> str:
    env = {**os.environ, "PYTHONWARNINGS": "ignore"}
    done = warm.run(sdk.python(major), *argv, cwd=cwd, said=said, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


def printed(major: int, files: Mapping[str, str], folder: Path) -> str:
    return run(major, "program.py", cwd=write(files, folder))


def answers(major: int, files: Mapping[str, str], asked: list[tuple[str, dict[str, Any]]], folder: Path) -> list[dict[str, Any]]:
    """What a server on standard streams says to a client of the handshake era."""
    write(files, folder)
    info = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    env = {**os.environ, "PYTHONWARNINGS": "ignore"}
    argv = [sdk.python(major), "server.py"]
    with subprocess.Popen(
        argv, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        replies = _replies(server.stdout)

        def ask(number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
            server.stdin.flush()
            return next(reply for reply in replies if reply.get("id") == number)

        ask(0, "initialize", info)
        server.stdin.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}) + "\n")
        said = [ask(number, method, params) for number, (method, params) in enumerate(asked, 1)]
        server.stdin.close()
        server.wait(30)
    return said


def _replies(stream: Any) -> Iterator[dict[str, Any]]:
    for line in stream:
        yield json.loads(line)


def drive(major: int, programs: Mapping[str, Mapping[str, str]], folder: Path) -> dict[str, tuple[list[str], str]]:
    """What each program prints under a release of the SDK, and what goes wrong."""
    jobs = [(str(write(files, folder / name) / "program.py"), STEPS.get(name, [])) for name, files in programs.items()]
    driving = ROOT / "benchmarks" / "sessions" / "driving.py"
    done = subprocess.run([sdk.python(major), str(driving)], input=json.dumps(jobs), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return {name: (said, fault) for name, (said, fault) in zip(programs, json.loads(done.stdout), strict=True)}
