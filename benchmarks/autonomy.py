"""Measures how far `fix` gets alone with hand-written servers, and whether what it makes of them works.

    python benchmarks/autonomy.py [--recipes FILE.yaml] [--judge JUDGE.py] [--output FILE.md] CORPUS

CORPUS holds one folder for each project; those whose names begin with `--prefix` are taken, or only those named by `--only`.
Every project is copied, so the corpus stays as it is. Exit status: 0 when both targets hold, 1 otherwise.
"""

from __future__ import annotations

import argparse
import difflib
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from starting import Host, Recipe, read, session

ERAS = ("dual", "modern")
UNWIRED = "MCP301"
BOUNDARY = "mcp_stateless.py"


class Left(NamedTuple):
    """A finding that is still there after `fix`."""

    rule: str
    name: str
    severity: str
    place: str
    hint: str


@dataclass(frozen=True, slots=True)
class Fixed:
    """What `fix` made of one project in one era."""

    wired: tuple[str, ...]
    left: tuple[Left, ...]
    added: int
    removed: int
    trouble: str = ""

    @property
    def unwired(self) -> list[Left]:
        return [left for left in self.left if left.rule == UNWIRED]

    @property
    def whole(self) -> bool:
        return bool(self.wired) and not self.unwired and not self.trouble


@dataclass(frozen=True, slots=True)
class Judged:
    """What the judge says of one project in one era."""

    passed: int
    failures: tuple[str, ...]
    excused: tuple[str, ...] = ()  # failures of the untouched server with older clients


@dataclass(slots=True)
class Row:
    """One project."""

    name: str
    fixed: dict[str, Fixed] = field(default_factory=dict)
    judged: dict[str, Judged] = field(default_factory=dict)
    session: list[str] | None = None  # lines that differ; None: not started
    trouble: str = ""  # why it does not start

    @property
    def whole(self) -> bool:
        return all(fixed.whole for fixed in self.fixed.values())

    @property
    def started(self) -> bool:
        return self.session is not None

    @property
    def passes(self) -> bool:
        return self.started and not self.session and all(not judged.failures for judged in self.judged.values())


class Bench:
    """The tools and the places of one measurement."""

    def __init__(self, tool: str, judge: Path | None, scratch: Path, environments: Path) -> None:
        self.tool, self.judge, self.scratch, self.environments = shlex.split(tool), judge, scratch, environments

    def row(self, project: Path, recipe: Recipe | None) -> Row:
        row = Row(project.name)
        home = self.scratch / project.name
        shutil.rmtree(home, ignore_errors=True)
        copies = {era: _copy(project, home / era) for era in ERAS}
        for era, copy in copies.items():
            row.fixed[era] = self.fix(project, copy, era)
        if recipe:
            copies["before"] = _copy(project, home / "before")
            try:
                self.start(row, recipe, copies)
            except (OSError, subprocess.SubprocessError) as error:
                row.trouble = str(error)
        print(short(row), file=sys.stderr, flush=True)
        return row

    def fix(self, project: Path, copy: Path, era: str) -> Fixed:
        done = self._run("fix", "--era", era, ".", cwd=copy)
        checked = self._run("check", "--era", era, "--output-format", "json", ".", cwd=copy)
        try:
            report = json.loads(checked.stdout)
        except ValueError:
            return Fixed((), (), 0, 0, (checked.stderr or done.stderr).strip()[-200:] or "nothing was told")
        wired = [f"{file['path']}:{function}" for file in report["files"] for function in file.get("boundary", ())]
        left = [Left(f["rule"], f["name"], f["severity"], f"{f['path']}:{f['line']}", f["hint"]) for f in report["findings"]]
        return Fixed(tuple(wired), tuple(left), *_lines(project, copy))

    def start(self, row: Row, recipe: Recipe, copies: dict[str, Path]) -> None:
        hosts = {name: Host.prepare(recipe, copy, self.environments) for name, copy in copies.items()}
        name, _, rest = (recipe.calls[0] if recipe.calls else "").partition(" => ")[0].partition(" ")
        tool, arguments = name or "no_such_tool_either", json.loads(rest or "{}")
        before = session(hosts["before"], tool, arguments)
        if not any("protocolVersion" in line or '"tools"' in line for line in before):
            raise OSError(f"the untouched server does not answer: {' | '.join(before)[:300]}")
        after = session(hosts["dual"], tool, arguments)
        row.session = list(difflib.unified_diff(before, after, "before", "after", lineterm="", n=0))
        if self.judge is None:
            return
        failures: dict[str, dict[str, str]] = {}
        for era in ERAS:
            if not row.fixed[era].wired:
                row.judged[era] = Judged(0, ("no dispatcher is wired",))
                continue
            passed, failures[era] = self.ask(hosts[era], era)
            row.judged[era] = Judged(passed, tuple(failures[era]))
        if failures.get("dual"):
            # What older clients got is compared with what they get, so a fault that was there before does not count.
            earlier = self.ask(hosts["before"], "dual")[1]
            modern = failures.get("modern", {})
            excused = {check for check in earlier if _is_legacy(check) or check not in modern}
            row.judged["dual"] = Judged(
                row.judged["dual"].passed,
                tuple(check for check in failures["dual"] if check not in excused),
                tuple(check for check in failures["dual"] if check in excused),
            )
        for era, said in failures.items():
            judged = row.judged[era]
            told = tuple(f"{check}: {said[check]}" for check in judged.failures)
            row.judged[era] = Judged(judged.passed, told, judged.excused)

    def ask(self, host: Host, era: str) -> tuple[int, dict[str, str]]:
        """Passed checks, and failed ones with what the judge says."""
        recipe = host.recipe
        command = ["--stdio", shlex.join(host.argv(recipe.run))]
        if recipe.serve:
            command = ["--start", shlex.join(host.argv(recipe.serve)), "--path", recipe.path]
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder, "judged.json")
            argv = [sys.executable, str(self.judge), "--only", "raw,clients", "--era", era, "--json", str(report), *command]
            argv += [part for call in recipe.calls for part in ("--call", call)]
            done = subprocess.run(argv, cwd=host.folder, capture_output=True, text=True)
            if not report.exists():
                raise OSError(f"the judge could not run: {(done.stderr or done.stdout).strip()[-300:]}")
            said = json.loads(report.read_text(encoding="utf-8"))
        if "dead" in said:
            return 0, {"starts": said["dead"].strip()[-200:]}
        failures = {f"{c['group']}: {c['check']}": c["detail"] for c in said["checks"] if c["status"] == "fail"}
        return said["total"].get("pass", 0), failures

    def _run(self, *argv: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*self.tool, *argv], cwd=cwd, capture_output=True, text=True, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--prefix", default="hr-")
    parser.add_argument("--only", default="", help="names of projects, with commas between")
    parser.add_argument("--recipes", type=Path, help="how projects are started; see README.md here")
    parser.add_argument("--judge", type=Path, help="the outside judge (without it, only sessions are compared)")
    parser.add_argument("--tool", default=str(Path(sys.executable).with_name("mcp-migrate")))
    parser.add_argument("--scratch", type=Path, help="where copies are made and kept, with the diffs (default: a folder that goes)")
    parser.add_argument("--environments", type=Path, default=Path.home() / ".cache" / "mcp-migrate-recipes")
    parser.add_argument("--wired", type=float, default=85)
    parser.add_argument("--passing", type=float, default=90)
    parser.add_argument("--jobs", type=int, default=2, help="projects at a time")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    recipes = read(options.recipes) if options.recipes else {}
    names = options.only.split(",") if options.only else sorted(p.name for p in options.corpus.glob(f"{options.prefix}*"))
    with tempfile.TemporaryDirectory() as temporary:
        bench = Bench(options.tool, options.judge, options.scratch or Path(temporary), options.environments)
        with ThreadPoolExecutor(options.jobs) as pool:
            rows = list(pool.map(lambda name: bench.row(options.corpus / name, recipes.get(name)), names))
    goals = list(targets(rows, options.wired, options.passing))
    text = report(rows, goals)
    print(text, end="")
    if options.output is not None:
        options.output.write_text(text, encoding="utf-8")
    return 0 if all(goal.holds for goal in goals) else 1


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
    yield Goal("of those started: every check passes", sum(row.passes for row in started), len(started), passing)
    yield Goal("of those started: older clients get the same bytes", sum(not row.session for row in started), len(started), 100)


def short(row: Row) -> str:
    """One line for who waits."""
    parts = [f"{row.name:20}", "wired" if row.whole else "not wired"]
    if row.started:
        parts.append("passes" if row.passes else "FAILS")
    return " ".join([*parts, row.trouble])


def report(rows: Sequence[Row], goals: Sequence[Goal]) -> str:
    return "\n".join([*_summary(rows, goals), *_table(rows), *_unwired(rows), *_left(rows), *_failures(rows)]) + "\n"


def _summary(rows: Sequence[Row], goals: Sequence[Goal]) -> Iterator[str]:
    yield f"# What `fix` does alone, {time.strftime('%Y-%m-%d')}: {len(rows)} projects, {sum(row.started for row in rows)} of them started"
    yield ""
    yield "| target | measured | at least | holds |"
    yield "| --- | ---: | ---: | --- |"
    for goal in goals:
        verdict = "not measured" if not goal.of else "yes" if goal.holds else "no"
        yield f"| {goal.what} | {goal.reached} of {goal.of} ({goal.share:.0f} %) | {goal.least:.0f} % | {verdict} |"


def _table(rows: Sequence[Row]) -> Iterator[str]:
    yield ""
    yield "| project | dispatchers wired | diff | left: errors, warnings | modern: left | judge dual | judge modern | legacy session |"
    yield "| --- | ---: | ---: | ---: | ---: | --- | --- | --- |"
    for row in rows:
        dual, modern = (row.fixed[era] for era in ERAS)
        cells = [
            row.name,
            f"{len(dual.wired)} of {len(dual.wired) + len(dual.unwired)}" + (f" ({dual.trouble})" if dual.trouble else ""),
            f"+{dual.added} -{dual.removed}, +{modern.added} -{modern.removed}",
            _severities(dual.left),
            _severities(modern.left) + (f" ({modern.trouble})" if modern.trouble else ""),
            *(_verdict(row.judged.get(era)) for era in ERAS),
            "" if row.session is None else "differs" if row.session else "same",
        ]
        yield "| " + " | ".join(cells) + " |"


def _severities(left: Iterable[Left]) -> str:
    counts = Counter(finding.severity for finding in left)
    return f"{counts['error']}, {counts['warning']}"


def _verdict(judged: Judged | None) -> str:
    if judged is None:
        return ""
    excused = f", {len(judged.excused)} as before" if judged.excused else ""
    if not judged.failures:
        return f"pass ({judged.passed}{excused})"
    return f"{len(judged.failures)} of {judged.passed + len(judged.failures)} fail{excused}"


def _unwired(rows: Sequence[Row]) -> Iterator[str]:
    yield from ("", "## Not wired, and why", "")
    for row in rows:
        for era in ERAS:
            fixed = row.fixed[era]
            if era == "modern" and {(u.place, u.hint) for u in fixed.unwired} <= {(u.place, u.hint) for u in row.fixed["dual"].unwired}:
                continue
            for left in fixed.unwired:
                yield f"- {row.name} ({era}) {left.place}: {left.hint}"
        if not row.fixed["dual"].wired and not row.fixed["dual"].unwired:
            yield f"- {row.name}: {row.fixed['dual'].trouble or 'no dispatcher was found'}"


def _left(rows: Sequence[Row]) -> Iterator[str]:
    """What a human still has to do in the projects that are wired whole."""
    yield from ("", "## Left to a human in wired projects", "")
    for row in rows:
        for era, fixed in row.fixed.items():
            counts = Counter(f"{left.rule} {left.name}" for left in fixed.left)
            if fixed.whole and counts:
                yield f"- {row.name} ({era}): " + ", ".join(f"{rule} ({count})" for rule, count in counts.most_common())


def _failures(rows: Sequence[Row]) -> Iterator[str]:
    yield from ("", "## Failures", "")
    for row in rows:
        if row.trouble:
            yield f"- {row.name}: {_one_line(row.trouble)}"
        for era, judged in row.judged.items():
            yield from (f"- {row.name} ({era}) {_one_line(failure)}" for failure in judged.failures)
        for line in (row.session or [])[2:10]:
            yield f"- {row.name} session `{_one_line(line)}`"


def _one_line(text: str) -> str:
    return " ".join(text.split())[:240]


def _is_legacy(check: str) -> bool:
    """Whether a check looks at what older clients get."""
    return check.startswith("py-sdk v1") or "legacy" in check


def _copy(source: Path, target: Path) -> Path:
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", ".git"))
    # The corpus may be read-only.
    for path in [target, *target.rglob("*")]:
        path.chmod(path.stat().st_mode | 0o200)
    return target


def _lines(before: Path, after: Path) -> tuple[int, int]:
    """Added and removed lines in the files that were there."""
    added = removed = 0
    for path in sorted(after.rglob("*.py")):
        source = before / path.relative_to(after)
        if path.name == BOUNDARY or not source.exists() or source.read_bytes() == path.read_bytes():
            continue
        old, new = (file.read_text(encoding="utf-8", errors="replace").splitlines() for file in (source, path))
        changes = [line[0] for line in difflib.unified_diff(old, new, lineterm="", n=0) if not line.startswith(("---", "+++"))]
        added, removed = added + changes.count("+"), removed + changes.count("-")
    return added, removed


if __name__ == "__main__":
    sys.exit(main())
