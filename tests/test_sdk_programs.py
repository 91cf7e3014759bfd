"""Programs that use one changed thing of the SDK each do the same before `fix` on 1.x and after it on 2.x."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import sdk
from mcp_migrate import catalog, engine
from mcp_migrate.project import Project, read
from mcp_migrate.source import Source
from servers import ROOT

PROGRAMS = {path.stem: path for path in sorted((ROOT / "benchmarks" / "programs").glob("*.py"))}
DRIVING = ROOT / "benchmarks" / "sessions" / "driving.py"
# What is asked of a program that prints nothing by itself.
STEPS = {"fastmcp-run-async": [["serve", ["port", "host", "streamable_http_path"]]]}
# What is right is for a human to say, so a fix of these is not made unasked.
UNSAFE = frozenset({"timeout-error-code"})

Said = dict[str, tuple[list[str], str]]


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Said:
    return drive(1, {name: {"program.py": path.read_text()} for name, path in PROGRAMS.items()}, tmp_path_factory.mktemp("before"))


@pytest.fixture(scope="module")
def after(tmp_path_factory: pytest.TempPathFactory) -> Said:
    return drive(2, {name: fixed(name) for name in PROGRAMS}, tmp_path_factory.mktemp("after"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_does_the_same_after_it_is_moved(name: str, before: Said, after: Said) -> None:
    said, fault = before[name]
    assert not fault
    assert said
    assert after[name] == (said, "")


def fixed(name: str) -> dict[str, str]:
    """The files that `fix` makes of a program."""
    project = Project.link([read(Source("program.py", PROGRAMS[name].read_text()))])
    done = engine.fix(project, catalog.load(), unsafe=name in UNSAFE)
    return {path: file.source.text for path, file in done.project.files.items()}


def drive(major: int, programs: dict[str, dict[str, str]], folder: Path) -> Said:
    """What each program prints under a release of the SDK, and what goes wrong."""
    jobs = []
    for name, files in programs.items():
        home = folder / name
        home.mkdir()
        for path, text in files.items():
            (home / path).write_text(text)
        jobs.append((str(home / "program.py"), STEPS.get(name, [])))
    done = subprocess.run([sdk.python(major), str(DRIVING)], input=json.dumps(jobs), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return {name: (said, fault) for name, (said, fault) in zip(programs, json.loads(done.stdout), strict=True)}
