"""Tells in Markdown what `autonomy.py` has measured."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from judging import GROUPS, Verdict
from measured import ERAS, Left, Row, Start


class Goal(NamedTuple):
    """A share that is to be reached."""

    what: str
    reached: int
    of: int
    least: float

    @property
    def share(self) -> float:
        return 100 * self.reached / self.of if self.of else 100.0

    @property
    def holds(self) -> bool:
        return self.share >= self.least


def targets(rows: Sequence[Row], wired: float, passing: float) -> Iterator[Goal]:
    started = [row for row in rows if row.started]
    yield Goal("projects wired completely, in both eras", sum(row.whole for row in rows), len(rows), wired)
    yield Goal("of those started: no check fails that did not fail before", sum(row.passes for row in started), len(started), passing)
    yield Goal("of those started: every check passes", sum(row.clean for row in started), len(started), 0)
    yield Goal("of those started: older clients get the same bytes", sum(row.same for row in started), len(started), 100)


def report(rows: Sequence[Row], goals: Sequence[Goal]) -> str:
    parts = (_summary(rows, goals), _table(rows), _starts(rows), _unwired(rows), _aside(rows), _left(rows), _failures(rows), _earlier(rows))
    return "\n".join(line for part in parts for line in part) + "\n"


def _summary(rows: Sequence[Row], goals: Sequence[Goal]) -> Iterator[str]:
    ways = sum(len(row.starts) for row in rows)
    yield f"# What `fix` does alone, {time.strftime('%Y-%m-%d')}: {len(rows)} projects"
    yield ""
    yield f"{sum(row.started for row in rows)} of them were started, in {ways} ways."
    yield ""
    yield "| target | measured | at least | holds |"
    yield "| --- | ---: | ---: | --- |"
    for goal in goals:
        verdict = "not measured" if not goal.of else "told only" if not goal.least else "yes" if goal.holds else "no"
        yield f"| {goal.what} | {goal.reached} of {goal.of} ({goal.share:.0f} %) | {goal.least:.0f} % | {verdict} |"


def _table(rows: Sequence[Row]) -> Iterator[str]:
    yield from ("", "## Projects", "")
    yield "| project | dispatchers wired: dual, modern | diff: dual, modern | left: dual, modern (errors+warnings) | result |"
    yield "| --- | --- | --- | --- | --- |"
    for row in rows:
        fixed = [row.fixed[era] for era in ERAS]
        cells = [
            row.name,
            ", ".join(f"{len(f.wired)} of {len(f.wired) + len(f.unwired)}" + (f" ({f.trouble})" if f.trouble else "") for f in fixed),
            ", ".join(f"+{f.added} -{f.removed}" for f in fixed),
            ", ".join(_severities(f.left) for f in fixed),
            row.verdict,
        ]
        yield "| " + " | ".join(cells) + " |"


def _severities(left: Iterable[Left]) -> str:
    counts = Counter(finding.severity for finding in left)
    return f"{counts['error']}+{counts['warning']}"


def _starts(rows: Sequence[Row]) -> Iterator[str]:
    groups = ", ".join(GROUPS)
    yield from ("", "## Servers that were started", "")
    yield f"Passed/failed in {groups}; `=` counts failures that the untouched server shows as well."
    yield ""
    yield "| project | command | dual | modern | session of an older client |"
    yield "| --- | --- | --- | --- | --- |"
    for row in rows:
        for start in row.starts:
            session = start.trouble or ("differs in " + ", ".join(start.differs) if start.differs else "same bytes")
            yield f"| {row.name} | `{start.how}` | {' | '.join(_verdict(start.judged.get(era)) for era in ERAS)} | {session} |"


def _verdict(verdict: Verdict | None) -> str:
    if verdict is None:
        return ""
    if verdict.trouble:
        return _one_line(verdict.trouble)[:80]
    failed, before = (Counter(check.group for check in checks) for checks in (verdict.failed, verdict.before))
    asked = [group for group in GROUPS if verdict.passed.get(group, 0) or failed[group] or before[group]]
    return ", ".join(f"{verdict.passed.get(g, 0)}/{failed[g]}" + (f" ={before[g]}" if before[g] else "") for g in asked)


def _unwired(rows: Sequence[Row]) -> Iterator[str]:
    yield from ("", "## Not wired, and why", "")
    for row in rows:
        dual, modern = (row.fixed[era] for era in ERAS)
        told = {(left.place, left.hint) for left in dual.unwired}
        yield from (f"- {row.name} {left}" for left in dual.unwired)
        yield from (f"- {row.name}, in the modern era: {left}" for left in modern.unwired if (left.place, left.hint) not in told)
        if not dual.wired and not dual.unwired:
            yield f"- {row.name}: {dual.trouble or 'no dispatcher was found'}"


def _aside(rows: Sequence[Row]) -> Iterator[str]:
    """Places that do not count."""
    yield from ("", "## Not counted: no servers", "")
    for row in rows:
        yield from (f"- {row.name} {left.place}: {why}" for left, why in row.fixed["dual"].aside)


def _left(rows: Sequence[Row]) -> Iterator[str]:
    """What a human still has to do."""
    yield from ("", "## Left to a human", "")
    for row in rows:
        told = {era: [left for left in row.fixed[era].left if left not in row.fixed[era].unwired] for era in ERAS}
        if told["dual"] == told["modern"]:
            told = {"both eras": told["dual"]}
        for era, left in told.items():
            counts = Counter(f"{finding.rule} {finding.name}" for finding in left)
            if counts:
                yield f"- {row.name} ({era}): " + ", ".join(f"{rule} ({count})" for rule, count in counts.most_common())


def _failures(rows: Sequence[Row]) -> Iterator[str]:
    yield from ("", "## Failures", "")
    for row in rows:
        for start in row.starts:
            for era, verdict in start.judged.items():
                failed = [verdict.trouble] if verdict.trouble else map(str, verdict.failed)
                yield from (f"- {_start(row, start)} ({era}) {_one_line(told)}" for told in failed)
            yield from (f"- {_start(row, start)} older client, {step}: {_one_line(told)}" for step, told in (start.session or {}).items())


def _earlier(rows: Sequence[Row]) -> Iterator[str]:
    yield from ("", "## Failures that the untouched server shows as well", "")
    for row in rows:
        for start in row.starts:
            for era, verdict in start.judged.items():
                counts = Counter() if verdict.trouble else Counter(check.subject or check.name for check in verdict.before)
                if counts:
                    told = ", ".join(subject + (f" ({count})" if count > 1 else "") for subject, count in counts.items())
                    yield f"- {_start(row, start)} ({era}) {told}"


def _start(row: Row, start: Start) -> str:
    return row.name if len(row.starts) == 1 else f"{row.name} `{start.how}`"


def _one_line(text: str) -> str:
    return " ".join(text.split())[:240]
