"""A proof as a table, as JSON, and as Markdown."""

from __future__ import annotations

import json
from collections import Counter

from .ledger import Check, Outcome
from .proof import Proof

_MARKS = {Outcome.PASSED: "ok", Outcome.FAILED: "FAIL", Outcome.WARNED: "warn", Outcome.SKIPPED: "skip"}
_COLOURS = {Outcome.PASSED: "green", Outcome.FAILED: "red", Outcome.WARNED: "yellow", Outcome.SKIPPED: "bright_black"}


def text(proof: Proof, *, colour: bool = False, verbose: bool = False) -> str:
    """The checks that did not pass, or all of them, by group; then the numbers, and what the server wrote meanwhile."""
    from io import StringIO

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    out = StringIO()
    console = Console(file=out, force_terminal=colour, no_color=not colour, highlight=False, emoji=False, markup=False)
    console.print(Text(proof.server, style="bold"))
    for group, checks in _groups(proof).items():
        console.print(Text(f"\n{group}: {_numbers(checks)}", style="bold"))
        shown = [check for check in checks if verbose or check.outcome in (Outcome.FAILED, Outcome.WARNED)]
        if shown:
            table = Table.grid(padding=(0, 1))
            for check in shown:
                name = Text(check.name)
                if check.detail:
                    name.append(f"\n{check.detail}", style="default" if check.outcome is Outcome.FAILED else "bright_black")
                table.add_row("  ", Text(_MARKS[check.outcome], style=_COLOURS[check.outcome]), name)
            console.print(table)
    if proof.log:
        console.print(Text("\nThe server wrote to standard error:", style="bold"))
        console.print(Text("\n".join(f"  {line}" for line in proof.log.splitlines())))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def as_json(proof: Proof) -> str:
    """`{"server", "era", "holds", "summary": {outcome: count}, "checks": [{group, name, outcome, detail, page}], "log"}`."""
    checks = [
        {"group": check.group, "name": check.name, "outcome": check.outcome.value, "detail": check.detail, "page": check.page}
        for check in proof.checks
    ]
    told = {
        "version": 1,
        "server": proof.server,
        "era": "dual" if proof.dual else "modern",
        "holds": proof.holds(),
        "summary": _counted(proof.checks),
        "checks": checks,
        "log": proof.log,
    }
    return json.dumps(told, indent=2, ensure_ascii=False) + "\n"


def markdown(proof: Proof) -> str:
    """A table with a line for each group, and one with each check that did not pass."""
    lines = [
        f"`{_cell(proof.server)}`, era {'dual' if proof.dual else 'modern'}",
        "",
        "| clients | passed | failed | warned | skipped |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for group, checks in _groups(proof).items():
        counted = _counted(checks)
        lines.append(f"| {_cell(group)} | {counted['passed']} | {counted['failed']} | {counted['warned']} | {counted['skipped']} |")
    bad = [check for check in proof.checks if check.outcome in (Outcome.FAILED, Outcome.WARNED)]
    if bad:
        lines += ["", "| | check | what there was |", "| --- | --- | --- |"]
        lines += [f"| {check.outcome.value} | {_cell(check.name)} | {_cell(check.detail)} |" for check in bad]
    return "\n".join(lines) + "\n"


def _groups(proof: Proof) -> dict[str, list[Check]]:
    found: dict[str, list[Check]] = {}
    for check in proof.checks:
        found.setdefault(check.group, []).append(check)
    return found


def _counted(checks: list[Check] | tuple[Check, ...]) -> dict[str, int]:
    counted = Counter(check.outcome for check in checks)
    return {outcome.value: counted[outcome] for outcome in Outcome}


def _numbers(checks: list[Check]) -> str:
    return ", ".join(f"{number} {outcome}" for outcome, number in _counted(checks).items() if number)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
