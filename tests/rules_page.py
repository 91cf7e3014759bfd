"""Writes rules/README.md from the catalog and the fixtures: `python tests/rules_page.py`. The site has a page for each rule, made by `rule`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from pathlib import Path

from fixture_cases import Case, cases, marks, plain
from mcp_migrate import catalog
from mcp_migrate.rule import Entry, Era

PAGE = Path(__file__).parent.parent / "rules/README.md"
_SDK = ("mcp2", "deps")  # packs about the official SDK
_FASTMCP = "fastmcp"  # rules about the standalone package say so where their facts are from
_LINK = "../"
_PACKS = {
    "engine": "The engine itself",
    "removed": "Removed in 2026-07-28",
    "changed": "Changed in 2026-07-28",
    "added": "Added in 2026-07-28",
    "deprecated": "Deprecated",
    "mcp2": "Code on the official SDK, from version 1 to 2",
    "fastmcp4": "Code on standalone fastmcp, from 2 or 3 to 4",
    "deps": "Dependency files, for the official SDK 2",
}
_LANGUAGES = {"py": "python", "toml": "toml", "yml": "yaml"}
_FIX = {
    "always": "`fix` mends every finding",
    "sometimes": "`fix` mends what it can prove; the rest is for a human",
    "never": "There is no fix; the finding says what to do",
}
INTRO = """*error*: does not work, or silently works differently, under 2026-07-28. *warning*: deprecated, or unstamped results in a
server that is legacy only. *note*: advice. A fix is *safe* (applied by `fix`), *unsafe* (applied with `--unsafe-fixes`) or
*manual* (no edit; we say what to do). Legacy code behind a working boundary is settled and gives nothing in the dual era.

`mcp-migrate explain ID` prints the same text; `# mcp-migrate: ignore[ID] -- reason` on the line silences one finding.
"""
_HEAD = f"""# Rules

Generated from the catalog and the fixtures by `python tests/rules_page.py`; do not edit.

{INTRO}"""


def page() -> str:
    """The whole page."""
    entries = catalog.load().entries
    return "\n".join([_HEAD, *_overview(entries), *(line for pack in _PACKS for line in _pack(pack, entries))]).rstrip("\n") + "\n"


def _overview(entries: tuple[Entry, ...]) -> Iterator[str]:
    yield "| rule | | severity | fix |"
    yield "| --- | --- | --- | --- |"
    for entry in entries:
        yield f"| [{entry.id}](#{_anchor(entry)}) `{entry.name}` | {entry.title} | {entry.severity.word} | {entry.fix} |"
    yield ""


def _pack(pack: str, entries: tuple[Entry, ...]) -> Iterator[str]:
    yield f"## {_PACKS[pack]}\n"
    for entry in entries:
        if entry.pack == pack:
            yield from _rule(entry)


def _rule(entry: Entry) -> Iterator[str]:
    yield f"### {entry.id} `{entry.name}`\n"
    yield from rule(entry, _LINK)


def rule(entry: Entry, link: str) -> Iterator[str]:
    """What is to be said of a rule, below its heading; `link` leads to the root of the repository, if anything does."""
    yield f"{entry.title}. Severity: {entry.severity.word}.\n"
    yield f"**Why.** {entry.why}\n"
    yield f"**Instead.** {entry.instead}\n"
    found = [case for case in cases() if case.rule == entry.name]
    yield f"**Fix.** {_FIX[entry.fix]}{_safety(found)}.\n"
    if entry.spec != "none":
        yield f"**Source.** {entry.spec}\n"
    if found:
        yield f"**Checked.** {len(found)} {'fixture' if len(found) == 1 else 'fixtures'}, {_against(entry)}.\n"
    shown = [case for case in found if _changes(case)] or [case for case in found if marks(case.before(), Era.DUAL)]
    for example in shown[:1]:
        yield from _example(example, link)


def _against(entry: Entry) -> str:
    """What the fixtures of a rule hold for."""
    if entry.spec.startswith(f"{_FASTMCP} "):
        return f"for fastmcp {', '.join(installed(major, _FASTMCP) for major in (2, 3))} and {installed(4, _FASTMCP)}"
    if entry.pack not in _SDK:
        return "for revision 2026-07-28"
    return f"for mcp {' and '.join(map(installed, (1, 2)))}"


def installed(major: int, package: str = "mcp") -> str:
    """The version of the SDK, or of another package, that the tests of a major run with."""
    pins = PAGE.parent.parent / f"tests/{'sdk' if package == 'mcp' else package}-v{major}.txt"
    (version,) = re.findall(rf"^{package}==(\S+)$", pins.read_text(encoding="utf-8"), re.MULTILINE)
    return str(version)


def _changes(case: Case) -> bool:
    return any(case.after(era) != case.before() for era in Era)


def _safety(found: list[Case]) -> str:
    words = {mark.applicability for case in found for era in Era for mark in marks(case.before(), era)}
    return f" ({', '.join(word for word in ('safe', 'unsafe', 'manual') if word in words)})" if words else ""


def _example(case: Case, link: str) -> Iterator[str]:
    place = f"fixtures/{case.pack}/{case.rule}/{case.name}"
    yield f"Example ([{case.name}]({link}{place})):\n" if link else f"Example (`{place}`):\n"
    before = case.before()
    for path, text in before.items():
        if len(before) > 1:
            yield f"`{path}`"
        yield f"```{_LANGUAGES.get(path.rpartition('.')[2], '')}\n{plain(text).rstrip()}\n```\n"
    for era, words in ((Era.DUAL, "`fix` makes of it:"), (Era.MODERN, "`fix --era modern` makes of it:")):
        if (after := case.after(era)) != before and (era is Era.DUAL or after != case.after(Era.DUAL)):
            yield f"{words}\n\n```diff\n{_diff(before, after)}\n```\n"


def _diff(before: dict[str, str], after: dict[str, str]) -> str:
    lines: list[str] = []
    for path in sorted({*before, *after}):
        old, new = plain(before.get(path, "")).splitlines(), plain(after.get(path, "")).splitlines()
        # The two header lines name the file; with one file they say nothing.
        lines += list(difflib.unified_diff(old, new, path, path, lineterm="", n=2))[0 if len(before) > 1 else 2 :]
    return "\n".join(lines)


def _anchor(entry: Entry) -> str:
    return f"{entry.id.lower()}-{entry.name}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
