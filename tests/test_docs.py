"""Generated pages say what the catalog says today, commands in documents exist, and the picture shows what a terminal shows."""

from __future__ import annotations

import html
import os
import re
import runpy
from pathlib import Path

import pytest
import rules_page
from mcp_migrate import catalog, guide
from mcp_migrate.cli import app
from typer.main import get_command

ROOT = Path(__file__).parent.parent
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "rules/symptoms.yaml",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "rules/guide").glob("*.md")),
]


def test_the_page_of_the_rules_is_fresh() -> None:
    assert rules_page.PAGE.read_text(encoding="utf-8") == rules_page.page(), "run `python tests/rules_page.py`"


def test_the_page_of_the_rules_has_every_rule() -> None:
    page = rules_page.page()
    assert [entry.id for entry in catalog.load().entries if f"\n### {entry.id} `{entry.name}`\n" not in page] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_commands_in_documents_exist(path: Path) -> None:
    commands = get_command(app).commands  # type: ignore[attr-defined]
    found = re.findall(r"(?:^|`)mcp-migrate ([a-z]+)((?: +--?[a-z0-9-]+| [^\s`#]+)*)", path.read_text(encoding="utf-8"), re.MULTILINE)
    for name, arguments in found:
        assert name in commands, f"mcp-migrate {name}"
        options = {option for parameter in commands[name].params for option in (*parameter.opts, *parameter.secondary_opts)}
        assert set(re.findall(r"(?<!\S)--?[a-z][a-z0-9-]*", arguments)) <= options, f"mcp-migrate {name}{arguments}"


def test_the_site_leads_to_every_section_of_the_guide() -> None:
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert re.findall(r"guide/(\S+)\.md", site) == ["index", *(section.id for section in guide.load())]


@pytest.mark.skipif(os.name == "nt", reason="there is no terminal to look at")
def test_the_picture_shows_what_a_terminal_shows() -> None:
    demo = runpy.run_path(str(ROOT / "docs/demo.py"))
    drawn = (ROOT / "docs/demo.svg").read_text(encoding="utf-8")
    assert _words(drawn) == _words(demo["picture"](demo["seen"]())), "run `python docs/demo.py`"


def _words(picture: str) -> str:
    """The text of a picture, whatever release of rich has drawn it."""
    return "".join(html.unescape(text).replace("\xa0", "") for text in re.findall(r"<text[^>]*>([^<]*)</text>", picture)).replace("\n", "")
