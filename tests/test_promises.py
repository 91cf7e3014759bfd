"""Every promise of the page names tests, and these are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`(test_\w+\.py)(?:::(test_\w+))?`")
ROWS = [row for row in re.findall(r"^\| (.+) \|$", PAGE, re.MULTILINE) if not re.match(r"-|promise\b|what\b", row)]


def names_in(name: str) -> set[str]:
    (path,) = (ROOT / "tests").rglob(name)
    return {
        node.name
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


@pytest.mark.parametrize("row", [row for row in ROWS if "`test_" in row or "::" in row], ids=lambda row: row.partition(" |")[0][:60])
def test_every_test_that_a_promise_names_exists(row: str) -> None:
    for file, name in NAMED.findall(row):
        assert not name or name in names_in(file), f"{file}::{name}"


def test_every_promise_is_proven() -> None:
    promises = PAGE[: PAGE.index("## Long runs")]
    rows = [row for row in re.findall(r"^\| (.+) \|$", promises, re.MULTILINE) if not re.match(r"-|promise\b", row)]
    assert len(rows) > 30
    assert [row for row in rows if not NAMED.search(row.rpartition(" | ")[2])] == []


def test_the_page_has_all_that_the_readme_promises() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = readme[readme.index("## Promises") : readme.index("## What `fix` makes of a server")]
    bold = re.findall(r"^- \*\*(.+?)\.?\*\*", section, re.MULTILINE)
    assert len(bold) > 5
    assert [promise for promise in bold if f"### {promise}" not in PAGE] == []


def test_every_test_of_faults_is_under_the_mark() -> None:
    files = sorted((ROOT / "tests").glob("test_faults_*.py"))
    assert len(files) >= 4
    assert [file.name for file in files if "pytest.mark.faults" not in file.read_text(encoding="utf-8")] == []
