"""What Windows has otherwise: backslashes, drives, files that are in use, consoles that cannot show everything, and how processes begin."""

from __future__ import annotations

import errno
import json
import multiprocessing
import ntpath
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from mcp_migrate import catalog, discover, engine, files, run, worktree
from mcp_migrate.files import Change
from mcp_migrate.project import Project, read
from mcp_migrate.source import Source
from mcp_migrate.verify import server as verifying
from servers import SERVERS, copy

NOTES = SERVERS / "notes_chain" / "before" / "server.py"
FOREIGN = NOTES.read_text(encoding="utf-8").replace('elif method == "ping":', 'elif method == "ping":  # 日本 → é')


class Windows:
    """The module `os` as it is on Windows, as far as paths go."""

    path = ntpath
    sep = "\\"
    pardir = ".."

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def getcwd(self) -> str:
        return self._folder

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    system = Windows("C:\\code")
    monkeypatch.setattr(ntpath, "isdir", lambda path: "." not in ntpath.basename(path))
    for module in (discover, run, verifying, worktree):
        monkeypatch.setattr(module, "os", system)


@pytest.mark.parametrize(
    ("location", "folder", "expected"),
    [
        ("C:\\code\\app\\server.py", "C:\\code", "app/server.py"),
        ("C:/code/app/server.py", "C:\\code\\tests", "../app/server.py"),
        ("D:\\other\\server.py", "C:\\code", "D:/other/server.py"),
        ("\\\\host\\share\\server.py", "C:\\code", "//host/share/server.py"),
    ],
    ids=["below", "beside", "another drive", "a share"],
)
def test_a_path_is_told_with_forward_slashes_from_every_drive(windows: None, location: str, folder: str, expected: str) -> None:
    assert discover.relative_to(location, folder) == expected


def test_the_root_of_a_run_on_another_drive_is_what_was_named(windows: None) -> None:
    assert discover.root_of(["D:\\other\\app", "D:\\other\\lib\\a.py"]) == "D:\\other"
    assert discover.root_of(["C:\\code\\app"]) == "C:\\code"
    with pytest.raises(discover.NotFound, match="no folder in common"):
        discover.root_of(["C:\\code", "D:\\other"])


@pytest.mark.parametrize(
    ("pattern", "left_out"),
    [
        ("app\\gen", True),
        ("app/gen", True),
        ("*.py", True),
        ("app\\*.py", False),
        ("app\\gen\\*.py", True),
        ("gen\\", True),
        ("\\#gen", False),
    ],
)
def test_patterns_may_have_backslashes(windows: None, pattern: str, left_out: bool) -> None:
    assert discover.leaves_out(discover.Exclude((pattern,), "C:\\code"), "C:\\code\\app\\gen\\a.py") is left_out


def test_a_backslash_in_a_pattern_is_an_escape_elsewhere() -> None:
    assert [*discover.with_slashes(["a\\b", "\\#a"])] == ["a\\b", "\\#a"]


def test_a_command_may_name_its_program_with_backslashes(windows: None) -> None:
    told = '"C:\\Program Files\\Python\\python.exe" -m app --config C:\\app\\x.toml'
    assert verifying.split(told) == ["C:\\Program Files\\Python\\python.exe", "-m", "app", "--config", "C:\\app\\x.toml"]
    with pytest.raises(verifying.CannotStart, match="is no command line"):
        verifying.split('"python')


def test_a_command_is_split_as_by_a_shell_elsewhere() -> None:
    assert verifying.split("python 'my server.py' a\\ b # c") == ["python", "my server.py", "a b", "#", "c"]


def test_git_is_asked_and_answers_with_forward_slashes(windows: None, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def listed(root: str, command: list[str]) -> list[bytes]:
        asked.append(command)
        return [b"app/gen/a.py"] if "-t" not in command else [b"? app/gen/a.py"]

    monkeypatch.setattr(worktree, "root_of", lambda folder: "C:\\code")
    monkeypatch.setattr(worktree, "_listed", listed)
    monkeypatch.setattr(ntpath, "exists", lambda path: True)
    # What is found on disk has backslashes, what a run calls a place has none.
    assert [*worktree.tracked("C:\\code\\app")] == ["C:\\code\\app\\gen\\a.py"]
    assert [*worktree.unsaved(["C:/code/app/gen/a.py"])] == [("C:/code/app/gen/a.py", "not tracked")]
    assert [command[-1] for command in asked] == ["app", "app/gen/a.py"]


def test_a_file_that_another_program_has_open_stays_with_all_that_belong_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_bytes(b"a")
    second.write_bytes(b"b")
    replace = os.replace

    def held(source: str, target: Path) -> None:
        if Path(target).name == "b.py":
            raise PermissionError(
                errno.EACCES, "The process cannot access the file because it is being used by another process", str(target)
            )
        replace(source, target)

    monkeypatch.setattr(os, "replace", held)
    changes = [
        Change("new.py", str(tmp_path / "new.py"), None, b"new"),
        *(Change(one.name, str(one), one.read_bytes(), b"x") for one in (first, second)),
    ]
    with pytest.raises(files.NotWritten, match=r"cannot write .*b\.py: the process cannot access the file"):
        files.write_together(changes)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a.py": b"a", "b.py": b"b"}


@pytest.mark.parametrize("name", [f"{'n' * 252}.py", f"{'é' * 126}.py"], ids=["letters", "two bytes each"])
def test_a_name_may_be_as_long_as_the_system_takes(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"old")
    files.write(path, b"new")
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == {name: b"new"}


EVERY = """
import json, sys
from mcp_migrate.cli import main
for command in json.loads(sys.argv[1]):
    sys.argv = ["mcp-migrate", *command, "."]
    try:
        main()
    except SystemExit as end:
        print("ended with", end.code, flush=True)
"""


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_a_console_that_cannot_show_a_character_ends_no_run(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "日本.py").write_text(FOREIGN, encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0", "NO_COLOR": "1"}
    formats = ["text", "concise", "json", "sarif", "github", "gitlab", "junit"]
    commands = [*(["check", "--output-format", one] for one in formats), ["check", "--statistics"], ["fix", "--diff"], ["guide"]]
    done = subprocess.run(
        [sys.executable, "-c", EVERY, json.dumps(commands)], cwd=tmp_path, env=environment, capture_output=True, timeout=120
    )
    told = done.stdout.replace(b"\r\n", b"\n").split(b"ended with ")
    assert [part.partition(b"\n")[0] for part in told[1:]] == [b"1"] * (len(commands) - 1) + [b"0"], done.stderr
    assert b"Traceback" not in done.stderr
    assert "日本.py:".encode(encoding, "backslashreplace") in told[0]
    assert "# 日本 → é".encode(encoding, "backslashreplace") in told[0]
    assert "--- a/日本.py".encode() in told[8], "a patch is bytes, of which none may become another"


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_all_lines_of_what_is_written_end_as_those_of_the_server(newline: str, tmp_path: Path) -> None:
    folder = copy(NOTES.parent, tmp_path / "server")
    path = folder / "server.py"
    path.write_bytes(path.read_bytes().replace(b"\n", newline.encode()))
    subprocess.run([sys.executable, "-c", "from mcp_migrate.cli import main; main()", "fix", "."], cwd=folder, check=False, timeout=120)
    assert sorted(one.name for one in folder.glob("*.py")) == ["mcp_stateless.py", "server.py"]
    for written in folder.glob("*.py"):
        data = written.read_bytes()
        assert data.count(b"\n") == data.count(newline.encode()) > 0


# A process of a pool begins anew under spawn (Windows, macOS) and forkserver (Linux from Python 3.14 on): nothing may depend on what is inherited.
@pytest.mark.parametrize("way", ["spawn", "forkserver"])
def test_findings_are_the_same_in_processes_that_begin_anew(way: str) -> None:
    if way not in multiprocessing.get_all_start_methods():
        pytest.skip("this system has no such processes")
    texts = {
        f"{server}.py": (SERVERS / server / "before" / "server.py").read_text(encoding="utf-8")
        for server in ("notes_chain", "recipes_flask")
    }
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(way)) as pool:
        there = dict(pool.map(found, texts.items()))
    assert there == dict(map(found, texts.items()))
    assert all(there.values())


def found(file: tuple[str, str]) -> tuple[str, list[str]]:
    """What is found in a file, and what is made of it: all that goes from one process to another here is text."""
    project = Project.link([read(Source(*file))])
    entries = catalog.load()
    told = [f"{one.rule} {one.span.start} {one.message}" for one in engine.check(project, entries)]
    return file[0], [*told, json.dumps(engine.fix(project, entries).texts)]
