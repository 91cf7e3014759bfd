"""Measures what `fix` makes of each pair of snippets of a map of changes from SDK 1.x to 2.x: does it behave as the 2.x side does?

    python benchmarks/pairs.py --map MAP.md [--self-check] [--only ENTRY,...]

The map has one heading (`#### name  -  CLASS`) for each entry, and below it one Python block with a `# v1` and a `# v2` side. The 1.x
side runs under 1.x and is rewritten; the rewritten text and the 2.x side run under 2.x, and print the same, or what the 1.x side did.
Where the sides only look at the SDK (at signatures, mostly), or print what no code does, a program of `programs/` that uses the thing
takes their place: rewritten, it does under 2.x what it did under 1.x. Where an entry is of a class that wants a human (ASSIST, MANUAL), a
fix that only `--unsafe-fixes` makes is told as such, and a finding is enough where there is none.
`--self-check` puts the 2.x side in place of the rewritten text: every entry must hold then, and print what the map says.
Exit status: 0 when every entry holds.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from sdk import HERE, SESSIONS, pins
from starting import environment
from tooling import Job, run

ENTRY = re.compile(r"^#### (?P<name>\S+)\s+\S+\s+(?P<kind>[A-Z-]+).*?$(?P<body>.*?)(?=^#{2,4} |\Z)", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
SIDES = re.compile(r"(?:# v1\n)?(?P<one>.*?)# v2(?P<same>: identical)?\n?(?P<two>.*)", re.DOTALL)
PRINTS = {"1": re.compile(r"v1 before: runs, prints `([^`]*)`"), "2": re.compile(r"v2 after: runs, prints `([^`]*)`")}
HUMAN = frozenset({"ASSIST", "MANUAL"})  # where a finding is all that is asked for
# What a snippet takes for granted.
GIVEN = {"asyncio": "import asyncio\n", "sys": "import sys\n", "SRV": "SRV = sys.argv[1]\n"}
# Beside the SDK: what 1.x brought along.
BESIDE: dict[str, tuple[str, ...]] = {
    "1": (),
    "2": ("httpx==0.28.1", "httpx-sse==0.4.3", "pydantic-settings==2.16.3", "jsonschema==4.26.0"),
}

# What the servers of those snippets are asked that print nothing themselves.
STEPS: dict[str, list[list[Any]]] = {
    "tool-schema-type-object": [["count"]],
    "fastmcp-ctor-transport": [["serve", ["port", "host", "stateless_http", "json_response"]]],
    "fastmcp-get-context": [["call", "t", {"n": 1}]],
    "tool-exception-text": [["call", "t", {}]],
    "resource-prompt-exception-text": [["read", "n://5"]],
    "mcperror-in-tool": [["call", "t", {}]],
    "sync-handler-thread": [["call", "t", {}]],
    "uri-template-strict": [["read", "f://a..b"]],
    "ctx-fastmcp-attr": [["call", "t", {}]],
    "low-list-tools": [["list"]],
    "low-call-tool": [["call", "t", {"n": 1}], ["call", "t", {"n": "x"}]],
    "low-read-resource": [["read", "note://a"], ["read", "other://a"]],
    "low-get-prompt": [["prompt", "p", {"a": "1"}], ["prompt", "q", {}]],
    "low-completion": [["complete", "p", "a", "v"]],
    "low-request-context": [["call", "t", {}]],
    "request-context-ambient": [["call", "t", {}]],
    "serversession-identity": [["call", "t", {}]],
    "elicit-modern": [["call", "book", {"date": "1"}]],
    "sampling-modern": [["call", "t", {"q": "q"}]],
    "roots-modern": [["call", "t", {}]],
    "log-modern": [["logs", "t", {}]],
    "resource-not-found-code": [["read", "n://5"]],
}
STEPS_OF_PROGRAMS: dict[str, list[list[Any]]] = {"fastmcp-run-async": [["serve", ["port", "host", "streamable_http_path"]]]}


@dataclass(slots=True)
class Pair:
    """One entry of the map, and what became of it."""

    name: str
    kind: str
    one: str = ""
    two: str = ""
    program: str = ""
    prints: dict[str, str] = field(default_factory=dict)  # what the map says that each side prints
    said: dict[str, list[str]] = field(default_factory=dict)  # what was printed: "1", "2" and "fixed"
    found: list[str] = field(default_factory=list)  # in the 1.x side, or in the program
    findings: list[str] = field(default_factory=list)  # and in what became of it
    verdict: str = "nothing to run"
    doubts: list[str] = field(default_factory=list)  # where the map says something else than what was printed

    @property
    def holds(self) -> bool:
        return self.verdict != "wrong"


def read(path: Path) -> Iterator[Pair]:
    for entry in ENTRY.finditer(path.read_text(encoding="utf-8")):
        pair = Pair(entry["name"], entry["kind"])
        block = BLOCK.search(entry["body"])
        if block:
            sides = SIDES.fullmatch(block[1])
            assert sides, f"{pair.name}: no sides"
            pair.one = _whole(sides["one"])
            two = sides["one"] if sides["same"] else sides["two"]
            pair.two = "" if two.strip() in ("", "# none") else _whole(two)
        for side, prints in PRINTS.items():
            if told := prints.search(entry["body"]):
                pair.prints[side] = told[1]
        program = HERE / "programs" / f"{pair.name}.py"
        if program.exists():
            pair.program = program.read_text(encoding="utf-8")
        yield pair


def _whole(snippet: str) -> str:
    """A snippet with what it takes for granted."""
    used = {name for name in GIVEN if re.search(rf"\b{name}\b", snippet)}
    if "SRV" in used:
        used.add("sys")
    given = [line for name, line in GIVEN.items() if name in used and not re.search(rf"^import {name}$", snippet, re.MULTILINE)]
    return "".join(given) + snippet.strip() + "\n"


class Bench:
    """The tools and the places of one measurement."""

    def __init__(self, tool: str, scratch: Path, environments: Path, *, itself: bool) -> None:
        self.tool, self.scratch, self.itself = tool, scratch, itself
        self.pythons = {major: environment((*pins(major), *beside), environments) / "python" for major, beside in BESIDE.items()}

    def measure(self, pairs: list[Pair]) -> None:
        self._write(pairs)
        if not self.itself:
            self._rewrite([pair for pair in pairs if pair.one or pair.program])
        runs: dict[str, list[tuple[Pair, str]]] = {"1": [], "2": []}
        for pair in pairs:
            for side, major in {"1": "1", "2": "2", "program": "1", "fixed": "2", "unsafe": "2"}.items():
                if (self.scratch / pair.name / side).exists():
                    runs[major].append((pair, side))
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(self._drive, runs, runs.values()))
        for pair in pairs:
            if pair.one:
                pair.verdict = self._verdict(pair)
                pair.doubts = list(_doubts(pair))

    def _write(self, pairs: list[Pair]) -> None:
        for pair in pairs:
            program = "" if self.itself else pair.program
            fixed = pair.two if self.itself else program or pair.one
            unsafe = fixed if pair.kind in HUMAN and not self.itself else ""
            for side, text in {"1": pair.one, "2": pair.two, "program": program, "fixed": fixed, "unsafe": unsafe}.items():
                pair.said[side] = []
                if text:
                    (self.scratch / pair.name / side).mkdir(parents=True)
                    (self.scratch / pair.name / side / "snippet.py").write_text(text, encoding="utf-8")

    def _rewrite(self, pairs: list[Pair]) -> None:
        homes = [self.scratch / pair.name / "fixed" for pair in pairs]
        look: list[Job] = [(home, ["check", "--output-format", "json", "."]) for home in homes]
        for pair, said in zip(pairs, run(self.tool, look), strict=True):
            pair.found = _told(said)
        run(self.tool, [(home, ["fix", "."]) for home in homes])
        further = [self.scratch / pair.name / "unsafe" for pair in pairs if pair.kind in HUMAN]
        run(self.tool, [(home, ["fix", "--unsafe-fixes", "."]) for home in further])
        for pair, said in zip(pairs, run(self.tool, look), strict=True):
            pair.findings = _told(said)

    def _drive(self, major: str, runs: list[tuple[Pair, str]]) -> None:
        """Run these sides under one major of the SDK."""
        jobs = [(str(self.scratch / pair.name / side / "snippet.py"), _steps(pair, side)) for pair, side in runs]
        argv = [str(self.pythons[major]), str(SESSIONS / "driving.py")]
        done = subprocess.run(argv, input=json.dumps(jobs), capture_output=True, text=True)
        if done.returncode:
            raise OSError(f"driving.py: {done.stderr.strip()[-400:]}")
        for (pair, side), (lines, fault) in zip(runs, json.loads(done.stdout), strict=True):
            pair.said[side] = [*lines, f"fails: {_last(fault)}"] if fault else lines

    def _verdict(self, pair: Pair) -> str:
        verdict = self._alike(pair, "fixed")
        if verdict == "wrong" and pair.kind in HUMAN:
            if pair.said["unsafe"] and self._alike(pair, "unsafe") != "wrong":
                return "unsafe fix"
            if pair.found or (self.itself and not pair.two):
                return "finding only"
        return verdict

    def _alike(self, pair: Pair, side: str) -> str:
        one, two, fixed, program = pair.said["1"], pair.said["2"], pair.said[side], pair.said["program"]
        if any(line.startswith("fails:") for line in fixed):
            return "wrong"
        if program:
            return "by a program" if fixed == program else "wrong"
        if pair.two and fixed == two:
            return "ok"
        return "as before" if fixed == one or fixed == [f"{letter} {line}" for line in one for letter in "LM"] else "wrong"


def _steps(pair: Pair, side: str) -> list[list[Any]]:
    of_program = bool(pair.program) and side not in ("1", "2")
    return (STEPS_OF_PROGRAMS if of_program else STEPS).get(pair.name, [])


def _told(said: str) -> list[str]:
    told = json.loads(said)["findings"] if said.startswith("{") else []
    return [f"{finding['rule']} line {finding['line']} ({finding['severity']})" for finding in told]


def _last(text: str) -> str:
    """The last line that names an error."""
    lines = [line.strip(" |+") for line in text.splitlines() if re.match(r"[ |+]*[\w.]*(Error|Exception|Exit|Found|Group)\b", line)]
    return (lines or text.strip().splitlines() or ["without a word"])[-1][:200]


def _doubts(pair: Pair) -> Iterator[str]:
    """Where something else was printed than the map says, which cuts long lines, and puts ` / ` between them."""
    for side, told in pair.prints.items():
        said = " / ".join(pair.said[side])
        if not said.startswith(told.strip().replace("McpError:", "MCPError:")) and "meta=" not in told:
            yield f"{side}.x side printed `{said[:150]}`, and the map says `{told}`"


def report(pairs: list[Pair], *, itself: bool) -> str:
    counts = Counter((pair.kind, pair.verdict) for pair in pairs)
    verdicts = ["ok", "as before", "by a program", "unsafe fix", "finding only", "wrong", "nothing to run"]
    lines = [
        f"# Pairs of snippets, {time.strftime('%Y-%m-%d')}: {len(pairs)} entries" + (" (the 2.x sides themselves)" if itself else ""),
        "",
    ]
    lines += [f"| class | {' | '.join(verdicts)} |", "| --- |" + " ---: |" * len(verdicts)]
    for kind in sorted({pair.kind for pair in pairs}):
        lines.append(f"| {kind} | {' | '.join(str(counts[kind, verdict]) for verdict in verdicts)} |")
    lines.append(f"| all | {' | '.join(str(sum(pair.verdict == verdict for pair in pairs)) for verdict in verdicts)} |")
    lines += [
        "",
        "| entry | class | verdict | 1.x side | 2.x side | rewritten | findings left |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for pair in pairs:
        if pair.one:
            said = [_cell(pair.said[side]) for side in (("program", "2", "fixed") if pair.said["program"] else ("1", "2", "fixed"))]
            findings = pair.findings or [f"before: {found}" for found in pair.found if pair.verdict in ("unsafe fix", "finding only")]
            lines.append(f"| {pair.name} | {pair.kind} | {pair.verdict} | {' | '.join(said)} | {', '.join(findings)} |")
    lines += ["", "## Entries without a snippet", ""]
    covering = _covering()
    lines += [f"- {pair.name} ({pair.kind}): {covering.get(pair.name, 'nothing')}" for pair in pairs if not pair.one]
    lines += ["", "## Where the map says something else", ""]
    lines += [f"- {pair.name}: {doubt}" for pair in pairs for doubt in pair.doubts]
    return "\n".join(lines) + "\n"


def _covering() -> dict[str, str]:
    """For each item of the catalog the rules that are about it, or why there is none."""
    catalog = HERE.parent / "rules"
    items = yaml.safe_load((catalog / "sdk.yaml").read_text(encoding="utf-8"))
    found = {item["name"]: item["no_rule"] for part in items.values() if isinstance(part, list) for item in part if "no_rule" in item}
    for path in sorted(catalog.glob("*/*.yaml")):
        entry = yaml.safe_load(path.read_text(encoding="utf-8"))
        for item in entry.get("covers", ()) if "id" in entry else ():
            name = item.removeprefix("sdk/")
            found[name] = ", ".join(filter(None, [found.get(name), f"{entry['id']} {path.stem}"]))
    return found


def _cell(lines: list[str]) -> str:
    return " / ".join(lines).replace("|", "/")[:110]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--map", type=Path, required=True)
    parser.add_argument("--only", default="", help="names of entries, with commas between")
    parser.add_argument("--self-check", action="store_true")
    parser.add_argument("--tool", default=str(Path(sys.executable).with_name("mcp-migrate")))
    parser.add_argument("--environments", type=Path, default=Path.home() / ".cache" / "mcp-migrate-recipes")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    pairs = [pair for pair in read(options.map) if not options.only or pair.name in options.only.split(",")]
    with tempfile.TemporaryDirectory() as temporary:
        bench = Bench(options.tool, Path(temporary), options.environments.resolve(), itself=options.self_check)
        bench.measure(pairs)
    text = report(pairs, itself=options.self_check)
    print(text, end="")
    if options.output is not None:
        options.output.write_text(text, encoding="utf-8")
    if options.json is not None:
        options.json.write_text(
            json.dumps([{name: getattr(pair, name) for name in Pair.__slots__} for pair in pairs], indent=1), encoding="utf-8"
        )
    return 0 if all(pair.holds and not (options.self_check and pair.doubts) for pair in pairs) else 1


if __name__ == "__main__":
    sys.exit(main())
