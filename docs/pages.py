"""Makes the pages of the site that come from elsewhere: the guide's sections, the symptoms and the rules. A hook of mkdocs."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

import rules_page  # noqa: E402
from mcp_migrate import catalog, guide, symptoms  # noqa: E402

# Code stands between backquotes, one line or several: what looks like a rule in there is no link.
_CODE = re.compile(r"(```.*?```|`[^`\n]+`)", re.DOTALL)
_RULE = re.compile(r"\bMCP\d{3}\b")
_ALONE = re.compile(r"`(MCP\d{3})`")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for path, text in pages():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Names of rules lead to their pages."""
    if page.file.src_uri.startswith("rules/MCP"):
        return markdown
    folder = page.file.src_uri.rpartition("/")[0]
    return _linked(markdown, {"rules": "", "": "rules/"}.get(folder, "../rules/"))


def pages() -> Iterator[tuple[str, str]]:
    """Each page with its path."""
    sections = guide.load()
    for section in sections:
        yield f"guide/{section.id}.md", f"# {section.title}\n\n{section.text}\n{_rules(section)}"
    yield "guide/index.md", _contents(sections)
    yield "symptoms.md", _symptoms()
    entries = catalog.load().entries
    yield "rules/index.md", "\n".join(["# Rules\n", rules_page.INTRO, *_table(entries)]) + "\n"
    for entry in entries:
        yield f"rules/{entry.id}.md", "\n".join([f"# {entry.id} `{entry.name}`\n", *rules_page.rule(entry, "")]) + "\n"


def _contents(sections: tuple[guide.Section, ...]) -> str:
    lines = [
        "# Migration guide\n",
        "Each page is about one kind of code. `mcp-migrate guide .` prints those that your project needs, with its files and findings.\n",
        *(f"- [{section.title}]({section.id}.md)" for section in sections),
    ]
    return "\n".join(lines) + "\n"


def _rules(section: guide.Section) -> str:
    covered = [entry for entry in catalog.load().entries if section.covers(entry.id)]
    if not covered:
        return ""
    rows = [f"| {entry.id} | {entry.title} | {entry.severity.word} | {entry.fix} |" for entry in covered]
    return "\n".join(["## Rules\n", "| rule | | severity | fix |", "| --- | --- | --- | --- |", *rows]) + "\n"


def _table(entries: tuple[Any, ...]) -> Iterator[str]:
    yield "| rule | | severity | fix |"
    yield "| --- | --- | --- | --- |"
    for entry in entries:
        yield f"| {entry.id} `{entry.name}` | {entry.title} | {entry.severity.word} | {entry.fix} |"


def _symptoms() -> str:
    lines = [
        "# Symptoms\n",
        "What you see, and where it comes from. `mcp-migrate explain TEXT` looks a text up here. Each of these texts was brought about",
        f"with mcp {rules_page.installed(1)} and {rules_page.installed(2)}.\n",
        "| you see | cause | what to do | rules |",
        "| --- | --- | --- | --- |",
    ]
    for symptom in symptoms.load():
        cells = (f"`{symptom.says}`, {symptom.seen}", symptom.cause, symptom.do, " ".join(symptom.rules))
        lines.append(f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |")
    return "\n".join(lines) + "\n"


def _linked(markdown: str, folder: str) -> str:
    markdown = _ALONE.sub(lambda found: found[1], markdown)
    parts = _CODE.split(markdown)
    parts[::2] = (_RULE.sub(lambda found: _link(found[0], folder), part) for part in parts[::2])
    return "".join(parts)


def _link(id: str, folder: str) -> str:
    return f"[{id}]({folder}{id}.md)" if id in _ids() else id


@cache
def _ids() -> frozenset[str]:
    return frozenset(entry.id for entry in catalog.load().entries)
