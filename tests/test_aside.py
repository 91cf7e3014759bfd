"""Copies of a process share work: the result is that of one process, whatever becomes of them."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

FIXTURES = Path(__file__).parent.parent / "fixtures"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="copies are made on Linux alone")


def ran(code: str, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A process of its own, since one that runs tests may have threads; it has ended when nobody holds its output any more."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=cwd,
        check=False,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


SHARING = """
import fcntl, os, select, signal, sys
from mcp_migrate import aside
first = os.getpid()
begun, begins = os.pipe()
{setup}
def work(number):
    {body}
    return number * 2, os.getpid() == first
numbers = range({count})
found = aside.share(work, numbers, 3)
assert {{number: value for number, (value, _) in found.items()}} == {{number: number * 2 for number in numbers}}
try:
    os.waitpid(-1, 0)
except ChildProcessError:
    print("nobody is left;", "others helped" if not all(own for _, own in found.values()) else "all done here")
"""
# The first process waits for one of the others before it has done anything.
HELPED = "select.select([begun], [], [], 60) if os.getpid() == first else os.write(begins, b'.')"


def shared(body: str = "pass", *, setup: str = "", count: int = 200) -> str:
    done = ran(SHARING.format(body=body, setup=setup, count=count))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("nobody is left;")
    return done.stdout


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (HELPED, "others helped"),
        ("os.getpid() == first or os.kill(os.getpid(), signal.SIGKILL)", "all done here"),
        ("os.getpid() == first or sys.exit(3)", "all done here"),
        ("if os.getpid() != first: raise ValueError(number)", "all done here"),
        ("if os.getpid() != first: return lambda: number", "all done here"),
    ],
    ids=["well", "killed", "ended", "failed", "cannot be handed over"],
)
def test_each_number_is_worked_on_whatever_becomes_of_a_copy(body: str, told: str) -> None:
    assert told in shared(body)


REFUSED = """
def fork():
    raise BlockingIOError("no more processes")
os.fork = fork
"""
SMALL = """
pipe = os.pipe
def small():
    ends = pipe()
    fcntl.fcntl(ends[1], 1031, 4096)  # F_SETPIPE_SZ, as the system does for a user of many pipes
    return ends
os.pipe = small
"""


def test_where_no_process_can_be_made_all_is_done_here() -> None:
    assert "all done here" in shared(setup=REFUSED)


@pytest.mark.parametrize("count", [5_000, 20_000])
def test_more_numbers_than_a_pipe_holds_are_worked_on(count: int) -> None:
    assert "others helped" in shared(HELPED, setup=SMALL, count=count)


def test_processes_may_end_without_being_asked_for() -> None:
    """As for a process that was started with SIGCHLD ignored."""
    assert "others helped" in shared(HELPED, setup="signal.signal(signal.SIGCHLD, signal.SIG_IGN)")


LEFT = """if os.getpid() == first:
        select.select([begun], [], [], 60)
        os.kill(first, signal.SIGKILL)
    os.write(begins, b".")
    while os.getppid() == first:
        select.select([], [], [], 0.01)
    os.write(1, b".")"""


def test_copies_begin_nothing_more_when_the_process_has_been_ended() -> None:
    done = ran(SHARING.format(body=LEFT, setup="", count=200))
    assert done.returncode == -signal.SIGKILL
    assert 1 <= len(done.stdout) <= 2


def test_what_fails_here_as_well_is_told_here_and_the_copies_end() -> None:
    done = ran(SHARING.format(body="raise ValueError('no')", setup="", count=200))
    assert done.returncode == 1
    assert done.stderr.count("ValueError: no") == 1


COMPARED = """
import sys
from mcp_migrate import aside, engine
from mcp_migrate.catalog import load
from mcp_migrate.flags import Flags
from mcp_migrate.run import Run
engine._FEW = 0
helped = []
share = aside.share
def counted(work, numbers, many):
    helped.append(len(numbers))
    return share(work, numbers, many)
aside.share = counted
def fixed(many, **wishes):
    aside.processes = lambda: many
    run = Run(Flags(paths=sys.argv[1:], respect_gitignore=False))
    made = run.fix(run.read(lambda number: None), **wishes)
    return dict(made.texts), dict(made.created), made.remaining, dict(made.applied), made.dropped, made.steps, made.missed
for unsafe in (False, True):
    assert fixed(3, unsafe=unsafe) == fixed(1, unsafe=unsafe)
print(max(helped) > 3)
"""


@pytest.mark.parametrize("part", ["mcp2/*/*", "servers/*/before"], ids=["sdk", "servers"])
def test_a_fix_by_several_processes_is_that_of_one(part: str) -> None:
    paths = sorted(str(path) for path in FIXTURES.glob(part) if path.is_dir())[::8]
    done = ran(COMPARED, *paths)
    assert (done.stdout, done.stderr) == ("True\n", "")


INTERRUPTED = """
import os, signal
from mcp_migrate import aside, cli, engine
engine._FEW, aside.processes = 0, lambda: 2
first, attempt = os.getpid(), engine._Fixing._attempt
def interrupted(self, path, findings):
    if os.getpid() == first:
        os.killpg(0, signal.SIGINT)
    return attempt(self, path, findings)
engine._Fixing._attempt = interrupted
cli.main()
"""


def test_ctrl_c_while_files_are_fixed_ends_all_processes_with_130_and_one_line(tmp_path: Path) -> None:
    text = "from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP('x')\n"
    for number in range(30):
        (tmp_path / f"server{number}.py").write_text(text, encoding="utf-8")
    done = ran(INTERRUPTED, "fix", str(tmp_path), cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "mcp-migrate: interrupted\n")
    assert all(path.read_text(encoding="utf-8") == text for path in tmp_path.iterdir())
