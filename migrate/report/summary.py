"""The body of a pull request, as Markdown: what a fix has changed and why, what is left, what is fine, how to prove and to undo it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..rule import Applicability, Era, Group, Severity
from .model import Place, Report, coded, visible
from .text import count

# A pull request takes 65,536 characters on the usual hosts; what is left may be more than that.
_MOST = 100
_SOME = 30

_SERVED = {
    Era.DUAL: "Clients of earlier revisions are served as before.",
    Era.MODERN: "Clients of earlier revisions are not served any more: they get an error that names the version.",
}
_ASKED = "Servers of earlier revisions are asked as before."  # what is written into clients falls back to the handshake in either era


class Change(NamedTuple):
    """What one group of rules has done, by file."""

    group: Group
    applied: Mapping[str, Counter[str]]


class Package(NamedTuple):
    """One line of the table of packages; `changed` counts files, `made` fixes, `left` findings."""

    folder: str
    era: Era
    changed: int
    made: int
    left: int


class Commit(NamedTuple):
    """A commit of the series. One of an earlier run tells by itself how often it has applied each rule."""

    name: str
    subject: str
    rules: Mapping[str, int]
    earlier: bool


class Proof(NamedTuple):
    """How a package is proven; `serves` and `asks` are whether it is a server and a client.

    `options` are those that `verify` takes for its server, `older` is what an environment has for its earlier revisions.
    """

    folder: str
    era: Era
    serves: bool
    asks: bool
    options: Sequence[str]
    older: str


@dataclass(frozen=True, slots=True)
class Summary:
    """Everything that the body tells. `report` is about what is left; paths are as a reader of the repository spells them."""

    report: Report
    changes: Sequence[Change]
    changed: Sequence[str]  # the files that have changed
    created: Sequence[str]
    packages: Sequence[Package]
    commits: Sequence[Commit]
    base: str  # the commit before the series; "" where there is none
    also: Sequence[str]  # what has to be done beside the code
    asked: int  # how many rules were asked
    reasons: Sequence[tuple[str, str]]  # a file, and why something there was not fixed
    would: bool  # whether nothing was written
    proofs: Sequence[Proof]  # of the packages that speak MCP


def render(summary: Summary) -> str:
    """The whole text. It holds no date and no place of the machine."""
    lines: list[str] = []
    for line in _lines(summary):
        if line or (lines and lines[-1]):  # parts end with an empty line, and others begin with one
            lines.append(line)
    return "\n".join(lines).rstrip("\n") + "\n"


def _lines(summary: Summary) -> Iterator[str]:
    yield "# Move to MCP 2026-07-28"
    yield ""
    yield " ".join([f"`mcp-migrate fix` {'would make' if summary.would else 'made'} these changes.", *_promises(summary)])
    yield from _changes(summary)
    if summary.commits:
        yield from _commits(summary)
    if len(summary.packages) > 1:
        yield from _packages(summary)
    yield from _left(summary)
    yield from _fine(summary)
    yield from _proof(summary)
    yield from _undo(summary)


def _promises(summary: Summary) -> Iterator[str]:
    """What is true for clients and servers of earlier revisions, where it is true for all packages."""
    eras = {proof.era for proof in summary.proofs if proof.serves}
    if len(eras) == 1:
        yield _SERVED[eras.pop()]
    if any(proof.asks for proof in summary.proofs):
        yield _ASKED


def _changes(summary: Summary) -> Iterator[str]:
    yield from ("", "## What changes", "")
    if not summary.changes and not summary.created:
        yield "Nothing more." if any(commit.earlier for commit in summary.commits) else "Nothing."
        return
    for group, applied in summary.changes:
        yield from (f"### {group.title}", "", group.why, "")
        rules = Counter[str]()
        for counts in applied.values():
            rules.update(counts)
        if rules:
            yield from ("| rule | what it was about | places | files |", "| --- | --- | ---: | --- |")
        for rule, number in sorted(rules.items()):
            entry = summary.report.entries[rule]
            files = _some([path for path, counts in sorted(applied.items()) if counts[rule]], most=5)
            yield f"| {rule} `{entry.name}` | {_cell(entry.title)} | {number} | {files} |"
        if rules:
            yield ""
    if summary.created:
        yield f"New files: {_some(summary.created)}."


def _commits(summary: Summary) -> Iterator[str]:
    yield from ("", "## Commits", "", "Each can be parsed for itself, and imported as far as that can be told.", "")
    yield from ("| commit | | fixes |", "| --- | --- | --- |")
    for commit in summary.commits:
        rules = ", ".join(f"{rule} ({number})" for rule, number in sorted(commit.rules.items()))
        yield f"| {commit.name[:10]} | {_cell(commit.subject)} | {rules} |"


def _packages(summary: Summary) -> Iterator[str]:
    yield from ("", "## Packages", "", "| package | era | files changed | fixes | findings left |", "| --- | --- | ---: | ---: | ---: |")
    for folder, era, changed, made, left in summary.packages:
        yield f"| {_cell(coded(folder or '.'))} | {era.value} | {changed} | {made} | {left} |"


def _left(summary: Summary) -> Iterator[str]:
    places = summary.report.places
    yield from ("", "## Left for a human", "")
    if not places and not summary.also:
        yield "Nothing."
        return
    # What breaks comes before advice, wherever it stands.
    for severity in reversed(Severity):
        some = [place for place in places if place.severity is severity]
        if some:
            yield from (f"{count(len(some), severity.word)}:", "")
            yield from (_place(place, summary) for place in some[:_MOST])
            if len(some) > _MOST:
                yield f"- and {len(some) - _MOST} more; `mcp-migrate check` shows them"
            yield ""
    if summary.also:
        yield from ("Beside the code:", "")
        yield from (f"- [ ] {visible(line)}" for line in summary.also)


def _place(place: Place, summary: Summary) -> str:
    entry = summary.report.entries.get(place.rule)
    reason = next((why for path, why in summary.reasons if path == place.path and why == place.hint), "")
    out = place.hint if place.hint and not reason else entry.instead if entry is not None else ""
    command = "fix --docs" if place.document else "fix"
    if place.applicability is Applicability.UNSAFE:
        out = f"`{command} --unsafe-fixes` does it, and somebody has to look{f': {place.hint}' if place.hint else ''}"
    elif place.applicability is Applicability.SAFE:
        out = f"`{command}` does it"
    not_fixed = f" (not fixed: {visible(reason)})" if reason else ""
    way_out = f" Way out: {visible(out).rstrip('.')}." if out else ""
    return f"- [ ] {coded(place.line_of)} {place.rule} {place.name}: {visible(place.message)}.{not_fixed}{way_out}"


def _fine(summary: Summary) -> Iterator[str]:
    report = summary.report
    hit = {place.path for place in report.places}
    speaking = sorted({seen.path for seen in report.seen})
    fine = [path for path in speaking if path not in hit]
    untouched = [path for path in fine if path not in {*summary.changed, *summary.created}]
    yield from ("", "## Checked, and fine", "")
    yield f"- {count(report.checked, 'file')} read with {count(summary.asked, 'rule')}; MCP code in {len(speaking)} of them."
    if fine:
        yield f"- No finding is left in {_some(fine)}."
    if untouched:
        yield f"- Nothing had to change in {_some(untouched)}."
    for seen in report.seen:
        if seen.boundary:
            yield f"- Behind a stateless boundary: {_some([':'.join(filter(None, (seen.path, name))) for name in seen.boundary])}."
    if report.suppressed:
        yield f"- {count(report.suppressed, 'finding')} silenced by comments in the code."
    if report.baselined:
        yield f"- {count(report.baselined, 'finding')} accepted by the baseline."


def _proof(summary: Summary) -> Iterator[str]:
    against = f"HEAD~{len(summary.commits)}" if summary.commits else "HEAD"
    yield from ("", "## Proof", "")
    served = [proof for proof in summary.proofs if proof.serves]
    for proof in served:
        where = f" of {_cell(coded(proof.folder))}" if proof.folder else ""
        options = [*proof.options, *(["--era modern"] if proof.era is Era.MODERN else []), f"--against {against}"]
        if proof.older:
            options.append(f'--against-command "<the same, with the Python of an environment that has {proof.older}>"')
        yield f"<!-- verify{where}: put the table here that this command prints{_still(proof)}"
        inside = f"cd {shlex.quote(proof.folder)} && " if proof.folder else ""
        yield f"{inside}mcp-migrate verify {' '.join(options)} --output-format markdown"
        yield from ("-->", "")
    if served:
        yield "Not verified with a running server yet."
    for proof in summary.proofs:
        if proof.asks:
            what = f"{_cell(coded(proof.folder))} asks servers" if proof.folder else "This code asks servers"
            yield from ("", f"{what}: its own tests prove that, run against a server of each era; `verify` runs servers only.")
    if not summary.proofs:
        yield "Nothing here speaks MCP; your tests are the proof."


def _still(proof: Proof) -> str:
    """What a human has to write into the command of a package."""
    return ", with what stands in <...> written by you" if proof.older or any("<" in option for option in proof.options) else ""


def _undo(summary: Summary) -> Iterator[str]:
    yield from ("", "## How to undo", "")
    if summary.would:
        yield "Nothing was written."
    elif summary.commits:
        last = summary.commits[-1].name[:10]
        yield f"`git revert --no-edit {summary.base[:10]}..{last}` takes the whole series back."
    elif summary.changed:
        new = f", and delete {_some(summary.created)}" if summary.created else ""
        old = [path for path in summary.changed if path not in summary.created]
        yield f"Before the changes are committed: `git restore` {_some(old)}{new}." if old else f"Delete {_some(summary.created)}."
    else:
        yield "Nothing was changed."


def _some(paths: Sequence[str], most: int = _SOME) -> str:
    more = f" and {len(paths) - most} more" if len(paths) > most else ""
    return ", ".join(_cell(coded(path)) for path in paths[:most]) + more


def _cell(text: str) -> str:
    return visible(text).replace("|", "\\|")
