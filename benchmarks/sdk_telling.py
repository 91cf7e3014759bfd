"""Tells in Markdown what `sdk.py` has measured."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

PARTS = ("imports", "sessions", "referee", "tests")
CLIENTS = ("v1", "v2 legacy", "v2 modern")
SHOWN = 12  # lines of one kind for one project

Row = dict[str, Any]


class Goal(NamedTuple):
    """A number that is not to be passed."""

    what: str
    measured: int
    of: str
    most: int

    @property
    def holds(self) -> bool:
        return self.measured <= self.most


def targets(rows: Sequence[Row], silent: int) -> Iterator[Goal]:
    imports = [row["imports"] for row in rows if "imports" in row]
    lost = [error for told in imports for error in told["lost"].values()]
    if imports:
        of = f"{sum(told['before'] for told in imports)} modules"
        yield Goal("modules that no longer import, and no finding says why", sum(not error["told"] for error in lost), of, 0)
    ways = [told for row in rows for told in row.get("sessions", ()) if not told.get("trouble")]
    for client in CLIENTS:
        if ways:
            yield Goal(
                f"servers that answer a {client} client differently, and no finding says why",
                sum(bool(_untold(told, client)) for told in ways),
                f"{len(ways)} servers",
                0,
            )
    yield Goal("new undefined names (F821)", sum(len(row["files"]["F821"]) for row in rows), f"{len(rows)} projects", 0)
    yield Goal("files that a second run changes", sum(len(row["files"]["second run"]) for row in rows), f"{len(rows)} projects", 0)
    yield Goal(
        "comments, line endings and other files touched", sum(len(row["files"]["faults"]) for row in rows), f"{len(rows)} projects", 0
    )
    judged = [row["referee"] for row in rows if row.get("referee", {}).get("files")]
    if judged:
        of = f"{sum(told['files'] for told in judged)} files of {len(judged)} projects"
        yield Goal("names of the SDK that do not resolve", sum(len(told["unresolved"]) for told in judged), of, 0)
        yield Goal("silent errors of the type checker", sum(told["silent"] for told in judged), of, silent)
    tested = [row["tests"] for row in rows if "tests" in row]
    if tested:
        yield Goal(
            "own tests that fail now, and no finding says why",
            sum(len(told["failed"].keys() - told.get("told", {}).keys()) for told in tested),
            f"{sum(told['before'] for told in tested)} that passed",
            0,
        )
    yield Goal("parts that could not be measured", sum(len(row["trouble"]) for row in rows), f"{len(rows)} projects", 0)


def report(rows: Sequence[Row], goals: Sequence[Goal]) -> str:
    parts = (_summary(rows, goals), _table(rows), _imports(rows), _sessions(rows), _files(rows), _referee(rows), _tests(rows), _left(rows))
    return "\n".join(line for part in parts for line in part) + "\n"


def _summary(rows: Sequence[Row], goals: Sequence[Goal]) -> Iterator[str]:
    what = "fastmcp 2 and 3 to 4" if any(row.get("fastmcp") for row in rows) else "SDK 1.x to 2.x"
    yield f"# {what}, {time.strftime('%Y-%m-%d')}: {len(rows)} projects"
    yield ""
    yield "| target | measured | of | at most | holds |"
    yield "| --- | ---: | --- | ---: | --- |"
    for goal in goals:
        yield f"| {goal.what} | {goal.measured} | {goal.of} | {goal.most} | {'yes' if goal.holds else 'no'} |"


def _table(rows: Sequence[Row]) -> Iterator[str]:
    yield from ("", "## Projects", "")
    yield "Sessions: places where answers differ, to the v1 client, the v2 client in legacy and in modern mode; `+` between servers."
    yield "`told`: a finding says so; `own`: the SDK does so by itself, also for a server that was moved by hand."
    yield ""
    heads = ["project", "changed", "imports: now, told, lost", "sessions: v1, v2 legacy, v2 modern", "F821", "faults"]
    yield f"| {' | '.join([*heads, 'referee: unresolved, silent', 'tests: still pass'])} |"
    yield "| --- | ---: | --- | --- | ---: | ---: | --- | --- |"
    for row in rows:
        found, judged, tested = row.get("imports"), row.get("referee"), row.get("tests")
        told = Counter(bool(error["told"]) for error in found["lost"].values()) if found else Counter()
        cells = [
            f"{row['name']} ({row['fastmcp']})" if row.get("fastmcp") else row["name"],
            str(len(row["changed"])),
            f"{found['after']} of {found['before']}, {told[True]}, {told[False]}" if found else "-",
            " + ".join(map(_session, row.get("sessions", ()))) or "-",
            str(len(row["files"]["F821"])),
            str(len(row["files"]["faults"]) + len(row["files"]["second run"])),
            "-" if judged is None else f"{len(judged['unresolved'])}, {judged['silent']}" if judged["files"] else "no SDK",
            _tested(tested) if tested else "-",
        ]
        yield "| " + " | ".join(cells) + " |"


def _tested(tested: Row) -> str:
    told = len(tested["failed"].keys() & tested.get("told", {}).keys())
    return f"{tested['after']} of {tested['before']}" + (f", {told} told" if told else "")


def _session(told: Row) -> str:
    if told.get("trouble"):
        return "not started"
    return "/".join(_count(told, client) for client in CLIENTS)


def _count(told: Row, client: str) -> str:
    differs = told["differs"][client]
    if not differs:
        return "same"
    if differs[0].startswith("no session"):
        return "none" if _untold(told, client) else "none, told"
    left = len(_untold(told, client))
    own = len({*differs} & {*told.get("own", {}).get(client, ())})
    counts = {"": left, " told": len(differs) - left - own, " own": own}
    return " and ".join(f"{count}{kind}" for kind, count in counts.items() if count)


def _untold(told: Row, client: str) -> list[str]:
    known = {*told.get("told", ()), *told.get("own", {}).get(client, ())}
    return [differs for differs in told["differs"][client] if differs not in known]


def _imports(rows: Sequence[Row]) -> Iterator[str]:
    yield from ("", "## Modules that no longer import", "")
    for row in rows:
        found = row.get("imports")
        if found is None:
            continue
        reasons = Counter((e["error"], e["file"], e["line"], e["told"]) for e in found["lost"].values())
        for (error, file, line, told), count in reasons.most_common(SHOWN):
            yield f"- {row['name']}: {count} for {file}:{line}: {_one_line(error)}" + (f" (told: {told})" if told else " (NOT told)")
        never = Counter(error.split("\n")[0][:100] for error in found["never"].values())
        if never:
            yield f"- {row['name']}: {len(found['never'])} of {found['all']} never did: " + "; ".join(
                f"{_one_line(e)} ({n})" for e, n in never.most_common(4)
            )


def _sessions(rows: Sequence[Row]) -> Iterator[str]:
    yield from ("", "## Answers that differ", "")
    for row in rows:
        for told in row.get("sessions", ()):
            how = f"{row['name']} `{told['how']}`"
            if told.get("trouble"):
                yield f"- {how}: not started: {_one_line(told['trouble'])}"
                continue
            if told["unsteady"]:
                yield f"- {how}: not compared, for they change from run to run: {', '.join(told['unsteady'])}"
            seen: set[str] = set()
            for client in CLIENTS:
                fresh = [differs for differs in told["differs"][client] if differs not in seen]
                seen |= set(fresh)
                for differs in fresh[:SHOWN]:
                    others = [other for other in CLIENTS if differs in told["differs"][other]]
                    known = (
                        " (told)" if differs in told.get("told", ()) else " (the SDK's own)" if differs not in _untold(told, client) else ""
                    )
                    yield f"- {how} ({', '.join(others)}){known}: {_one_line(differs)}"
                if len(fresh) > SHOWN:
                    yield f"- {how} ({client}): and {len(fresh) - SHOWN} more"


def _files(rows: Sequence[Row]) -> Iterator[str]:
    yield from ("", "## Files", "")
    for row in rows:
        for what, told in row["files"].items():
            yield from (f"- {row['name']}: {what}: {_one_line(line)}" for line in told[:SHOWN])


def _referee(rows: Sequence[Row]) -> Iterator[str]:
    yield from ("", "## What the referee sees", "")
    for row in rows:
        judged = row.get("referee") or {}
        yield from (f"- {row['name']}: unresolved {line}" for line in judged.get("unresolved", [])[:SHOWN])
        kinds = Counter((error["rule"], _one_line(error["message"])[:140]) for error in judged.get("errors", ()))
        yield from (f"- {row['name']}: {count} x {rule} {message}" for (rule, message), count in kinds.most_common(SHOWN))


def _tests(rows: Sequence[Row]) -> Iterator[str]:
    yield from ("", "## Own tests that fail now", "")
    for row in rows:
        tested = row.get("tests")
        if tested and tested["failed"]:
            said = tested.get("told", {})
            reasons = Counter((_one_line(reason)[:160], said.get(name, "")) for name, reason in tested["failed"].items())
            for (reason, finding), count in reasons.most_common():
                yield f"- {row['name']}: {count} x {reason} ({f'told: {finding}' if finding else 'NOT told'})"


def _left(rows: Sequence[Row]) -> Iterator[str]:
    yield from ("", "## Left to a human, and not measured", "")
    for row in rows:
        counts = Counter(f"{finding['rule']} {finding['name']}" for finding in row["findings"])
        if counts:
            yield f"- {row['name']}: " + ", ".join(f"{rule} ({count})" for rule, count in counts.most_common())
        yield from (f"- {row['name']}, not measured: {_one_line(trouble)}" for trouble in row["trouble"])


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("|", "/")[:280]
