"""From paths to files: what the walk takes, leaves out and reports."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from mcp_migrate.discover import Exclude, File, NotFound, Unreadable, find, read, root_of


def tree(folder: Path, *names: str, **texts: str) -> Path:
    for name in names:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(texts.get(name, ""))
    return folder


def ignore(folder: Path, text: str, name: str = ".gitignore") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


def names(folder: Path, *paths: Path, **options: object) -> list[str]:
    found = find([str(path) for path in paths or (folder,)], str(folder), **options)  # type: ignore[arg-type]
    return [item.path for item in found if isinstance(item, File)]


def test_python_files_are_found_sorted_and_deep_ones_last(tmp_path):
    tree(tmp_path, "b.py", "a.py", "pkg/inner/x.py", "pkg/y.pyw", "notes.md", "stub.pyi", "data.json")
    assert names(tmp_path) == ["a.py", "b.py", "pkg/y.pyw", "pkg/inner/x.py"]


def test_a_named_file_is_taken_whatever_its_name_and_whatever_is_excluded(tmp_path):
    tree(tmp_path, "bin/server", "venv/hidden.py")
    ignore(tmp_path, "*\n")
    taken = names(tmp_path, tmp_path / "bin/server", tmp_path / "venv/hidden.py", exclude=[Exclude(("venv",), str(tmp_path))])
    assert taken == ["bin/server", "venv/hidden.py"]


def test_a_file_named_twice_is_read_once(tmp_path):
    tree(tmp_path, "a.py", "pkg/b.py")
    assert names(tmp_path, tmp_path / "pkg/b.py", tmp_path, tmp_path / "a.py") == ["pkg/b.py", "a.py"]


@pytest.mark.parametrize("folder", [".venv", "venv", "node_modules", "site-packages", "build", "__pycache__", ".git", "dist", ".tox"])
def test_folders_that_hold_no_source_are_not_entered(tmp_path, folder):
    tree(tmp_path, f"{folder}/x.py", f"deep/{folder}/y.py", "kept.py")
    assert names(tmp_path) == ["kept.py"]


def test_an_excluded_folder_is_walked_when_it_is_named(tmp_path):
    tree(tmp_path, "build/x.py")
    assert names(tmp_path, tmp_path / "build") == ["build/x.py"]


def test_gitignore_files_count_in_their_folder_and_below(tmp_path):
    tree(tmp_path, "a.py", "gen_a.py", "pkg/gen_b.py", "pkg/kept.py", "pkg/local/c.py", "local/d.py")
    ignore(tmp_path, "# generated\ngen_*.py\n")
    ignore(tmp_path / "pkg", "/local/\n")
    assert names(tmp_path) == ["a.py", "local/d.py", "pkg/kept.py"]


def test_the_nearest_gitignore_wins_also_when_it_takes_back_in(tmp_path):
    tree(tmp_path, "gen_a.py", "pkg/gen_b.py", "pkg/gen_c.py")
    ignore(tmp_path, "gen_*.py\n")
    ignore(tmp_path / "pkg", "!gen_b.py\n")
    assert names(tmp_path) == ["pkg/gen_b.py"]


def test_ignore_files_above_the_walked_folder_count_up_to_the_root_of_the_work_tree(tmp_path):
    outer, inner = tmp_path, tmp_path / "repo"
    tree(inner, "src/a.py", "src/secret.py", "src/local.py")
    ignore(outer, "a.py\n")
    ignore(inner, "secret.py\n")
    ignore(inner / ".git" / "info", "local.py\n", "exclude")
    assert names(inner, inner / "src") == ["src/a.py"]


def test_a_walked_folder_that_is_ignored_itself_was_meant(tmp_path):
    tree(tmp_path, ".git/HEAD", "examples/a.py", "examples/pkg/b.py")
    ignore(tmp_path, "examples/\n")
    assert names(tmp_path, tmp_path / "examples") == ["examples/a.py", "examples/pkg/b.py"]
    assert names(tmp_path) == []


def test_gitignore_can_be_passed_over(tmp_path):
    tree(tmp_path, "a.py")
    ignore(tmp_path, "a.py\n")
    assert names(tmp_path, respect_gitignore=False) == ["a.py"]


def test_gitignore_means_what_git_says(tmp_path):
    tree(
        tmp_path, "a.py", "x/a.py", "x/y/a.py", "docs/b.py", "x/docs/b.py", "deep/one/two/c.py", "logs/keep.py", "logs/drop.py", "sp ace.py"
    )  # fmt: skip
    ignore(tmp_path, "/a.py\nx/**/a.py\ndocs/\n!x/docs/\ndeep/**/c.py\nlogs/*\n!logs/keep.py\nsp\\ ace.py\n")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    listed = subprocess.run(
        ["git", "-C", tmp_path, "ls-files", "-z", "--others", "--exclude-standard", "*.py"], check=True, capture_output=True, text=True
    ).stdout
    assert sorted(names(tmp_path)) == sorted(filter(None, listed.split("\0")))


def test_exclude_is_relative_to_its_base_and_a_bare_name_counts_anywhere(tmp_path):
    tree(tmp_path, "a.py", "old/b.py", "src/old/c.py", "src/legacy/d.py", "legacy/e.py")
    assert names(tmp_path, exclude=[Exclude(("old", "src/legacy"), str(tmp_path))]) == ["a.py", "legacy/e.py"]
    assert names(tmp_path, exclude=[Exclude(("/legacy",), str(tmp_path / "src"))]) == ["a.py", "legacy/e.py", "old/b.py", "src/old/c.py"]


def test_exclude_can_take_a_default_back_in(tmp_path):
    tree(tmp_path, "build/a.py", "dist/b.py")
    assert names(tmp_path, exclude=[Exclude(("!build",), str(tmp_path))]) == ["build/a.py"]


def test_symbolic_links_are_not_followed(tmp_path):
    outside = tree(tmp_path / "outside", "secret.py")
    inside = tree(tmp_path / "inside", "a.py")
    (inside / "out").symlink_to(outside)
    (inside / "out.py").symlink_to(outside / "secret.py")
    (inside / "round").symlink_to(inside)
    assert names(inside) == ["a.py"]


def test_a_link_that_is_named_is_followed(tmp_path):
    tree(tmp_path, "a.py")
    (tmp_path / "link.py").symlink_to(tmp_path / "a.py")
    assert names(tmp_path, tmp_path / "link.py") == ["link.py"]


def test_a_path_that_does_not_exist_is_said(tmp_path):
    with pytest.raises(NotFound, match=r"missing\.py"):
        names(tmp_path, tmp_path / "missing.py")


@contextmanager
def as_anybody() -> Iterator[None]:
    """Root may read everything, so there the test becomes nobody for a while."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions of POSIX")
def test_what_permissions_forbid_is_reported():
    with TemporaryDirectory() as name:
        folder = tree(Path(name), "closed/a.py", "open.py", "secret.py")
        folder.chmod(0o755)
        (folder / "closed").chmod(0)
        (folder / "secret.py").chmod(0)
        try:
            with as_anybody():
                found = list(find([name], name))
                kept = [item if isinstance(item, Unreadable) else read(item) for item in found]
        finally:
            (folder / "closed").chmod(0o700)
    assert kept == [b"", Unreadable("secret.py", "permission denied"), Unreadable("closed", "permission denied")]


def test_what_is_no_regular_file_is_reported_and_does_not_block(tmp_path):
    os.mkfifo(tmp_path / "pipe.py")
    (file,) = find([str(tmp_path)], str(tmp_path))
    assert isinstance(file, File)
    assert read(file) == Unreadable("pipe.py", "not a regular file")


def test_a_file_that_went_away_is_reported(tmp_path):
    assert read(File("gone.py", str(tmp_path / "gone.py"))) == Unreadable("gone.py", "no such file or directory")


def test_reading_gives_the_bytes_as_they_are(tmp_path):
    (tmp_path / "a.py").write_bytes(b"\xef\xbb\xbfx = 1\r\n\xff")
    assert read(File("a.py", str(tmp_path / "a.py"))) == b"\xef\xbb\xbfx = 1\r\n\xff"


def test_the_root_is_the_working_folder_unless_a_path_lies_outside(tmp_path, monkeypatch):
    tree(tmp_path, "here/a.py", "there/b.py")
    monkeypatch.chdir(tmp_path / "here")
    assert root_of(["."]) == root_of(["a.py"]) == str(tmp_path / "here")
    assert root_of([str(tmp_path / "there")]) == str(tmp_path / "there")
    assert root_of([".", "../there"]) == str(tmp_path)
