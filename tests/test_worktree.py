"""What git could not give back is known file by file."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from mcp_migrate import worktree


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    (folder / "pkg").mkdir(parents=True)
    for name in ("same.py", "changed.py", "staged.py", "staged and changed.py", "pkg/ü.py"):
        (folder / name).write_text("old\n")
    (folder / ".gitignore").write_text("ignored.py\n")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "all")
    for name in ("changed.py", "staged.py", "staged and changed.py", "pkg/ü.py", "ignored.py", "new.py", "added.py"):
        (folder / name).write_text("new\n")
    git(folder, "add", "staged.py", "staged and changed.py", "added.py")
    (folder / "staged and changed.py").write_text("newer\n")
    return folder


def names(repo: Path, *files: str) -> dict[str, str]:
    return {os.path.relpath(location, repo): why for location, why in worktree.unsaved(str(repo / name) for name in files)}


def test_only_files_that_the_index_does_not_hold_are_unsaved(repo):
    everything = ["same.py", "changed.py", "staged.py", "staged and changed.py", "pkg/ü.py", "ignored.py", "new.py", "added.py"]
    assert names(repo, *everything) == {
        "changed.py": "changed since it was staged",
        "staged and changed.py": "changed since it was staged",
        "pkg/ü.py": "changed since it was staged",
        "ignored.py": "not tracked",
        "new.py": "not tracked",
    }


def test_only_the_named_files_count_and_their_names_are_no_patterns(repo):
    (repo / "*.py").write_text("a file with a bad name\n")
    assert names(repo, "same.py") == {}
    assert names(repo, "*.py") == {"*.py": "not tracked"}


def test_files_that_do_not_exist_have_nothing_to_lose(repo):
    assert names(repo, "mcp_stateless.py") == {}


def test_many_files_are_asked_about_in_pieces(repo):
    many = [f"pkg/m{number}.py" for number in range(450)]
    for name in many:
        (repo / name).write_text("")
    assert set(names(repo, *many)) == set(many)


def test_outside_of_git_nothing_is_asked(tmp_path):
    (tmp_path / "a.py").write_text("")
    assert worktree.root_of(str(tmp_path)) is None
    assert list(worktree.unsaved([str(tmp_path / "a.py")])) == []


def test_each_work_tree_is_asked_for_its_own_files(repo, tmp_path):
    inner = repo / "vendor" / "inner"
    inner.mkdir(parents=True)
    (inner / "a.py").write_text("")
    git(inner, "init", "-q")
    git(inner, "add", "a.py")
    assert names(repo, "vendor/inner/a.py", "new.py") == {"new.py": "not tracked"}


def test_a_broken_repository_is_said(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.py").write_text("")
    with pytest.raises(worktree.GitError, match="not a git repository"):
        list(worktree.unsaved([str(tmp_path / "a.py")]))


def test_a_machine_without_git_is_said(repo, monkeypatch):
    monkeypatch.setenv("PATH", str(repo))
    with pytest.raises(worktree.GitError, match="git cannot be run"):
        list(worktree.unsaved([str(repo / "same.py")]))
