"""The boundary module beside its servers: written, written anew, and given the parts of a later server."""

from __future__ import annotations

import cProfile
import pstats
import sys
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest
from mcp_migrate import catalog, engine
from mcp_migrate.project import Project, read
from mcp_migrate.rewrite import servers
from mcp_migrate.rewrite.module import Part, complete, parts_of, render
from mcp_migrate.rule import Era
from mcp_migrate.source import Source
from servers import Server, copy, load, migrate, migrated, running, texts

CATALOG = catalog.load()
NAME = "mcp_stateless.py"
SERVERS = [server for server in load() if server.fix == "migrates"]
RETURNS = dedent("""
    import json, sys

    def handle(message):
        method = message["method"]
        if method == "initialize":
            params = message["params"]
            result = {"protocolVersion": params.get("protocolVersion"), "capabilities": {"tools": {}}, "serverInfo": {"name": "a", "version": "1"}}
        elif method == "tools/list":
            result = {"tools": []}
        else:
            return None
        return {"jsonrpc": "2.0", "id": message["id"], "result": result}

    for line in sys.stdin:
        reply = handle(json.loads(line))
        if reply is not None:
            print(json.dumps(reply), flush=True)
""").lstrip()
WRITES = dedent("""
    import json, sys

    def write(message):
        sys.stdout.write(json.dumps(message) + "\\n")
        sys.stdout.flush()

    def handle(message):
        if message["method"] == "initialize":
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {"listChanged": True}}, "serverInfo": {"name": "b", "version": "1"}}
            write({"jsonrpc": "2.0", "id": message["id"], "result": result})
        elif message["method"] == "tools/list":
            write({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": []}})
            write({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})

    for line in sys.stdin:
        handle(json.loads(line))
""").lstrip()
WRITTEN_PARTS = complete({Part.BOUNDARY, Part.SEND, Part.OUTGOING, Part.LISTEN})


def fixed(files: Mapping[str, str], era: Era = Era.DUAL) -> dict[str, str]:
    project = Project.link(read(Source(path, text)) for path, text in files.items())
    done = engine.fix(project, CATALOG, era)
    assert [d.reason for d in done.dropped] == []
    return {**files, **done.texts, **done.created}


@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.name)
@pytest.mark.parametrize("era", list(Era), ids=lambda era: era.value)
def test_a_deleted_module_is_reported_and_written_anew_as_it_was(server: Server, era: Era, tmp_path: Path) -> None:
    first = migrated(server, era.value)
    folder = copy(first.folder, tmp_path / "server")
    wired = texts(folder)
    [module] = folder.rglob(NAME)
    module.unlink()
    checked = migrate("check", "--era", era.value, ".", cwd=folder)
    assert checked.returncode == 1
    assert "MCP308" in checked.stdout
    assert migrate("fix", "--era", era.value, ".", cwd=folder).returncode == first.status
    assert texts(folder) == wired


@pytest.mark.parametrize("first", ["a.py", "b.py"])
def test_a_server_that_comes_later_gets_its_parts(first: str) -> None:
    files = {"a.py": RETURNS, "b.py": WRITES}
    early = fixed({first: files[first]})
    late = fixed({**early, **{name: text for name, text in files.items() if name != first}})
    assert late[first] == early[first]
    assert parts_of(late[NAME]) == {*WRITTEN_PARTS, Part.HANDSHAKE}
    assert late == fixed(files)


def test_parts_that_are_there_stay_though_no_server_uses_them_any_more() -> None:
    held = render(frozenset({Part.ASK}), "\r\n")
    files = fixed({"b.py": WRITES, NAME: held})
    assert parts_of(files[NAME]) == {*WRITTEN_PARTS, Part.ASK}
    assert files[NAME].count("\r\n") == files[NAME].count("\n")


@pytest.mark.parametrize(
    "held",
    ["print('mine')\n", render(frozenset({Part.BOUNDARY})) + "# mine\n"],
    ids=["foreign", "changed"],
)
@pytest.mark.parametrize("asked", [".", "b.py"], ids=["folder", "one file"])
def test_check_and_fix_agree_that_a_file_which_is_not_ours_stays(held: str, asked: str, tmp_path: Path) -> None:
    (tmp_path / "b.py").write_text(WRITES)
    (tmp_path / NAME).write_text(held)
    checked = migrate("check", asked, cwd=tmp_path)
    assert "would settle" not in checked.stdout
    assert "mcp_stateless.py exists, and is not as `fix` writes it" in checked.stdout
    assert migrate("fix", asked, cwd=tmp_path).returncode == 1
    assert texts(tmp_path) == {"b.py": WRITES, NAME: held}


def test_a_run_over_one_file_knows_the_module_beside_it(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(RETURNS)
    assert migrate("fix", "a.py", cwd=tmp_path).returncode == 0
    assert migrate("check", "a.py", cwd=tmp_path).returncode == 0
    (tmp_path / "b.py").write_text(WRITES)
    assert migrate("fix", "b.py", cwd=tmp_path).returncode == 0
    assert parts_of((tmp_path / NAME).read_text()) >= WRITTEN_PARTS


def test_standard_input_alone_changes_no_module(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(RETURNS)
    migrate("fix", "a.py", cwd=tmp_path)
    before = texts(tmp_path)
    assert migrate("fix", "-", "--stdin-filename", "b.py", cwd=tmp_path, given=WRITES).stdout == WRITES
    assert texts(tmp_path) == before


def test_both_servers_of_a_folder_run_after_the_second_was_wired(tmp_path: Path) -> None:
    for name, text in (("a.py", RETURNS), ("b.py", WRITES)):
        (tmp_path / name).write_text(text)
        assert migrate("fix", ".", cwd=tmp_path).returncode == 0
    for name in ("a.py", "b.py"):
        with running([sys.executable, name], tmp_path) as wire:
            assert wire.ask("server/discover")["result"]["supportedVersions"] == ["2026-07-28"]
            assert wire.ask("tools/list")["result"]["resultType"] == "complete"


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("2024-10-07", "2024-10-07"),
        ("2024-11-05", "2024-11-05"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
        (None, "2025-11-25"),
        ([], "2025-11-25"),
    ],
)
def test_an_echo_server_offers_only_versions_with_a_handshake(asked: object, answered: str, tmp_path: Path) -> None:
    for name, text in fixed({"a.py": RETURNS}).items():
        (tmp_path / name).write_text(text)
    with running([sys.executable, "a.py"], tmp_path) as wire:
        params = {} if asked is None else {"protocolVersion": asked}
        assert wire.ask("initialize", params, meta=None)["result"]["protocolVersion"] == answered


def test_each_server_of_a_folder_is_looked_at_once() -> None:
    project = Project.link(read(Source(f"server_{number}.py", WRITES)) for number in range(6))
    with cProfile.Profile() as profile:
        engine.check(project, CATALOG, select=["server_discover", "missing_boundary_module"])
        for number in range(6):
            assert servers.boundary_module(project, f"server_{number}.py", Era.DUAL) is not None
    calls = {name: row[0] for (file, _, name), row in pstats.Stats(profile).stats.items() if file.endswith(("boundary.py", "hooks.py"))}
    assert (calls["wire"], calls["find"]) == (6, 6)


def test_a_chain_too_long_to_be_proven_is_told_and_not_a_fault_of_ours():
    reply = '        return {"jsonrpc": "2.0", "id": 1, "result": {}}\n'
    more = "".join(f'    elif method == "x/{number}":\n{reply}' for number in range(1250))
    start = (
        'def handle(msg):\n    method = msg["method"]\n    if method == "initialize":\n'
        + reply
        + '    elif method == "tools/list":\n'
        + reply
    )
    text = "import json, sys\n" + start + more + "for line in sys.stdin:\n    print(json.dumps(handle(json.loads(line))))\n"
    project = Project.link([read(Source("server.py", text))])
    (found,) = [finding for finding in engine.check(project, CATALOG) if finding.rule == "MCP301"]
    assert "nested too deeply" in found.hint
