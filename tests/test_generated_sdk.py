"""Programs for version 1 of the SDK that nobody wrote: after `fix` they answer under version 2 what they answered, or a finding says what differs."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import properties
import sdk
from conftest import examples, is_long
from generated_sdk import Program, batch, programs
from hypothesis import given
from mcp_migrate.engine import Fixed
from mcp_migrate.rule import Severity
from servers import ROOT

DRIVING = ROOT / "benchmarks" / "sessions" / "driving.py"
# What a name that nobody has is answered is the business of the SDK, in words and in shape.
NOBODY = "nope"


@examples(quick=5, long=300)
@given(programs())
def test_a_fix_is_whole_at_rest_and_tells_what_it_leaves(program: Program) -> None:
    properties.holds({"server.py": program.text})


@examples(quick=2, long=150)
@given(programs())
def test_line_ends_tabs_a_mark_and_neighbours_change_nothing_else(program: Program) -> None:
    for variant in (properties.crlf, properties.tabs, properties.with_bystander):
        properties.same_under(variant, program.text)
    properties.same_bytes_under_a_mark(program.text)


@examples(quick=1, long=40, shrink=False)
@given(batch(12 if is_long() else 3))
def test_a_program_answers_the_same_after_it_is_moved(some: Sequence[Program]) -> None:
    made = [properties.fix({"server.py": program.text}) for program in some]
    before = drive(1, [({"server.py": program.text}, program) for program in some])
    after = drive(2, [(properties.written({"server.py": program.text}, one), program) for one, program in zip(made, some, strict=True)])
    for program, one_made, (was, fault), (now, trouble) in zip(some, made, before, after, strict=True):
        assert not fault, f"{program.text}\n{fault}"
        if differs(one_made):
            continue
        text = one_made.texts.get("server.py", program.text)
        assert not trouble, f"{text}\n{trouble}"
        for letter in "LM":
            told = told_in(now, letter)
            assert len(told) == len(was), f"{letter}\n{text}\n"
            same = [(one, other) for one, other in zip(was, told, strict=True) if not (hides_errors(one_made) and one.startswith("ERR "))]
            assert [other for _, other in same] == [one for one, _ in same], f"{letter}\n{text}\n"


def told_in(said: Sequence[str], letter: str) -> list[str]:
    """The lines of the answers that one of the two connections got: each answer has its letter in front."""
    lines: list[str] = []
    own = False
    for line in said:
        first, _, rest = line.partition(" ")  # of an empty answer there is the letter alone
        begins = first in ("L", "M")
        own = first == letter or (own and not begins)
        if own:
            lines.append(rest if begins else line)
    return lines


def differs(made: Fixed) -> bool:
    """Whether something is left for a human, without which the program does not run, or answers differently."""
    return any(one.severity is not Severity.NOTE and one.rule != "MCP515" for one in made.remaining)


def hides_errors(made: Fixed) -> bool:
    """Whether a finding says that version 2 keeps the text of some exceptions from the client."""
    return any(one.rule == "MCP515" for one in made.remaining)


def drive(major: int, jobs: Sequence[tuple[dict[str, str], Program]]) -> list[tuple[list[str], str]]:
    """What each program answers under a release of the SDK, and what goes wrong."""
    with tempfile.TemporaryDirectory() as folder:
        asked = []
        for number, (files, program) in enumerate(jobs):
            home = Path(folder, str(number))
            home.mkdir()
            for path, text in files.items():
                (home / path).write_text(text, encoding="utf-8")
            steps = [step for step in program.steps if NOBODY not in step]
            asked.append((str(home / "server.py"), steps))
        done = subprocess.run([sdk.python(major), str(DRIVING)], input=json.dumps(asked), capture_output=True, text=True, timeout=900)
        assert done.returncode == 0, done.stderr
        return [(said, fault) for said, fault in json.loads(done.stdout)]
