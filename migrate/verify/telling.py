"""A proof as a table, as JSON, and as Markdown."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from . import logs
from .compare import GROUP as COMPARED
from .ledger import Check, Outcome
from .messages import UNCALLED
from .proof import Proof

if TYPE_CHECKING:
    from rich.text import Text

_ENDLESS = 100_000
_LINES = {Outcome.PASSED: "✓", Outcome.FAILED: "✗", Outcome.WARNED: "!", Outcome.SKIPPED: "·"}
_MARKS = {Outcome.PASSED: "ok", Outcome.FAILED: "FAIL", Outcome.WARNED: "warn", Outcome.SKIPPED: "skip"}
_COLOURS = {Outcome.PASSED: "green", Outcome.FAILED: "red", Outcome.WARNED: "yellow", Outcome.SKIPPED: "bright_black"}


def text(proof: Proof, *, colour: bool = False, signs: bool = False, width: int = 0, verbose: bool = False, quiet: bool = False) -> str:
    """The checks that did not pass, or all of them, by group with their numbers; then what the server wrote meanwhile, and how it ended.

    `signs` takes signs in place of words, `width` is in cells (if 0, no line is broken), and `quiet` leaves out all but what did not pass.
    """
    from io import StringIO

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    out = StringIO()
    marks = _LINES if signs else _MARKS
    console = Console(
        file=out,
        force_terminal=colour,
        no_color=not colour,
        width=width or _ENDLESS,
        highlight=False,
        emoji=False,
        markup=False,
        legacy_windows=False,
    )
    if not quiet:
        console.print(Text(proof.server, style="bold"))
    for group, checks in _groups(proof).items():
        shown = [check for check in checks if verbose or check.outcome in (Outcome.FAILED, Outcome.WARNED)]
        if quiet and not shown:
            continue
        console.print(Text(group if quiet else f"\n{group}: {_numbers(checks)}", style="bold"))
        if shown:
            table = Table.grid(padding=(0, 1))
            for check in shown:
                name = Text(check.name)
                if check.detail:
                    name.append(f"\n{check.detail}", style="default" if check.outcome is Outcome.FAILED else "bright_black")
                table.add_row("  ", Text(marks[check.outcome], style=_COLOURS[check.outcome]), name)
            console.print(table)
    if proof.log and not quiet:
        own, left_out = (logs.last(proof.log).splitlines(), 0) if verbose else logs.telling(proof.log)
        more = f" (without {left_out} lines that say nothing of it; --verbose shows them)" if left_out else ""
        console.print(Text(f"\nThe server wrote to standard error{more}:" if own else f"\nThe server wrote no error{more}.", style="bold"))
        console.print(Text("\n".join(f"  {line}" for line in own)) if own else Text(""), end="\n" if own else "")
    if not quiet:
        console.print(_verdict(proof))
        console.print(Text(_next_step(proof, verbose=verbose)))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n" * bool(out.getvalue())


def _verdict(proof: Proof) -> Text:
    from rich.text import Text

    counted = _counted(proof.checks)
    number = counted["failed"]
    if number:
        return Text(f"\n{number} of {len(proof.checks)} checks failed.", style="bold red")
    clients = "clients of 2026-07-28 and older ones" if proof.dual else "clients of 2026-07-28"
    return Text(f"\nThis server serves {clients}.", style="bold green")


def _next_step(proof: Proof, *, verbose: bool) -> str:
    outcomes = _counted(proof.checks)
    if outcomes["failed"]:
        done = "" if verbose else "--verbose says what passed before it; "
        return f"Next: {done}`mcp-migrate explain TEXT` knows common errors, and `mcp-migrate check` finds what is still to move."
    if any(check.outcome is Outcome.SKIPPED and check.detail == UNCALLED for check in proof.checks):
        return "Next: no tool was called; --call 'NAME {json} => text' calls one, --guess all of them."
    if not any(check.group == COMPARED for check in proof.checks):
        return "Next: --against REV compares with what the server was; --output-format markdown gives a table for a pull request."
    return "Next: --output-format markdown gives a table for a pull request."


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
