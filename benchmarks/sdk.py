"""Measures what `fix` makes of projects that use the official SDK 1.x, or fastmcp 2 or 3: do they work on the next major as before?

    python benchmarks/sdk.py --recipes benchmarks/sdk.yaml [--referee REFEREE.py] [--output FILE.md] [--json FILE] CORPUS
    python benchmarks/sdk.py --recipes benchmarks/fastmcp.yaml --prefix fm2- [--output FILE.md] [--json FILE] CORPUS

CORPUS holds one folder for each project; those whose names begin with one of `--prefix` are taken, or only those named by `--only`.
Every project is copied, so the corpus stays as it is. Exit status: 0 when all targets hold, 1 otherwise.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import dataclasses
import functools
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree as xml
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fastmcp_own
import yaml
from comparing import differences, faults, files, masked, undefined
from sdk_telling import PARTS, report, targets
from starting import Host, Recipe, environment, free_port, mask, started

HERE = Path(__file__).resolve().parent
SESSIONS = HERE / "sessions"
PYRIGHT = "pyright==1.1.411"
# What only version 1 brought along, and what only version 2 does: where a project asks for it itself, it is there before and after.
BROUGHT = {"pydantic-settings": "pydantic-settings==2.16.3"}
BRINGS = {"opentelemetry": "opentelemetry-api==1.45.2"}
# What only fastmcp 2 and 3 brought along: it is there afterwards where the project, once rewritten, asks for it.
ONCE_BROUGHT = {"httpx": "httpx==0.28.1", "typer": "typer==0.29.2"}
# The client, and the mode of the client, that speaks to the rewritten server.
MODERN = "2026-07-28"
CLIENTS = {"v1": ("1", ""), "v2 legacy": ("2", "legacy"), "v2 modern": ("2", "auto")}
SCRIPTS: dict[str, tuple[str, ...]] = {"imports": ("importing.py",), "session": ("asking.py", "v1.py"), "tests": ()}
HIDES = "MCP515"  # the rule that names servers whose tools let exceptions out
PRINTS = "MCP591"  # the rule that names prints that reach the client
HOOKS = "MCP630"  # the rule that names what a server class overrides in vain
WAITS = "MCP611"  # the rule that names state of a context that is not waited for
DESCRIBED = "MCP632"  # the rule that names servers made of the description of an API, by a release with another parser
BLOCKS = "MCP706"  # the rule that names packages which need the older release
UNANSWERED = ", with a question that was not answered in time"  # what is said of leaving a server that still works on something
REACH, ALIKE = 4, 3  # how far a test is followed, and by names of how many definitions at most
LIMITS = {"session": 300, "imports": 1500, "tests": 900}


def pins(major: str, package: str = "sdk") -> tuple[str, ...]:
    """The SDK of this major, or fastmcp with its SDK, as the tests of the product pin it."""
    return tuple((HERE.parent / "tests" / f"{package}-v{major}.txt").read_text(encoding="utf-8").split())


@dataclass(frozen=True, slots=True)
class Way:
    """One way to start one server, and what it is asked."""

    recipe: Recipe
    steps: tuple[list[Any], ...] = ()
    sse: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What a file says of one project."""

    pip: tuple[str, ...] = ()
    older: tuple[str, ...] = ()  # what takes the place of packages of these names on the older release
    moved: tuple[str, ...] = ()  # the same on the newer one
    extras: str = ""  # of the SDK
    fastmcp: str = ""  # the release of the standalone package that the project is written for, where it uses that
    without: tuple[str, ...] = ()  # what is left out, as it needs the older release
    unlisted: tuple[str, ...] = ()  # packages that only what is left out needs: they are taken out of `pyproject.toml`
    roots: tuple[str, ...] = (".",)  # where its imports start from
    files: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    first: str = ""  # a statement to run before a module is imported
    tests: tuple[tuple[str, str], ...] = ()  # folder and command
    ways: tuple[Way, ...] = ()

    def packages(self, major: str) -> tuple[str, ...]:
        asked = _replaced(self.pip, self.moved if major == "2" else self.older)
        if self.fastmcp:
            return _replaced(pins("4", "fastmcp") if major == "2" else (f"fastmcp=={self.fastmcp}", pins("1")[0]), asked)
        sdk, *others = pins(major)
        name, _, version = sdk.partition("==")
        return _replaced((f"{name}[{self.extras}]=={version}" if self.extras else sdk, *others), asked)

    def prepare(self, major: str, recipe: Recipe, copy: Path, environments: Path) -> Host:
        """A copy of the project that can be started on this major of the SDK."""
        for name, text in self.files.items():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_text(text, encoding="utf-8")
        path = os.pathsep.join(str(copy / root) for root in self.roots)
        env = {"PYTHONPATH": path, **self.env, **recipe.env}
        packages = self.packages(major)
        if self.fastmcp and major == "2":
            asked = "\n".join(_requirements(copy))
            brought = [pin for name, pin in ONCE_BROUGHT.items() if re.search(rf"(?<![\w-]){name}(?![\w-])", asked)]
            packages = _replaced(brought, packages)
        return Host.prepare(dataclasses.replace(recipe, pip=packages, env=env), copy, environments)


def read(path: Path) -> dict[str, Plan]:
    return {name: _plan(told or {}) for name, told in (yaml.safe_load(path.read_text(encoding="utf-8")) or {}).items()}


def _replaced(packages: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    """Both, and where they name the same package, what the second say: a project knows best which release it takes."""
    own = {package.partition("==")[0] for package in others}
    return (*(package for package in packages if package.partition("==")[0] not in own), *others)


def _plan(told: Mapping[str, Any]) -> Plan:
    tests = told.get("tests", ())
    return Plan(
        pip=tuple(told.get("pip", ())),
        older=tuple(told.get("older", ())),
        moved=tuple(told.get("moved", ())),
        fastmcp=str(told.get("fastmcp", "")),
        extras=told.get("extras", ""),
        without=tuple(told.get("without", ())),
        unlisted=tuple(told.get("unlisted", ())),
        roots=tuple(told.get("roots", (".",))),
        files=told.get("files", {}),
        first=told.get("first", ""),
        env={key: str(value) for key, value in told.get("env", {}).items()},
        tests=tuple(
            (".", test) if isinstance(test, str) else (test["folder"], test["run"])
            for test in ([tests] if isinstance(tests, str) else tests)
        ),
        ways=tuple(map(_way, told.get("ways", ()))),
    )


def _way(told: Mapping[str, Any]) -> Way:
    own = {
        field.name: told[field.name]
        for field in dataclasses.fields(Recipe)
        if field.name in told and field.name not in ("calls", "env", "pip")
    }
    own["calls"] = tuple(told.get("calls", ()))
    spoken = [call.partition(" => ")[0].partition(" ") for call in told.get("calls", ())]
    calls = [["call", name, json.loads(rest or "{}")] for name, _, rest in spoken]
    reads = [["read", uri] for uri in told.get("reads", ())]
    prompts = [
        ["prompt", name, json.loads(rest or "{}")] for name, _, rest in (prompt.partition(" ") for prompt in told.get("prompts", ()))
    ]
    recipe = Recipe(**own, env={key: str(value) for key, value in told.get("env", {}).items()})
    return Way(recipe, (*calls, *reads, *prompts), sse=told.get("sse", False))


class Bench:
    """The tools and the places of one measurement."""

    def __init__(self, options: argparse.Namespace, scratch: Path) -> None:
        self.tool: list[str] = shlex.split(options.tool)
        self.scratch, self.environments = scratch, options.environments.resolve()
        self.referee: Path | None = options.referee
        self.parts: frozenset[str] = frozenset(options.parts.split(",")) if options.parts else frozenset(PARTS)
        self.fresh: bool = options.fresh
        self.counter = iter(range(1_000_000))
        self.lock = threading.Lock()

    def row(self, project: Path, plan: Plan) -> dict[str, Any]:
        begun = time.monotonic()
        row: dict[str, Any] = {"name": project.name, "fastmcp": plan.fastmcp, "trouble": []}
        home = self.scratch / project.name
        shutil.rmtree(home, ignore_errors=True)
        if plan.without:
            project = _copy(project, home / "part" / project.name)
            for name in plan.without:
                left = project / name
                shutil.rmtree(left) if left.is_dir() else left.unlink()
            _unlist(project / "pyproject.toml", plan.unlisted)
        fixed = _copy(project, home / "fixed")
        self._fix(row, project, fixed)
        for part, measure in self._measures().items():
            if part in self.parts:
                try:
                    measure(row, project, fixed, plan)
                except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
                    row["trouble"].append(f"{part}: {' '.join(f'{type(error).__name__}: {error}'.split())[:300]}")
        row["seconds"] = round(time.monotonic() - begun, 1)
        print(f"{row['name']:20} {row['seconds']:6.1f} s", *row["trouble"], file=sys.stderr, flush=True)
        return row

    def _measures(self) -> Mapping[str, Callable[[dict[str, Any], Path, Path, Plan], None]]:
        return {"imports": self._imports, "sessions": self._sessions, "referee": self._referee, "tests": self._tests}

    def _fix(self, row: dict[str, Any], project: Path, fixed: Path) -> None:
        """c: what of the files changed, and what is left to a human."""
        # What `fix` leaves for a human it tells by itself; a later look sees code for the newer release, which may be meant so.
        told = self._run("check", "--output-format", "json", ".", cwd=fixed)
        self._run("fix", ".", cwd=fixed)
        before, after = files(project), files(fixed)
        checked = self._run("check", "--output-format", "json", ".", cwd=fixed)
        again = _copy(fixed, fixed.parent / "again")
        self._run("fix", ".", cwd=again)
        try:
            row["announced"] = [finding for finding in json.loads(told.stdout)["findings"] if finding["applicability"] != "safe"]
            row["findings"] = json.loads(checked.stdout)["findings"]
        except ValueError:
            row["announced"] = row["findings"] = []
            row["trouble"].append(f"check: {checked.stderr.strip()[-200:] or 'nothing was told'}")
        row["changed"] = [name for name in after if after[name] != before.get(name)]
        row["files"] = {
            "F821": sorted((undefined(fixed) - undefined(project)).elements()),
            "second run": [name for name, text in files(again).items() if text != after.get(name)],
            "faults": list(faults(before, after)),
        }

    def _imports(self, row: dict[str, Any], project: Path, fixed: Path, plan: Plan) -> None:
        """a: what was imported before is imported now, or a finding says why not."""
        before = self._kept("imports", project, plan, lambda: self._imported(self.copied(project, project), plan, "1"))
        after = self._imported(self.copied(fixed, project), plan, "2")
        held = [name for name, error in before.items() if error is None]
        lost = {name: after.get(name, {"error": "gone", "file": name, "line": 0}) for name in held if after.get(name, True) is not None}
        row["imports"] = {
            "all": len(before),
            "before": len(held),
            "after": len(held) - len(lost),
            "lost": {name: {**error, "told": _told(error, row["findings"], fixed)} for name, error in lost.items()},
            "never": {name: error["error"] for name, error in before.items() if error},
        }

    def _imported(self, copy: Path, plan: Plan, major: str) -> dict[str, Any]:
        host = plan.prepare(major, Recipe(), copy, self.environments)
        argv = host.argv(shlex.join(["python", str(SESSIONS / "importing.py"), plan.first, *plan.roots]))
        done = subprocess.run(argv, cwd=host.folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=LIMITS["imports"])
        if done.returncode:
            raise OSError(f"importing.py: {done.stderr.strip()[-300:]}")
        said: dict[str, Any] = json.loads(done.stdout)
        return said

    def _sessions(self, row: dict[str, Any], project: Path, fixed: Path, plan: Plan) -> None:
        """b: the rewritten server answers as the untouched one did, to all clients."""
        row["sessions"] = []
        docstrings = functools.partial(_docstrings, project)
        for number, way in enumerate(plan.ways):
            told: dict[str, Any] = {"how": way.recipe.how, "differs": {}}
            row["sessions"].append(told)
            before = self._kept(f"session {number}", project, plan, lambda way=way: self._steady(project, plan, way))
            if before.get("trouble"):
                told["trouble"] = f"the untouched server: {before['trouble']}"
                continue
            told["asked"], told["unsteady"] = len(before["answers"]), before["unsteady"]
            for client, (major, mode) in CLIENTS.items():
                after = self._session(self.copied(fixed, project), plan, way, "2", major, mode, before["steps"])
                same = fastmcp_own.inlined if plan.fastmcp else None
                told["differs"][client] = [*_differing(before, after, same), *_fallen_back(after, mode)]
            every = {difference for differs in told["differs"].values() for difference in differs}
            spoken = [finding for finding in row["announced"] if finding["severity"] != "note"] if plan.fastmcp else []
            told["told"] = sorted(
                difference
                for difference in every
                if _is_told(difference, row["announced"]) or (spoken and _is_spoken_of(difference, spoken, project))
            )
            told["own"] = {
                client: sorted({*_own(differs, client), *(fastmcp_own.own(differs, docstrings) if plan.fastmcp else ())})
                for client, differs in told["differs"].items()
            }
        if plan.ways and all(told.get("trouble") for told in row["sessions"]):
            row["trouble"].append(f"sessions: {row['sessions'][0]['trouble'][:200]}")

    def _steady(self, project: Path, plan: Plan, way: Way) -> dict[str, Any]:
        """What the untouched server answers, without what it answers differently the second time."""
        one, two = (self._session(self.copied(project, project), plan, way, "1", "1", "", way.steps, mistakes=True) for _ in range(2))
        if one.get("trouble") or two.get("trouble"):
            return {"trouble": one.get("trouble") or two.get("trouble")}
        unsteady = [step for step, answer in one["answers"].items() if answer != two["answers"].get(step)]
        return {
            **one,
            "steps": [step for step in one["steps"] if json.dumps(step, ensure_ascii=False) not in unsteady],
            "answers": {step: answer for step, answer in one["answers"].items() if step not in unsteady},
            "unsteady": unsteady,
        }

    def _session(
        self, copy: Path, plan: Plan, way: Way, major: str, client: str, mode: str, steps: Sequence[Any], *, mistakes: bool = False
    ) -> dict[str, Any]:
        """What a server on this major of the SDK answers to a client of that one."""
        try:
            return self._held(copy, plan, way, major, client, mode, steps, mistakes=mistakes)
        except (OSError, subprocess.SubprocessError) as error:
            return {"trouble": " ".join(str(error).split())}

    def _held(
        self, copy: Path, plan: Plan, way: Way, major: str, client: str, mode: str, steps: Sequence[Any], *, mistakes: bool
    ) -> dict[str, Any]:
        host = plan.prepare(major, way.recipe, copy, self.environments)
        job: dict[str, Any] = {"steps": steps, "mistakes": mistakes, "mode": mode, "limit": LIMITS["session"] - 40, "sse": way.sse}
        if way.recipe.run:
            job |= {"argv": host.argv(way.recipe.run), "cwd": str(host.folder), "env": dict(os.environ)}
            said = self._asked(job, client)
        else:
            port = free_port()
            with started(host.argv(way.recipe.serve.replace("{port}", str(port))), host.folder) as running:
                running.listens(port)
                said = self._asked({**job, "url": f"http://127.0.0.1:{port}{way.recipe.path}"}, client)
        place = str(host.bin.parent)
        answer: dict[str, Any] = masked(said, lambda text: mask(text.replace(place, "ENVIRONMENT"), host))
        if "version" in said.get("server", {}):  # which revision is spoken is no date that changes from run to run
            answer["server"]["version"] = said["server"]["version"]
        # The steps are asked again, as they were.
        return {
            **answer,
            "steps": said.get("steps", []),
            "answers": dict(zip(said.get("answers", {}), answer.get("answers", {}).values(), strict=True)),
        }

    def _asked(self, job: Mapping[str, Any], client: str) -> dict[str, Any]:
        python = environment(pins(client), self.environments) / "python"
        argv = [str(python), str(SESSIONS / f"v{client}.py")]
        done = subprocess.run(argv, input=json.dumps(job), capture_output=True, text=True, timeout=LIMITS["session"])
        try:
            said: dict[str, Any] = json.loads(done.stdout)
        except ValueError:
            return {"trouble": f"the client gave no answers: {done.stderr.strip()[-300:]}"}
        if "trouble" in said:
            last = next((line for line in reversed(done.stderr.strip().splitlines()) if not line.startswith(("  ", "+", "|"))), "")
            said["trouble"] += f" ({last[:300]})"
            if "answers" in said:  # every question was asked: what went wrong since is no lost session
                late = any(answer.get("raised", "").startswith("TimeoutError") for answer in said["answers"].values())
                said["leaving"] = said.pop("trouble") + (UNANSWERED if late else "")
        return said

    def _referee(self, row: dict[str, Any], project: Path, fixed: Path, plan: Plan) -> None:
        """d: what a type checker sees that was not there before, and no mark announces."""
        if self.referee is None or plan.fastmcp:  # it knows the official SDK alone
            return
        marked = _copy(project, fixed.parent / "marked")
        self._run("fix", "--mark", ".", cwd=marked)
        asked = [*_requirements(marked)]
        older, newer = (tuple(pin for name, pin in table.items() if any(name in text for text in asked)) for table in (BRINGS, BROUGHT))
        one = environment((*pins("1"), *older), self.environments) / "python"
        two = environment((*pins("2"), PYRIGHT, *newer), self.environments) / "python"
        argv = [sys.executable, str(self.referee), "--v1", str(one), "--v2", str(two), "--list", str(project), str(marked)]
        done = subprocess.run(argv, capture_output=True, text=True)
        if done.returncode:
            raise OSError(done.stderr.strip()[-300:])
        row["referee"] = json.loads(done.stdout)

    def _tests(self, row: dict[str, Any], project: Path, fixed: Path, plan: Plan) -> None:
        """e: its own tests, before and after."""
        if not plan.tests:
            return
        before = self._kept("tests", project, plan, lambda: self._tested(self.copied(project, project), plan, "1"))
        after = self._tested(self.copied(fixed, project), plan, "2")
        passed = [name for name, outcome in before.items() if outcome == "passed"]
        failed = {name: after.get(name, "not run") for name in passed if after.get(name) != "passed"}
        told = _failures(failed, row, project)
        failed = {name: reason.partition("\n")[0] for name, reason in failed.items()}
        row["tests"] = {"all": len(before), "before": len(passed), "after": len(passed) - len(failed), "failed": failed, "told": told}

    def _tested(self, copy: Path, plan: Plan, major: str) -> dict[str, str]:
        host = plan.prepare(major, Recipe(), copy, self.environments)
        outcomes: dict[str, str] = {}
        for folder, command in plan.tests:
            told = copy.parent / "junit.xml"
            told.unlink(missing_ok=True)
            argv = host.argv(f"{command} -p no:cacheprovider --continue-on-collection-errors --junit-xml {shlex.quote(str(told))}")
            done = subprocess.run(
                argv, cwd=copy / folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=LIMITS["tests"]
            )
            if not told.exists():
                outcomes[f"{folder}: {command}"] = (done.stdout + done.stderr).strip()[-300:]
                continue
            for case in xml.parse(told).iter("testcase"):
                fault = next((child for child in case if child.tag in ("failure", "error", "skipped")), None)
                name = f"{folder}/{case.get('classname')}::{case.get('name')}"
                # Behind the message are the places that it came by.
                frames = re.findall(r"^(\S+\.py:\d+): ", fault.text or "", re.MULTILINE) if fault is not None else ()
                told_by = [f"{folder}/{frame}".removeprefix("./") for frame in frames]
                why = "" if fault is None else f"{fault.tag}: {' '.join((fault.get('message') or '').split())[:300]}"
                outcomes[name] = "passed" if fault is None else "\n".join([why, *told_by])
        return outcomes

    def _kept(self, what: str, project: Path, plan: Plan, measure: Callable[[], Any]) -> Any:
        """What was measured before of the untouched project; nothing of it changes with the tool."""
        kept = self.environments / "before" / f"{project.name}-{what.replace(' ', '-')}-{_key(what, project, plan)}.json"
        if kept.exists() and not self.fresh:
            return json.loads(kept.read_text(encoding="utf-8"))
        said = measure()
        if not said.get("trouble"):
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(said), encoding="utf-8")
        return said

    def _place(self, project: Path) -> Path:
        """A folder of its own for each copy that something is started in: what one leaves behind is not there for the next."""
        with self.lock:
            return self.scratch / project.name / f"{next(self.counter)}" / "copy"

    def copied(self, source: Path, project: Path) -> Path:
        """A copy to start something in."""
        return _copy(source, self._place(project))

    def _run(self, *argv: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*self.tool, *argv], cwd=cwd, capture_output=True, text=True, encoding="utf-8")


def _differing(before: Mapping[str, Any], after: Mapping[str, Any], same: Callable[[Any], Any] | None = None) -> Iterator[str]:
    if after.get("trouble"):
        yield f"no session: {after['trouble']}"
        return
    # The version is that of the SDK where a server names none; what a server can do is told in other words in each era.
    for key in ("name", "title"):
        yield from differences(before["server"]["info"].get(key), after["server"]["info"].get(key), f"server {key}")
    yield from differences(before["server"]["instructions"], after["server"]["instructions"], "server instructions")
    for what, answer in before["lists"].items():
        # A server without them answers an error, whose words are those of its SDK.
        if "error" in answer and "error" in after["lists"][what] and answer["error"]["code"] == after["lists"][what]["error"]["code"]:
            continue
        now = after["lists"][what]
        yield from differences(*((same(answer), same(now)) if same else (answer, now)), f"list of {what}")
    for step, answer in before["answers"].items():
        now = after["answers"].get(step)
        yield from (f"{step}: {told}" for told in differences(_aligned(answer, now) if same else answer, now))
    if after.get("leaving") and not before.get("leaving"):
        yield f"leaving: {after['leaving']}"


def _aligned(one: Any, two: Any) -> Any:
    """The first answer, with the texts of the second one where both are the same JSON: keys and blanks may stand in another way."""
    if isinstance(one, dict) and isinstance(two, dict):
        return {key: _aligned(inner, two.get(key)) for key, inner in one.items()}
    if isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        return [_aligned(*both) for both in zip(one, two, strict=True)]
    if isinstance(one, str) and isinstance(two, str) and one.startswith(("{", "[")):
        with contextlib.suppress(ValueError):
            return two if json.loads(one) == json.loads(two) else one
    return one


def _fallen_back(after: Mapping[str, Any], mode: str) -> Iterator[str]:
    """A client that may choose takes the newer era, when the server has it."""
    version = after.get("server", {}).get("version", MODERN)
    if mode == "auto" and version != MODERN:
        yield f"server speaks {version}"


def _told(error: Mapping[str, Any], findings: Sequence[Mapping[str, Any]], fixed: Path) -> str:
    """The finding that says why a module is not imported: at the same line, or it names what is missing, or the package that fails."""
    words = [word for word in re.sub(r'["`]', "'", error["error"]).split("'")[1::2] if word]
    names = {part for word in words for part in (word, word.rpartition(".")[2]) if len(part) > 2}
    for finding in findings:
        if finding["path"] == error["file"] and finding["severity"] != "note":
            near = abs(finding["line"] - error["line"]) <= 2
            text = f"{finding['message']} {finding['hint']}"
            if near or any(name in text for name in names):
                return f"{finding['rule']} {finding['path']}:{finding['line']}"
    package = _package(fixed / error["file"], error["line"])
    blocks = (f for f in findings if f["rule"] == BLOCKS and package and f"`{package}`" in f["message"].replace("-", "_"))
    return next((f"{finding['rule']} {finding['path']}:{finding['line']}" for finding in blocks), "")


def _is_told(difference: str, findings: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a finding says that clients lose the text of this error, get what is printed as a message, or nobody waits for state."""
    hidden = re.search(r'text: "Error executing tool ([\w-]+): .*-> "Error exe', difference)
    printed = difference.startswith("leaving: BrokenResourceError") and "JSONRPCMessage" in difference
    rules = {finding["rule"] for finding in findings}
    waiting = "'coroutine' object has no attribute" in difference and WAITS in rules
    return (hidden is not None and HIDES in rules) or (printed and PRINTS in rules) or waiting


def _is_spoken_of(difference: str, findings: Sequence[Mapping[str, Any]], project: Path) -> bool:
    """Whether a finding stands in the function that answers otherwise, or names what a server no longer starts with."""
    if difference.startswith("no session: "):
        words = {word for word in re.findall(r"[\w.]+", re.sub(r"^no session: \w+: ", "", difference)) if len(word) > 3}
        return any(words & {*re.findall(r"`(?:[\w.]*\.)?(\w+)(?:\(\))?`", finding["message"])} for finding in findings)
    described = any(finding["rule"] == DESCRIBED for finding in findings)
    asked = re.match(r'list of \w+\.result\.\w+\[([^]]+)\]|\["\w+", "([^"]+)"', difference)
    if asked is None:
        return described and re.fullmatch(r"list of \w+\.result\.\w+: in another order|server name: .*", difference) is not None
    name = asked[1] or asked[2]
    # What no function of the project answers by this very name is made of the description.
    if described and not any(name in names for _, names, _, _ in _functions(project)):
        return True
    if difference.startswith("list of ") and any(finding["rule"] == HOOKS for finding in findings):
        return True
    return any(
        finding["path"] == path and first <= finding["line"] <= last
        for path, first, last in _answering(name, project)
        for finding in findings
    )


@functools.cache
def _functions(project: Path) -> tuple[tuple[str, frozenset[str], int, int], ...]:
    """The file, the names and the lines of each decorated function."""
    found: list[tuple[str, frozenset[str], int, int]] = []
    for path in project.rglob("*.py"):
        with contextlib.suppress(SyntaxError, ValueError):
            for node in ast.walk(ast.parse(path.read_bytes())):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.decorator_list:
                    inner = [one for decorator in node.decorator_list for one in ast.walk(decorator)]
                    names = {one.value for one in inner if isinstance(one, ast.Constant) and isinstance(one.value, str)}
                    first = min(decorator.lineno for decorator in node.decorator_list)
                    found.append((path.relative_to(project).as_posix(), frozenset({node.name, *names}), first, node.end_lineno or first))
    return tuple(found)


def _answering(name: str, project: Path) -> Iterator[tuple[str, int, int]]:
    """The functions that a client knows by this name, also behind the prefix of a server that is mounted."""
    for path, names, first, last in _functions(project):
        if name in names or any(name.endswith(f"_{own}") for own in names if own.isidentifier()):
            yield path, first, last


def _docstrings(project: Path, name: str) -> str:
    """What the functions that a client knows by this name say of themselves."""
    found: list[str] = []
    for path, first, last in _answering(name, project):
        for node in ast.walk(ast.parse((project / path).read_bytes())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and first <= node.lineno <= last:
                found.append(ast.get_docstring(node) or "")
    return "\n".join(found)


def _own(differs: Sequence[str], client: str) -> Iterator[str]:
    """What version 2 of the SDK says otherwise of itself, also of a server that was moved by hand; a test of these benchmarks proves both.

    To clients of the newer revision no error has the code 0, which is none, and of a prompt that a `MCPServer` does not have they are told
    nothing; and a server that does not have a resource says so with the code of the specification and the URI, to all clients. A server
    whose input ends answers what it is still asked with an error, and the client of 1.x fails when a message comes while it leaves.
    """
    for difference in differs:
        late = difference.startswith("leaving: BrokenResourceError") and difference.endswith(UNANSWERED)
        if client == "v1" and late and "JSONRPCMessage" not in difference:
            yield difference
        prompt = re.fullmatch(
            r"(\[\"prompt\", \"(?P<name>[^\"]*)\", .*\]: )error\.message: \"Unknown prompt: (?P=name)\" -> \"Internal server error\"",
            difference,
        )
        if client == "v2 modern" and prompt is not None and f"{prompt[1]}error.code: 0 -> -32603" in differs:
            yield difference
        read = re.fullmatch(r"(\[\"read\", .*\]: )error\.(?:code: 0 -> -32602|data: nothing -> \{\"uri\": .*\})", difference)
        both = {f"{read[1]}error.code: 0 -> -32602"} < {one for one in differs if one.startswith(f"{read[1]}error.")} if read else False
        coded = client == "v2 modern" and re.search(r"error\.code: 0 -> -3260[23]$", difference)
        if both or coded:
            yield difference


def _failures(failed: Mapping[str, str], row: Mapping[str, Any], project: Path) -> dict[str, str]:
    """The findings that say why a test fails.

    They stand in the test itself or where it failed, or in its file about what the error names, or anywhere with all names of the error;
    or in what the test runs, as far as names tell, if they are no notes.
    """
    said: dict[str, str] = {}
    for name, reason in failed.items():
        message, _, frames = reason.partition("\n")
        words = {*re.findall(r"'(\w+)'", message)}
        places = {(path, int(line)) for path, _, line in (frame.rpartition(":") for frame in frames.split())}
        spans = [*_test_lines(name, project)]
        for finding in (*row["announced"], *row["findings"]):
            inside = any(finding["path"] == path and first <= finding["line"] <= last for path, first, last in spans)
            named = len(words) > 1 and all(f"`{word}`" in f"{finding['message']} ".replace(".", "`") for word in words)
            about = re.findall(r"`(\w+)`", finding["message"])
            same = bool(about) and finding["path"] in {path for path, _, _ in spans} and all(word in message for word in about)
            if ((inside or same) and finding in row["announced"]) or named:
                said[name] = f"{finding['rule']} {finding['path']}:{finding['line']}"
                break
        else:
            near = (f for f in row["findings"] if any(f["path"] == path and abs(f["line"] - line) <= 3 for path, line in places))
            run = _run_by(name, project)
            used = (
                f
                for f in row["announced"]
                if f["severity"] != "note" and any(f["path"] == path and first <= f["line"] <= last for path, first, last in run)
            )
            finding = next(near, None) or next(used, None)
            if finding is not None:
                said[name] = f"{finding['rule']} {finding['path']}:{finding['line']}"
    return said


def _run_by(test: str, project: Path) -> set[tuple[str, int, int]]:
    """The functions and classes of the project that a test names, and those that these name, up to `REACH` steps away."""
    defined = _defined(project)
    [*spans] = _test_lines(test, project)
    pending = {word for every in defined.values() for one in every for span in spans if span in one.places for word in one.words}
    run: set[tuple[str, int, int]] = set()
    seen: set[str] = set()
    for _ in range(REACH):
        pending -= seen
        seen |= pending
        found = [one for word in pending if len(defined.get(word, ())) <= ALIKE for one in defined.get(word, ())]
        run |= {place for one in found for place in one.places}
        pending = {word for one in found for word in one.words}
    return run


@dataclass(frozen=True)
class Definition:
    """A function, class or value of a module: the lines that run with it, and the words that stand in them."""

    places: tuple[tuple[str, int, int], ...]
    words: frozenset[str]


@functools.cache
def _defined(project: Path) -> dict[str, list[Definition]]:
    """What a project defines, by its names."""
    found: dict[str, list[Definition]] = {}
    for path in sorted(project.rglob("*.py")):
        with contextlib.suppress(SyntaxError, ValueError):
            name = path.relative_to(project).as_posix()
            tree = ast.parse(path.read_bytes())
            for assigned in tree.body:
                match assigned:
                    case ast.Assign(targets=[ast.Name(id=target)], value=value):
                        found.setdefault(target, []).append(_definition(name, assigned, [value]))
                    case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value):
                        found.setdefault(target, []).append(_definition(name, assigned, [value]))
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    found.setdefault(node.name, []).append(_definition(name, node, [node.args, *node.body]))
                elif isinstance(node, ast.ClassDef):
                    # Methods are named by themselves, but for those that nobody outside of the class calls.
                    methods = [one for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
                    own = [one for one in node.body if one not in methods or one.name.startswith("_")]
                    every = [_definition(name, one, [one]) for one in own]
                    places = tuple(place for one in every for place in one.places)
                    found.setdefault(node.name, []).append(Definition(places, frozenset().union(*(one.words for one in every))))
    return found


def _definition(path: str, node: ast.stmt, parts: Sequence[ast.AST]) -> Definition:
    words = frozenset(word for part in parts for inner in ast.walk(part) for word in _words(inner))
    return Definition(((path, node.lineno, node.end_lineno or node.lineno),), words)


def _words(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=word) | ast.Attribute(attr=word) | ast.arg(arg=word) | ast.Constant(value=str(word)):
            yield word


def _test_lines(name: str, project: Path) -> Iterator[tuple[str, int, int]]:
    """The file and lines of a test in the untouched project."""
    folder, _, rest = name.partition("/")
    modules, _, test = rest.rpartition("::")
    parts = modules.split(".")
    for end in range(len(parts), 0, -1):
        path = Path(folder, *parts[:end]).with_suffix(".py")
        if (project / path).is_file():
            tree = ast.parse((project / path).read_bytes())
            wanted = test.partition("[")[0]
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == wanted:
                    yield path.as_posix(), node.lineno, node.end_lineno or node.lineno
            return


def _package(path: Path, line: int) -> str:
    """The package that a line imports."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
    found = re.match(r"\s*(?:from|import)\s+(\w+)", lines[line - 1]) if 0 < line <= len(lines) else None
    return found[1] if found else ""


def _key(what: str, project: Path, plan: Plan) -> str:
    """Changes with all that a measurement of the untouched project depends on."""
    kind, _, number = what.partition(" ")
    told: Any = {"imports": plan.first, "tests": plan.tests, "session": plan.ways[int(number or 0)] if plan.ways else None}[kind]
    setting = (plan.packages("1"), plan.roots, sorted(plan.files.items()), sorted(plan.env.items()))
    stamp = [(str(p.relative_to(project)), p.stat().st_size, p.stat().st_mtime_ns) for p in sorted(project.rglob("*")) if p.is_file()]
    code = [(SESSIONS / name).read_text(encoding="utf-8") for name in SCRIPTS[kind]]
    return hashlib.sha256(repr([told, setting, stamp, code]).encode()).hexdigest()[:16]


def _requirements(project: Path) -> Iterator[str]:
    """The texts of the files in which a project says what it needs."""
    for pattern in ("pyproject.toml", "requirements*.txt", "setup.py", "setup.cfg"):
        yield from (path.read_text(encoding="utf-8", errors="replace").replace("_", "-").lower() for path in project.rglob(pattern))


def _unlist(listing: Path, packages: Sequence[str]) -> None:
    """Take requirements out of a list with one a line. It keeps its time: what was measured of the untouched project is kept by that."""
    if packages:
        names = "|".join(map(re.escape, packages))
        told = listing.stat()
        listing.write_text(re.sub(rf"(?m)^\s*\"(?:{names})[^\w-].*\n", "", listing.read_text(encoding="utf-8")), encoding="utf-8")
        os.utime(listing, ns=(told.st_atime_ns, told.st_mtime_ns))


def _copy(source: Path, target: Path) -> Path:
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", ".git"), symlinks=True)
    for path in [target, *target.rglob("*")]:
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | 0o200)  # the corpus may be read-only
    return target


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--prefix", default="ll-,fm1-,cl-")
    parser.add_argument("--only", default="", help="names of projects, with commas between")
    parser.add_argument("--recipes", type=Path, required=True, help="how projects are installed and started; see README.md here")
    parser.add_argument("--referee", type=Path, help="the static referee (without it, types are not compared)")
    parser.add_argument("--parts", default="", help=f"measure only these: {', '.join(PARTS)}")
    parser.add_argument("--tool", default=str(Path(sys.executable).with_name("mcp-migrate")))
    parser.add_argument("--scratch", type=Path, help="where copies are made and kept (default: a folder that goes)")
    parser.add_argument("--environments", type=Path, default=Path.home() / ".cache" / "mcp-migrate-recipes")
    parser.add_argument("--fresh", action="store_true", help="measure the untouched projects again, too")
    parser.add_argument("--silent", type=int, default=25, help="errors of the type checker that may stay without a mark, over all")
    parser.add_argument("--jobs", type=int, default=2, help="projects at a time")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    plans = read(options.recipes)
    every = sorted(p.name for p in options.corpus.iterdir() if p.name.startswith(tuple(options.prefix.split(","))))
    names = options.only.split(",") if options.only else every
    with tempfile.TemporaryDirectory() as temporary:
        bench = Bench(options, (options.scratch or Path(temporary)).resolve())
        rows: list[dict[str, Any]] = []
        with ThreadPoolExecutor(options.jobs) as pool:
            for row in pool.map(lambda name: bench.row((options.corpus / name).resolve(), plans.get(name, Plan())), names):
                rows.append(row)
                if options.json is not None:  # as far as it has come, for a long run that is broken off
                    options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    goals = list(targets(rows, options.silent))
    text = report(rows, goals)
    print(text, end="")
    if options.output is not None:
        options.output.write_text(text, encoding="utf-8")
    return 0 if all(goal.holds for goal in goals) else 1


if __name__ == "__main__":
    sys.exit(main())
