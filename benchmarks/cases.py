"""Measures `mcp-migrate` on cases: small programs with the fault of a bug report, and the right answer to each.

    python benchmarks/cases.py --cases CASES [--only NAME,...] [--self-check]

CASES holds `reports/NAME/` (`before.py`, `expect.md`, often `after.py` and `prove.py`) and `protocol/*.py` (of which those are taken
that import the SDK). For a report: the lines that `expect.md` names have findings; after `fix`, the rewritten text takes the place
of `after.py` in a copy, and `prove.py` runs there on the newest SDK. `--self-check` leaves `after.py` as it is: every proof must hold.
Exit status: 0 when everything holds.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sdk import pins
from starting import environment

# Beside the SDK: what some of the programs need.
BESIDE = ("fastapi==0.165.0", "uvicorn==0.54.0", "httpx==0.28.1", "jsonschema==4.26.0")
ENTRY = re.compile(r"^- (?:lines? (?P<lines>\d+(?:, \d+)*)|files/(?P<file>[\w./-]+)|(?P<nothing>nothing at all))(?=[:,\s]|$)(?P<text>.*)$")
FILES = re.compile(r"(?<![\w./-])([\w-]+(?:/[\w.-]+)*\.(?:txt|toml|json|yml|md)|Dockerfile)")
# What a case needs beside that: another library.
FURTHER = {"25_two_fastmcps_one_file": ("fastmcp==4.2.3",)}
# Where the findings are the proof, and why `fix` alone cannot make the rest of it hold.
TOLD = {
    "03_stdio_exit_before_initialize": "a human has to let the loop take any message first; `fix` wires nothing until then",
    "05_resource_not_found_both_sides": "no dispatcher stands before it, so no boundary can tell which era asks",
    "07_http_session_endpoint": "what the state is kept by is the user's decision",
    "14_ping_keepalive": "what counts as alive is the user's decision",
    "32_public_reexport": "which public names stay is the user's decision",
}
# What a proof says of its own `after.py` alone, and what takes its place in a copy.
ADAPTED = {
    # Older clients are answered byte for byte as before, so with the version that the server had.
    "06_version_constant_only": [('("legacy", "2025-11-25 3")', '("legacy", "2024-11-05 3")')],
    # A name of a function.
    "15_lowlevel_call_tool_contract": [
        ("mod.on_list_tools", "on_list_tools"),
        (
            "async def naive_call(",
            "async def on_list_tools(ctx, params):\n"
            "    return types.ListToolsResult(tools=await mod.list_tools())\n\n\n"
            "async def naive_call(",
        ),
    ],
}
LIMIT = 180


@dataclass(slots=True)
class Case:
    """One case, and what became of it."""

    name: str
    found: list[str] = field(default_factory=list)  # what was to be reported, and is
    missed: list[str] = field(default_factory=list)  # and is not
    unread: list[str] = field(default_factory=list)  # what no machine can look for
    changed: list[str] = field(default_factory=list)  # files that `fix` changed or made
    proof: str = ""  # "holds", "none", or what fails
    told: str = ""  # why the findings are the proof

    @property
    def holds(self) -> bool:
        return not self.missed and (self.proof in ("holds", "none") or bool(self.told))


class Bench:
    """The tools and the places of one measurement."""

    def __init__(self, tool: str, scratch: Path, environments: Path, *, itself: bool) -> None:
        self.tool, self.scratch, self.itself = shlex.split(tool), scratch, itself
        self.environments = environments

    def python(self, name: str) -> Path:
        """The interpreter for the proof of a case."""
        further = FURTHER.get(name, ())
        return environment((*pins("2"), *(further or BESIDE)), self.environments) / "python"

    def report(self, folder: Path) -> Case:
        case = Case(folder.name, told=TOLD.get(folder.name, ""))
        project = self.scratch / "projects" / folder.name
        project.mkdir(parents=True)
        shutil.copyfile(folder / "before.py", project / "before.py")
        if (folder / "files").is_dir():
            shutil.copytree(folder / "files", project, dirs_exist_ok=True)
        wanted = list(_wanted(folder / "expect.md"))
        self._look(case, project, wanted)
        if not self.itself:
            self._run("fix", "--docs", ".", cwd=project)
        case.changed = [
            path.relative_to(project).as_posix() for path in sorted(project.rglob("*")) if path.is_file() and _is_new(path, project, folder)
        ]
        case.proof = self._proof(folder, project)
        if (folder / "files_after").is_dir() and not self.itself:
            theirs = {path.relative_to(folder / "files_after"): path for path in (folder / "files_after").rglob("*") if path.is_file()}
            other = [str(name) for name, path in theirs.items() if (project / name).read_bytes() != path.read_bytes()]
            case.proof = f"other than files_after: {', '.join(other)}" if other else "holds"
        if any(nothing for *_, nothing in wanted) and case.changed:
            case.proof = f"changed: {', '.join(case.changed)}"
        return case

    def _look(self, case: Case, project: Path, wanted: list[tuple[str, tuple[int, ...], str, bool]]) -> None:
        """Has every line and file that is named a finding?"""
        found = self._findings(project)
        spans = _statements(project / "before.py")
        for text, lines, file, nothing in wanted:
            if nothing:
                (case.missed if found else case.found).append(f"{text}: {len(found)} findings")
            elif file:
                near = [f for f in found if f["path"] == file]
                (case.found if near else case.missed).append(text)
            elif lines:
                for line in lines:
                    span = spans.get(line, (line, line))
                    near = [f for f in found if f["path"] == "before.py" and span[0] <= f["line"] <= span[1]]
                    (case.found if near else case.missed).append(f"line {line}: {text}" + (f" ({near[0]['rule']})" if near else ""))
            else:
                case.unread.append(text)

    def _proof(self, folder: Path, project: Path) -> str:
        if not (folder / "prove.py").exists():
            return "none"
        place = self.scratch / "proofs" / folder.name
        shutil.copytree(folder, place)
        shutil.copyfile(folder.parent / "prove_lib.py", place.parent / "prove_lib.py")
        if not self.itself:
            for path in project.iterdir():
                if path.is_file():
                    shutil.copyfile(path, place / ("after.py" if path.name == "before.py" else path.name))
            # The untouched program stays what it was: a proof compares with it.
            shutil.copyfile(folder / "before.py", place / "before.py")
            proof = (place / "prove.py").read_text(encoding="utf-8")
            for theirs, ours in ADAPTED.get(folder.name, ()):
                assert theirs in proof, f"{folder.name}: {theirs}"
                proof = proof.replace(theirs, ours)
            (place / "prove.py").write_text(proof, encoding="utf-8")
        try:
            done = subprocess.run([str(self.python(folder.name)), "prove.py"], cwd=place, capture_output=True, text=True, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            return "no end"
        if not done.returncode:
            return "holds"
        bad = [line for line in done.stdout.splitlines() if line.startswith("BAD")]
        last = [line for line in done.stderr.strip().splitlines() if line.strip(" |+-")][-1:]
        return " / ".join(bad or last or ["fails without a word"])[:300]

    def protocol(self, path: Path) -> Case:
        """The RIGHT line of a small input, as far as a machine can read it: each has a check of its own here."""
        case = Case(f"protocol/{path.name}")
        project = self.scratch / "protocol" / path.stem
        project.mkdir(parents=True)
        data = path.read_bytes()
        if path.name.startswith("crlf_"):  # whatever a checkout has made of it
            data = data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        (project / path.name).write_bytes(data)
        found = self._findings(project)
        (case.found if found else case.missed).append("a finding")
        self._run("fix", ".", cwd=project)
        before, after = data, (project / path.name).read_bytes()
        right = CHECKS.get(path.name)
        told = right(before, after) if right else None
        case.proof = "none" if right is None else "holds" if told is None else told
        case.changed = [path.name] if before != after else []
        if path.name == "sse_subclass.py" and not found:
            case.missed.clear()  # nothing of it is gone
        return case

    def _findings(self, project: Path) -> list[Mapping[str, Any]]:
        said = self._run("check", "--output-format", "json", ".", cwd=project).stdout
        found: list[Mapping[str, Any]] = json.loads(said)["findings"] if said.startswith("{") else []
        return found

    def _run(self, *argv: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*self.tool, *argv], cwd=cwd, capture_output=True, text=True, encoding="utf-8")


def _wanted(expect: Path) -> Iterator[tuple[str, tuple[int, ...], str, bool]]:
    """What must be reported: the text, lines of the program, another file, or that there must be nothing."""
    part = expect.read_text(encoding="utf-8").partition("## Must be reported")[2].partition("\n## ")[0]
    for line in part.splitlines():
        entry = ENTRY.match(line)
        if entry and entry["lines"]:
            yield entry["text"].lstrip(": "), tuple(map(int, entry["lines"].split(", "))), "", False
        elif entry and entry["file"]:
            # One entry may name several files.
            for name in dict.fromkeys([entry["file"], *FILES.findall(entry["text"])]):
                if (expect.parent / "files" / name).exists():
                    yield f"files/{name}{entry['text'][:60]}", (), name, False
        elif entry:
            yield "nothing at all", (), "", True
        elif line.startswith("- "):
            yield line[2:], (), "", False


def _statements(path: Path) -> dict[int, tuple[int, int]]:
    """For each line the innermost statement that has it, without the body of one that holds others."""
    spans: dict[int, tuple[int, int]] = {}
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            inner = getattr(node, "body", None)
            start = (
                node.pattern.lineno
                if isinstance(node, ast.match_case)
                else min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            )
            end = inner[0].lineno - 1 if isinstance(inner, list) and inner else getattr(node, "end_lineno", start)
            for line in range(start, max(end, start) + 1):
                spans[line] = (start, max(end, start))
    return spans


def _is_new(path: Path, project: Path, folder: Path) -> bool:
    name = path.relative_to(project)
    before = folder / name if name.name == "before.py" else folder / "files" / name
    return not before.exists() or before.read_bytes() != path.read_bytes()


def _crlf(before: bytes, after: bytes) -> str | None:
    old, new = before.split(b"\r\n"), after.split(b"\r\n")
    if b"\n" in after.replace(b"\r\n", b"") or len(old) != len(new):
        return "line ends changed"
    other = [number for number, (one, two) in enumerate(zip(old, new, strict=True), 1) if one != two]
    return None if other == [2, 4] else f"lines {other} differ"


def _latin1(before: bytes, after: bytes) -> str | None:
    if "café".encode("latin-1") not in after:
        return "the encoding is lost"
    return None if b"MCPServer(" in after else "not rewritten"


def _ctor(before: bytes, after: bytes) -> str | None:
    calls = [
        node
        for node in ast.walk(ast.parse(after))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("MCPError", "super().__init__")
    ]
    good = [call for call in calls if {"code", "message"} <= {keyword.arg for keyword in call.keywords} and not call.args]
    return None if len(good) == len(calls) == 2 else "not rewritten" if b"McpError" in after else "renamed only"


def _own(before: bytes, after: bytes) -> str | None:
    if b"from .streamablehttp_client import run_streamablehttp_client" not in after or b"await run_streamablehttp_client(url)" not in after:
        return "the project's own module was touched"
    # The third value is asked for, so a module beside it goes on giving three.
    good = b"import mcp_http\n" in after and b"mcp_http.streamablehttp_client(url) as (read, write, get_session_id):" in after
    return None if good else "not rewritten"


def _sse(before: bytes, after: bytes) -> str | None:
    return None if after.count(b"SseServerTransport") in (0, 2) else "half a rename"


CHECKS = {
    "crlf_endings.py": _crlf,
    "latin1_cookie.py": _latin1,
    "mcperror_ctor.py": _ctor,
    "own_module_same_name.py": _own,
    "sse_subclass.py": _sse,
}


def report(cases: list[Case]) -> str:
    proofs = [case for case in cases if case.proof != "none"]
    lines = [
        f"# Cases, {time.strftime('%Y-%m-%d')}: {len(cases)}",
        "",
        f"{sum(case.holds for case in cases)} of {len(cases)} hold; reported: {sum(len(c.found) for c in cases)} of "
        f"{sum(len(c.found) + len(c.missed) for c in cases)} places; proofs: {sum(c.proof == 'holds' for c in proofs)} of {len(proofs)}, "
        f"and {sum(c.proof != 'holds' and bool(c.told) for c in proofs)} whose findings are the proof.",
        "",
        "| case | holds | reported | proof | changed |",
        "| --- | --- | --- | --- | --- |",
    ]
    for case in cases:
        proof = case.proof.replace("|", "/")[:150]
        if case.told and case.proof != "holds":
            proof = f"the findings: {case.told}"
        elif case.proof == "holds" and case.name in ADAPTED:
            proof = "holds, adapted"
        cells = [
            case.name,
            "yes" if case.holds else "no",
            f"{len(case.found)} of {len(case.found) + len(case.missed)}",
            proof,
            ", ".join(case.changed),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "## Not reported", ""]
    lines += [f"- {case.name}: {missed}" for case in cases for missed in case.missed]
    lines += ["", "## For a human to look at", ""]
    lines += [f"- {case.name}: {text}" for case in cases for text in case.unread]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=Path, required=True)
    parser.add_argument("--only", default="", help="names of cases, with commas between")
    parser.add_argument("--self-check", action="store_true")
    parser.add_argument("--tool", default=str(Path(sys.executable).with_name("mcp-migrate")))
    parser.add_argument("--environments", type=Path, default=Path.home() / ".cache" / "mcp-migrate-recipes")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    only = options.only.split(",") if options.only else []
    folders = [f for f in sorted((options.cases / "reports").iterdir()) if (f / "expect.md").exists()]
    texts = [
        p for p in sorted((options.cases / "protocol").glob("*.py")) if re.search(rb"^(from|import) mcp\b", p.read_bytes(), re.MULTILINE)
    ]
    with tempfile.TemporaryDirectory() as temporary:
        bench = Bench(options.tool, Path(temporary), options.environments.resolve(), itself=options.self_check)
        with ThreadPoolExecutor(options.jobs) as pool:
            cases = list(pool.map(bench.report, [f for f in folders if not only or f.name in only]))
            if not options.self_check:
                cases += pool.map(bench.protocol, [p for p in texts if not only or p.name in only])
    text = report(cases)
    print(text, end="")
    if options.output is not None:
        options.output.write_text(text, encoding="utf-8")
    if options.json is not None:
        rows = [{name: getattr(case, name) for name in (*Case.__slots__, "holds")} for case in cases]
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    if options.self_check:
        return 0 if all(case.proof in ("holds", "none") for case in cases) else 1
    return 0 if all(case.holds for case in cases) else 1


if __name__ == "__main__":
    sys.exit(main())
