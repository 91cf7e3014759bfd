"""Patches are what git takes: every one of these is applied by git itself."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_migrate.patch import patch


def applied(folder: Path, path: str, before: bytes | None, after: bytes, *, cwd: str = ".") -> bytes:
    """What the file holds after `git apply`."""
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    if before is not None:
        file.write_bytes(before)
    subprocess.run(["git", "init", "-q", folder], check=True)
    subprocess.run(
        ["git", "apply", "--whitespace=nowarn"], cwd=folder / cwd, input=patch(path, before, after), check=True, capture_output=True
    )
    return file.read_bytes()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\nb\nc\n", b"a\nB\nc\n"),
        (b"a\nb", b"a\nB"),
        (b"a\nb", b"a\nb\n"),
        (b"a\nb\n", b"a\nb"),
        (b"a\r\nb\r\nc\r\n", b"a\r\nB\r\nc\r\nd\r\n"),
        (b"a\rb\rc", b"a\rB\rc"),
        (b"\xef\xbb\xbfa\n", b"\xef\xbb\xbfb\n"),
        ("# coding: latin-1\né = 1\n".encode("latin-1"), "# coding: latin-1\nü = 1\n".encode("latin-1")),
        (b"x\x0cy\nz\n", b"x\x0cy\nZ\n"),
        (b"-- x\n++ y\n", b"-- x\n++ z\n-- w\n"),
        (b"", b"a\n"),
        (b"a\n", b""),
        (None, b"a\nb\n"),
        (None, b"a\nb"),
        (None, b""),
        (b"a\n" * 500 + b"b\n" + b"a\n" * 500, b"a\n" * 500 + b"c\n" + b"a\n" * 499 + b"d\n"),
    ],
)
def test_git_applies_a_patch_and_gets_exactly_the_new_bytes(tmp_path, before, after):
    assert applied(tmp_path, "pkg/server.py", before, after) == after


@pytest.mark.parametrize(
    "path", ["a b.py", "ü/中.py", 'quo"te.py', "back\\slash.py", "tab\there.py", "new\nline.py", "a/../b.py".replace("..", "c")]
)
def test_git_understands_the_names(tmp_path, path):
    assert applied(tmp_path, path, b"a\n", b"b\n") == b"b\n"
    assert applied(tmp_path, f"new/{path}", None, b"b\n") == b"b\n"


def test_git_applies_it_in_a_folder_below_the_root_too(tmp_path):
    assert applied(tmp_path, "pkg/a.py", b"a\n", b"b\n", cwd="pkg") == b"b\n"


def test_no_change_is_no_patch():
    assert patch("a.py", b"a\n", b"a\n") == b""


LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"b\r\n", b"\n", b"c\r", b"d"]), max_size=12).map(b"".join)


@settings(max_examples=25, deadline=None)
@given(LINES, LINES)
def test_any_change_survives_the_way_through_git(tmp_path_factory, before, after):
    if before != after:
        assert applied(tmp_path_factory.mktemp("repo"), "a.py", before, after) == after
