"""Runs `mcp-migrate` many times: where the tool is the script of an environment, in forks of a process that has it loaded.

As a script it is that process: standard input holds a list (JSON) of jobs, [folder, arguments], standard output a list of what each
printed.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

WORKERS = 2

Job = tuple[Path, Sequence[str]]


def run(tool: str, jobs: Sequence[Job]) -> list[str]:
    """What the tool prints in each of these folders; they are worked on in parts, so no job may need another one's files."""
    argv = shlex.split(tool)
    python = Path(argv[0]).with_name("python")
    with ThreadPoolExecutor(WORKERS) as pool:
        if len(argv) > 1 or not python.exists() or not hasattr(os, "fork"):
            return list(pool.map(lambda job: _done([*argv, *job[1]], job[0]), jobs))
        parts = [[(str(folder), list(told)) for folder, told in jobs[part::WORKERS]] for part in range(WORKERS)]
        said = list(pool.map(lambda part: _forked(python, part), parts))
    return [said[number % WORKERS][number // WORKERS] for number in range(len(jobs))]


def _done(argv: list[str], folder: Path) -> str:
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, encoding="utf-8").stdout


def _forked(python: Path, part: list[tuple[str, list[str]]]) -> list[str]:
    done = subprocess.run([str(python), __file__], input=json.dumps(part), capture_output=True, text=True, encoding="utf-8")
    if done.returncode:
        raise OSError(f"tooling.py: {done.stderr.strip()[-400:]}")
    said: list[str] = json.loads(done.stdout)
    return said


def _main() -> None:
    from mcp_migrate import catalog, cli

    # What each job would load by itself.
    rules = catalog.load()
    for entry in rules.entries:
        if entry.pack != "engine":
            rules.module(entry)
    json.dump([_said(cli.main, folder, told) for folder, told in json.load(sys.stdin)], sys.stdout)


def _said(main: object, folder: str, told: list[str]) -> str:
    assert callable(main)
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        child = os.fork()
        if not child:
            os.chdir(folder)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(said.fileno(), 1)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            sys.argv = ["mcp-migrate", *told]
            try:
                main()
            except SystemExit:
                pass
            finally:
                sys.stdout.flush()
                os._exit(0)
        os.waitpid(child, 0)
        said.seek(0)
        return said.read()


if __name__ == "__main__":
    _main()
