"""The command line: flags to a run, a run to text and an exit status. Only this module prints and writes."""

from __future__ import annotations

import dataclasses
import os
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from . import __version__
from .house import UNREADABLE
from .report.model import visible
from .rule import Era

if TYPE_CHECKING:
    from .engine import Fixed
    from .reading import Reading
    from .report.model import Report
    from .rule import Entry
    from .run import Change, Flags, Run
    from .sieve import Sifted

STDIN = "-"
STDIN_NAME = "stdin.py"

# Exit statuses, as ruff's; the last one is the shell's for SIGINT.
CLEAN, FOUND, FAILED, INTERRUPTED = 0, 1, 2, 130

# A run shorter than these seconds shows no progress.
PATIENCE = 1.0


class Format(str, Enum):
    """How `check` tells its findings."""

    TEXT = "text"
    CONCISE = "concise"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"


class FailOn(str, Enum):
    """The least severity that makes the exit status 1."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"
    NEVER = "never"


app = typer.Typer(
    name="mcp-migrate",
    help="Moves existing Python MCP servers and clients to protocol revision 2026-07-28.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Paths = Annotated[
    list[str] | None,
    typer.Argument(help="Files and folders; `-` reads one file from standard input. [default: .]", show_default=False),
]
StdinFilename = Annotated[str | None, typer.Option(metavar="FILE", help="The name of the file that `-` reads.")]
Select = Annotated[list[str] | None, typer.Option(metavar="RULES", help="Run these rules only: ids, prefixes, names, packs.")]
Ignore = Annotated[list[str] | None, typer.Option(metavar="RULES", help="Do not run these rules.")]
Exclude = Annotated[list[str] | None, typer.Option(metavar="PATTERNS", help="Leave out files and folders, with patterns as in .gitignore.")]
EraOption = Annotated[Era | None, typer.Option("--era", help="Serve older clients too, or none but those of 2026-07-28. [default: dual]")]
FailOnOption = Annotated[FailOn | None, typer.Option("--fail-on", help="Exit with 1 from this severity on. [default: error]")]
ConfigFile = Annotated[Path | None, typer.Option("--config", metavar="FILE", help="A TOML file of settings, in place of the nearest one.")]
Gitignore = Annotated[bool, typer.Option("--respect-gitignore/--no-respect-gitignore", help="Leave out what .gitignore files name.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print findings and nothing else.")]


def main() -> None:
    """The entry point of the command `mcp-migrate`."""
    try:
        app()
    except KeyboardInterrupt:  # while Python was still loading modules
        _interrupted()


def _version(wanted: bool) -> None:
    if wanted:
        print(f"mcp-migrate {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[bool, typer.Option("--version", "-V", callback=_version, is_eager=True, help="Print the version and exit.")] = False,
) -> None:
    pass


@app.command()
def check(
    paths: Paths = None,
    stdin_filename: StdinFilename = None,
    output_format: Annotated[Format, typer.Option(help="How to tell the findings.")] = Format.TEXT,
    output_file: Annotated[Path | None, typer.Option("--output-file", "-o", metavar="FILE", help="Write the report to this file.")] = None,
    select: Select = None,
    ignore: Ignore = None,
    exclude: Exclude = None,
    era: EraOption = None,
    fail_on: FailOnOption = None,
    statistics: Annotated[bool, typer.Option("--statistics", help="Count the findings of each rule instead of showing them.")] = False,
    accepted: Annotated[Path | None, typer.Option("--baseline", metavar="FILE", help="Pass over what this file accepts.")] = None,
    accept: Annotated[Path | None, typer.Option("--write-baseline", metavar="FILE", help="Accept all findings: write this file.")] = None,
    config: ConfigFile = None,
    respect_gitignore: Gitignore = True,
    quiet: Quiet = False,
) -> None:
    """Find what protocol revision 2026-07-28 breaks."""
    from .run import Run

    with _guarded():
        flags = _flags(paths, stdin_filename, select, ignore, exclude, era, fail_on, config, respect_gitignore, accepted)
        run = Run(flags, accept=accept is None)
        read = _read(run)
        sifted = run.check(read)
        if accept is not None:
            _write_baseline(run, sifted, accept)
            raise typer.Exit(FAILED if read.unreadable else CLEAN)
        # Code scanning wants paths from the root of the checkout, where it runs.
        report = run.report(read, sifted, run.relative if output_format in (Format.SARIF, Format.GITHUB) else run.show)
        _tell(report, output_format, output_file, statistics=statistics, quiet=quiet)
        raise typer.Exit(_status(report, run))


@app.command()
def fix(
    paths: Paths = None,
    stdin_filename: StdinFilename = None,
    diff: Annotated[bool, typer.Option("--diff", help="Print a patch and write nothing.")] = False,
    unsafe_fixes: Annotated[bool, typer.Option("--unsafe-fixes", help="Apply fixes, too, that a human should look at.")] = False,
    mark: Annotated[bool, typer.Option("--mark", help="Leave a TODO comment where a human must act.")] = False,
    allow_dirty: Annotated[bool, typer.Option("--allow-dirty", help="Rewrite files, too, that git could not give back.")] = False,
    select: Select = None,
    ignore: Ignore = None,
    exclude: Exclude = None,
    era: EraOption = None,
    fail_on: FailOnOption = None,
    config: ConfigFile = None,
    respect_gitignore: Gitignore = True,
    quiet: Quiet = False,
) -> None:
    """Move code to protocol revision 2026-07-28, in place."""
    from .report import text
    from .run import Run

    with _guarded():
        run = Run(_flags(paths, stdin_filename, select, ignore, exclude, era, fail_on, config, respect_gitignore))
        before = _read(run)
        fixed = run.fix(before, unsafe=unsafe_fixes)
        after = dataclasses.replace(before, project=fixed.project)
        left = run.left(after, fixed)
        if mark:
            after = run.marked(after, left)
            left = run.check(after)
        changes = run.changes(before, after)
        preview = diff or run.flags.stdin is not None
        if diff:
            _print_patch(run, changes)
        elif run.flags.stdin is not None:
            _print_bytes(changes[0].after if changes else run.flags.stdin)
        else:
            _refuse_unsaved(run, changes, allow_dirty=allow_dirty)
            _write_all(changes)
        summary = _summary(run, before, fixed, left, would=diff)
        report = run.report(after, left, run.show)
        if preview:
            if not quiet:
                print(summary, end="", file=sys.stderr)
        else:
            if not quiet:
                print(summary)
            sys.stdout.write(text.render(report, colour=_is_colourful(), summary=not quiet))
        status = _status(report, run)
        raise typer.Exit(max(status, FOUND) if diff and changes else CLEAN if diff and status == FOUND else status)


@app.command()
def rules() -> None:
    """List all rules."""
    with _guarded():
        entries = _entries()
        width = max(len(entry.name) for entry in entries)
        for entry in entries:
            print(f"{entry.id}  {entry.name:{width}}  {entry.severity.word:7}  {_FIX_WORDS[entry.fix]:10}  {entry.title}")


@app.command()
def explain(rule: Annotated[str, typer.Argument(metavar="RULE", help="An id or a name.")]) -> None:
    """Say why a rule is there, and what to write instead."""
    with _guarded():
        entry = next((entry for entry in _entries() if rule.upper() == entry.id or rule == entry.name), None)
        if entry is None:
            _fail(f"no rule is called {rule!r}; `mcp-migrate rules` lists them")
        source = f"\n\nSource: {entry.spec}" if entry.spec != "none" else ""
        print(f"{entry.id} {entry.name} ({entry.severity.word}, {_FIX_WORDS[entry.fix]})\n\n{entry.title}.\n")
        print(f"Why: {entry.why.strip()}\n\nInstead: {entry.instead.strip()}{source}")


_FIX_WORDS = {"always": "fix", "sometimes": "some fixes", "never": "no fix"}


def _entries() -> tuple[Entry, ...]:
    from . import catalog

    return catalog.load().entries


def _flags(
    paths: list[str] | None,
    stdin_filename: str | None,
    select: list[str] | None,
    ignore: list[str] | None,
    exclude: list[str] | None,
    era: Era | None,
    fail_on: FailOn | None,
    config: Path | None,
    respect_gitignore: bool,
    baseline: Path | None = None,
) -> Flags:
    from .run import Flags

    stdin = None
    if paths and STDIN in paths:
        if len(paths) > 1:
            _fail("`-` cannot be mixed with other paths")
        paths = [stdin_filename or STDIN_NAME]
        stdin = sys.stdin.buffer.read()
    elif stdin_filename is not None:
        _fail("--stdin-filename names what `-` reads, but `-` is not among the paths")
    return Flags(
        paths=tuple(paths or ["."]),
        stdin=stdin,
        select=_split(select),
        ignore=_split(ignore),
        exclude=_split(exclude),
        era=era,
        fail_on=None if fail_on is None else fail_on.value,
        config=config,
        baseline=baseline,
        respect_gitignore=respect_gitignore,
    )


def _split(values: list[str] | None) -> tuple[str, ...]:
    return tuple(part for value in values or () for item in value.split(",") if (part := item.strip()))


def _read(run: Run) -> Reading:
    progress = _Progress()
    try:
        return run.read(progress)
    finally:
        progress.clear()


def _tell(report: Report, output_format: Format, file: Path | None, *, statistics: bool, quiet: bool) -> None:
    text = _rendered(report, output_format, colour=file is None and _is_colourful(), statistics=statistics, quiet=quiet)
    if file is None:
        sys.stdout.write(text)
        return
    _write(file, text)


def _rendered(report: Report, output_format: Format, *, colour: bool, statistics: bool, quiet: bool) -> str:
    from .report import concise, github, json, sarif, text

    match output_format:
        case Format.CONCISE | Format.TEXT if statistics:
            return text.statistics(report, colour=colour)
        case Format.CONCISE:
            return concise.render(report)
        case Format.JSON:
            return json.render(report)
        case Format.SARIF:
            return sarif.render(report)
        case Format.GITHUB:
            return github.render(report)
    return text.render(report, colour=colour, summary=not quiet)


def _is_colourful() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def _status(report: Report, run: Run) -> int:
    for failure in dict.fromkeys(map(str, run.failures)):
        _say(f"internal error, please report it: {failure}")
    if run.failures or any(place.rule == UNREADABLE[0] for place in report.places):
        return FAILED
    if run.fail_on is None:
        return CLEAN
    return FOUND if any(place.severity >= run.fail_on for place in report.places) else CLEAN


def _write_baseline(run: Run, sifted: Sifted, file: Path) -> None:
    from . import baseline

    keys = run.keys(sifted, file.parent)
    _write(file, baseline.dump(keys))
    _say(f"wrote {len(keys)} accepted findings to {file}")


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        _fail(f"cannot write {file}: {(error.strerror or str(error)).lower()}")


def _summary(run: Run, before: Reading, fixed: Fixed, left: Sifted, *, would: bool) -> str:
    from .report import text

    names = {entry.id: entry.name for entry in run.catalog.entries}
    applied = {run.show(path): rules for path, rules in fixed.applied.items()}
    gone = len(run.check(before).findings) - len(left.findings)
    settled = gone - sum(rules.total() for rules in fixed.applied.values())
    return text.fixes(applied, map(run.show, fixed.created), names, settled=settled, would=would)


def _print_patch(run: Run, changes: list[Change]) -> None:
    from . import patch, worktree
    from .report import text

    patches = []
    # Generated files last: whoever reads the patch wants to see first what happens to their own.
    for change in sorted(changes, key=lambda change: change.before is None):
        # Git reads the names of a patch from the root of the work tree, in whichever folder it is called.
        root = worktree.root_of(os.path.dirname(change.location))
        name = run.relative(change.path) if root is None else os.path.relpath(change.location, root).replace(os.sep, "/")
        patches.append(patch.patch(name.lstrip("/"), change.before, change.after))
    if _is_colourful():
        sys.stdout.write("".join(map(text.diff, patches)))
    else:
        _print_bytes(b"".join(patches))


def _print_bytes(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _refuse_unsaved(run: Run, changes: list[Change], *, allow_dirty: bool) -> None:
    from . import worktree

    if allow_dirty:
        return
    shown = {change.location: run.show(change.path) for change in changes}
    try:
        unsaved = sorted((shown.get(location, location), why) for location, why in worktree.unsaved(shown))
    except worktree.GitError as error:
        _fail(f"{error}; pass --allow-dirty to rewrite files that git may not be able to give back")
    if unsaved:
        files = "".join(f"\n  {visible(path)}: {why}" for path, why in unsaved)
        _fail(f"git could not give these files back, so nothing was written:{files}\nStage or commit them, or pass --allow-dirty.")


def _write_all(changes: list[Change]) -> None:
    from . import files

    written: list[str] = []
    with _uninterrupted():
        for change in changes:
            try:
                (files.create if change.before is None else files.write)(Path(change.location), change.after)
            except OSError as error:
                done = f"; written before that: {', '.join(written)}" if written else ""
                _fail(f"cannot write {change.location}: {(error.strerror or str(error)).lower()}{done}")
            written.append(change.location)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C waits until all files of a fix are written: they need each other."""
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt


class _Progress:
    """A line on standard error for runs that take long, if that is a terminal."""

    def __init__(self) -> None:
        self.shown = False
        self._next = time.monotonic() + PATIENCE if sys.stderr.isatty() else float("inf")

    def __call__(self, count: int) -> None:
        if time.monotonic() >= self._next:
            self._next += 0.1
            self.shown = True
            print(f"\rfiles read: {count:,}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Takes the line away again."""
        if self.shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


@contextmanager
def _guarded() -> Iterator[None]:
    """One line for whatever the user can act on, in place of a traceback."""
    from .baseline import BaselineError
    from .config import ConfigError
    from .discover import NotFound
    from .selection import UnknownRule

    try:
        yield
    except (BaselineError, ConfigError, NotFound, UnknownRule) as error:
        _fail(str(error))
    except KeyboardInterrupt:
        _interrupted()
    except (typer.Exit, BrokenPipeError):
        raise
    except Exception:
        # Left alone, Python would exit with 1, which means findings.
        traceback.print_exc()
        _fail("internal error, please report it")


def _fail(message: str) -> NoReturn:
    _say(f"error: {message}")
    raise typer.Exit(FAILED)


def _interrupted() -> NoReturn:
    _say("interrupted")
    # Not `typer.Exit`, which means nothing outside of a command.
    sys.exit(INTERRUPTED)


def _say(message: str) -> None:
    print("\n".join(map(visible, f"mcp-migrate: {message}".split("\n"))), file=sys.stderr)
