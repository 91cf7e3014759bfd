"""The migration guide as Markdown: all of it, or what one project needs, with its findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from .model import Place, Report, coded, visible
from .text import count, some

if TYPE_CHECKING:
    from ..guide import Section


def whole(sections: Iterable[Section]) -> str:
    """Every section."""
    parts = [f"## {section.title}\n\n{section.text}" for section in sections]
    return "\n".join(["# Migration guide\n", *parts])


def personal(chosen: Sequence[tuple[Section, Sequence[str]]], report: Report) -> str:
    """The sections that a project needs, each with the files that it is about and the findings of its rules, then what is left to a human.

    The files are spelled as the report spells them.
    """
    if not chosen:
        nothing = f"In {count(report.checked, 'file')}, nothing was found that a section is about"
        parts = ["# Migration guide\n", f"{nothing}{'.' if report.places else ': there is nothing to migrate.'}\n"]
        return "\n".join([*parts, *_left(report)])
    parts = ["# Migration guide\n", f"{_opening(chosen, report)}\n"]
    for section, paths in chosen:
        parts += [f"## {section.title}\n", *_here(section, paths, report), section.text]
    return "\n".join([*parts, *_left(report)])


def painted(markdown: str, width: int) -> str:
    """A guide for the eyes, in lines of `width` cells, with terminal colours."""
    from io import StringIO

    from rich.console import Console
    from rich.markdown import Markdown

    out = StringIO()
    console = Console(file=out, force_terminal=True, color_system="standard", width=width, highlight=False, emoji=False)
    console.print(Markdown(markdown, code_theme="ansi_dark", inline_code_theme="ansi_dark", hyperlinks=False))
    return out.getvalue()


def _opening(chosen: Sequence[tuple[Section, Sequence[str]]], report: Report) -> str:
    kinds = [section.title for section, paths in chosen if paths]
    found = f"`check` has {count(len(report.places), 'finding')} here" if report.places else "`check` has no finding here"
    fixable = sum(place.fix for place in report.places)
    more = f", of which `fix` has an answer to {fixable:,}" if fixable else ""
    return f"For what was found in {count(report.checked, 'file')}: {'; '.join(kinds)}. {found}{more}."


def _here(section: Section, paths: Sequence[str], report: Report) -> Iterator[str]:
    if not paths:
        return
    yield f"> In this project: {some(map(coded, paths))}."
    places = [place for place in report.places if section.covers(place.rule) and place.path in paths]
    if places:
        counted = Counter(f"{place.rule} `{place.name}`" for place in places)
        told = some(f"{rule} ({number})" for rule, number in sorted(counted.items()))
        yield f">\n> {count(len(places), 'finding')}: {told}."
    yield ""


def _left(report: Report) -> Iterator[str]:
    by_rule: dict[str, list[Place]] = {}
    for place in report.places:
        if not place.fix:
            by_rule.setdefault(place.rule, []).append(place)
    if not by_rule:
        return
    yield "## Left to you\n"
    yield "No edit does these for you; `mcp-migrate explain RULE` says why, and what to write instead.\n"
    for rule, places in sorted(by_rule.items()):
        where = some((visible(place.line_of) for place in places), most=5)
        yield f"- **{rule}** {report.entries[rule].title}: {where}"
    yield ""
