"""Measures what `fix` makes of the official reference servers: their own tests, and an outside judge in the dual era.

    python benchmarks/references.py --recipes benchmarks/references.yaml --repository DIR --judge JUDGE.py [--commit HASH]

DIR is a git directory of the repository that holds them. Each server is taken from the commit, tested on SDK 1.x, rewritten, and tested
and judged on 2.x. Exit status: 0 when no test fails that passed, and the judge finds nothing.
"""

from __future__ import annotations

import argparse
import io
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import run
from typing import Any

from judging import GROUPS, Verdict, ask
from sdk import Bench, Plan, read

COLUMNS = (*GROUPS, "ts-sdk v2", "conformance")  # all that the judge has
COMMIT = "76d64c822f5125032f89eb71dbdb94e42b434821"  # speaks SDK 1.x


def measure(bench: Bench, name: str, plan: Plan, options: argparse.Namespace) -> dict[str, Any]:
    source = bench.scratch / "sources" / name
    packed = run(
        ["git", f"--git-dir={options.repository}", "archive", options.commit, f"src/{name}"], capture_output=True, check=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(bench.scratch / "sources" / f"{name}-whole", filter="data")
    (bench.scratch / "sources" / f"{name}-whole" / "src" / name).rename(source)
    row: dict[str, Any] = bench.row(source, plan)
    for number, way in enumerate(plan.ways):
        copy = bench.copied(bench.scratch / name / "fixed", source)
        verdict = Verdict(trouble="no judge")
        try:
            if options.judge:
                verdict = ask(options.judge, plan.prepare("2", way.recipe, copy, bench.environments), "dual", "raw,clients,ts,conformance")
        except OSError as error:
            verdict = Verdict(trouble=str(error)[:200])
        row.setdefault("judged", {})[number] = verdict
    return row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recipes", type=Path, required=True)
    parser.add_argument("--repository", type=Path, required=True)
    parser.add_argument("--commit", default=COMMIT)
    parser.add_argument("--judge", type=Path)
    parser.add_argument("--tool", default=str(Path(sys.executable).with_name("mcp-migrate")))
    parser.add_argument("--environments", type=Path, default=Path.home() / ".cache" / "mcp-migrate-recipes")
    parser.add_argument("--fresh", action="store_true", help="measure the untouched servers again, too")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    options.referee, options.parts = None, "sessions,tests"
    with tempfile.TemporaryDirectory() as temporary:
        bench = Bench(options, Path(temporary).resolve())
        with ThreadPoolExecutor(options.jobs) as pool:
            rows = list(pool.map(lambda told: measure(bench, *told, options), read(options.recipes).items()))
    text = "\n".join(_lines(rows)) + "\n"
    print(text, end="")
    if options.output is not None:
        options.output.write_text(text, encoding="utf-8")
    return 0 if all(_holds(row) for row in rows) else 1


def _holds(row: dict[str, Any]) -> bool:
    return bool(row.get("tests")) and not row["tests"]["failed"] and all(verdict.passes for verdict in row["judged"].values())


def _lines(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| server | own tests that still pass | judge, dual: passed/failed in " + ", ".join(COLUMNS) + " | answers as before | holds |",
        "| --- | --- | --- | --- | --- |",
    ]
    more = [""]
    for row in rows:
        tests, name = row.get("tests"), row["name"]
        judged = "; ".join(_verdict(verdict) for verdict in row["judged"].values())
        differs = [line for told in row["sessions"] for client in told["differs"].values() for line in client]
        told = f"{tests['after']} of {tests['before']}" if tests else "not run"
        same = f"{len(differs)} places differ" if differs else "yes"
        lines.append(f"| {name} | {told} | {judged} | {same} | {'yes' if _holds(row) else 'no'} |")
        more += [f"- {name}: {trouble}" for trouble in row["trouble"]]
        more += [f"- {name}: {test}: {reason[:200]}" for test, reason in (tests["failed"] if tests else {}).items()]
        more += [f"- {name}: {check}" for verdict in row["judged"].values() for check in verdict.failed]
        more += [f"- {name}: {line[:240]}" for line in dict.fromkeys(differs)]
    return [*lines, *more]


def _verdict(verdict: Verdict) -> str:
    failed = [sum(check.group == group for check in verdict.failed) for group in COLUMNS]
    counts = ", ".join(f"{verdict.passed.get(group, 0)}/{count}" for group, count in zip(COLUMNS, failed, strict=True))
    return f"{counts} ({' '.join(verdict.trouble.split())[:80]})" if verdict.trouble else counts


if __name__ == "__main__":
    sys.exit(main())
