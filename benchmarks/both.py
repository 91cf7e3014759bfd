"""Measures what `fix --keep-v1` makes of projects that use the official SDK 1.x: does one source do the same on 1.x and on 2.x?

    python benchmarks/both.py --recipes benchmarks/sdk.yaml [--output FILE.md] [--json FILE] CORPUS

As `sdk.py`, with the same recipes, but for what the rewritten copy is run with: either release of the SDK. What it answers to a
client, and which of its own tests pass, is held against the untouched project on 1.x. Exit status: 0 when nothing is lost, 1 otherwise.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from comparing import faults, files, undefined
from sdk import CLIENTS, Bench, Plan, _copy, _differing, _is_told, read

KEEP = "--keep-v1"
PROJECTS = ("ll-refservers", "ll-pandoc", "ll-obsidian", "fm1-gsheets", "cl-mcpo")
MAJORS = ("1", "2")
# Of the clients, those that a server on each release has to satisfy.
ASKING = {"1": ("v1",), "2": tuple(CLIENTS)}


class Both(Bench):
    """The tools and the places of one measurement."""

    def _measures(self) -> Mapping[str, Callable[[dict[str, Any], Path, Path, Plan], None]]:
        return {"imports": self._imports, "sessions": self._sessions, "tests": self._tests}

    def _fix(self, row: dict[str, Any], project: Path, fixed: Path) -> None:
        """What changed, what is left, and whether a second run, or a run without the option, leaves it alone."""
        row["announced"] = self._findings(fixed, KEEP)
        self._run("fix", KEEP, ".", cwd=fixed)
        before, after = files(project), files(fixed)
        again = _copy(fixed, fixed.parent / "again")
        self._run("fix", KEEP, ".", cwd=again)
        row["findings"] = self._findings(fixed, KEEP)
        row["plain"] = [finding for finding in self._findings(fixed) if finding["severity"] == "error" and finding["rule"] >= "MCP5"]
        row["changed"] = [name for name in after if after[name] != before.get(name)]
        row["faults"] = [
            *sorted((undefined(fixed) - undefined(project)).elements()),
            *(name for name, text in files(again).items() if text != after.get(name)),
            *faults(before, after),
        ]

    def _findings(self, folder: Path, *options: str) -> list[dict[str, Any]]:
        said = self._run("check", *options, "--output-format", "json", ".", cwd=folder).stdout
        found: list[dict[str, Any]] = json.loads(said)["findings"]
        return found

    def _imports(self, row: dict[str, Any], project: Path, fixed: Path, plan: Plan) -> None:
        before = self._kept("imports", project, plan, lambda: self._imported(self.copied(project, project), plan, "1"))
        held = [name for name, error in before.items() if error is None]
        row["imports"] = {"before": len(held)}
        for major in MAJORS:
            after = self._imported(self.copied(fixed, project), plan, major)
            row["imports"][major] = {name: after.get(name, "gone") for name in held if after.get(name, True) is not None}

    def _sessions(self, row: dict[str, Any], project: Path, fixed: Path, plan: Plan) -> None:
        row["sessions"] = []
        for number, way in enumerate(plan.ways):
            told: dict[str, Any] = {"how": way.recipe.how, "differs": {}}
            row["sessions"].append(told)
            before = self._kept(f"session {number}", project, plan, lambda way=way: self._steady(project, plan, way))
            if before.get("trouble"):
                told["trouble"] = before["trouble"]
                continue
            told["asked"] = len(before["answers"])
            for major in MAJORS:
                for client in ASKING[major]:
                    speaks, mode = CLIENTS[client]
                    after = self._session(self.copied(fixed, project), plan, way, major, speaks, mode, before["steps"])
                    differs = _differing(before, after)
                    told["differs"][f"{major}, {client}"] = [one for one in differs if not _is_told(one, row["announced"])]

    def _tests(self, row: dict[str, Any], project: Path, fixed: Path, plan: Plan) -> None:
        if not plan.tests:
            return
        before = self._kept("tests", project, plan, lambda: self._tested(self.copied(project, project), plan, "1"))
        passed = [name for name, outcome in before.items() if outcome == "passed"]
        row["tests"] = {"before": len(passed)}
        for major in MAJORS:
            after = self._tested(self.copied(fixed, project), plan, major)
            row["tests"][major] = {name: after.get(name, "not run").partition("\n")[0] for name in passed if after.get(name) != "passed"}


def report(rows: Sequence[Mapping[str, Any]]) -> str:
    """A table of the projects, and below it what was lost."""
    lines = [
        "| project | files changed | modules that load: before, 1.30.0, 2.3.0 | own tests: before, 1.30.0, 2.3.0 "
        "| answers that differ: 1.30.0, 2.3.0 | errors left | second run |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += [_line(row) for row in rows]
    lost = [f"- {row['name']}: {one}" for row in rows for one in _lost(row)]
    return "\n".join([*lines, "", *lost]) + "\n"


def _line(row: Mapping[str, Any]) -> str:
    loads, tests = (_counted(row.get(part)) for part in ("imports", "tests"))
    sessions = [told for told in row.get("sessions", ()) if "asked" in told]
    differing = [sum(len(one) for told in sessions for name, one in told["differs"].items() if name.startswith(major)) for major in MAJORS]
    asked = sum(told["asked"] for told in sessions)
    answers = f"{', '.join(map(str, differing))} (of {asked})" if sessions else ""
    errors = sum(finding["severity"] == "error" for finding in row["findings"])
    again = "faults" if row["faults"] else "nothing"
    return f"| {row['name']} | {len(row['changed'])} | {loads} | {tests} | {answers} | {errors} | {again} |"


def _counted(part: Mapping[str, Any] | None) -> str:
    if part is None:
        return ""
    return ", ".join(str(number) for number in (part["before"], *(part["before"] - len(part.get(major, ())) for major in MAJORS)))


def _lost(row: Mapping[str, Any]) -> Iterator[str]:
    yield from row["trouble"]
    yield from (f"fault: {fault}" for fault in row["faults"])
    for finding in row["findings"]:
        if finding["severity"] == "error":
            yield f"left: {finding['rule']} {finding['path']}:{finding.get('line', '')}: {finding['message']}"
    for part in ("imports", "tests"):
        for major in MAJORS:
            yield from (f"{part}, mcp {major}: {name}: {why}" for name, why in row.get(part, {}).get(major, {}).items())
    for told in row.get("sessions", ()):
        if "trouble" in told:
            yield f"{told['how']}: {told['trouble']}"
        yield from (f"{told['how']}, {name}: {one}" for name, differs in told["differs"].items() for one in differs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--only", default=",".join(PROJECTS), help="names of projects, with commas between")
    parser.add_argument("--recipes", type=Path, required=True)
    parser.add_argument("--tool", default=str(Path(sys.executable).with_name("mcp-migrate")))
    parser.add_argument("--scratch", type=Path)
    parser.add_argument("--environments", type=Path, default=Path.home() / ".cache" / "mcp-migrate-recipes")
    parser.add_argument("--fresh", action="store_true", help="measure the untouched projects again, too")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    options.referee, options.parts = None, ""
    plans = read(options.recipes)
    with tempfile.TemporaryDirectory() as temporary:
        bench = Both(options, (options.scratch or Path(temporary)).resolve())
        with ThreadPoolExecutor(options.jobs) as pool:
            names = options.only.split(",")
            rows = [*pool.map(lambda name: bench.row((options.corpus / name).resolve(), plans.get(name, Plan())), names)]
    if options.json is not None:
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    text = report(rows)
    print(text, end="")
    if options.output is not None:
        options.output.write_text(text, encoding="utf-8")
    clean = all(not row["trouble"] and not row["faults"] for row in rows)
    kept = all(not row.get(part, {}).get(major) for row in rows for part in ("imports", "tests") for major in MAJORS)
    return 0 if clean and kept else 1


if __name__ == "__main__":
    sys.exit(main())
