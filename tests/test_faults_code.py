"""The code that is looked at is never run, and nothing that it brings along decides what is run, read or written."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from calling import FIX, SERVER, git, put
from mcp_migrate import worktree

pytestmark = pytest.mark.faults

# Leaves a trace wherever it is run.
TRAP = "import os\nopen(os.environ['TRACE'], 'a').write(__file__ + '\\n')\n"
SDK = 'from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP("notes", port=1)\n\n\n@mcp.tool()\ndef add(a: int) -> int:\n    raise ValueError("no")\n'
# What Python, its tools, and the libraries of the product would take for theirs.
NAMES = (
    *("conftest.py", "sitecustomize.py", "usercustomize.py", "setup.py", "__init__.py", "__main__.py", "noxfile.py", "pkg/__init__.py"),
    *("libcst.py", "yaml.py", "typer.py", "rich/__init__.py", "pathspec.py", "packaging/__init__.py", "tomllib.py", "click.py"),
    *("mcp/__init__.py", "fastmcp/__init__.py", "rules/__init__.py", "migrate/__init__.py", "difflib.py", "configparser.py", "uuid.py"),
    *("mcp_migrate/__init__.py", "mcp_migrate/rules/__init__.py", "mcp_migrate/rules/removed/ping.py"),
)
WATCHED = """
import os, sys
here, allowed = os.path.realpath(os.getcwd()), set(sys.argv.pop(1).split(","))
def watch(event, arguments):
    if event in ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "pty.spawn"):
        program = os.path.basename(str(arguments[0]))
        told(event, program) if program not in allowed else None
    elif event.startswith(("socket.", "urllib.", "ctypes.", "marshal.load", "webbrowser.", "ftplib.", "smtplib.")):
        told(event, "") if event not in ("ctypes.dlopen", "marshal.load", "marshal.loads", "ctypes.dlsym") else None
    elif event == "exec":
        name = getattr(arguments[0], "co_filename", "")
        told(event, name) if not name.startswith("<") and os.path.realpath(name).startswith(here + os.sep) else None
    elif event == "import" and arguments[1] and os.path.realpath(arguments[1]).startswith(here + os.sep):
        told(event, arguments[1])
    elif event == "open" and isinstance(arguments[0], (str, bytes)) and isinstance(arguments[2], int):
        name = os.path.realpath(os.fsdecode(arguments[0]))
        if arguments[2] & (os.O_WRONLY | os.O_RDWR) and not name.startswith((here + os.sep, sys.pycache_prefix or "-")):
            told(event, name) if name not in (os.devnull,) else None
        if "secret" in name:
            told("read", name)
def told(event, name):
    sys.stderr.write(f"TOLD {event} {name}\\n")
sys.addaudithook(watch)
from mcp_migrate.__main__ import main
main()
"""


def tree(folder: Path) -> None:
    for name in NAMES:
        put(
            folder,
            name,
            TRAP + ("import mcp\n" if name != "setup.py" else 'from setuptools import setup\nsetup(install_requires=["mcp>=1.2"])\n'),
        )
    put(folder, "app/server.py", TRAP + SERVER)
    put(folder, "app/sdk.py", TRAP + SDK)
    put(folder, "demo.ipynb", json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": ["!touch $TRACE\n", "%run app/server.py\n", "import mcp\n", *TRAP.splitlines(keepends=True)]}
    ]}))  # fmt: skip
    put(folder, "README.md", f"# x\n\n```python\n{TRAP}{SDK}```\n")
    put(folder, "requirements.txt", "mcp>=1.2 ; $(touch $TRACE)\n-e .\n")
    put(folder, "Makefile", "X := $(shell touch $$TRACE)\nall:\n\tpip install mcp\n")


@pytest.mark.parametrize(
    ("command", "allowed"),
    [
        (["check", "--report", "sarif=out.sarif"], "git"),
        (["check", "--era", "modern"], ""),
        (["fix", "--unsafe-fixes", "--docs", "--mark"], "git"),
        (["guide"], "git"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)
@pytest.mark.parametrize("way", ["there", "on the path"])
def test_no_line_of_the_code_is_run_or_imported_and_no_program_but_git(tmp_path: Path, command: list[str], allowed: str, way: str) -> None:
    if way == "on the path" and command[0] != "fix":
        pytest.skip("once is enough")
    folder = tmp_path / "tree"
    tree(folder)
    environment = {**os.environ, "TRACE": str(tmp_path / "trace")}
    if way == "on the path":
        # What Python itself loads from there when it starts is its user's own wish, and over before the command begins.
        for name in ("sitecustomize.py", "usercustomize.py", "mcp_migrate/__init__.py"):
            (folder / name).unlink()
        (folder / "mcp_migrate").rename(folder / "mcp_migrate_of_theirs")
        environment["PYTHONPATH"] = os.pathsep.join([str(folder), "."])
    done = subprocess.run(
        [sys.executable, put(tmp_path, "watched.py", WATCHED), allowed, *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 1), done.stderr
    assert "TOLD" not in done.stderr
    assert not (tmp_path / "trace").exists(), (tmp_path / "trace").read_text()
    assert "MCP" in done.stdout


def test_the_watch_sees_what_it_is_for(tmp_path: Path) -> None:
    put(tmp_path, "yaml.py", "import subprocess, sys\nsubprocess.run([sys.executable, '-c', ''])\nopen('../nowhere/x', 'w')\n")
    code = WATCHED.replace("from mcp_migrate.__main__ import main", "sys.path.insert(0, os.getcwd())\nimport yaml")
    done = subprocess.run([sys.executable, "-c", code, "git"], cwd=tmp_path, capture_output=True, text=True)
    assert {line.split()[1] for line in done.stderr.splitlines() if line.startswith("TOLD")} >= {"exec", "subprocess.Popen", "open"}


def test_rules_and_settings_of_a_project_are_data(run, tmp_path):
    put(tmp_path, "server.py")
    put(tmp_path, "rules/removed/evil.yaml", "id: MCP999\nmatch: {Handler: [ping]}\n")
    put(tmp_path, "rules/removed/evil.py", TRAP)
    assert "MCP999" not in run("rules").out
    for text in (
        'select = ["!!python/object/apply:os.system"]\n',
        'rules = ["rules"]\n',
        'plugins = ["evil"]\n',
        'baseline = "$(touch x)"\n',
    ):
        put(tmp_path, ".mcp-migrate.toml", text)
        done = run("check")
        assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert sorted(os.listdir(tmp_path)) == [".mcp-migrate.toml", "rules", "server.py"]


@pytest.mark.parametrize("name", ["environment.yml", ".pre-commit-config.yaml", ".github/dependabot.yml", "compose.yaml"])
def test_tags_of_yaml_make_nothing(run, tmp_path, name):
    put(tmp_path, "server.py")
    put(tmp_path, name, "dependencies: !!python/object/apply:os.mkdir ['made']\nrepos: !!python/object/new:os.mkdir ['made'] # mcp\n")
    assert run("check", "--select", "ping").status == 1
    assert not (tmp_path / "made").exists()


# Links


def test_links_lead_nobody_out_of_the_tree(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    put(outside, "secret.py", SERVER)
    put(outside, "secret_stateless.py", "# secret\n")
    put(inside, "app/server.py")
    (inside / "out").symlink_to(outside)
    (inside / "app" / "out.py").symlink_to(outside / "secret.py")
    (inside / "app" / "mcp_stateless.py").symlink_to(outside / "secret_stateless.py")
    (inside / "app" / "__init__.py").symlink_to(outside / "secret.py")
    (inside / "pyproject.toml").symlink_to(outside / "secret.toml")
    (inside / "round").symlink_to(inside)
    (inside / "app" / "again").symlink_to(inside / "app" / "again")
    (inside / "Dockerfile").symlink_to(outside / "secret.py")
    before = {path: path.read_bytes() for path in outside.iterdir()}
    for command in (["check"], ["fix", "--unsafe-fixes"]):
        done = subprocess.run(
            [sys.executable, put(tmp_path, "watched.py", WATCHED), "git", *command], cwd=inside, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 1, done.stderr
        assert "TOLD" not in done.stderr
    assert {path: path.read_bytes() for path in outside.iterdir()} == before
    assert (inside / "app" / "mcp_stateless.py").is_symlink()
    assert (inside / "app" / "server.py").read_text() == SERVER, "the module that it would need has a name that is taken"


def test_a_module_of_ours_that_is_a_link_is_not_renewed_where_it_leads(run, tmp_path):
    put(tmp_path, "made/server.py")
    run("fix", "made")
    module = (tmp_path / "made" / "mcp_stateless.py").read_bytes()
    (tmp_path / "made" / "mcp_stateless.py").rename(tmp_path / "elsewhere.py")
    put(tmp_path, "other/server.py")
    (tmp_path / "other" / "mcp_stateless.py").symlink_to(tmp_path / "elsewhere.py")
    run("fix", "--era", "modern", "other")
    assert (tmp_path / "elsewhere.py").read_bytes() == module


# What is no file


@pytest.mark.parametrize("kind", ["pipe", "device", "loop", "folder"])
def test_names_that_are_looked_for_may_be_anything(run, tmp_path, kind):
    put(tmp_path, "app/server.py")
    names = (".gitignore", "pyproject.toml", ".mcp-migrate.toml", "Dockerfile", "setup.cfg", "README.md", "demo.ipynb", "mcp.py")
    for name in (*names, "app/mcp_stateless.py", "app/__init__.py", "app/.gitignore"):
        place = tmp_path / name
        match kind:
            case "pipe":
                os.mkfifo(place)
            case "device":
                place.symlink_to("/dev/zero")
            case "loop":
                place.symlink_to(place)
            case "folder":
                place.mkdir()
    done = run("check", "--output-format", "concise")
    assert done.err == ""
    assert "app/server.py:9:18: MCP103" in done.out
    told = [line for line in done.out.splitlines() if "MCP000" in line]
    assert [line.partition(":")[0] for line in told] == (
        ["app/__init__.py", "app/mcp_stateless.py", "demo.ipynb", "mcp.py"] if kind == "pipe" else []
    )
    assert done.status == (2 if told else 1)
    assert run("fix", "--allow-dirty").status == done.status
    assert (tmp_path / "app" / "server.py").read_text() == SERVER


@pytest.mark.parametrize("named", ["/dev/zero", "/dev/stdin", "pipe", "socket"])
def test_what_is_named_and_no_file_is_one_finding(run, tmp_path, named):
    if named == "pipe":
        os.mkfifo(tmp_path / "pipe")
    if named == "socket":
        os.mknod(tmp_path / "socket", stat.S_IFSOCK | 0o600)
    done = run("check", "--output-format", "concise", named)
    assert (done.status, done.err, done.out.count("\n")) == (2, "", 1)
    assert "MCP000 [manual] not a regular file" in done.out


@pytest.mark.parametrize("setting", ["/dev/zero", "pipe"])
def test_a_baseline_of_the_settings_is_a_file(run, tmp_path, setting):
    put(tmp_path, "server.py")
    os.mkfifo(tmp_path / "pipe")
    put(tmp_path, ".mcp-migrate.toml", f'baseline = "{setting}"\n')
    done = run("check")
    assert (done.status, done.out) == (2, "")
    assert done.err.endswith(": not a regular file\n")


# Git


def programs(folder: Path, name: str, *, ends: int = 0) -> Path:
    """A program that leaves a trace with its name."""
    file = put(folder, name, f'#!/bin/sh\necho "$0 $@" >> "$TRACE"\ncat\nexit {ends}\n')
    file.chmod(0o755)
    return file


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose own settings name programs wherever git takes any."""
    monkeypatch.setenv("TRACE", str(tmp_path / "trace"))
    folder = tmp_path / "repo"
    put(folder, "server.py")
    put(folder, "notes.txt", "mcp\n")
    git(folder, "init", "-q")
    git(folder, "config", "user.name", "a")
    git(folder, "config", "user.email", "a@example.org")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "all")
    put(folder, ".gitattributes", "*.txt filter=evil diff=evil\n*.py diff=evil merge=evil\n")
    git(folder, "add", ".gitattributes")
    git(folder, "commit", "-qm", "attributes")
    for key in ("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "diff.external", "diff.evil.textconv", "filter.evil.clean",
                "filter.evil.smudge", "merge.evil.driver", "alias.ls-files", "alias.check-ignore", "credential.helper", "gpg.program"):  # fmt: skip
        bad = str(programs(tmp_path, f"programs/{key}"))
        git(folder, "config", key, bad if not key.startswith("alias") else f"!{bad}")
    for hook in ("post-index-change", "post-checkout", "pre-commit", "post-commit", "reference-transaction", "fsmonitor-watchman"):
        programs(folder, f".git/hooks/{hook}")
    return folder


def ran(folder: Path) -> set[str]:
    trace = folder / "trace"
    return {Path(line.split()[0]).name for line in trace.read_text().splitlines()} if trace.exists() else set()


@pytest.mark.parametrize("command", [["check"], ["check", "--tracked"], ["fix", "--diff"], ["fix"], ["guide"]], ids=" ".join)
def test_no_program_of_a_repository_runs_but_a_filter_that_git_needs(run, hostile, tmp_path, monkeypatch, command):
    monkeypatch.chdir(hostile)
    done = run(*command)
    assert (done.status, done.err.count("error")) == (1 if command != ["fix"] and command != ["guide"] else 0, 0)
    # Whether a file has changed is for its filter to say, as for `git status`; whoever can write .git/config has one run there, too.
    assert ran(tmp_path) <= ({"filter.evil.clean"} if command == ["fix"] else set())


def test_hooks_run_for_commits_and_nothing_else_of_a_repository(run, hostile, tmp_path, monkeypatch):
    monkeypatch.chdir(hostile)
    run(*FIX, "--commit")
    assert "pre-commit" in ran(tmp_path)
    assert ran(tmp_path) <= {"pre-commit", "post-commit", "post-index-change", "reference-transaction", "filter.evil.clean"}


def test_git_is_not_taken_from_the_folder_that_is_looked_at(run, tmp_path, monkeypatch):
    put(tmp_path, "server.py")
    git(tmp_path, "init", "-q")
    monkeypatch.setenv("TRACE", str(tmp_path / "trace"))
    programs(tmp_path, "git")
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.pathsep}{os.environ['PATH']}")
    run("check", "--tracked")
    assert not (tmp_path / "trace").exists(), (tmp_path / "trace").read_text()
    monkeypatch.setenv("PATH", ".")
    with pytest.raises(worktree.GitError, match="git cannot be run"):
        list(worktree.tracked(str(tmp_path)))
