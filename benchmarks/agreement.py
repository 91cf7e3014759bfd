"""Compares `mcp-migrate verify` with an outside judge: do both pass, or both fail, the same servers?

    python benchmarks/agreement.py --judge JUDGE.py [--output FILE.md] [--only NAME,...] [CORPUS --recipes FILE.yaml --environments DIR]

The servers are those of `fixtures/servers` after `fix` in both eras, the one of `tests/verified` with each of its defects, and
those of a CORPUS that `fix` rewrites and that start. Exit status: 0 when the two agree on all of them, 1 otherwise.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import servers  # noqa: E402
import test_verify  # noqa: E402
from starting import Host, read  # noqa: E402

TOOL = str(Path(sys.executable).with_name("mcp-migrate"))
GROUPS = "raw,clients"  # the others are suites for servers that were written for them, or another language's clients


@dataclass(frozen=True, slots=True)
class Subject:
    """A server, and how both are asked about it; `way` are the options that they share."""

    name: str
    era: str
    way: tuple[str, ...]
    folder: Path
    strict: bool = True
    env: Mapping[str, str] = field(default_factory=dict)


class Row(NamedTuple):
    """What both said, each with the first thing that it found wrong."""

    subject: Subject
    judge: bool
    verify: bool
    said: tuple[str, str]

    @property
    def agree(self) -> bool:
        return self.judge == self.verify


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="?")
    parser.add_argument("--judge", type=Path, required=True)
    parser.add_argument("--recipes", type=Path)
    parser.add_argument("--environments", type=Path, default=Path.home() / ".cache" / "mcp-migrate-recipes")
    parser.add_argument("--only", default="", help="names of servers or defects, with commas between")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    wanted = frozenset(filter(None, options.only.split(",")))
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(options.jobs) as pool:
        subjects = [*fixtures(Path(scratch) / "fixtures", wanted), *defects(Path(scratch), wanted)]
        if options.corpus is not None and options.recipes is not None:
            subjects += projects(options.corpus, options.recipes, options.environments, Path(scratch) / "corpus", wanted)
        rows = list(pool.map(lambda subject: compare(subject, options.judge), subjects))
    text = report(rows)
    print(text, end="")
    if options.output is not None:
        options.output.write_text(text, encoding="utf-8")
    return 0 if rows and all(row.agree for row in rows) else 1


def fixtures(scratch: Path, wanted: Set[str] = frozenset()) -> Iterator[Subject]:
    """The servers of `fixtures/servers`, rewritten for both eras; those of the wanted names, all where there are none."""
    for server in servers.load():
        if wanted and server.name not in wanted:
            continue
        for era in ("dual", "modern") if server.fix == "migrates" else ():
            if era == "dual" and server.judged_dual != "dual":
                continue
            folder = servers.copy(server.before, scratch / server.name / era)
            subprocess.run([TOOL, "fix", "--era", era, "."], cwd=folder, capture_output=True)
            calls = [part for call in server.calls for part in ("--call", call)]
            calls += [part for notice in server.notify for part in ("--notify", notice)]
            argv = [*(["env", *(f"{k}={v}" for k, v in server.environment.items())] if server.environment else []), *server.argv]
            way = ["--start", shlex.join(argv), "--path", server.path] if server.http else ["--stdio", shlex.join(argv)]
            yield Subject(server.name, era, (*way, *calls), folder)


def defects(folder: Path, wanted: Set[str] = frozenset()) -> Iterator[Subject]:
    """The server of the tests, right and with every defect, over the transport that shows it, each over one of them."""
    names = ["", *test_verify.BOTH, *test_verify.STDIO, *test_verify.HTTP]
    for number, defect in enumerate(names):
        if wanted and not wanted & {"defect", defect}:
            continue
        http = defect in test_verify.HTTP or (defect not in test_verify.STDIO and number % 2 == 1)
        run = shlex.join(["env", f"DEFECT={defect}", sys.executable, str(test_verify.SERVER)])
        way = ["--start", f"{run} {{port}}", "--path", "/mcp"] if http else ["--stdio", run]
        asked = ["--call", 'add {"a": 1, "b": 2} => 3', "--call", "greet {} => hello"]
        asked += ["--notify", "rename {} => notifications/tools/list_changed"]
        yield Subject(f"defect {defect or 'none'}", "dual", (*way, *asked), folder)


def projects(corpus: Path, recipes: Path, environments: Path, scratch: Path, wanted: Set[str] = frozenset()) -> Iterator[Subject]:
    """The projects that start, rewritten for both eras."""
    for name, ways in read(recipes).ways.items():
        if wanted and name not in wanted:
            continue
        for era in ("dual", "modern"):
            copy = scratch / name / era
            shutil.copytree(corpus / name, copy, symlinks=True)
            subprocess.run([TOOL, "fix", "--era", era, "."], cwd=copy, capture_output=True)
            recipe = ways[0].after
            try:
                host = Host.prepare(recipe, copy, environments)
            except (OSError, subprocess.SubprocessError) as error:
                print(f"{name}: {error}", file=sys.stderr)
                break
            command = shlex.join(host.argv(recipe.serve or recipe.run)).replace("'{port}'", "{port}")
            way = ["--start", command, "--path", recipe.path] if recipe.serve else ["--stdio", command]
            calls = [part for call in recipe.calls for part in ("--call", call)]
            yield Subject(name, era, (*way, *calls), host.folder, strict=False)


def compare(subject: Subject, judge: Path) -> Row:
    strict = ["--strict"] if subject.strict else []
    argv = [sys.executable, str(judge), "--only", GROUPS, "--era", subject.era, *strict, *subject.way]
    judged = subprocess.run(argv, cwd=subject.folder, capture_output=True, text=True)
    # The judge calls every tool with made-up arguments where no call is given.
    guess = [] if "--call" in subject.way else ["--guess"]
    verified = subprocess.run(
        [TOOL, "verify", "--output-format", "json", "--timeout", "4", "--era", subject.era, *strict, *guess, *subject.way],
        cwd=subject.folder,
        capture_output=True,
        text=True,
    )
    row = Row(subject, judged.returncode == 0, verified.returncode == 0, (_first(judged.stdout), _told(verified)))
    print(f"{subject.name:32} {subject.era:7} judge {judged.returncode}, verify {verified.returncode}", file=sys.stderr, flush=True)
    return row


def _first(text: str) -> str:
    """The first line of the judge that says that a check failed."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return next((line for line in lines if line.lower().startswith(("fail", "warn"))), "")


def _told(done: subprocess.CompletedProcess[str]) -> str:
    try:
        checks = json.loads(done.stdout)["checks"]
    except ValueError:
        return done.stderr.strip()
    return next((f"{one['name']}: {one['detail']}" for one in checks if one["outcome"] in ("failed", "warned")), "")


def report(rows: Sequence[Row]) -> str:
    agreed = sum(row.agree for row in rows)
    lines = [
        f"{agreed} of {len(rows)} servers: `verify` and the judge agree.",
        "",
        "| server | era | judge | `verify` | what `verify` found first |",
        "| --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        words = ["passes" if passed else "fails" for passed in (row.judge, row.verify)]
        found = row.said[1] if row.agree else f"the judge: {row.said[0]}; verify: {row.said[1]}"
        mark = "" if row.agree else " **(not agreed)**"
        lines.append(f"| {row.subject.name}{mark} | {row.subject.era} | {words[0]} | {words[1]} | {found[:160].replace('|', '/')} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
