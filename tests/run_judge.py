"""Have outside referees judge what `fix` makes of every server of `fixtures/servers`, in both eras.

    python tests/run_judge.py [NAME ...]

Needs `shared/tools/e2e/judge.py` beside the repository; says so and leaves with 0 where that is missing, so that a checkout
of the repository alone can run it. Exit status: 0 all passed, 1 some server failed, 2 the judge could not run.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import sdk
from servers import ROOT, Server, copy, load, migrate

JUDGE = ROOT.parent / "shared" / "tools" / "e2e" / "judge.py"
ERAS = ("dual", "modern")
ROW = "{:16} {:7} {:8} {:>6} {:>6}"


def main(names: list[str]) -> int:
    if not JUDGE.exists():
        print(f"no judge at {JUDGE}: nothing done")
        return 0
    servers = [server for server in load() if server.fix == "migrates" and (not names or server.name in names)]
    print(ROW.format("server", "era", "verdict", "passed", "failed"))
    if any(server.http for server in servers):
        sdk.frameworks()  # once, before several threads want it
    with tempfile.TemporaryDirectory() as scratch:
        jobs = [(server, era, copy(server.before, Path(scratch) / server.name / era)) for server, era in product(servers, ERAS)]
        fixed = [migrate("fix", "--era", era, ".", cwd=folder) for _, era, folder in jobs]
        # A judge waits more than it works.
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return max(pool.map(lambda job, made: _judge(*job, made), jobs, fixed), default=0)


def _judge(server: Server, era: str, folder: Path, fixed: subprocess.CompletedProcess[str]) -> int:
    if fixed.returncode and not server.left.get(era):
        _row(server, era, "NO FIX", "", "", fixed.stdout + fixed.stderr)
        return 1
    asked = server.judged_dual if era == "dual" else era
    argv = [sys.executable, str(JUDGE), "--strict", "--era", asked, *_target(server)]
    argv += [part for call in server.calls for part in ("--call", call)]
    argv += [part for notify in server.notify for part in ("--notify", notify)]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True)
    counts = re.search(r"(\d+) passed, (\d+) failed", done.stdout)
    passed, failed = counts.groups() if counts else ("", "")
    _row(server, asked, "pass" if done.returncode == 0 else "FAIL", passed, failed, done.stdout + done.stderr if done.returncode else "")
    return done.returncode


def _target(server: Server) -> list[str]:
    if not server.http:
        return ["--stdio", shlex.join(server.argv)]
    settings = [f"{key}={value}" for key, value in server.environment.items()]
    return ["--start", shlex.join(["env", *settings, *server.argv]), "--path", server.path]


def _row(server: Server, era: str, verdict: str, passed: str, failed: str, detail: str) -> None:
    print(ROW.format(server.name, era, verdict, passed, failed), flush=True)
    for line in detail.splitlines():
        print(f"    {line}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
