"""Measures how far `fix` gets alone with hand-written servers, and whether what it makes of them works.

    python benchmarks/autonomy.py [--recipes FILE.yaml] [--judge JUDGE.py] [--output FILE.md] CORPUS

CORPUS holds one folder for each project; those whose names begin with `--prefix` are taken, or only those named by `--only`.
Every project is copied, so the corpus stays as it is. Exit status: 0 when all targets hold, 1 otherwise.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from judging import Verdict, ask, outcomes
from measured import ERAS, UNWIRED, Fixed, Left, Row, Start
from starting import Host, Recipe, Recipes, read, session
from telling import report, targets

BOUNDARY = "mcp_stateless.py"


class Bench:
    """The tools and the places of one measurement."""

    def __init__(self, tool: str, judge: Path | None, scratch: Path, environments: Path) -> None:
        self.tool, self.judge, self.scratch, self.environments = shlex.split(tool), judge, scratch, environments

    def row(self, project: Path, recipes: Recipes) -> Row:
        row = Row(project.name)
        home = self.scratch / project.name
        shutil.rmtree(home, ignore_errors=True)
        for era in ERAS:
            row.fixed[era] = self.fix(project, _copy(project, home / era), era, recipes.aside.get(project.name, {}))
        for number, recipe in enumerate(recipes.ways.get(project.name, ())):
            start = Start(recipe.how)
            row.starts.append(start)
            try:
                # Each way has copies of its own: what one leaves behind is not there for the next.
                sources = {"before": project, **{era: home / era for era in ERAS}}
                copies = {name: _copy(source, home / f"{number}" / name) for name, source in sources.items()}
                self.start(start, row.fixed, recipe, copies)
            except (OSError, subprocess.SubprocessError) as error:
                start.trouble = " ".join(str(error).replace("|", "/").split())[:200]
        print(f"{row.name:20} {row.verdict}", *(start.trouble for start in row.starts if start.trouble), file=sys.stderr, flush=True)
        return row

    def fix(self, project: Path, copy: Path, era: str, aside: Mapping[str, str]) -> Fixed:
        done = self._run("fix", "--era", era, ".", cwd=copy)
        checked = self._run("check", "--era", era, "--output-format", "json", ".", cwd=copy)
        if broken := [line for line in (done.stderr + checked.stderr).splitlines() if "internal error" in line]:
            return Fixed((), (), trouble=broken[0][-200:])
        try:
            report = json.loads(checked.stdout)
        except ValueError:
            return Fixed((), (), trouble=(checked.stderr or done.stderr).strip()[-200:] or "nothing was told")
        wired = [f"{file['path']}:{function}" for file in report["files"] for function in file.get("boundary", ())]
        left = [_left(copy, finding) for finding in report["findings"]]
        reasons = {found: aside.get(found.path) or aside.get(f"{found.path}:{found.function}") for found in left if found.rule == UNWIRED}
        set_aside = tuple((found, why) for found, why in reasons.items() if why)
        counted = tuple(found for found in left if not reasons.get(found))
        return Fixed(tuple(wired), counted, set_aside, *_lines(project, copy))

    def start(self, start: Start, fixed: Mapping[str, Fixed], recipe: Recipe, copies: Mapping[str, Path]) -> None:
        hosts = {name: Host.prepare(recipe if name == "before" else recipe.after, copy, self.environments) for name, copy in copies.items()}
        name, _, rest = (recipe.calls[0] if recipe.calls else "").partition(" => ")[0].partition(" ")
        tool, arguments = name or "no_such_tool_either", json.loads(rest or "{}")
        before = session(hosts["before"], tool, arguments)
        if not any("protocolVersion" in said or '"tools"' in said for said in before.values()):
            raise OSError(f"the untouched server does not answer: {' / '.join(filter(str.strip, before.values()))[:300]}")
        after = session(hosts["dual"], tool, arguments)
        start.session = {sent: _difference(said, after.get(sent, "")) for sent, said in before.items() if said != after.get(sent)}
        if self.judge is None:
            return
        for era in ERAS:
            start.judged[era] = ask(self.judge, hosts[era], era) if fixed[era].wired else Verdict(trouble="no dispatcher is wired")
        if any(verdict.failed and not verdict.trouble for verdict in start.judged.values()):
            untouched = ask(self.judge, hosts["before"], "dual")
            told = frozenset(outcomes(before, tool))
            start.judged = {era: verdict.beside(untouched, start.judged["modern"], told) for era, verdict in start.judged.items()}

    def _run(self, *argv: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*self.tool, *argv], cwd=cwd, capture_output=True, text=True, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--prefix", default="hr-")
    parser.add_argument("--only", default="", help="names of projects, with commas between")
    parser.add_argument("--recipes", type=Path, help="how projects are started; see README.md here")
    parser.add_argument("--judge", type=Path, help="the outside judge (without it, only sessions are compared)")
    parser.add_argument("--tool", default=str(Path(sys.executable).with_name("mcp-migrate")))
    parser.add_argument("--scratch", type=Path, help="where copies are made and kept (default: a folder that goes)")
    parser.add_argument("--environments", type=Path, default=Path.home() / ".cache" / "mcp-migrate-recipes")
    parser.add_argument("--wired", type=float, default=85)
    parser.add_argument("--passing", type=float, default=90)
    parser.add_argument("--jobs", type=int, default=2, help="projects at a time")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    recipes = read(options.recipes) if options.recipes else Recipes({}, {})
    names = options.only.split(",") if options.only else sorted(p.name for p in options.corpus.glob(f"{options.prefix}*"))
    with tempfile.TemporaryDirectory() as temporary:
        bench = Bench(options.tool, options.judge, options.scratch or Path(temporary), options.environments)
        with ThreadPoolExecutor(options.jobs) as pool:
            rows = list(pool.map(lambda name: bench.row(options.corpus / name, recipes), names))
    goals = list(targets(rows, options.wired, options.passing))
    text = report(rows, goals)
    print(text, end="")
    if options.output is not None:
        options.output.write_text(text, encoding="utf-8")
    return 0 if all(goal.holds for goal in goals) else 1


def _left(copy: Path, finding: Mapping[str, str | int]) -> Left:
    path, line = str(finding["path"]), int(finding["line"])
    function = _function(copy / path, line) if finding["rule"] == UNWIRED else ""
    rule, name, severity, hint = (str(finding[key]) for key in ("rule", "name", "severity", "hint"))
    return Left(rule, name, severity, path, line, function, hint)


def _function(path: Path, line: int) -> str:
    """The name of the innermost function that holds this line."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return ""
    spans = [
        (node.lineno, node.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return max(spans, default=(0, ""))[1]


def _difference(before: str, after: str) -> str:
    return " | ".join(difflib.unified_diff(before.splitlines(), after.splitlines(), "before", "after", lineterm="", n=0))


def _copy(source: Path, target: Path) -> Path:
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", ".git"))
    # The corpus may be read-only.
    for path in [target, *target.rglob("*")]:
        path.chmod(path.stat().st_mode | 0o200)
    return target


def _lines(before: Path, after: Path) -> tuple[int, int]:
    """Added and removed lines in the files that were there."""
    added = removed = 0
    for path in sorted(after.rglob("*.py")):
        source = before / path.relative_to(after)
        if path.name == BOUNDARY or not source.exists() or source.read_bytes() == path.read_bytes():
            continue
        old, new = (file.read_text(encoding="utf-8", errors="replace").splitlines() for file in (source, path))
        changes = [line[0] for line in difflib.unified_diff(old, new, lineterm="", n=0) if not line.startswith(("---", "+++"))]
        added, removed = added + changes.count("+"), removed + changes.count("-")
    return added, removed


if __name__ == "__main__":
    sys.exit(main())
