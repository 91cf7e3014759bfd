"""Nothing is lost and nothing half written, whatever ends a run or stands in its way: kills, full disks, permissions, other writers."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from calling import FIX, FIXED, SERVER, Done, git, put
from mcp_migrate import cli, commits, files, worktree
from mcp_migrate.files import Change
from mcp_migrate.terminal import uninterrupted

pytestmark = pytest.mark.faults

posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes of POSIX")
COMMAND = [sys.executable, "-c", "from mcp_migrate.__main__ import main; main()"]
BIG = b"x = 1\n" * 40_000  # more than one piece of what is written at once


def changes(folder: Path) -> list[Change]:
    """A new module, and two files that need it."""
    for name in ("a.py", "b.py"):
        put(folder, name, f"old {name}\n")
    return [
        Change("new.py", str(folder / "new.py"), None, BIG),
        Change("a.py", str(folder / "a.py"), b"old a.py\n", b"new a\n" + BIG),
        Change("b.py", str(folder / "b.py"), b"old b.py\n", b"new b\n" + BIG),
    ]


def state(made: list[Change]) -> list[str]:
    """Of each file whether it is as before or as it should be; anything else is a failure."""
    found = []
    for change in made:
        data = Path(change.location).read_bytes() if os.path.lexists(change.location) else None
        assert data in (change.before, change.after), f"{change.path} is half written"
        found.append("after" if data == change.after else "before")
    return found


def strangers(folder: Path, made: list[Change]) -> list[str]:
    return sorted({path.name for path in folder.iterdir()} - {change.path for change in made})


def in_child(do: Callable[[], None], before: Callable[[], None] = lambda: None) -> int:
    """How a process ends that does this: its signal as a negative number, else its status."""
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            before()
            do()
            os._exit(0)
        os._exit(1)
    status = os.waitpid(child, 0)[1]
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.waitstatus_to_exitcode(status)


# Killed


def killed_at(number: int) -> Callable[[], None]:
    """Has the process killed before the n-th thing that it does to the disk."""

    def prepare() -> None:
        left = [number]

        def watched(event: str, arguments: tuple[object, ...]) -> None:
            writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
            if writes or event in ("os.rename", "os.link", "os.remove", "os.chmod", "os.chown"):
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(watched)

    return prepare


@posix
def test_a_run_that_is_killed_at_any_step_leaves_whole_files_and_the_next_one_ends_its_work(tmp_path: Path) -> None:
    seen = set()
    for number in range(1, 100):
        folder = tmp_path / str(number)
        folder.mkdir()
        made = changes(folder)
        ended = in_child(lambda made=made: files.write_together(made), killed_at(number))  # type: ignore[misc]
        seen.add("".join(one[0] for one in state(made)))
        assert all(name.startswith(".") for name in strangers(folder, made)), "what is left over would be read as code"
        files.write_together(made)
        assert state(made) == ["after"] * 3
        if ended == 0:
            break
        assert ended == -signal.SIGKILL
    assert number > 8
    # In their order: what is written later may need what was written before.
    assert seen == {"bbb", "abb", "aab", "aaa"}


@posix
@pytest.mark.parametrize("size", [0, 1, 4096, 100_000])
def test_a_run_that_is_killed_in_the_middle_of_its_bytes_has_touched_nothing(tmp_path: Path, size: int) -> None:
    import resource

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    made = changes(tmp_path)
    assert in_child(lambda: files.write_together(made), limit) == -signal.SIGXFSZ
    assert state(made) == ["before"] * 3
    put(tmp_path, "baseline.json", "accepted")
    assert in_child(lambda: files.put(tmp_path / "baseline.json", BIG), limit) == -signal.SIGXFSZ
    assert (tmp_path / "baseline.json").read_text() == "accepted"


SDK = {
    "server.py": 'from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP("notes")\n\n\n@mcp.tool()\ndef add(a: int) -> int:\n    raise ValueError("no")\n',
    "client.py": "from mcp.client.streamable_http import streamablehttp_client\nimport server\n\nasync def run(url):\n    async with streamablehttp_client(url) as (read, write, _):\n        return read, write\n",
    "pyproject.toml": '[project]\nname = "notes"\nversion = "1"\ndependencies = ["mcp>=1.9"]\n',
}


@pytest.mark.parametrize("project", [{"app/server.py": SERVER, "app/main.py": "import server\n"}, SDK], ids=["by hand", "sdk"])
def test_what_a_kill_between_two_files_has_left_is_moved_by_the_next_run(run, tmp_path, project):
    for name, text in project.items():
        put(tmp_path, name, text)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    run("fix")
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    # The order in which they are written: new ones first, then by their names.
    changed = sorted((path for path in after if after[path] != before.get(path)), key=lambda path: (path in before, path))
    assert len(changed) > 1
    for done in range(1, len(changed)):
        for path in after:
            if path in before:
                path.write_bytes(before[path])
            else:
                path.unlink()
        for path in changed[:done]:
            path.write_bytes(after[path])
        run("fix")
        assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == after


def repository(folder: Path) -> list[Change]:
    made = changes(folder)
    git(folder, "init", "-q")
    git(folder, "config", "user.name", "a")
    git(folder, "config", "user.email", "a@example.org")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "all")
    return made


@posix
def test_a_series_that_is_killed_at_any_step_can_be_taken_back_with_git(tmp_path: Path) -> None:
    for number in (1, 4, 7, 8, 9, 10, 11, 12, 13, 100):
        folder = tmp_path / str(number)
        folder.mkdir()
        made = repository(folder)
        start = commits.head(str(folder))
        series = [commits.Commit("one\n", made[:2]), commits.Commit("two\n", made[2:])]
        ended = in_child(lambda folder=folder, series=series: commits.make(str(folder), series), killed_at(number))  # type: ignore[misc]
        state(made)
        if ended == 0:
            break
        assert ended == -signal.SIGKILL
        (folder / ".git" / "index.lock").unlink(missing_ok=True)
        git(folder, "reset", "-q", "--hard", start)
        assert state(made)[1:] == ["before", "before"]
    else:
        pytest.fail("the series was never made")


# Full disks


@posix
def test_a_full_disk_is_told_before_anything_is_replaced(tmp_path: Path) -> None:
    import resource

    made = changes(tmp_path)

    def write() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(BIG), len(BIG)))  # enough for the first, not for the others
        with pytest.raises(files.NotWritten, match=r"^cannot write .*a\.py: file too large$"):
            files.write_together(made)

    assert in_child(write) == 0
    assert state(made) == ["before"] * 3
    assert strangers(tmp_path, made) == ["new.py"] * 0


@posix
def test_a_fix_on_a_full_disk_says_so_in_one_line_and_exits_with_2(tmp_path: Path) -> None:
    import resource

    server = put(tmp_path, "server.py")
    done = subprocess.run(
        [*COMMAND, *FIX],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},  # Python would leave halves of that
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64)),
    )
    assert (done.returncode, done.stderr) == (2, f"mcp-migrate: error: cannot write {server}: file too large\n")
    assert server.read_text() == SERVER
    assert os.listdir(tmp_path) == ["server.py"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
@pytest.mark.parametrize(
    "arguments",
    [("check", "--output-format", "concise"), ("fix", "--diff"), ("rules",)],
    ids=lambda arguments: " ".join(arguments),
)
def test_a_report_that_does_not_reach_its_file_is_a_failure(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    for number in range(1 if arguments[0] == "fix" else 30):  # more than is held back before it is written
        put(tmp_path, f"server{number}.py")
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*COMMAND, *arguments], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "mcp-migrate: error: cannot write to standard output: no space left on device"
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
@pytest.mark.parametrize("option", ["-o", "--write-baseline"])
def test_a_file_of_the_users_that_cannot_be_written_is_one_line(run, tmp_path, option):
    put(tmp_path, "server.py")
    done = run("check", option, "/dev/full")
    assert (done.status, done.out) == (2, "")
    assert done.err == "mcp-migrate: error: cannot write /dev/full: no space left on device\n"


def test_a_group_that_fails_late_is_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = changes(tmp_path)
    replaced: list[str] = []
    replace = os.replace

    def fail_second(source: str, target: str) -> None:
        if str(target).endswith("b.py") and not replaced.count("b"):
            replaced.append("b")
            raise OSError(errno.EIO, os.strerror(errno.EIO), target)
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail_second)
    with pytest.raises(files.NotWritten, match="input/output error"):
        files.write_together(made)
    assert state(made) == ["before"] * 3
    assert strangers(tmp_path, made) == []


# Permissions


@contextlib.contextmanager
def as_anybody() -> Iterator[Path]:
    """A folder of somebody whom permissions hold back; root may do everything."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        with tempfile.TemporaryDirectory() as name:
            yield Path(name).resolve()
    finally:
        if root:
            os.seteuid(0)


@posix
@pytest.mark.parametrize("closed", ["file", "folder"])
def test_what_may_not_be_written_stays_and_says_so(closed: str) -> None:
    with as_anybody() as folder:
        made = changes(folder)
        (folder / "a.py").chmod(0o444 if closed == "file" else 0o644)
        if closed == "file" and os.access(folder / "a.py", os.W_OK):
            pytest.skip("whoever runs this may write what is read-only")
        folder.chmod(0o755 if closed == "file" else 0o555)
        try:
            with pytest.raises(files.NotWritten, match=r"cannot write .*: permission denied$"):
                files.write_together(made)
            assert state(made) == ["before"] * 3
            assert strangers(folder, made) == []
        finally:
            folder.chmod(0o755)


@posix
def test_a_report_replaces_one_in_a_folder_that_takes_no_other_file() -> None:
    with as_anybody() as folder:
        report = put(folder, "report.json", "old")
        folder.chmod(0o555)
        try:
            files.put(report, b"new")
            assert report.read_text() == "new"
            with pytest.raises(PermissionError):
                files.put(folder / "another.json", b"new")
        finally:
            folder.chmod(0o755)


def test_a_report_goes_where_a_link_leads_and_into_pipes_and_devices(tmp_path: Path) -> None:
    report, link = put(tmp_path, "real/report.json", "old"), tmp_path / "link.json"
    link.symlink_to(report)
    report.chmod(0o640)
    files.put(link, b"new")
    assert (link.is_symlink(), report.read_text(), stat.S_IMODE(report.stat().st_mode)) == (True, "new", 0o640)
    files.put(Path(os.devnull), b"new")
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE) as reader:
        files.put(tmp_path / "pipe", b"through")
        assert reader.communicate()[0] == b"through"


# Others who write


def while_planned(monkeypatch: pytest.MonkeyPatch, do: Callable[[], object]) -> None:
    """Has something done after all is read and planned, and before the first file is written."""
    write = cli._write_all

    def late(groups: list[list[Change]]) -> set[str]:
        do()
        return write(groups)

    monkeypatch.setattr(cli, "_write_all", late)


def test_what_somebody_saves_while_fix_runs_is_kept(run, tmp_path, monkeypatch):
    server, other = put(tmp_path, "server.py"), put(tmp_path, "other/server.py")
    while_planned(monkeypatch, lambda: server.write_text(SERVER + "# saved meanwhile\n"))
    done = run(*FIX)
    assert (done.status, done.err) == (2, f"mcp-migrate: error: cannot write {server}: it has changed since it was read\n")
    assert server.read_text() == SERVER + "# saved meanwhile\n"
    assert other.read_text() == FIXED
    assert sorted(os.listdir(tmp_path)) == ["other", "server.py"]


def test_a_server_that_is_saved_meanwhile_gets_no_module_beside_it(run, tmp_path, monkeypatch):
    server = put(tmp_path, "server.py")
    while_planned(monkeypatch, lambda: server.write_text(SERVER + "# saved meanwhile\n"))
    done = run("fix")
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert "it has changed since it was read; 1 file that belongs to it stayed as before" in done.err
    assert os.listdir(tmp_path) == ["server.py"]


@pytest.mark.parametrize("way", ["gone", "link", "pipe", "folder"])
def test_what_has_become_something_else_meanwhile_is_left_alone(run, tmp_path, monkeypatch, way):
    server, outside = put(tmp_path, "in/server.py"), put(tmp_path, "outside.py", "mine\n")

    def swap() -> None:
        server.unlink()
        match way:
            case "link":
                server.symlink_to(outside)
            case "pipe":
                os.mkfifo(server)
            case "folder":
                server.mkdir()

    while_planned(monkeypatch, swap)
    done = run(*FIX, "in")
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert done.err.startswith(f"mcp-migrate: error: cannot write {server}: ")
    assert (outside.read_text(), outside.is_symlink()) == ("mine\n", False)
    assert len(os.listdir(tmp_path / "in")) == (0 if way == "gone" else 1)


def test_a_module_that_appears_meanwhile_is_not_overwritten(run, tmp_path, monkeypatch):
    server = put(tmp_path, "server.py")
    while_planned(monkeypatch, lambda: put(tmp_path, "mcp_stateless.py", "# mine\n"))
    done = run("fix")
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert "mcp_stateless.py: file exists" in done.err
    assert (server.read_text(), (tmp_path / "mcp_stateless.py").read_text()) == (SERVER, "# mine\n")


def test_a_series_commits_nothing_over_what_was_saved_meanwhile(run, tmp_path, monkeypatch):
    server = put(tmp_path, "server.py")
    for arguments in (
        ["init", "-q"],
        ["config", "user.name", "a"],
        ["config", "user.email", "a@b.c"],
        ["add", "."],
        ["commit", "-qm", "all"],
    ):
        git(tmp_path, *arguments)
    start = commits.head(str(tmp_path))
    make = commits.make

    def late(root: str, wanted: list[commits.Commit]) -> None:
        server.write_text(SERVER + "# saved meanwhile\n")
        make(root, wanted)

    monkeypatch.setattr(commits, "make", late)
    done = run(*FIX, "--commit")
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert "it has changed since it was read" in done.err
    assert (server.read_text(), commits.head(str(tmp_path))) == (SERVER + "# saved meanwhile\n", start)


def test_two_runs_at_once_make_what_one_makes(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        put(folder, "server.py")
        put(folder, "pkg/server.py")

    def start(folder: Path) -> subprocess.Popen[str]:
        return subprocess.Popen([*COMMAND, "fix"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    processes = [start(folders[0]), start(folders[1]), start(folders[1])]
    said = [process.communicate() for process in processes]
    # The slower of two may meet the new module of the faster one before the rest, and then tells what it has left.
    assert processes[0].returncode == 0
    assert min(process.returncode for process in processes[1:]) == 0
    assert all(process.returncode in (0, 1) and err == "" for process, (_, err) in zip(processes, said, strict=True))
    one, two = ({path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()} for folder in folders)
    assert one == two
    assert len(one) == 4


def test_the_slower_of_two_series_takes_back_nothing_of_the_faster(tmp_path: Path) -> None:
    made = repository(tmp_path)
    series = [commits.Commit("one\n", made)]
    commits.make(str(tmp_path), series)
    head = commits.head(str(tmp_path))
    with pytest.raises(commits.NotCommitted):
        commits.make(str(tmp_path), series)
    assert (state(made), commits.head(str(tmp_path))) == (["after"] * 3, head)
    assert list(worktree.unsaved(change.location for change in made)) == []


# Asked to end


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_request_to_end_waits_until_files_that_belong_together_are_written(name: str) -> None:
    if not hasattr(signal, name):
        pytest.skip("no such signal here")
    number, done = getattr(signal, name), []

    def write() -> None:
        with uninterrupted():
            os.kill(os.getpid(), number)
            done.append("all files")

    # Under nohup, one of them would be ignored.
    before = signal.signal(number, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt if name == "SIGINT" else SystemExit):
            write()
        assert done == ["all files"]
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, before)


INTERRUPTED_READING = """
import os, signal
from mcp_migrate import cli, terminal
def tick(self, count):
    if count == 20:
        os.killpg(0, signal.SIGINT)
terminal.Progress.__call__ = tick
cli.main()
"""


@posix
def test_ctrl_c_while_files_are_read_ends_all_of_a_run_with_130_and_one_line(tmp_path: Path) -> None:
    for number in range(30):
        put(tmp_path, f"server{number}.py")
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_READING, "fix"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,  # standard output is only at its end when nobody is left who could write to it
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert Done(done.returncode, done.stdout, done.stderr) == Done(130, "", "mcp-migrate: interrupted\n")
    assert all(path.read_text() == SERVER for path in tmp_path.iterdir())


def test_a_baseline_and_a_report_are_replaced_whole(run, tmp_path):
    put(tmp_path, "server.py")
    baseline = put(tmp_path, "baseline.json", "x" * 100_000)
    baseline.chmod(0o640)
    held = baseline.open()
    assert run("check", "--write-baseline", "baseline.json").status == 0
    assert held.read() == "x" * 100_000  # who reads it meanwhile never sees a half of both
    held.close()
    assert json.loads(baseline.read_text())["findings"]
    assert stat.S_IMODE(baseline.stat().st_mode) == 0o640
    assert sorted(os.listdir(tmp_path)) == ["baseline.json", "server.py"]
