"""The command line: flags to a run, a run to text, files and an exit status."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import __version__, cache, disk
from .cache import Said
from .house import UNREADABLE
from .report.model import stale, visible
from .rule import Applicability, Era
from .terminal import (
    CLEAN,
    FAILED,
    FOUND,
    Progress,
    fail,
    guarded,
    interrupted,
    is_colourful,
    lenient,
    look,
    orderly,
    print_bytes,
    say,
    told,
    traits,
    uninterrupted,
    width,
)

if TYPE_CHECKING:
    from .commits import Series
    from .engine import Fixed
    from .files import Change
    from .flags import Flags
    from .pull_request import Made
    from .reading import Reading
    from .report.model import Report
    from .rule import Entry
    from .run import Run
    from .sieve import Sifted
    from .verify.proof import Proof

STDIN = "-"
STDIN_NAME = "stdin.py"
COMPLETE = "_MCP_MIGRATE_COMPLETE"  # the variable in which a shell asks for completions; typer has its name from the command's
MOST_SYMPTOMS = 3  # that a text is explained by


class Format(str, Enum):
    """How `check` tells its findings."""

    TEXT = "text"
    CONCISE = "concise"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"
    GITLAB = "gitlab"
    JUNIT = "junit"


# Programs that read these open the files themselves, from the root of the checkout, where the run is.
_FOR_MACHINES = frozenset({Format.SARIF, Format.GITHUB, Format.GITLAB, Format.JUNIT})


class ProofFormat(str, Enum):
    """How `verify` tells its checks."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


class Shell(str, Enum):
    """The shells that `completion` knows."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"
    POWERSHELL = "powershell"


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
Select = Annotated[
    list[str] | None, typer.Option("--select", "--only", metavar="RULES", help="Run these rules only: ids, prefixes, names, packs.")
]
Ignore = Annotated[list[str] | None, typer.Option(metavar="RULES", help="Do not run these rules.")]
Exclude = Annotated[list[str] | None, typer.Option(metavar="PATTERNS", help="Leave out files and folders, with patterns as in .gitignore.")]
EraOption = Annotated[Era | None, typer.Option("--era", help="Serve older clients too, or none but those of 2026-07-28. [default: dual]")]
KeepV1 = Annotated[bool, typer.Option("--keep-v1", help="Have code for the SDK run with mcp 1 and mcp 2 from the same source.")]
FailOnOption = Annotated[FailOn | None, typer.Option("--fail-on", help="Exit with 1 from this severity on. [default: error]")]
Baseline = Annotated[Path | None, typer.Option("--baseline", metavar="FILE", help="Pass over what this file accepts.")]
ConfigFile = Annotated[Path | None, typer.Option("--config", metavar="FILE", help="A TOML file of settings, in place of the nearest one.")]
Gitignore = Annotated[bool, typer.Option("--respect-gitignore/--no-respect-gitignore", help="Leave out what .gitignore files name.")]
Tracked = Annotated[bool, typer.Option("--tracked", help="Leave out what git does not track, in folders.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print findings and nothing else.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say of each rule why it is there, and leave no name out.")]


def main() -> None:
    """The entry point of the command `mcp-migrate`."""
    # Syntax trees are many objects without cycles: not to look for cycles saves a quarter of the CPU. It costs `check` no
    # memory, and `fix`, whose rounds leave projects behind, up to a tenth.
    gc.disable()
    try:
        lenient()
        if COMPLETE in os.environ:
            _complete()
        app()
    except KeyboardInterrupt:  # while Python was still loading modules
        interrupted()
    except SystemExit:
        told()
        raise
    finally:
        # What is left is freed with the process: to look through it once more costs 8 % of the CPU.
        gc.freeze()


def _complete() -> None:
    """Tells typer about the shells, which it leaves to the options that our help is to be free of."""
    from typer._completion_classes import completion_init

    completion_init()


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
    context: typer.Context,
    paths: Paths = None,
    stdin_filename: StdinFilename = None,
    output_format: Annotated[Format, typer.Option(help="How to tell the findings.")] = Format.TEXT,
    output_file: Annotated[Path | None, typer.Option("--output-file", "-o", metavar="FILE", help="Write the report to this file.")] = None,
    further: Annotated[
        list[str] | None,
        typer.Option("--report", metavar="FORMAT=FILE", help="Write one more report, of the same run, to a file. May be repeated."),
    ] = None,
    select: Select = None,
    ignore: Ignore = None,
    exclude: Exclude = None,
    era: EraOption = None,
    keep_v1: KeepV1 = False,
    fail_on: FailOnOption = None,
    statistics: Annotated[bool, typer.Option("--statistics", help="Count the findings of each rule instead of showing them.")] = False,
    fixable_only: Annotated[bool, typer.Option("--fixable-only", help="Tell only what `fix` has an edit for.")] = False,
    accepted: Baseline = None,
    accept: Annotated[Path | None, typer.Option("--write-baseline", metavar="FILE", help="Accept all findings: write this file.")] = None,
    config: ConfigFile = None,
    respect_gitignore: Gitignore = True,
    tracked: Tracked = False,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", "-n", envvar="MCP_MIGRATE_NO_CACHE", help="Look at every file anew, and keep nothing.")
    ] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Find what protocol revision 2026-07-28 breaks."""
    with guarded():
        if statistics and output_format in _FOR_MACHINES:
            fail(f"--statistics has no form in {output_format.value}; use text, concise or json")
        if accept is not None and (fixable_only or further):
            fail("--write-baseline accepts all findings and tells none; it takes no --fixable-only and no --report")
        reports = [*map(_report_wanted, further or ())]
        flags = _flags(
            paths,
            stdin_filename=stdin_filename,
            select=select,
            ignore=ignore,
            exclude=exclude,
            era=era,
            fail_on=fail_on,
            config=config,
            respect_gitignore=respect_gitignore,
            tracked=tracked,
            baseline=accepted,
            keep_v1=keep_v1,
        )
        # What git tracks is in no file that a trace knows.
        name = None if no_cache or tracked or accept is not None or flags.stdin is not None else cache.key(context.params, *traits())
        targets = [*(file for _, file in reports), output_file]
        if name is not None and (said := cache.load(name)) is not None and len(said.texts) == len(targets):
            _tell(said, targets)
            sys.exit(said.status)

        from .run import Run

        began = time.time_ns()
        with disk.traced() if name is not None else nullcontext() as trace:
            run = Run(flags, accept=accept is None)
            read = _read(run)
            sifted = run.check(read)
            if accept is not None:
                _write_baseline(run, sifted, accept)
                sys.exit(FAILED if read.unreadable else CLEAN)
            if fixable_only:
                sifted = run.fixable(sifted)
            report = run.report(read, sifted, _shown(run, output_format))
            lines = _doubts(read)
            if report.stale and (output_format not in (Format.TEXT, Format.JSON) or quiet):
                lines.append(f"warning: {stale(report)}")
            texts = [_rendered(run.report(read, sifted, _shown(run, form)), form, to_terminal=False) for form, _ in reports]
            to_terminal = output_file is None
            text = _rendered(report, output_format, to_terminal=to_terminal, statistics=statistics, quiet=quiet, verbose=verbose)
            status = _status(report, run, sifted)
        _tell(said := Said([*texts, text], lines, status), targets)
        if name is not None and trace is not None and not run.failures:
            cache.store(name, said, trace, began)
        sys.exit(status)


@app.command()
def fix(
    paths: Paths = None,
    stdin_filename: StdinFilename = None,
    diff: Annotated[bool, typer.Option("--diff", help="Print a patch and write nothing.")] = False,
    unsafe_fixes: Annotated[bool, typer.Option("--unsafe-fixes", help="Apply fixes, too, that a human should look at.")] = False,
    inline: Annotated[
        bool | None, typer.Option("--inline/--no-inline", help="Put new modules into the script itself, in place of files.")
    ] = None,
    pin_only: Annotated[
        bool, typer.Option("--pin-only", help="Only add the bound `<2` that keeps code at mcp 1, and tell what blocks the move.")
    ] = False,
    docs: Annotated[bool, typer.Option("--docs", help="Rewrite examples in documents, too: all of a document or none.")] = False,
    keep_v1: KeepV1 = False,
    mark: Annotated[bool, typer.Option("--mark", help="Leave a TODO comment where a human must act or look.")] = False,
    commit: Annotated[bool, typer.Option("--commit", help="Commit the changes as a series, one commit for each group of rules.")] = False,
    summary_file: Annotated[
        Path | None, typer.Option("--summary", metavar="FILE", help="Write what was done, as the body of a pull request, in Markdown.")
    ] = None,
    write: Annotated[
        list[str] | None,
        typer.Option("--paths", metavar="PATH", help="Write nothing but this file or folder, though all are read. May be repeated."),
    ] = None,
    allow_dirty: Annotated[bool, typer.Option("--allow-dirty", help="Rewrite files, too, that git could not give back.")] = False,
    select: Select = None,
    ignore: Ignore = None,
    exclude: Exclude = None,
    era: EraOption = None,
    fail_on: FailOnOption = None,
    accepted: Baseline = None,
    config: ConfigFile = None,
    respect_gitignore: Gitignore = True,
    tracked: Tracked = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Move code to protocol revision 2026-07-28, in place."""
    with guarded():
        from .report import summary as markdown
        from .run import Run

        if pin_only and (select or ignore):
            fail("--pin-only looks at its own rules; it takes no --select and no --ignore")
        if pin_only and keep_v1:
            fail("--pin-only holds code at mcp 1; --keep-v1 has it run with both")
        if commit and (diff or allow_dirty or (paths and STDIN in paths)):
            fail("--commit writes files and commits them; it takes no --diff, no --allow-dirty and no `-`")
        flags = _flags(
            paths,
            stdin_filename=stdin_filename,
            select=select,
            ignore=ignore,
            exclude=exclude,
            era=era,
            fail_on=fail_on,
            config=config,
            respect_gitignore=respect_gitignore,
            tracked=tracked,
            baseline=accepted,
            inline=inline,
            keep_v1=keep_v1,
            hold=pin_only,
            docs=docs,
            write=write,
        )
        run = Run(flags)
        read = _read(run)
        for line in _doubts(read):
            say(line)
        plan = _plan(run, read, unsafe=unsafe_fixes, mark=mark)
        series: Series | None = None
        unwritten: set[str] = set()
        if commit:
            series = _commit_all(plan.made)
        elif diff:
            _print_patch(run, plan.made.changes)
        elif flags.stdin is not None:
            print_bytes(plan.made.changes[0].after if plan.made.changes else flags.stdin)
        else:
            _refuse_unsaved(run, plan.made.changes, allow_dirty=allow_dirty)
            unwritten = _write_all(run.together(plan.made.after, plan.made.changes))
            plan = plan.without(unwritten)
        left = run.within(plan.left)
        also = _beside(plan.made, would=diff)
        report = replace(run.report(plan.made.after, left, run.show), held=plan.held)
        stops = run.stops(plan.made.after, plan.made.fixed, left)
        if summary_file is not None:
            first = (f"does not start before this import is gone: {stop}" for stop in stops)
            _write(summary_file, markdown.render(plan.made.summary(left, series, [*also, *first], would=diff)))
        _tell_fix(plan, left, report, also, series, stops, would=diff, quiet=quiet, verbose=verbose)
        status = _status(report, run, left)
        sys.exit(FAILED if unwritten else _status_of_patch(status, plan.made.changes) if diff else status)


kept = typer.Typer(name="cache", help="What `check` keeps of its last runs.", no_args_is_help=True)
app.add_typer(kept)


@kept.command("clear")
def cache_clear() -> None:
    """Delete all of it."""
    try:
        number = cache.clear()
    except OSError as error:
        fail(f"cannot clear {cache.folder()}: {(error.strerror or str(error)).lower()}")
    place = cache.folder()
    print(f"Deleted {number} run{'' if number == 1 else 's'}" + (f" from {visible(str(place))}." if place else "."))


@kept.command("dir")
def cache_dir() -> None:
    """Print the folder that holds it."""
    if (place := cache.folder()) is None:
        fail("nothing is kept for a user without a home; MCP_MIGRATE_CACHE_DIR names a folder")
    print(place)


@app.command(short_help="Run a server, and prove that it speaks 2026-07-28.")
def verify(
    stdio: Annotated[str, typer.Option(metavar="CMD", help="A command that runs a server which speaks over standard streams.")] = "",
    start: Annotated[str, typer.Option(metavar="CMD", help="A command that runs an HTTP server; `{port}` stands for a free port.")] = "",
    http: Annotated[str, typer.Option(metavar="URL", help="The endpoint of an HTTP server that runs already.")] = "",
    path: Annotated[str, typer.Option(metavar="PATH", help="The endpoint of the server that --start runs.")] = "/mcp",
    port: Annotated[
        int, typer.Option(metavar="PORT", help="The port of a server that takes none from its command.", show_default=False)
    ] = 0,
    era: Annotated[Era, typer.Option("--era", help="Whether older clients have to be served, or refused.")] = Era.DUAL,
    call: Annotated[
        list[str] | None,
        typer.Option(metavar="CALL", help="A tool call to make: 'NAME {json} => text that its result holds'. May be repeated."),
    ] = None,
    guess: Annotated[
        bool, typer.Option("--guess", help="Call tools with made-up arguments, also those that do not say that they only read.")
    ] = False,
    notify: Annotated[
        list[str] | None,
        typer.Option(metavar="CALL", help="A call that a subscription has to hear of: 'NAME {json} => METHOD [URI]'. May be repeated."),
    ] = None,
    header: Annotated[list[str] | None, typer.Option(metavar="HEADER", help="'Name: value', sent with every HTTP request.")] = None,
    env: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="An environment variable of the server.")] = None,
    against: Annotated[str, typer.Option(metavar="REV", help="Compare with the server at this git revision.")] = "",
    against_command: Annotated[
        str, typer.Option(metavar="CMD", help="How that server is run there, if not by the same command.", show_default=False)
    ] = "",
    timeout: Annotated[float, typer.Option(metavar="SECONDS", help="How long to wait for one answer.")] = 10.0,
    startup: Annotated[float, typer.Option(metavar="SECONDS", help="How long to wait for the server to be there.")] = 30.0,
    strict: Annotated[bool, typer.Option("--strict", help="Fail, too, for what a server only should do.")] = False,
    output_format: Annotated[ProofFormat, typer.Option(help="How to tell the checks.")] = ProofFormat.TEXT,
    output_file: Annotated[Path | None, typer.Option("--output-file", "-o", metavar="FILE", help="Write the report to this file.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="List the checks that passed, too.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="List what did not pass and nothing else.")] = False,
) -> None:
    """Run a server, and prove with real messages that it speaks 2026-07-28."""
    with guarded(), orderly():
        from .verify import asking

        proof = asking.proof(
            asking.Asked(
                stdio=stdio,
                start=start,
                url=http,
                path=path,
                port=port,
                dual=era is Era.DUAL,
                calls=tuple(call or ()),
                guess=guess,
                notices=tuple(notify or ()),
                headers=tuple(header or ()),
                env=tuple(env or ()),
                against=against,
                against_command=against_command,
                timeout=timeout,
                startup=startup,
            ),
            fail,
        )
        _tell_proof(proof, output_format, output_file, verbose=verbose, quiet=quiet)
        sys.exit(CLEAN if proof.holds(strict=strict) else FOUND)


@app.command(short_help="Print the migration guide for a project, as Markdown.")
def guide(
    paths: Paths = None,
    whole: Annotated[bool, typer.Option("--all", help="Print all sections, whatever is found.")] = False,
    output_file: Annotated[Path | None, typer.Option("--output-file", "-o", metavar="FILE", help="Write the guide to this file.")] = None,
    exclude: Exclude = None,
    era: EraOption = None,
    keep_v1: KeepV1 = False,
    config: ConfigFile = None,
    respect_gitignore: Gitignore = True,
    tracked: Tracked = False,
) -> None:
    """Print the migration guide for what is found in a project, as Markdown."""
    with guarded():
        from . import guide as sections
        from .report import guide as telling
        from .run import Run

        if whole:
            text = telling.whole(sections.load())
        else:
            run = Run(
                _flags(
                    paths,
                    stdin_filename=None,
                    select=None,
                    ignore=None,
                    exclude=exclude,
                    era=era,
                    fail_on=None,
                    config=config,
                    respect_gitignore=respect_gitignore,
                    tracked=tracked,
                    baseline=None,
                    keep_v1=keep_v1,
                )
            )
            read = _read(run)
            for line in _doubts(read):
                say(line)
            chosen = [(section, [run.show(path) for path in about]) for section, about in sections.choose(read.project)]
            text = telling.personal(chosen, run.report(read, run.check(read), run.show))
        if output_file is not None:
            _write(output_file, text)
        elif is_colourful():
            sys.stdout.write(telling.painted(text, width()))
        else:
            sys.stdout.write(text)


@app.command(context_settings={"ignore_unknown_options": True}, short_help="Say why a rule is there, or where an error comes from.")
def explain(
    words: Annotated[list[str], typer.Argument(metavar="RULE|TEXT", help="A rule's id or name, or the text of an error that you see.")],
) -> None:
    """Say why a rule is there and what to write instead, or where an error comes from."""
    with guarded():
        from . import symptoms
        from .report import words as telling

        asked = " ".join(words)
        entry = next((entry for entry in _entries() if asked.upper() == entry.id or asked == entry.name), None)
        if entry is not None:
            sys.stdout.write(telling.rule(entry, width=width(), colour=is_colourful()))
        elif found := symptoms.find(asked):
            names = {entry.id: entry.name for entry in _entries()}
            sys.stdout.write(telling.symptoms(found[:MOST_SYMPTOMS], names, width=width(), colour=is_colourful()))
        else:
            fail(f"no rule is called {asked!r}, and no error is known that says so; `mcp-migrate rules` lists the rules")


@app.command()
def rules() -> None:
    """List all rules."""
    with guarded():
        from .report.text import FIXES

        entries = _entries()
        longest = max(len(entry.name) for entry in entries)
        for entry in entries:
            print(f"{entry.id}  {entry.name:{longest}}  {entry.severity.word:7}  {FIXES[entry.fix]:10}  {entry.title}")


@app.command()
def completion(shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh, fish or powershell.")]) -> None:
    """Print the script that completes words in a shell."""
    with guarded():
        from typer._completion_shared import get_completion_script

        print(get_completion_script(prog_name="mcp-migrate", complete_var=COMPLETE, shell=shell.value))


def _tell_proof(proof: Proof, output_format: ProofFormat, file: Path | None, *, verbose: bool, quiet: bool) -> None:
    from .report.text import ASCII, PLAIN
    from .verify import telling

    match output_format:
        case ProofFormat.JSON:
            text = telling.as_json(proof)
        case ProofFormat.MARKDOWN:
            text = telling.markdown(proof)
        case ProofFormat.TEXT:
            seen = look() if file is None else PLAIN
            text = telling.text(
                proof, colour=seen.colour, signs=seen.glyphs is not ASCII, width=min(seen.width, 120), verbose=verbose, quiet=quiet
            )
    if file is None:
        sys.stdout.write(text)
    else:
        _write(file, text)


def _entries() -> tuple[Entry, ...]:
    from . import catalog

    return catalog.load().entries


def _flags(
    paths: list[str] | None,
    *,
    stdin_filename: str | None,
    select: list[str] | None,
    ignore: list[str] | None,
    exclude: list[str] | None,
    era: Era | None,
    fail_on: FailOn | None,
    config: Path | None,
    respect_gitignore: bool,
    tracked: bool,
    baseline: Path | None,
    inline: bool | None = None,
    keep_v1: bool = False,
    hold: bool = False,
    docs: bool = False,
    write: list[str] | None = None,
) -> Flags:
    from .flags import Flags

    stdin = None
    if paths and STDIN in paths:
        if len(paths) > 1:
            fail("`-` cannot be mixed with other paths")
        paths = [stdin_filename or STDIN_NAME]
        stdin = sys.stdin.buffer.read()
    elif stdin_filename is not None:
        fail("--stdin-filename names what `-` reads, but `-` is not among the paths")
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
        tracked=tracked,
        inline=inline,
        keep_v1=keep_v1,
        hold=hold,
        docs=docs,
        write=tuple(write or ()),
    )


def _split(values: list[str] | None) -> tuple[str, ...]:
    return tuple(part for value in values or () for item in value.split(",") if (part := item.strip()))


def _read(run: Run) -> Reading:
    progress = Progress()
    try:
        return run.read(progress)
    finally:
        progress.clear()


def _doubts(read: Reading) -> list[str]:
    return [] if read.checked or read.unreadable else ["warning: no Python files found under the given paths"]


def _report_wanted(wanted: str) -> tuple[Format, Path]:
    form, _, file = wanted.partition("=")
    if not file or form not in {one.value for one in Format}:
        known = ", ".join(one.value for one in Format)
        fail(f"--report takes FORMAT=FILE, as in sarif=findings.sarif, and not {wanted!r}; formats are {known}")
    return Format(form), Path(file)


def _shown(run: Run, output_format: Format) -> Callable[[str], str]:
    return run.relative if output_format in _FOR_MACHINES else run.show


def _tell(said: Said, targets: Sequence[Path | None]) -> None:
    """Says it, in this run or once more: each text into its file, or on standard output for None."""
    for file, text in zip(targets, said.texts, strict=True):
        if file is None:
            sys.stdout.write(text)
        else:
            _write(file, text)
    for line in said.lines:
        say(line)


def _rendered(
    report: Report, output_format: Format, *, to_terminal: bool, statistics: bool = False, quiet: bool = False, verbose: bool = False
) -> str:
    from .report import concise, github, gitlab, json, sarif, text

    match output_format:
        case Format.JSON if statistics:
            return json.statistics(report)
        case _ if statistics:
            return text.statistics(report, colour=to_terminal and is_colourful())
        case Format.CONCISE:
            return concise.render(report)
        case Format.JSON:
            return json.render(report)
        case Format.SARIF:
            return sarif.render(report)
        case Format.GITHUB:
            return github.render(report)
        case Format.GITLAB:
            return gitlab.render(report)
        case Format.JUNIT:
            from .report import junit  # the only one that loads an XML library, for 2 ms

            return junit.render(report)
    return text.render(report, look=look() if to_terminal else text.PLAIN, summary=not quiet, verbose=verbose)


def _status(report: Report, run: Run, sifted: Sifted) -> int:
    for failure in dict.fromkeys(map(str, run.failures)):
        say(f"internal error, please report it: {failure}")
    if run.failures or any(place.rule == UNREADABLE for place in report.places):
        return FAILED
    return FOUND if run.fails(sifted.findings) else CLEAN


def _status_of_patch(status: int, changes: Sequence[Change]) -> int:
    """A patch is asked whether something would change; what would be left is another question."""
    if status == FAILED:
        return FAILED
    return FOUND if changes else CLEAN


def _write_baseline(run: Run, sifted: Sifted, file: Path) -> None:
    from . import baseline

    keys = run.keys(sifted, file.parent)
    _write(file, baseline.dump(keys))
    say(f"wrote {len(keys)} accepted findings to {file}")


def _write(file: Path, text: str) -> None:
    from . import files

    try:
        files.put(file, text.encode("utf-8", "backslashreplace"))  # the name of a file may hold what no text can
    except OSError as error:
        fail(f"cannot write {file}: {(error.strerror or str(error)).lower()}")


@dataclass(frozen=True)
class _Plan:
    """What a run of `fix` makes, and what it leaves; `held` is whether --paths keeps some of it from being written."""

    made: Made
    left: Sifted
    held: bool = False

    def without(self, unwritten: set[str]) -> _Plan:
        """The same, where these files have stayed as they were."""
        if not unwritten:
            return self
        made, run = self.made, self.made.run
        after, fixed = run.unwritten(made.before, made.after, made.fixed, unwritten)
        return replace(self, made=replace(made, after=after, fixed=fixed), left=run.left_unwritten(after, self.left, unwritten))


def _plan(run: Run, before: Reading, *, unsafe: bool, mark: bool) -> _Plan:
    """What is to be written; `mark` is whether what is left for a human gets a comment."""
    from .pull_request import Made

    after, fixed = run.fixed(before, unsafe=unsafe)
    plan = _Plan(Made(run, before, after, fixed, []), run.left(after, fixed))
    if run.flags.write and (forbidden := _forbidden(run, before, after)):
        plan = replace(plan.without(forbidden), held=any(map(run.may_write, forbidden)))
    after = plan.made.after
    if mark:
        after = run.marked(after, plan.left)
        plan = replace(plan, left=run.check(after))
    return replace(plan, made=replace(plan.made, after=after, changes=run.changes(before, after)))


def _tell_fix(
    plan: _Plan,
    left: Sifted,
    report: Report,
    also: list[str],
    series: Series | None,
    stops: list[str],
    *,
    would: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """What was done, then what is left. A patch and a text for standard output have that for themselves."""
    from .report import text

    run = plan.made.run
    summary = _summary(plan, left, report, also, would=would)
    if would or run.flags.stdin is not None:
        if not quiet:
            print(summary, end="", file=sys.stderr)
            _tell_what_is_left(run, plan.made.fixed, report)
            print(text.stops(stops, would=would), end="", file=sys.stderr)
        return
    if not quiet:
        print(summary)
        for one in series.made[len(series.made) - series.new :] if series is not None else ():
            print(f"{one.commit[:10]} {visible(one.subject)}")
        if series is not None and series.new:
            print()
    sys.stdout.write(text.render(report, look=look(), summary=not quiet, verbose=verbose))
    if not quiet:
        sys.stdout.write(text.stops(stops, colour=look().colour, would=False))


def _summary(plan: _Plan, left: Sifted, report: Report, also: list[str], *, would: bool) -> str:
    from .report import text

    run, fixed = plan.made.run, plan.made.fixed
    names = {entry.id: entry.name for entry in run.catalog.entries}
    applied = {run.show(path): rules for path, rules in fixed.applied.items()}
    gone = run.number(plan.made.before) - len(left.findings)
    return text.fixes(
        applied,
        map(run.show, fixed.created),
        names,
        settled=gone - sum(rules.total() for rules in fixed.applied.values()),
        left=len(left.findings),
        unsafe=report.by_applicability[Applicability.UNSAFE],
        held=plan.held,
        also=also,
        would=would,
    )


def _beside(made: Made, *, would: bool) -> list[str]:
    """What has to be done beside the code that was written."""
    run, fixed, changes = made.run, made.fixed, made.changes
    # A file from standard input gets none.
    also = [line for new in fixed.created for line in run.unshipped(new, fixed.project.importers(new))]
    also += [f"not inside: {run.show(new)} {run.outside(new, fixed.project)}" for new in fixed.created if run.is_inline(new)]
    also += [f"delete {run.show(change.path)}: nothing is left in it" for change in changes if change.before and not change.after.strip()]
    if number := sum(rules.total() for rules in fixed.missed.values()):
        again = f"{'better run at once' if would else 'take this one back and run'} `mcp-migrate fix --unsafe-fixes`"
        rules = ", ".join(sorted({rule for rules in fixed.missed.values() for rule in rules}))
        also.append(f"for {number} of what is left ({rules}) --unsafe-fixes has an edit, in a first run only: {again}")
    if run.flags.stdin is None:
        also += run.locked(changes)
        also += run.above(made.before) if changes else []
    return also


def _tell_what_is_left(run: Run, fixed: Fixed, report: Report) -> None:
    """What a preview must not hide: findings without a fix, and why fixes were not made."""
    for path, reason in dict.fromkeys((dropped.path, dropped.reason) for dropped in fixed.dropped):
        say(f"{run.show(path)}: not fixed: {reason}")
    if report.places:
        number = len(report.places)
        say(f"{number} finding{'' if number == 1 else 's'} left; `mcp-migrate check` shows {'it' if number == 1 else 'them'}")


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
    if is_colourful():
        sys.stdout.write("".join(map(text.diff, patches)))
    else:
        print_bytes(b"".join(patches))


def _forbidden(run: Run, before: Reading, after: Reading) -> set[str]:
    """The files that stay as they are where only some may be written: the others, and what needs one of them."""
    for path in run.flags.write:
        if not os.path.lexists(path):
            fail(f"no such file or folder: {path}")
    forbidden = run.forbidden(before, after, run.changes(before, after))
    for path, needed in sorted(forbidden.items()):
        if needed and path in before.data and run.may_write(path):
            say(f"{run.show(path)} stays as it is: it would have to change together with {run.show(needed)}, which is not among --paths")
    return {*forbidden}


def _commit_all(made: Made) -> Series:
    """Commits the changes package by package; the series that they are part of, for an earlier run may have begun it."""
    from . import commits

    try:
        root = commits.tree_of(made.changes) if made.changes else commits.tree_at(made.run.root)
        start = commits.head(root)
        planned = made.commits()
        for number, wanted in enumerate(planned):
            with uninterrupted():
                try:
                    commits.make(root, wanted)
                except commits.NotCommitted as error:
                    more = f"; {number} of {len(planned)} packages are committed, and another run goes on from there" if number else ""
                    fail(f"{error}{more}")
        return commits.series(root, start)
    except commits.NotCommitted as error:
        fail(str(error))


def _refuse_unsaved(run: Run, changes: list[Change], *, allow_dirty: bool) -> None:
    from . import worktree

    if allow_dirty:
        return
    shown = {change.location: run.show(change.path) for change in changes}
    try:
        unsaved = sorted((shown.get(location, location), why) for location, why in worktree.unsaved(shown))
    except worktree.GitError as error:
        fail(f"{error}; pass --allow-dirty to rewrite files that git may not be able to give back")
    if unsaved:
        files = "".join(f"\n  {visible(path)}: {why}" for path, why in unsaved)
        fail(f"git could not give these files back, so nothing was written:{files}\nStage or commit them, or pass --allow-dirty.")


def _write_all(groups: list[list[Change]]) -> set[str]:
    """Writes each group whole or not at all; the paths of those that could not be written."""
    from . import files

    unwritten: set[str] = set()
    with uninterrupted():
        for changes in groups:
            try:
                files.write_together(changes)
            except files.NotWritten as error:
                others = len(changes) - 1
                beside = f"; {others} file{'' if others == 1 else 's'} that belong{'s' if others == 1 else ''} to it stayed as before"
                say(f"error: {error}{beside if others else ''}")
                unwritten |= {change.path for change in changes}
    return unwritten
