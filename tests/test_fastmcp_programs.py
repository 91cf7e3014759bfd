"""Programs that use what fastmcp 4 has changed do the same before `fix` on the releases that they are for, and after it on 4."""

from __future__ import annotations

import functools
import json
import re
import subprocess

import pytest
import sdk
from mcp_migrate import catalog, engine
from mcp_migrate.project import Project, read
from mcp_migrate.source import Source
from servers import ROOT

PROGRAMS = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "benchmarks" / "fastmcp").glob("*.py"))}
MAJORS = {name: [int(digit) for digit in re.findall(r"Written for ([\d, ]+)", text)[0].split(", ")] for name, text in PROGRAMS.items()}
RUN = """
import contextlib, io, json, logging, os, sys, traceback, warnings
os.environ["FASTMCP_CHECK_FOR_UPDATES"] = "off"
warnings.simplefilter("ignore")
import fastmcp
logging.disable(logging.CRITICAL)
said = {}
for name, text in json.load(sys.stdin).items():
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(text, name, "exec"), {"__name__": "__main__"})
        except BaseException:
            out.write(traceback.format_exc())
    said[name] = out.getvalue().splitlines()
print(json.dumps(said))
"""


@pytest.mark.parametrize(("name", "major"), [(name, major) for name, majors in MAJORS.items() for major in majors])
def test_a_program_does_the_same_after_it_is_moved(name: str, major: int) -> None:
    before = said(major)[name]
    assert before
    assert not any("Traceback" in line for line in before), before
    assert said(4)[name] == before


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_that_is_not_moved_fails(name: str) -> None:
    assert any("Traceback" in line for line in said(0)[name])


@functools.cache
def said(major: int) -> dict[str, list[str]]:
    """What each program prints under a release; 4 runs what `fix` makes of them, and 0 the programs as they are under 4."""
    written = {name: fixed(name) if major == 4 else text for name, text in PROGRAMS.items() if major in (0, 4) or major in MAJORS[name]}
    python = sdk.fastmcp(major or 4)
    done = subprocess.run([python, "-c", RUN], input=json.dumps(written), capture_output=True, text=True, timeout=300, check=True)
    found: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return found


def fixed(name: str) -> str:
    done = engine.fix(Project.link([read(Source("program.py", PROGRAMS[name]))]), catalog.load(), unsafe="Unsafe." in PROGRAMS[name])
    assert not done.dropped
    return done.project.files["program.py"].source.text
