"""Measures `check` and `fix` against `ruff check`, the released tools of the same purpose and a bare read of the same files, side by side.

    python benchmarks/run.py --projects DIR --packages DIR [DIR ...] [--files 200 2000 10000 50000] [--runs 3] [--peers] [--output FILE]

The trees are made of real files, in the folders that they lie in: whole projects out of --projects (folders that hold code for MCP), and
whole packages out of --packages (folders such as `site-packages`). One file in ten is a project's; a further tree has projects alone.
All commands take turns, so that whatever else the machine does hits them alike. CPU is user plus system time of a process and its children,
memory the largest resident set; all are medians. Exit status: 0 when every target holds, 1 otherwise.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

SHARE = 0.1  # of a mixed tree that projects have
DENSE = 2000  # files of the tree that is projects alone
PATIENCE = 120  # seconds for one command; what takes longer is told so
SDKS = frozenset({"mcp", "mcp_types", "fastmcp"})  # what code is moved to is none that is moved
# What else is released for this purpose, as of 2026-12, with its command for a folder.
PEERS: Mapping[str, tuple[str, ...]] = {
    "mcp-migrate==0.21.0": ("mcp-migrate", "check", "{tree}"),
    "mcp-codemod==0.1.3": ("mcp-codemod", "{tree}"),
    "mcp-migration==0.1.0": ("mcp-migration", "scan", "{tree}"),
}

READ = """
import os, sys
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        with open(os.path.join(folder, name), "rb") as file:
            file.read()
"""

MEASURE = """
import resource, subprocess, sys, time
start = time.perf_counter()
try:
    subprocess.run(sys.argv[2:], stdin=sys.stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=float(sys.argv[1]))
except subprocess.TimeoutExpired:
    print("late")
else:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss)
"""

# An installed tool has its bytecode; without it, half of a short run would be the compiler's.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("PYTHONDONTWRITEBYTECODE", "MCP_MIGRATE_NO_CACHE")}
# A dispatcher of eight lines, and filler that names the protocol so that no gate spares it.
BRANCH = '    if method == "tools/list":\n        return {{"jsonrpc": "2.0", "id": message["id"], "result": {{"tools": [], "n": {n}}}}}\n'
FILLER = (
    'def tool_{n}(arguments):\n    """Answers tools/call number {n}."""\n'
    '    return {{"content": [{{"type": "text", "text": str(arguments) + "{n}"}}]}}\n\n\n'
)
# Code for mcp 1 with a finding each, and a module of a project that another one imports.
CLIENT = "from mcp.types import CallToolResult\n"
READS = "\n\ndef failed_{n}(result: CallToolResult) -> bool:\n    return result.isError\n"
MODULE = "from mcp.types import CallToolResult\n\nfrom app.part_{before} import failed as earlier\n"
CHECKS = "\n\ndef failed(result: CallToolResult) -> bool:\n    return result.isError or earlier(result)\n"


class Run(NamedTuple):
    """Seconds of wall clock and CPU, and MB of memory."""

    wall: float
    cpu: float
    memory: float


class Tree(NamedTuple):
    """A folder of files with the commands that are measured on it, by what they are called."""

    name: str
    folder: Path
    files: int
    size: int  # bytes


class Target(NamedTuple):
    """What was promised, what was measured, and whether that keeps it."""

    promise: str
    measured: str
    holds: bool


Table = dict[str, "Run | None"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--projects", type=Path, metavar="DIR", help="a folder with one folder for each project that uses MCP")
    parser.add_argument("--packages", type=Path, nargs="*", metavar="DIR", default=[Path(sysconfig.get_path("purelib"))])
    parser.add_argument("--files", type=int, nargs="*", default=[200, 2000, 10000])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--peers", action="store_true", help="install the released tools, each into an environment of its own")
    parser.add_argument("--output", type=Path, metavar="FILE")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        peers = dict(install(scratch / "peers")) if options.peers else {}
        tables: dict[str, tuple[Tree, Table]] = {}
        for tree in trees(scratch, options.projects, options.packages, options.files):
            tables[tree.name] = tree, measured(commands(tree, peers, scratch), options.runs)
            shutil.rmtree(tree.folder)
            print(f"measured: {tree.name}", file=sys.stderr)
        small = dict(smaller(scratch, options.runs))
    kept = [*targets(tables, small)]
    text = "\n".join(report(tables, small, kept, options.runs))
    print(text, end="")
    if options.output is not None:
        options.output.write_text(text, encoding="utf-8")
    return 0 if all(target.holds for target in kept) else 1


# What is measured


def trees(scratch: Path, projects: Path | None, packages: Sequence[Path], sizes: Sequence[int]) -> Iterator[Tree]:
    """The trees, one after the other, as each may be removed before the next."""
    for size in sizes:
        yield laid_out(
            scratch / f"tree{size}",
            f"{size:,} files",
            {"projects": ([projects] if projects else [], SHARE), "packages": (packages, 1)},
            size,
        )
    if projects:
        yield laid_out(scratch / "projects", f"{DENSE:,} files of projects alone", {"projects": ([projects], 1)}, DENSE)


def laid_out(folder: Path, name: str, sources: Mapping[str, tuple[Sequence[Path], float]], wanted: int) -> Tree:
    """Copies whole folders until there are as many files as wanted, each source to its share of what is still missing."""
    count = size = 0
    for kind, (roots, share) in sources.items():
        limit = count + round((wanted - count) * share) if roots else count
        every = [(root, one) for root in roots for one in sorted(root.iterdir(), key=_mixed) if one.is_dir() and one.name not in SDKS]
        for root in roots:
            # What tells that packages are installed here, as they are where they come from.
            for record in root.glob("*.dist-info/RECORD"):
                target = folder / kind / str(roots.index(root)) / record.relative_to(root)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(record, target)
        for root, one in every:
            for path in sorted(one.rglob("*")):
                if count >= limit:
                    break
                if path.suffix == ".py" and path.is_file() and not path.is_symlink():
                    target = folder / kind / str(roots.index(root)) / path.relative_to(root)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(path, target)
                    size += target.stat().st_size
                    count += 1
    if count < wanted:
        raise SystemExit(f"benchmark: only {count} of {wanted} files found; name more folders")
    return Tree(name, folder, count, size)


def _mixed(path: Path) -> tuple[int, str]:
    """An order that goes by no kind and no size, and is the same in every run."""
    return crc32(path.name.encode()), path.name


def commands(tree: Tree, peers: Mapping[str, Sequence[str]], scratch: Path) -> Iterator[tuple[str, Sequence[str], Mapping[str, str]]]:
    """The name, words and further variables of each command."""
    folder = str(tree.folder)
    ruff = [tool("ruff"), "check", "--no-cache", "--isolated", "--no-respect-gitignore", "--quiet", "--exit-zero", folder]
    ours = [tool("mcp-migrate"), "check", "--no-respect-gitignore", "--output-format", "json", folder]
    kept = {"MCP_MIGRATE_CACHE_DIR": str(scratch / "kept")}
    yield "bare read", [sys.executable, "-c", READ, folder], {}
    yield "`ruff check --no-cache`", ruff, {}
    yield "the same with one thread", ruff, {"RAYON_NUM_THREADS": "1"}
    yield "`mcp-migrate check --no-cache`", [*ours[:2], "--no-cache", *ours[2:]], {}
    yield "`mcp-migrate check`, once more", ours, kept
    if tree.files <= DENSE:  # what takes minutes on more
        yield "`mcp-migrate fix --diff`", [ours[0], "fix", "--diff", "--no-respect-gitignore", folder], {}
        for name, words in peers.items():
            yield f"`{name}`", [word.format(tree=folder) for word in words], {}


def smaller(scratch: Path, runs: int) -> Iterator[tuple[str, Run | None]]:
    """Start-up, one file of standard input, and how cost grows within one file."""
    ours = tool("mcp-migrate")
    plain = scratch / "plain"
    plain.mkdir()
    for number in range(20):
        (plain / f"file_{number}.py").write_text(f"def number():\n    return {number}\n")
    yield "20 files without MCP code", measured([("", [ours, "check", "--no-cache", str(plain)], {})], runs)[""]
    one = scratch / "server.py"
    one.write_text(server(branches=6))
    yield "one server by standard input", measured([("", [ours, "check", "-", "--stdin-filename", "server.py"], {})], runs, one)[""]
    for lines in (5_000, 10_000, 20_000):
        folder = scratch / f"lines{lines}"
        folder.mkdir()
        (folder / "server.py").write_text(server(branches=6, tools=lines // 5))
        yield f"one server of {lines:,} lines", measured([("", [ours, "check", "--no-cache", str(folder)], {})], runs)[""]
    for branches in (250, 500, 1000):
        folder = scratch / f"branches{branches}"
        folder.mkdir()
        (folder / "server.py").write_text(server(branches=branches))
        yield f"one dispatcher of {branches:,} branches", measured([("", [ours, "check", "--no-cache", str(folder)], {})], runs)[""]
    for findings in (500, 1000, 2000):
        folder = scratch / f"findings{findings}"
        folder.mkdir()
        (folder / "client.py").write_text(CLIENT + "".join(READS.format(n=number) for number in range(findings)))
        yield f"one client with {findings:,} findings", measured([("", [ours, "check", "--no-cache", str(folder)], {})], runs)[""]
    for modules in (500, 1000, 2000):
        folder = scratch / f"modules{modules}" / "app"
        folder.mkdir(parents=True)
        for number in range(modules):
            (folder / f"part_{number}.py").write_text(MODULE.format(before=(number or modules) - 1) + CHECKS)
        yield f"one project of {modules:,} modules", measured([("", [ours, "check", "--no-cache", str(folder.parent)], {})], runs)[""]
    large = scratch / "large"
    large.mkdir()
    (large / "server.py").write_text(server(branches=6, tools=5_000_000 // len(FILLER.format(n=10_000))))
    yield "one server of 5 MB", measured([("", [ours, "check", "--no-cache", str(large)], {})], runs)[""]


def server(*, branches: int, tools: int = 0) -> str:
    """A server over standard streams with as many branches and functions as wanted."""
    body = "".join(
        BRANCH.format(n=number).replace("tools/list", f"tools/list_{number}" if number else "tools/list") for number in range(branches)
    )
    filler = "".join(FILLER.format(n=number) for number in range(tools))
    return (
        f"import json\nimport sys\n\n\n{filler}def handle(message):\n    method = message['method']\n{body}"
        '    if method == "resources/list":\n        return {"jsonrpc": "2.0", "id": message["id"], "result": {"resources": []}}\n\n\n'
        "for line in sys.stdin:\n    print(json.dumps(handle(json.loads(line))), flush=True)\n"
    )


def install(folder: Path) -> Iterator[tuple[str, Sequence[str]]]:
    """The released tools, each in an environment of its own, with the command of each; one that cannot be had is told and left out."""
    for requirement, (command, *words) in PEERS.items():
        place = folder / requirement
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        done = subprocess.run([str(place / "bin" / "pip"), "install", "--quiet", requirement], capture_output=True, check=False)
        if done.returncode:
            print(f"benchmark: {requirement} cannot be installed", file=sys.stderr)
        else:
            yield requirement, [str(place / "bin" / command), *words]


def tool(name: str) -> str:
    """The command beside this interpreter, or on the PATH."""
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        raise SystemExit(f"benchmark: {name} is not installed")
    return found


def measured(
    every: Iterator[tuple[str, Sequence[str], Mapping[str, str]]] | Sequence[tuple[str, Sequence[str], Mapping[str, str]]],
    runs: int,
    stdin: Path | None = None,
) -> Table:
    """The medians of each command; None for one that took too long."""
    every = list(every)
    found: dict[str, list[Run]] = {name: [] for name, *_ in every}
    late: set[str] = set()
    for _, words, more in every:  # writes the bytecode, and what is kept
        if "mcp-migrate" in os.path.basename(words[0]):
            measure(words, more, stdin)
    for _ in range(runs):
        for name, words, more in every:
            if name not in late and (run := measure(words, more, stdin)) is not None:
                found[name].append(run)
            else:
                late.add(name)
    return {
        name: None if name in late else Run(*(statistics.median(column) for column in zip(*rows, strict=True)))
        for name, rows in found.items()
    }


def measure(command: Sequence[str], more: Mapping[str, str], stdin: Path | None) -> Run | None:
    """One run, in a process of its own so that its children are its alone."""
    with open(stdin or os.devnull, "rb") as given:
        done = subprocess.run(
            [sys.executable, "-c", MEASURE, str(PATIENCE), *command],
            stdin=given,
            capture_output=True,
            text=True,
            check=True,
            env={**ENVIRONMENT, **more},
        )
    if done.stdout.strip() == "late":
        return None
    wall, cpu, memory = map(float, done.stdout.split())
    return Run(wall, cpu, memory / 1024)


# What is told


def targets(tables: Mapping[str, tuple[Tree, Table]], small: Mapping[str, Run | None]) -> Iterator[Target]:
    for name, (tree, table) in tables.items():
        ours, ruff, single = (
            table[key] for key in ("`mcp-migrate check --no-cache`", "`ruff check --no-cache`", "the same with one thread")
        )
        again = table["`mcp-migrate check`, once more"]
        if ours and ruff and single:
            if tree.files in (2000, 10000):
                yield Target(f"{name}: CPU at most that of ruff", f"{ours.cpu / ruff.cpu:.2f} x", ours.cpu <= ruff.cpu)
                yield Target(
                    f"{name}: less wall time than ruff with one thread", f"{ours.wall / single.wall:.2f} x", ours.wall < single.wall
                )
            if tree.files >= 50000:
                yield Target(f"{name}: at most 200 MB", f"{ours.memory:.0f} MB", ours.memory <= 200)
        if (fix := table.get("`mcp-migrate fix --diff`")) and tree.files == DENSE:
            yield Target(f"{name}: `fix --diff` in at most 30 s", f"{fix.wall:.1f} s", fix.wall <= 30)
        if again and tree.files == 10000:
            yield Target(f"{name}: at most 0.3 s when nothing has changed", f"{again.wall:.2f} s", again.wall <= 0.3)
    if start := small["20 files without MCP code"]:
        yield Target("20 files without MCP code: at most 0.25 s of CPU", f"{start.cpu:.2f} s", start.cpu <= 0.25)
    for what, few, many in (
        ("lines", "one server of 10,000 lines", "one server of 20,000 lines"),
        ("branches", "one dispatcher of 500 branches", "one dispatcher of 1,000 branches"),
        ("findings", "one client with 1,000 findings", "one client with 2,000 findings"),
        ("modules", "one project of 1,000 modules", "one project of 2,000 modules"),
    ):
        one, two = small[few], small[many]
        if one and two:
            # Twice as much may cost twice as much, and a fifth for what a machine does besides.
            yield Target(f"twice the {what}: at most 2.4 x the CPU", f"{two.cpu / one.cpu:.2f} x", two.cpu <= 2.4 * one.cpu)


def report(tables: Mapping[str, tuple[Tree, Table]], small: Mapping[str, Run | None], kept: Sequence[Target], runs: int) -> Iterator[str]:
    yield (
        f"{time.strftime('%Y-%m-%d')}, Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}, "
        f"load {os.getloadavg()[0]:.1f}, {'one run' if runs == 1 else f'median of {runs} runs'} of each."
    )
    yield from ("", "| target | measured | holds |", "| --- | ---: | --- |")
    yield from (f"| {one.promise} | {one.measured} | {'yes' if one.holds else 'no'} |" for one in kept)
    for tree, table in tables.values():
        yield from (
            "",
            f"{tree.name}, {tree.size / 1e6:.1f} MB:",
            "",
            "| command | wall s | CPU s | memory MB |",
            "| --- | ---: | ---: | ---: |",
        )
        yield from map(row, table, table.values())
    yield from ("", "Less than a tree:", "", "| `mcp-migrate check` on | wall s | CPU s | memory MB |", "| --- | ---: | ---: | ---: |")
    yield from map(row, small, small.values())
    yield ""


def row(name: str, run: Run | None) -> str:
    return f"| {name} | over {PATIENCE} | | |" if run is None else f"| {name} | {run.wall:.2f} | {run.cpu:.2f} | {run.memory:.0f} |"


if __name__ == "__main__":
    sys.exit(main())
