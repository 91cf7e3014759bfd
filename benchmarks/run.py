"""Measures `check` against `ruff check` and against the bare read of the same files, side by side in one run.

    python benchmarks/run.py [--files 2000] [--runs 5] [--output benchmarks/results.md] [TREE ...]

The tree is made of real Python files: those of the TREEs given, then those of the running environment's site-packages, until
there are enough. CPU is user plus system time of the process and its children, memory the largest resident set; both are
medians. Exit status: 0 when every target holds, 1 otherwise.
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
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

CPU_RATIO = 1.5  # of ruff's CPU
MEMORY = 150  # MB

READ = """
import os, sys
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        with open(os.path.join(folder, name), "rb") as file:
            file.read()
"""

MEASURE = """
import os, resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss)
"""

# An installed tool has its bytecode; without it, half of a short run would be the compiler's.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


class Run(NamedTuple):
    """Seconds of wall clock and CPU, and MB of memory."""

    wall: float
    cpu: float
    memory: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="*", type=Path, metavar="TREE")
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        size = lay_out(Path(folder), options.trees, options.files)
        commands = {
            "bare read": [sys.executable, "-c", READ, folder],
            "ruff check --no-cache": [tool("ruff"), "check", "--no-cache", "--isolated", "--quiet", "--exit-zero", folder],
            "mcp-migrate check": [tool("mcp-migrate"), "check", "--no-respect-gitignore", "--output-format", "json", folder],
        }
        # Interleaved, so that whatever else the machine does hits all of them alike.
        measure(commands["mcp-migrate check"])  # writes the bytecode
        runs: dict[str, list[Run]] = {name: [] for name in commands}
        for _ in range(options.runs):
            for name, command in commands.items():
                runs[name].append(measure(command))
        medians = {name: Run(*(statistics.median(column) for column in zip(*rows, strict=True))) for name, rows in runs.items()}
    text = report(medians, options.files, size, options.runs)
    print(text, end="")
    if options.output is not None:
        options.output.write_text(text, encoding="utf-8")
    return 0 if all(holds for *_, holds in targets(medians)) else 1


def lay_out(folder: Path, trees: Sequence[Path], wanted: int) -> int:
    """Copies `wanted` files into the folder, an equal share from each tree, and returns their bytes."""
    sources = [*trees, Path(sysconfig.get_path("purelib"))]
    size = count = 0
    for number, tree in enumerate(sources):
        share = (wanted - count) // (len(sources) - number)
        for path in spread(sorted(python_files(tree)), share):
            # A folder of its own for each hundred keeps the layout of a large repository, without the names that tools skip.
            target = folder / f"tree{number}" / f"part{count // 100}" / f"file_{count}.py"
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
            size += target.stat().st_size
            count += 1
    if count < wanted:
        raise SystemExit(f"benchmark: only {count} of {wanted} files found; name another tree")
    return size


def python_files(tree: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(tree):
        for name in names:
            if name.endswith(".py"):
                yield Path(folder, name)


def spread(paths: Sequence[Path], wanted: int) -> Iterator[Path]:
    """Evenly chosen, so that no one package is all of the tree."""
    step = max(1.0, len(paths) / wanted) if wanted else 1.0
    for number in range(min(wanted, len(paths))):
        yield paths[int(number * step)]


def tool(name: str) -> str:
    """The command beside this interpreter, or on the PATH."""
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        raise SystemExit(f"benchmark: {name} is not installed")
    return found


def measure(command: Sequence[str]) -> Run:
    """One run, in a process of its own so that its children are its alone."""
    done = subprocess.run([sys.executable, "-c", MEASURE, *command], capture_output=True, text=True, check=True, env=ENVIRONMENT)
    wall, cpu, memory = map(float, done.stdout.split())
    return Run(wall, cpu, memory / 1024)


def targets(medians: dict[str, Run]) -> Iterator[tuple[str, str, bool]]:
    ours, ruff = medians["mcp-migrate check"], medians["ruff check --no-cache"]
    yield f"CPU at most {CPU_RATIO} x ruff", f"{ours.cpu / ruff.cpu:.2f} x", ours.cpu <= CPU_RATIO * ruff.cpu
    yield f"memory at most {MEMORY} MB", f"{ours.memory:.0f} MB", ours.memory <= MEMORY


def report(medians: dict[str, Run], files: int, size: int, runs: int) -> str:
    rows = [
        f"# {files} files, {size / 1e6:.1f} MB, median of {runs} runs",
        "",
        f"{time.strftime('%Y-%m-%d')}, Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}.",
        "",
        "| command | wall s | CPU s | memory MB |",
        "| --- | ---: | ---: | ---: |",
        *(f"| {name} | {run.wall:.2f} | {run.cpu:.2f} | {run.memory:.0f} |" for name, run in medians.items()),
        "",
        "| target | measured | holds |",
        "| --- | ---: | --- |",
        *(f"| {name} | {value} | {'yes' if holds else 'no'} |" for name, value, holds in targets(medians)),
    ]
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    sys.exit(main())
