"""Names and texts of whoever wrote the code paint no terminal, break no format and command no runner, from end to end."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import jsonschema
import pytest
import xmlschema
from calling import FIX, SERVER, Done, git, put

TESTS = Path(__file__).parent

# What an attacker would like a terminal, a log, a page or a workflow to swallow, as far as the name of a file can hold it.
EVIL = "\x1b[31m\n::error file=x::owned%0A\r<b>`|](http:x)\x9b\u202e,:'\""
SOURCE = "\x1b]0;owned\x07 \x1b[2J\u202e \x9b31m ::error::owned ]]> </failure> <script> `` | `"
HOSTILE = SERVER.replace('return {"jsonrpc": "2.0", "id": message["id"], "result": {}}', f"return {{}}  # {SOURCE}", 1).replace(
    '"note://a"', f'"note://{SOURCE!r}"'.replace("\\x", "\\\\x")
)
HARMLESS = re.compile(r"[^\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]*")
posix = pytest.mark.skipif(os.name == "nt", reason="no such names there")
pytestmark = [pytest.mark.faults, posix]


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A tree with such names and texts, one of them no text at all; git tracks it."""
    put(tmp_path, f"{EVIL}.py".replace("/", "_"), HOSTILE)
    put(tmp_path, f"{EVIL}".replace("/", "_") + "/server.py", HOSTILE)
    put(tmp_path, f"{EVIL}.ipynb".replace("/", "_"), '{"cells": [')
    put(tmp_path, f"requirements-{EVIL}.txt".replace("/", "_"), "mcp>=1.2\n")
    (tmp_path / os.fsdecode(b"\xff\xfe.py")).write_text(HOSTILE)
    git(tmp_path, "init", "-q")
    git(tmp_path, "config", "user.name", "a")
    git(tmp_path, "config", "user.email", "a@example.org")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "all")
    return tmp_path


def harmless(text: str) -> None:
    assert HARMLESS.fullmatch(text), sorted({char for char in text if not HARMLESS.fullmatch(char)})


@pytest.mark.parametrize(
    "command",
    [
        ["check"],
        ["check", "--verbose"],
        ["check", "--output-format", "concise"],
        ["check", "--output-format", "github"],
        ["check", "--output-format", "json"],
        ["check", "--output-format", "gitlab"],
        ["check", "--output-format", "sarif"],
        ["check", "--output-format", "junit"],
        ["check", "--statistics"],
        ["check", "--write-baseline", "all.json"],
        ["fix", "--unsafe-fixes"],
        ["fix", "--commit", "--summary", "summary.md"],
        ["guide"],
    ],
    ids=" ".join,
)
def test_nothing_that_is_printed_or_written_paints_a_terminal(run, hostile, command):
    done = run(*command)
    assert done.status in (0, 1, 2)
    assert "Traceback" not in done.err
    harmless(done.out)
    harmless(done.err)
    for name in ("all.json", "summary.md"):
        if (hostile / name).exists():
            harmless((hostile / name).read_text())


def test_lines_of_a_report_are_ours(run, hostile):
    """No name and no text begins a line, so none can pass for one of ours or command a runner."""
    assert all(
        line.startswith(("::error file=", "::warning file=", "::notice file=")) and "owned%0A" not in line
        for line in run("check", "--output-format", "github").out.splitlines()
    )
    concise = run("check", "--output-format", "concise").out.splitlines()
    assert all(re.search(r":\d+:\d+: MCP\d\d\d \[\w+\] ", line) for line in concise)
    assert len(concise) == len(json.loads(run("check", "--output-format", "json").out)["findings"])
    for command in (["check"], ["fix", "--diff"], ["fix"]):
        done = run(*command)
        assert [
            line for line in (done.err if command[-1] == "--diff" else done.out + done.err).splitlines() if line.lstrip().startswith("::")
        ] == []


def commands(text: str) -> list[dict[str, str]]:
    """The annotations of a log, as the runner of GitHub reads them."""
    found = []
    for line in text.splitlines():
        properties, _, message = line.split(" ", 1)[1].partition("::")
        found.append(
            {key: unquote(value) for key, _, value in (pair.partition("=") for pair in properties.split(","))}
            | {"message": unquote(message)}
        )
    return found


def test_programs_read_back_what_the_report_says(run, hostile):
    done: dict[str, Done] = {form: run("check", "--output-format", form) for form in ("json", "sarif", "gitlab", "junit", "github")}
    assert {one.status for one in done.values()} == {1}
    findings: list[dict[str, Any]] = json.loads(done["json"].out)["findings"]
    jsonschema.validate(json.loads(done["json"].out), json.loads(files("mcp_migrate.report").joinpath("findings.schema.json").read_text()))
    sarif = json.loads(done["sarif"].out)
    jsonschema.validate(sarif, json.loads((TESTS / "sarif.schema.json").read_text()))
    results = sarif["runs"][0]["results"]
    jsonschema.validate(json.loads(done["gitlab"].out), json.loads((TESTS / "gitlab.schema.json").read_text()))
    xmlschema.XMLSchema(str(TESTS / "junit.xsd")).validate(done["junit"].out)
    cases = [case for case in ElementTree.fromstring(done["junit"].out).iter("testcase") if case.get("name") != "speaks 2026-07-28"]
    annotations = commands(done["github"].out)
    assert len(findings) == len(results) == len(json.loads(done["gitlab"].out)) == len(cases) == len(annotations) > 5
    uris = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in results}
    assert {os.fsdecode(part) for part in map(unquote_bytes, uris)} == {finding["path"] for finding in findings}
    assert all(re.fullmatch(r"[!-~]+", uri) and not re.match(r"[a-z]+:|/|\.\.", uri) for uri in uris)


def unquote_bytes(uri: str) -> bytes:
    return re.sub(rb"%([0-9A-Fa-f]{2})", lambda found: bytes([int(found[1], 16)]), uri.encode())


def test_a_patch_of_such_names_is_one_that_git_takes(run, hostile):
    done = run(*FIX, "--diff")
    assert done.out.count("diff --git") == 3
    head = subprocess.run(["git", "-C", hostile, "apply", "--stat"], input=done.out.encode("utf-8", "surrogateescape"), capture_output=True)
    assert (head.returncode, head.stderr) == (0, b"")


def test_a_summary_is_markdown_of_ours(run, hostile):
    run("fix", "--summary", "summary.md")
    text = (hostile / "summary.md").read_text()
    assert [line for line in text.splitlines() if line.startswith("::")] == []
    outside = re.sub(r"(`+)(?:(?!\1).)+?\1(?!`)", "", text)  # what stands between such marks is no markup
    assert "<script>" not in outside
    assert "<b>" not in outside
    assert "](http:x)" not in outside


@pytest.mark.parametrize(("form", "encoding"), [("text", "ascii"), ("text", "cp1252"), ("github", "ascii"), ("sarif", "latin-1")])
def test_letters_that_standard_output_does_not_have_are_no_failure(tmp_path: Path, form: str, encoding: str) -> None:
    put(tmp_path, "漢字/сервер.py", SERVER.replace('return {"jsonrpc": "2.0", "id": message["id"], "result": {}}', "return {}  # 漢字", 1))
    done = subprocess.run(
        [sys.executable, "-c", "from mcp_migrate.__main__ import main; main()", "check", "--output-format", form],
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
    )
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"MCP103" in done.stdout


def test_no_path_leads_out_of_the_project(run, tmp_path, monkeypatch):
    put(tmp_path, "repo/app/server.py")
    put(
        tmp_path,
        "repo/baseline.json",
        json.dumps({"version": 1, "findings": [{"path": "../../../etc/passwd", "rule": "MCP103", "digest": "0", "occurrence": 0}]}),
    )
    put(tmp_path, "outside.py")
    monkeypatch.chdir(tmp_path / "repo")
    for form in ("json", "sarif", "gitlab", "github", "concise"):
        out = run("check", "--baseline", "baseline.json", "--output-format", form).out
        assert "app/server.py" in out
        assert ".." not in re.sub(r"\.\.\.", "", out) or form == "json"
    written = run("check", "--write-baseline", "all.json")
    assert {entry["path"] for entry in json.loads((tmp_path / "repo" / "all.json").read_text())["findings"]} == {"app/server.py"}
    assert written.status == 0
