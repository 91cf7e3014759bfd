"""The hooks in the real pre-commit: what is staged is judged, and nothing else."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
SERVERS = ROOT / "fixtures" / "servers" / "notes_chain"
LEGACY = (SERVERS / "before" / "server.py").read_text()
PLAIN = "import sys\n\nprint(sys.argv)\n"
# Reaches the package index to make the hooks' environment, so it may take its time; a hook itself may not.
PATIENCE = 300


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Of all that pre-commit and git write, nothing lands in the home of whoever runs the tests."""
    home = tmp_path_factory.mktemp("home")
    names = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "a"), ("EMAIL", "a@example.org"))}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {
        **kept,
        **names,
        "PRE_COMMIT_HOME": str(home / "pre-commit"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "PIP_CONSTRAINT": str(ROOT / ".ci" / "constraints.txt"),
        "PIP_COMPILE": "0",  # what little is imported of an installation is compiled then
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    }


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory, env: dict[str, str]) -> Path:
    """A repository of the hooks as they are in this checkout, with what their installation needs."""
    repo = tmp_path_factory.mktemp("hooks")
    for name in ("migrate", "rules"):
        shutil.copytree(ROOT / name, repo / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml"):
        shutil.copy(ROOT / name, repo / name)
    git(repo, env, "init", "-q")
    git(repo, env, "add", ".")
    git(repo, env, "commit", "-qm", "hooks")
    return repo


@pytest.fixture
def repo(tmp_path: Path, hooks: Path, env: dict[str, str]) -> Path:
    """A repository whose commits go through the hook `mcp-migrate`."""
    return repository(tmp_path, hooks, env, "mcp-migrate")


def repository(folder: Path, hooks: Path, env: dict[str, str], hook: str) -> Path:
    config = {
        "repos": [{"repo": str(hooks), "rev": git(hooks, env, "rev-parse", "HEAD").strip(), "hooks": [{"id": hook, "verbose": True}]}]
    }
    (folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    (folder / "tool.py").write_text(PLAIN)
    git(folder, env, "init", "-q")
    git(folder, env, "add", ".")
    pre_commit(folder, env, "install")
    return folder


def git(folder: Path, env: dict[str, str], *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, env=env, check=True, capture_output=True, text=True).stdout


def pre_commit(folder: Path, env: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pre_commit", *arguments]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=PATIENCE)


def commit(repo: Path, env: dict[str, str], message: str = "x") -> tuple[bool, str]:
    """Whether git took a commit of what is staged, and what the hooks said."""
    done = subprocess.run(
        ["git", "commit", "-m", message], cwd=repo, env=env, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    return done.returncode == 0, done.stdout + done.stderr


def test_the_manifest_is_one_that_pre_commit_takes(env):
    done = pre_commit(ROOT, env, "validate-manifest", ".pre-commit-hooks.yaml")
    assert (done.returncode, done.stdout) == (0, "")


def test_try_repo_finds_what_breaks(tmp_path, hooks, env):
    (tmp_path / "server.py").write_text(LEGACY)
    git(tmp_path, env, "init", "-q")
    git(tmp_path, env, "add", ".")
    done = pre_commit(tmp_path, env, "try-repo", str(hooks), "mcp-migrate", "--all-files")
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(r"^mcp-migrate check\.+Failed$", done.stdout, re.MULTILINE)
    assert "server.py:94:20" in done.stdout
    assert "12 findings in 1 of 1 file" in done.stdout


def test_a_repository_without_mcp_code_passes_in_well_under_a_second(repo, env):
    for number in range(300):
        (repo / f"module{number}.py").write_text(PLAIN * 20)
    git(repo, env, "add", ".")
    taken, said = commit(repo, env)
    assert taken, said
    assert "None of them holds MCP code" in said
    # The best of some, for a machine may have other things to do.
    runs = [said, *(pre_commit(repo, env, "run", "--all-files").stdout for _ in range(3))]
    assert min(float(seconds) for run in runs for seconds in re.findall(r"- duration: ([\d.]+)s", run)) < 0.8


def test_what_is_staged_is_judged_and_not_what_lies_in_the_work_tree(repo, env):
    server = repo / "server.py"
    server.write_text(LEGACY)
    git(repo, env, "add", "server.py")
    server.write_text(PLAIN)
    taken, said = commit(repo, env)
    assert not taken
    assert "server.py:94:20" in said
    assert server.read_text() == PLAIN, "what was not staged is there again"
    git(repo, env, "add", "server.py")
    server.write_text(LEGACY)
    (repo / "scratch.py").write_text(LEGACY)
    taken, said = commit(repo, env)
    assert taken, said
    assert server.read_text() == LEGACY


def test_a_commit_of_requirements_alone_is_judged_too(repo, env):
    (repo / "server.py").write_text("from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP('x')\n")
    (repo / "requirements.txt").write_text("mcp\n")
    git(repo, env, "add", ".")
    git(repo, env, "commit", "--no-verify", "-qm", "as it was")
    (repo / "requirements.txt").write_text("mcp>=1.9\n")
    git(repo, env, "add", ".")
    taken, said = commit(repo, env)
    assert not taken
    assert "requirements.txt:1" in said


def test_the_fix_hook_rewrites_what_is_staged_and_the_next_commit_passes(tmp_path, hooks, env):
    repo = repository(tmp_path, hooks, env, "mcp-migrate-fix")
    (repo / "server.py").write_text(LEGACY)
    git(repo, env, "add", ".")
    (repo / "scratch.py").write_text(LEGACY)
    taken, said = commit(repo, env)
    assert not taken
    assert "files were modified by this hook" in said
    assert "server.py" in git(repo, env, "diff", "--name-only")
    assert (repo / "scratch.py").read_text() == LEGACY, "git does not know this file, so it could not give it back"
    git(repo, env, "add", "server.py", "mcp_stateless.py")
    taken, said = commit(repo, env)
    assert taken, said
    assert (repo / "server.py").read_text() == (SERVERS / "after_dual" / "server.py").read_text()
