"""A run that is told again says what a new one would say: every change that a new one would see is seen, and no broken cache is heard."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from mcp_migrate import cache, disk, run
from mcp_migrate.cli import main

SERVERS = Path(__file__).parent.parent / "fixtures" / "servers"
SERVER = """\
import json
import sys


def handle(message):
    if message["method"] == "initialize":
        info = {"name": "a", "version": "1"}
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
        return {"jsonrpc": "2.0", "id": message["id"], "result": result}
    if message["method"] == "ping":
        return {"jsonrpc": "2.0", "id": message["id"], "result": {}}
    if message["method"] == "tools/list":
        return {"jsonrpc": "2.0", "id": message["id"], "result": {"tools": []}}


for line in sys.stdin:
    answer = handle(json.loads(line))
    if answer is not None:
        print(json.dumps(answer), flush=True)
"""


class Done(NamedTuple):
    status: int
    out: str
    err: str


class Tool:
    """The command in this process, in the folder `project`, with a cache of its own."""

    def __init__(self, project: Path, kept: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.project, self.kept = project, kept
        self._patch, self._streams = monkeypatch, capsys
        self.looks = 0
        begin = run.Run.__init__

        def counted(*arguments: object, **named: object) -> None:
            self.looks += 1
            begin(*arguments, **named)  # type: ignore[arg-type]

        monkeypatch.setattr(run.Run, "__init__", counted)

    def __call__(self, *arguments: str) -> Done:
        self._patch.setattr(sys, "argv", ["mcp-migrate", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        return Done(int(left.value.code or 0), *self._streams.readouterr())

    def again(self, *arguments: str) -> bool:
        """Whether a second run is told from the first; it says the same as one that looks anew."""
        self(*arguments)
        before = self.looks
        second = self(*arguments)
        told = self.looks == before
        assert second == self(*arguments, "--no-cache")
        return told


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Tool:
    project = tmp_path / "project"
    (project / "pkg").mkdir(parents=True)
    (project / "pyproject.toml").write_text("[project]\nname = 'a'\n")
    (project / "pkg" / "server.py").write_text(SERVER)
    (project / "pkg" / "plain.py").write_text("NUMBER = 1\n")
    monkeypatch.chdir(project)
    monkeypatch.delenv("MCP_MIGRATE_NO_CACHE")
    monkeypatch.setenv(cache.FOLDER, str(tmp_path / "kept"))
    return Tool(project, tmp_path / "kept", monkeypatch, capsys)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--output-format", "sarif"),
        ("--statistics",),
        ("--fixable-only",),
        ("pkg/server.py",),
        ("--era", "modern"),
        ("-q", "--exclude", "x"),
    ],
    ids=" ".join,
)
def test_an_unchanged_project_is_not_looked_at_again(tool, arguments):
    assert tool.again("check", *arguments)


def test_another_wish_is_another_run(tool, monkeypatch):
    tool("check")
    first = tool.looks
    for arguments in (["check", "pkg"], ["check", "--era", "modern"], ["check", "--output-format", "json"]):
        tool(*arguments)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in tool("check").out
    monkeypatch.delenv("FORCE_COLOR")
    monkeypatch.chdir(tool.project / "pkg")
    assert tool("check").out.startswith("server.py")
    assert tool.looks == first + 5


def test_what_is_written_to_files_is_written_again(tool):
    arguments = ("check", "-o", "out.txt", "--report", "json=out.json")
    tool(*arguments)
    written = {name: (tool.project / name).read_text() for name in ("out.txt", "out.json")}
    for name in written:
        (tool.project / name).unlink()
    looks = tool.looks
    assert tool(*arguments).status == 1
    assert tool.looks == looks
    assert {name: (tool.project / name).read_text() for name in written} == written


def test_lines_for_standard_error_are_told_again(tool, monkeypatch):
    empty = tool.project / "empty"
    empty.mkdir()
    assert tool.again("check", "empty")
    assert "no Python files" in tool("check", "empty").err


def _edit_in_place(project: Path) -> None:
    """Other content of the same length, with the time of the old one."""
    file = project / "pkg" / "server.py"
    before = file.stat()
    file.write_text(SERVER.replace('"ping"', '"pong"'))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def _write(name: str, text: str) -> Callable[[Path], None]:
    def write(project: Path) -> None:
        file = project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    return write


CHANGES = {
    "a file is edited": _write("pkg/server.py", SERVER + "# more\n"),
    "a silent file is edited": _write("pkg/plain.py", "NUMBER = 'tools/list'\n"),
    "a file is edited and has its old time": _edit_in_place,
    "a file is new": _write("pkg/other.py", SERVER),
    "a folder is new": _write("pkg/deep/er/other.py", SERVER),
    "a file is gone": lambda project: (project / "pkg" / "server.py").unlink(),
    "a file becomes a link": lambda project: (
        (project / "pkg" / "server.py").rename(project / "x.txt") or (project / "pkg" / "server.py").symlink_to(project / "x.txt")
    ),
    "settings are new": _write("pkg/.mcp-migrate.toml", 'ignore = ["ping"]\n'),
    "settings above are new": _write("../.mcp-migrate.toml", 'ignore = ["ping"]\n'),
    "settings change": _write("pyproject.toml", '[tool.mcp-migrate]\nignore = ["ping"]\n'),
    "git is to ignore a file": _write(".gitignore", "server.py\n"),
    "a file beside the code is new": _write("requirements.txt", "mcp>=1\n"),
    "a file above asks for the SDK": _write("requirements.txt", "mcp>=1 # above\n"),
    "the folder becomes a package": _write("pkg/__init__.py", ""),
    "a package of the SDK's name is new": _write("src/mcp/__init__.py", ""),
    "what is accepted changes": _write("accepted.json", '{"version": 1, "findings": []}\n\n'),
    "an image is built": _write("Dockerfile", "FROM python\nCOPY pkg/server.py /app/\n"),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("trusting", [False, True])
def test_every_change_is_seen(tool, monkeypatch, name, trusting):
    if trusting:  # as if the files had been there for long, so that their times are believed
        monkeypatch.setattr(cache, "_TICK", -(10**15))
    arguments = ("check", "pkg" if "above" in name else ".", *(("--baseline", "accepted.json") if "accepted" in name else ()))
    (tool.project / "accepted.json").write_text('{"version": 1, "findings": []}\n')
    assert tool.again(*arguments)
    looks = tool.looks
    CHANGES[name](tool.project)
    new = tool(*arguments)
    assert tool.looks == looks + 1
    assert new == tool(*arguments, "--no-cache")


def test_a_file_that_was_only_touched_is_known_by_its_content(tool):
    tool("check")
    looks = tool.looks
    os.utime(tool.project / "pkg" / "server.py", (1, 1))
    tool("check")
    assert tool.looks == looks


def test_a_file_that_changes_right_after_a_run_is_known_by_its_content(tool, monkeypatch):
    """Within one tick of the clock of a file system, times stay the same."""
    tool("check")
    stamps = {file: disk.stamp(file.stat()) for file in tool.project.rglob("*")}
    (tool.project / "pkg" / "server.py").write_text(SERVER.replace('"ping"', '"pong"'))
    real = os.stat

    def stat(path: object, **more: object) -> object:
        status = real(path, **more)  # type: ignore[arg-type]
        old = stamps.get(Path(os.fspath(path)) if isinstance(path, str | os.PathLike) else Path())
        if old is None:
            return status
        return type("Status", (), {"st_mode": status.st_mode, "st_size": old.size, "st_mtime_ns": old.changed, "st_ctime_ns": old.status})

    looks = tool.looks
    monkeypatch.setattr(os, "stat", stat)
    tool("check")
    assert tool.looks == looks + 1


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_what_cannot_be_read_is_looked_at_again(tool):
    (tool.project / "pkg" / "plain.py").chmod(0)
    assert not tool.again("check")


def test_a_pipe_is_looked_at_again(tool):
    os.mkfifo(tool.project / "pkg" / "pipe.py")
    assert not tool.again("check")


def test_what_git_ignores_may_change_outside_of_the_project(tool, monkeypatch, tmp_path):
    subprocess.run(["git", "init", "-q"], cwd=tool.project, check=True)
    settings = tmp_path / "gitconfig"
    settings.write_text("")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    assert tool.again("check")
    looks = tool.looks
    (tmp_path / "excludes").write_text("mcp_stateless.py\n")
    settings.write_text(f"[core]\nexcludesFile = {(tmp_path / 'excludes').as_posix()}\n")
    assert "git would ignore" in tool("check").out
    assert tool.looks == looks + 1


def test_every_look_is_noted(tmp_path):
    """Python itself tells of every file and folder that is opened; what lies in the project, or above it, has to be in the trace."""
    program = """
import os, sys
from pathlib import Path
from mcp_migrate import cli, disk
from mcp_migrate.flags import Flags
from mcp_migrate.run import Run

top, base = sys.argv[1], Path(sys.argv[1]).parent
os.chdir(top)
opened = set()
sys.addaudithook(lambda event, arguments: event in ("open", "os.listdir", "os.scandir") and isinstance(arguments[0], str)
    and opened.add(os.path.abspath(arguments[0])))
asked = set()
for name in ("isfile", "isdir", "exists", "lexists", "islink", "realpath"):
    def question(path, real=getattr(os.path, name), **more):
        asked.add(os.path.abspath(path))
        return real(path, **more)
    setattr(os.path, name, question)
with disk.traced() as trace:
    run = Run(Flags())
    read = run.read(lambda number: None)
    run.report(read, run.check(read))
assert trace.whole
ours = [os.path.dirname(cli.__file__), sys.prefix, sys.base_prefix]
inside = lambda path: Path(path).is_relative_to(base)
noted = {*trace.files, *trace.folders, *trace.above}
print("opened", sorted(path for path in opened if inside(path) and path not in noted and path not in trace.kinds))
print("asked", sorted(path for path in asked if inside(path) and path not in noted and path not in trace.kinds
    and path not in trace.links and os.path.dirname(path) not in noted))
print("seen", len(trace.files), len(opened & noted))
"""
    project = tmp_path / "deep" / "project"
    for server in sorted(SERVERS.iterdir())[:6]:
        if server.is_dir():
            for file in server.rglob("*.py"):
                target = project / server.name / file.relative_to(server)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(file.read_bytes())
    (project / ".gitignore").write_text("nothing\n")
    (project / "pyproject.toml").write_text("[project]\nname = 'a'\ndependencies = ['mcp>=1']\n[tool.mcp-migrate]\nexclude = ['x']\n")
    (project / "README.md").write_text("```python\nfrom mcp.server.fastmcp import FastMCP\n```\n")
    (tmp_path / "deep" / "requirements.txt").write_text("mcp>=1\n")
    done = subprocess.run([sys.executable, "-c", program, str(project)], capture_output=True, text=True, check=True)
    opened, asked, seen = done.stdout.splitlines()
    assert opened == "opened []"
    assert asked == "asked []"
    assert all(int(number) > 5 for number in seen.split()[1:])


def _kept(tool: Tool) -> Path:
    (file,) = tool.kept.iterdir()
    return file


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: b"",
        lambda data: data[:-100],
        lambda data: data[:200] + bytes([data[200] ^ 1]) + data[201:],
        lambda data: data.replace(b"server.py", b"SERVER.py"),
        lambda data: b"\x00" * len(data),
        lambda data: (body := b"[" * 100_000) and disk.digest(body).encode() + b"\n" + body,
        lambda data: (body := b"{}") and disk.digest(body).encode() + b"\n" + body,
        lambda data: (
            (body := json.dumps({**json.loads(data.partition(b"\n")[2]), "files": 3}).encode())
            and disk.digest(body).encode() + b"\n" + body
        ),
    ],
    ids=["empty", "short", "one bit", "other names", "zeros", "too deep", "nothing in it", "another shape"],
)
def test_a_broken_cache_is_none(tool, spoil):
    first = tool("check")
    file = _kept(tool)
    file.write_bytes(spoil(file.read_bytes()))
    looks = tool.looks
    assert tool("check") == first
    assert tool.looks == looks + 1
    assert tool("check") == first
    assert tool.looks == looks + 1


def test_a_cache_that_cannot_be_written_is_none(tool):
    tool.kept.write_text("a file where the folder should be")
    assert not tool.again("check")
    assert tool.kept.read_text() == "a file where the folder should be"


def test_ctrl_c_while_the_cache_is_written(tool, monkeypatch):
    first = tool("check", "--no-cache")

    def pressed(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", pressed)
        done = tool("check")
    assert done == Done(130, first.out, "mcp-migrate: interrupted\n")
    assert [*tool.kept.iterdir()] == []
    assert tool.again("check")


def test_a_run_that_was_killed_while_it_wrote_leaves_nothing_that_is_heard(tool, monkeypatch):
    def killed(*arguments: object) -> None:
        raise SystemExit(9)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", killed)
        patch.setattr(os, "unlink", lambda path: None)
        tool("check")
    (draft,) = tool.kept.iterdir()
    assert draft.name.startswith(".")
    assert tool.again("check")
    tool("cache", "clear")
    assert not tool.kept.exists()


def test_two_runs_at_once(tool):
    command = [sys.executable, "-c", "from mcp_migrate.cli import main; main()", "check", "."]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = [one.communicate() for one in both]
    assert said[0] == said[1]
    assert said[0][1] == ""
    assert len([*tool.kept.iterdir()]) == 1


def test_nobody_else_may_read_what_is_kept(tool):
    tool("check")
    if os.name != "nt":
        assert _kept(tool).stat().st_mode & 0o077 == 0
        assert tool.kept.stat().st_mode & 0o077 == 0


def test_what_nobody_asks_for_any_more_goes(tool):
    tool("check")
    old = _kept(tool)
    os.utime(old, (1, 1))
    tool("check", "pkg")
    assert not old.exists()
    assert _kept(tool).exists()


def test_a_link_that_leads_elsewhere_is_seen(tool):
    for name, rule in (("one", "ping"), ("two", "unstamped_result")):
        (tool.project / f"{name}.toml").write_text(f'ignore = ["{rule}"]\n')
    (tool.project / "now.toml").symlink_to("one.toml")
    first = tool("check", "--config", "now.toml")
    (tool.project / "now.toml").unlink()
    (tool.project / "now.toml").symlink_to("two.toml")
    assert tool("check", "--config", "now.toml") == tool("check", "--config", "now.toml", "--no-cache") != first


def test_a_file_of_the_same_size_and_times_in_place_of_another_is_seen(tool, monkeypatch):
    monkeypatch.setattr(cache, "_TICK", -(10**15))
    real = os.stat
    seen: dict[str, os.stat_result] = {}

    def frozen(path: object, **more: object) -> object:
        status = real(path, **more)  # type: ignore[arg-type]
        first = seen.setdefault(str(path), status)
        named = {name: getattr(status, name) for name in ("st_mode", "st_ino", "st_dev", "st_uid", "st_gid")}
        times = {name: getattr(first, name) for name in ("st_size", "st_mtime_ns", "st_ctime_ns", "st_mtime")}
        return type("Status", (), named | times)

    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", frozen)
        tool("check")
        looks = tool.looks
        other = tool.project / "other.txt"
        other.write_text(SERVER.replace('"ping"', '"pong"'))
        os.replace(other, tool.project / "pkg" / "server.py")
        tool("check")
    assert tool.looks == looks + 1


def test_what_is_kept_does_not_say_where_to_write(tool):
    tool("check")
    file = _kept(tool)
    known = json.loads(file.read_bytes().partition(b"\n")[2])
    known["texts"] = [*known["texts"], "evil"]
    body = json.dumps(known).encode()
    file.write_bytes(disk.digest(body).encode() + b"\n" + body)
    before = {path: path.read_bytes() for path in tool.project.rglob("*") if path.is_file()}
    looks = tool.looks
    tool("check")
    assert tool.looks == looks + 1
    assert {path: path.read_bytes() for path in tool.project.rglob("*") if path.is_file()} == before


def test_what_is_not_ours_stays_in_the_folder(tool):
    tool.kept.mkdir()
    theirs = [tool.kept / name for name in ("driver.run", ".hidden.run", f"{'A' * 32}.run", f"{'a' * 31}.run")]
    for file in theirs:
        file.write_text("mine")
        os.utime(file, (1, 1))
    tool("check")
    assert tool("cache", "clear").out.startswith("Deleted 1 run ")
    assert sorted(tool.kept.iterdir()) == sorted(theirs)


def test_a_working_folder_that_is_gone_is_one_line(tool, tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert tool("check") == Done(2, "", "mcp-migrate: error: the working folder is gone, or cannot be read\n")


def test_clear_deletes_what_is_ours_alone(tool):
    tool("check")
    other = tool.kept / "notes.txt"
    other.write_text("mine")
    assert tool("cache", "clear").out == f"Deleted 1 run from {tool.kept}.\n"
    assert [*tool.kept.iterdir()] == [other]
    assert tool("cache", "clear").out == f"Deleted 0 runs from {tool.kept}.\n"
    assert tool("cache", "dir").out == f"{tool.kept}\n"


def test_files_of_others_that_end_alike_are_left_alone(tool):
    tool.kept.mkdir()
    other = tool.kept / "installer.run"
    other.write_text("mine")
    os.utime(other, (1, 1))
    tool("check")
    tool("cache", "clear")
    assert [*tool.kept.iterdir()] == [other]


def test_a_cache_names_no_file_to_write(tool):
    first = tool("check")
    file = _kept(tool)
    known = json.loads(file.read_bytes().partition(b"\n")[2])
    known["texts"].append(["planted.txt", "anything"])
    body = json.dumps(known).encode()
    file.write_bytes(disk.digest(body).encode() + b"\n" + body)
    assert tool("check") == first
    assert not (tool.project / "planted.txt").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owner that Python knows")
def test_what_another_user_has_put_there_is_not_believed(tool, monkeypatch):
    first, looks = tool("check"), tool.looks
    monkeypatch.setattr(os, "geteuid", lambda: _kept(tool).stat().st_uid + 1)
    assert tool("check") == first
    assert tool.looks == looks + 1


@pytest.mark.skipif(os.name == "nt", reason="Windows asks no HOME")
def test_a_user_without_a_home_has_no_cache(tool, monkeypatch):
    import pwd

    def unknown(number: int) -> None:
        raise KeyError(number)

    before = sorted(tool.project.iterdir())
    monkeypatch.delenv(cache.FOLDER)
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert cache.folder() is None
    assert not tool.again("check")
    assert sorted(tool.project.iterdir()) == before
    assert tool("cache", "dir").status == 2
    assert tool("cache", "clear").out == "Deleted 0 runs.\n"


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_a_link_that_is_led_elsewhere_is_followed_anew(tool):
    for name, settings in (("one", ""), ("two", "ignore = ['ALL']\n")):
        (tool.project / name).mkdir()
        (tool.project / name / "server.py").write_text(SERVER)
        (tool.project / name / ".mcp-migrate.toml").write_text(settings)
    link = tool.project / "now"
    link.symlink_to("one")
    assert tool.again("check", "now")
    assert tool("check", "now").status == 1
    link.unlink()
    link.symlink_to("two")
    assert tool("check", "now").status == 0


def test_files_of_one_size_and_time_are_told_apart(tool):
    status = os.stat(tool.project / "pkg" / "server.py")
    other = os.stat_result(
        (status.st_mode, status.st_ino + 1, *status[2:]), {"st_mtime_ns": status.st_mtime_ns, "st_ctime_ns": status.st_ctime_ns}
    )
    assert disk.stamp(other)[:3] == disk.stamp(status)[:3]
    assert disk.stamp(other) != disk.stamp(status)


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps a folder that somebody works in")
def test_a_working_folder_that_is_gone(tool):
    gone = tool.project / "gone"
    gone.mkdir()
    code = "import os, sys; sys.path.remove(''); os.rmdir(os.getcwd()); from mcp_migrate.__main__ import main; main()"
    for command, status in (["check"], 2), (["fix", "--diff"], 2), (["--version"], 0):
        gone.mkdir(exist_ok=True)
        done = subprocess.run([sys.executable, "-c", code, *command], cwd=gone, capture_output=True, text=True, check=False)
        assert done.returncode == status
        assert done.stderr == ("mcp-migrate: error: the working folder is gone, or cannot be read\n" if status else "")


@pytest.mark.parametrize("more", [("--no-cache",), ("-n",), ("--write-baseline", "b.json")])
def test_runs_that_keep_nothing(tool, more):
    tool("check", *more)
    assert not tool.kept.exists()


def test_standard_input_keeps_nothing(tool, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SERVER.encode())))
    assert tool("check", "-").status == 1
    assert not tool.kept.exists()


def test_an_error_of_the_tool_is_not_kept(tool, monkeypatch):
    from mcp_migrate.rules.removed import ping

    def fails(*arguments: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(ping, "check", fails)
        assert tool("check").status == 2
    assert tool("check").status == 1
