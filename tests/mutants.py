"""Changes the code in small ways, one at a time, and tells which changes no test notices.

    python tests/mutants.py                          a sample of each module of `mutants.toml`
    python tests/mutants.py --most 0 migrate/sieve.py   all mutants of one module

Needs the extra `long`. A mutant is made in a copy of the tree, by cosmic-ray; the sample is drawn by a seed, at most one
mutant of each place, so that two runs of one seed look at the same ones.
"""

from __future__ import annotations

import argparse
import os
import random
import shlex
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
COPY = ROOT / ".cache" / "mutants"
TAKEN = ("migrate", "rules", "fixtures", "tests", "docs", "benchmarks", "pyproject.toml", "README.md", "CONTRIBUTING.md", "action.yml")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", help="all of mutants.toml where none is named")
    parser.add_argument("--most", type=int, default=40, help="mutants of one module; 0 for all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=60.0, help="after which no further mutant is made")
    asked = parser.parse_args(argv)
    tests: dict[str, list[str]] = tomllib.loads((ROOT / "tests" / "mutants.toml").read_text(encoding="utf-8"))["modules"]
    end = time.monotonic() + asked.minutes * 60
    _copy()
    killed = total = 0
    for module in asked.modules or tests:
        commands = [_command(chosen) for chosen in tests[module]]
        if (broken := _noticed(commands, 600.0)) is not None:
            print(f"{module}: the tests fail without any change: {broken}")
            return 2
        found = _mutants(module)
        sample = _sample(found, asked.most, asked.seed)
        survivors = []
        tried = 0
        for mutant in sample:
            if time.monotonic() > end:
                break
            tried += 1
            diff = _try(mutant, commands)
            if diff:
                survivors.append(diff)
                print(f"{module}: survived\n{diff}", flush=True)
        killed, total = killed + tried - len(survivors), total + tried
        print(f"{module}: {tried - len(survivors)} of {tried} noticed ({len(found)} there are)", flush=True)
    print(f"{killed} of {total} noticed")
    return 0


def _copy() -> None:
    """The tree as it is now, with the package as it is installed: what is mutated is never the tree itself."""
    shutil.rmtree(COPY, ignore_errors=True)
    for name in TAKEN:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, COPY / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, COPY / name)
    package = COPY / "typed" / "mcp_migrate"
    package.mkdir(parents=True)
    for part in (*(COPY / "migrate").iterdir(), COPY / "rules"):
        (package / part.name).symlink_to(part)
    (COPY / ".cache").mkdir(exist_ok=True)
    if (ROOT / ".cache" / "sdk").exists():
        (COPY / ".cache" / "sdk").symlink_to((ROOT / ".cache" / "sdk").resolve())
    # What is compiled is held against the text: two mutants of one second would look alike to a clock.
    _run([sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "migrate", "rules", "tests"])


def _command(chosen: str) -> list[str]:
    name, *more = shlex.split(chosen)
    return [sys.executable, "-m", "pytest", "-n0", "-x", "-q", "-p", "no:cacheprovider", f"tests/{name}", *more]


def _noticed(commands: Iterable[list[str]], seconds: float) -> str | None:
    """The command that fails, or takes too long; None if none does."""
    for command in commands:
        try:
            if _run(command, seconds):
                return shlex.join(command[3:])
        except subprocess.TimeoutExpired:
            return "timeout"
    return None


def _run(command: Sequence[str], seconds: float = 600.0) -> int:
    environment = {**os.environ, "PYTHONPATH": str(COPY / "typed"), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("PYTHONPYCACHEPREFIX", None)
    quiet = subprocess.DEVNULL
    return subprocess.run(command, cwd=COPY, env=environment, stdin=quiet, stdout=quiet, stderr=quiet, timeout=seconds).returncode


def _mutants(module: str) -> list:  # type: ignore[type-arg]
    from cosmic_ray.commands.init import _all_work_items

    return [item.mutations[0] for item in _all_work_items([COPY / module], {})]


def _sample(found: list, most: int, seed: int) -> list:  # type: ignore[type-arg]
    places = defaultdict(list)
    for mutant in found:
        # Without its decorator a frozen class is another one in words alone, and annotations are not run.
        if "Decorator" not in mutant.operator_name and "BitOr" not in mutant.operator_name:
            places[mutant.start_pos].append(mutant)
    if not most:
        return [mutant for place in places.values() for mutant in place]
    draw = random.Random(f"{seed}")
    chosen = draw.sample(sorted(places), min(most, len(places)))
    return [draw.choice(places[place]) for place in sorted(chosen)]


def _try(mutant, commands: Sequence[list[str]]) -> str:  # type: ignore[no-untyped-def]
    """What was changed, where no test has noticed it."""
    from cosmic_ray.mutating import use_mutation
    from cosmic_ray.plugins import get_operator

    with use_mutation(mutant.module_path, get_operator(mutant.operator_name)(**mutant.operator_args), mutant.occurrence) as (old, new):
        if new is None or _noticed(commands, 120.0) is not None:
            return ""
    rows = [(number, one, two) for number, (one, two) in enumerate(zip(old.splitlines(), new.splitlines(), strict=False), 1) if one != two]
    return "\n".join(f"  {number}: - {one.strip()}\n  {number}: + {two.strip()}" for number, one, two in rows)


if __name__ == "__main__":
    sys.exit(main())
