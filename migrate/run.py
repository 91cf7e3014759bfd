"""One run: flags and settings merged, files read, findings sifted, a report made. Reads the disk, writes nothing."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from . import (
    baseline,
    catalog,
    cells,
    config,
    discover,
    disk,
    documents,
    engine,
    examples,
    house,
    inline,
    locks,
    notebooks,
    reading,
    selection,
    units,
)
from .baseline import BaselineError, Key
from .config import Config
from .discover import Exclude, File, Unreadable
from .engine import Fixed, InternalError
from .facts.gates import BOUNDARY_MODULE
from .facts.model import Borrowed, Dispatcher, Requirement
from .files import Change
from .flags import Flags
from .forecast import foretold, without_boundaries
from .inline import Carried, Joined
from .manifests import files as manifests
from .mark import mark
from .notebooks import Notebook
from .project import Project, module_name
from .project import read as facts_of
from .reading import Reading
from .report.model import Report, Seen, Silenced, Stale, place
from .rule import Aim, Applicability, Era, Finding
from .sieve import Sieve, Sifted
from .source import Source, decode
from .suppress import is_commented
from .units import Packages

SAFE = Applicability.SAFE
_READ = (*documents.SUFFIXES, notebooks.SUFFIX)  # besides code, and files beside it that are known by their names


class Run:
    """The wishes of one call. Making it raises ConfigError, UnknownRule, BaselineError or NotFound for those that cannot be met."""

    def __init__(self, flags: Flags, *, accept: bool = True) -> None:
        """`accept` is whether the findings of the baseline are passed over."""
        self.flags = flags
        self.root = discover.root_of(flags.paths)
        self.config = config.load_file(flags.config) if flags.config else config.load(Path(discover.common_folder(flags.paths)))
        # The settings of each folder that was asked about: those of the nearest file upwards.
        self._configs: dict[str, Config] = {os.path.abspath(discover.common_folder(flags.paths)): self.config}
        self.era = flags.era or self.config.era
        self.catalog = catalog.load()
        self.entries = {entry.id: entry for entry in self.catalog.entries}
        self._hold(self.config)
        self.select, self.ignore = self._selection(self.config)
        keeps = flags.keep_v1 or self.config.keep_v1
        self.aim = Aim.HOLD if flags.hold else Aim.BOTH if keeps else Aim.MOVE
        self._accepts, self._is_alone = accept, False
        self.sieve = self._sieve()
        self.packages = Packages(os.path.abspath(self.root))
        self.failures: list[InternalError] = []

    def read(self, tick: Callable[[int], None]) -> Reading:
        """All files of the run, linked; `tick` is told how many were read so far. Raises NotFound."""
        above = [os.path.abspath(path) for path in self.flags.paths]
        read = reading.gather(
            self._contents(tick), self.entries[house.UNREADABLE], above, os.path.abspath(self.root), keeps=self.aim is Aim.BOTH
        )
        if len(self._all_configs()) > 1:
            # Every rule runs that one of the settings wants, and each file hears of those that its own settings want.
            chosen = frozenset[str]().union(*(self._chosen(one) for one in self._all_configs()))
            self.select, self.ignore = tuple(sorted(chosen)), ()
            self.sieve = self._sieve()
        return read

    def config_at(self, path: str) -> Config:
        """The settings of a file: those of the nearest file upwards that has some. Raises ConfigError."""
        return self.config if self.flags.config else self._config_of(os.path.dirname(os.path.abspath(self.location(path))))

    def era_at(self, path: str) -> Era:
        """The clients that a file is for."""
        return self.flags.era or self.config_at(path).era

    def is_inline(self, path: str) -> bool:
        """Whether a new module goes into the script itself."""
        wanted = self.config_at(path).inline if self.flags.inline is None else self.flags.inline
        return wanted and not self._is_alone and not notebooks.is_notebook(path)

    def fails(self, findings: Iterable[Finding]) -> bool:
        """Whether one of these is as severe as its file's settings, or the command line, find too much."""
        return any((least := self._fail_on(finding.path)) is not None and finding.severity >= least for finding in findings)

    def _fail_on(self, path: str) -> config.FailOn:
        return self.config_at(path).fail_on if self.flags.fail_on is None else config.FAIL_ON[self.flags.fail_on]

    def _config_of(self, folder: str) -> Config:
        if folder not in self._configs:
            outer = os.path.dirname(folder)
            own = config.of_folder(Path(folder)) if outer != folder else None
            if own is not None:
                self._hold(own)
            self._configs[folder] = own or (self._config_of(outer) if outer != folder else self.config)
        return self._configs[folder]

    def _hold(self, settings: Config) -> None:
        """Holds the rules that settings name against those that there are. Raises ConfigError."""
        of_files = (selector for selectors in settings.per_file_ignores.values() for selector in selectors)
        for key, selectors in (("select", settings.select), ("ignore", settings.ignore), ("per-file-ignores", of_files)):
            for selector in selectors:
                try:
                    selection.ids_of(selector, self.catalog.entries)
                except selection.UnknownRule as error:
                    raise config.ConfigError(f"{settings.spelled(key)}: {error}") from None

    def _all_configs(self) -> list[Config]:
        return [*{id(one): one for one in (self.config, *self._configs.values())}.values()]

    def _selection(self, settings: Config) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What is selected and ignored. As in ruff a selection on the command line replaces the settings, an ignore alone adds to them."""
        if self.flags.hold:
            return house.HELD, ()
        return (self.flags.select, self.flags.ignore) if self.flags.select else (settings.select, (*settings.ignore, *self.flags.ignore))

    def _chosen(self, settings: Config) -> frozenset[str]:
        return selection.choose(self.catalog.entries, *self._selection(settings))

    def check(self, read: Reading) -> Sifted:
        """The findings of what was read; those that a boundary would settle are called safe to fix where `fix` can put one."""
        sifted = self._sifted(read, [*self.found(read.project), *examples.findings(self, read)])
        findings = foretold(sifted.findings, read.project, self.found, self.entries)
        findings = [self._shipped(finding, read.project) for finding in findings]
        wired = (finding for finding in findings if isinstance(finding.fact, Dispatcher) and finding.applicability is SAFE)
        if any(self.era_at(finding.path) is Era.MODERN for finding in wired):
            findings = self._without_deleted(findings, read)
        return sifted._replace(findings=findings)

    def number(self, read: Reading) -> int:
        """How many findings there are in the files that a run may write: as many as `check` has, which may run a whole fix to tell more."""
        return len(self.within(self._sifted(read, [*self.found(read.project), *examples.findings(self, read)])).findings)

    def fix(self, read: Reading, *, unsafe: bool) -> Fixed:
        """What `fix` would make of what was read. A file from standard input stays alone: no other is written for it."""
        return engine.fix(
            read.project,
            self.catalog,
            self._eras,
            unsafe=unsafe,
            select=self.select,
            ignore=self.ignore,
            may_fix=self.sieve.open,
            obstacle=lambda path: self._obstacle(path, read),
            others=lambda: _contents_beside(read),
            beside=read.locations.keys(),
            silent=lambda importer, names: _silent(read, importer, names),
            aim=self.aim,
            on_error=self.failures.append,
        )

    def fix_alone(self, project: Project, reason: str, *, unsafe: bool) -> Fixed:
        """What `fix` would make of a project that no file can be added to, for this reason."""
        return engine.fix(
            project,
            self.catalog,
            self._eras,
            unsafe=unsafe,
            select=self.select,
            ignore=self.ignore,
            obstacle=lambda path: reason,
            aim=self.aim,
            on_error=self.failures.append,
        )

    def alone(self, finding: Finding, project: Project, reason: str) -> Finding:
        """The finding as it is where no file can be added to its project: for a human, if its fix needs one."""
        if finding.applicability is Applicability.MANUAL or not self.entries[finding.rule].module:
            return finding
        needs = engine.needs_module(finding, project, self.catalog, self._eras, self.aim)
        return dataclasses.replace(finding, applicability=Applicability.MANUAL, hint=reason) if needs else finding

    def fixed(self, before: Reading, *, unsafe: bool) -> tuple[Reading, Fixed]:
        """What would be read after a fix, and what it has done; with boundary modules inside of their scripts where that is wished."""
        made = self.fix(before, unsafe=unsafe)
        carried = self._carried(made, before)
        if self.flags.stdin is not None and {*made.created} - self._inside(made.project, carried):
            self._is_alone = True  # the script cannot carry it, and nothing lies beside standard input
            made = self.fix(before, unsafe=unsafe)
            carried = before.carried
        # What was inside becomes a file where a further server cannot carry it.
        outside = {*made.created, *(_modules_inside(before.carried) - before.data.keys())} - self._inside(made.project, carried)
        created = {path: made.project.files[path].source.text for path in sorted(outside)}
        after = dataclasses.replace(before, project=made.project, carried=carried)
        made = dataclasses.replace(made, created=created)
        after = examples.renewed(after)
        return examples.fixed(self, after, made, unsafe=unsafe) if self.flags.docs else (after, made)

    def _carried(self, made: Fixed, before: Reading) -> Mapping[str, Mapping[str, Carried]]:
        """The scripts that have a module inside, or are to get one: all that import it, or none of them."""
        wanted = _modules_inside(before.carried) - before.data.keys()
        wanted |= {path for path in made.created if PurePosixPath(path).name in inline.MODULES and self.is_inline(path)}
        found = {path: dict(modules) for path, modules in before.carried.items()}
        for beside in sorted(wanted):
            name, module = PurePosixPath(beside).name, made.project.files[beside].source.text
            users = [path for path in made.project.importers(beside) if name not in found.get(path, ())]
            if not self.outside(beside, made.project):
                for path in users:
                    found.setdefault(path, {})[name] = Carried(module)
        return found

    def outside(self, beside: str, project: Project) -> str:
        """Why a module cannot be inside of the scripts that use it; "" where it can."""
        name, module = PurePosixPath(beside).name, project.files[beside].source.text
        users = project.importers(beside)
        if name in inline.SHARED and len(users) > 1:
            return f"is shared by {len(users)} files"
        if any(inline.module_beside(path, name) != beside for path in users):
            return "is imported from another folder"
        if not all(inline.join(project.files[path].source, {name: module}, {name: Carried(module)}) for path in users):
            return "is not imported in one plain line"
        return ""

    def _inside(self, project: Project, carried: Mapping[str, Mapping[str, Carried]]) -> set[str]:
        """The modules that are no files: whoever imports one has it inside."""
        return {
            path
            for path in _modules_inside(carried)
            if all(PurePosixPath(path).name in carried.get(user, ()) for user in project.importers(path))
        }

    def _whole(self, read: Reading, path: str) -> Joined | None:
        """A file with the modules that it carries; None for one that carries none."""
        if path not in read.carried:
            return None
        files, carried = read.project.files, read.carried[path]
        return inline.join(files[path].source, {name: files[inline.module_beside(path, name)].source.text for name in carried}, carried)

    def _obstacle(self, path: str, read: Reading) -> str:
        if self.flags.stdin is not None and self.is_inline(path) and PurePosixPath(path).name in inline.MODULES:
            return ""
        if self.flags.stdin is not None:
            return f"{path} cannot be written beside standard input, which is one file alone"
        if f"{notebooks.SUFFIX}/" in path:
            return "its fix needs a module beside it, which the notebook would have to write as well"
        return f"{path} exists already" if path not in read.data and disk.lexists(self.location(path)) else ""

    def left(self, read: Reading, fixed: Fixed) -> Sifted:
        """The findings that a fix would leave; `read` is what would be read then."""
        sifted = self._sifted(read, [*fixed.remaining, *examples.findings(self, read)])
        return sifted._replace(findings=foretold(sifted.findings, read.project, self.found, self.entries))

    def marked(self, read: Reading, sifted: Sifted) -> Reading:
        """What would be read with a comment above everything that a human has to do, or to look at before `--unsafe-fixes` does it."""
        marked = []
        for path, file in read.project.files.items():
            source = file.source
            left = (it for it in sifted.findings if it.path == path and it.fact and it.applicability is not SAFE)
            text = mark(source, left)
            if text != source.text and not (path in read.notebooks and cells.objection(source.text, text)):
                marked.append(facts_of(dataclasses.replace(source, text=text)))
        return dataclasses.replace(read, project=read.project.replace(marked))

    def changes(self, before: Reading, after: Reading) -> list[Change]:
        """Every file that is not as it was read. New files come first: what is written later may need them."""
        changes = []
        inside = self._inside(after.project, after.carried) - before.data.keys() | before.notebooks.keys()
        for path, file in after.project.manifests.items():
            if file.source.text != before.project.manifests[path].source.text:
                text = file.source.encode(file.source.text)
                changes.append(Change(path, os.path.realpath(self.location(path)), before.data[path], text))
        for path, file in after.project.files.items():
            data = before.data.get(path)
            if path not in inside and (data is None or self._is_changed(before, after, path)):
                source = whole.source if (whole := self._whole(after, path)) else file.source
                changes.append(Change(path, os.path.realpath(self.location(path)), data, source.encode(source.text)))
        changes += self._in_notebooks(before, after)
        for path, document in after.documents.items():
            if path not in after.project.manifests and document.source.text != before.documents[path].source.text:
                text = document.source.encode(document.source.text)
                changes.append(Change(path, os.path.realpath(self.location(path)), before.data[path], text))
        return sorted(changes, key=lambda change: (change.before is not None, change.path))

    @staticmethod
    def encode(before: Reading, source: Source) -> bytes:
        """The bytes that a file of code has with its text."""
        notebook = before.notebooks.get(source.path)
        return source.encode(source.text) if notebook is None else notebooks.written(notebook.data, notebook.edits(source.text))

    def _in_notebooks(self, before: Reading, after: Reading) -> Iterator[Change]:
        """The changes of notebooks, each with all of its modules."""
        edits: defaultdict[str, list[notebooks.Change]] = defaultdict(list)
        for path, notebook in before.notebooks.items():
            edits[notebook.file] += notebook.edits(after.project.files[path].source.text)
        for path, made in edits.items():
            if made:
                new = notebooks.written(before.data[path], made)
                yield Change(path, os.path.realpath(self.location(path)), before.data[path], new)

    def _is_changed(self, before: Reading, after: Reading, path: str) -> bool:
        if path not in before.project.files:
            return True  # a module without a word of the protocol, which has lost what only deleted code used
        old, new = before.carried.get(path, {}), after.carried.get(path, {})
        texts = {name: after.project.files[inline.module_beside(path, name)].source.text for name in new}
        if any(name not in old or texts[name] != one.module for name, one in new.items()):
            return True
        return after.project.files[path].source.text != before.project.files[path].source.text

    def together(self, after: Reading, changes: list[Change]) -> list[list[Change]]:
        """The changes in groups that need each other: files that import each other, and what stands between them."""
        groups: list[list[Change]] = []
        for change in changes:
            linked = [group for group in groups if any(_linked(after.project, change.path, other.path) for other in group)]
            groups = [group for group in groups if group not in linked]
            groups.append([*(other for group in linked for other in group), change])
        return groups

    def unwritten(self, before: Reading, after: Reading, fixed: Fixed, paths: set[str]) -> tuple[Reading, Fixed]:
        """What would be read, and what was fixed, if these files had stayed as they were."""
        paths = paths | {path for path, notebook in before.notebooks.items() if notebook.file in paths}
        kept = {path: file for path, file in after.project.files.items() if path not in paths}
        stay = {path: before.project.files[path] for path in paths if path in before.project.files}
        beside = {path: (before if path in paths else after).project.manifests[path] for path in after.project.manifests}
        project = Project.link(
            {**kept, **stay}.values(), before.project.packages, beside, before.project.outside, keeps=before.project.keeps
        )
        carried = {path: one for path, one in after.carried.items() if path not in paths or path in before.carried}
        shown = {path: (before if path in paths else after).documents[path] for path in after.documents}
        return dataclasses.replace(after, project=project, carried=carried, documents=shown), dataclasses.replace(
            fixed,
            created={path: text for path, text in fixed.created.items() if path not in paths},
            applied={path: rules for path, rules in fixed.applied.items() if path not in paths},
            texts={path: text for path, text in fixed.texts.items() if path not in paths},
            missed={path: rules for path, rules in fixed.missed.items() if path not in paths},
            project=project,
            steps=tuple(step for step in fixed.steps if step.path not in paths),
        )

    def left_unwritten(self, after: Reading, left: Sifted, paths: set[str]) -> Sifted:
        """What is left if these files have stayed as they were; `left` says it of the others."""
        again = self.check(after)
        both = [
            *(one for one in zip(left.findings, left.fingerprints, strict=True) if one[0].path not in paths),
            *(one for one in zip(again.findings, again.fingerprints, strict=True) if one[0].path in paths),
        ]
        return again._replace(findings=[one[0] for one in both], fingerprints=[one[1] for one in both])

    def may_write(self, path: str) -> bool:
        """Whether a file is among those that a run may write and tells of."""
        location = os.path.abspath(self.location(path))
        allowed = map(os.path.abspath, self.flags.write)
        return not self.flags.write or any(location == one or location.startswith(one.rstrip(os.sep) + os.sep) for one in allowed)

    def forbidden(self, before: Reading, after: Reading, changes: list[Change]) -> dict[str, str]:
        """The changes that must not be written, by path, each with the file that stands in its way: one that it needs, "" for itself."""
        kept = {change.path: change.before is None or self.may_write(change.path) for change in changes}
        found = {path: "" for path, allowed in kept.items() if not allowed}
        todo = [*found]
        while todo:
            path = todo.pop()
            for other in units.needing(path, [one for one in kept if one not in found], before.project, after.project):
                found[other] = found[path] or path
                todo.append(other)
        return found

    def within(self, sifted: Sifted) -> Sifted:
        """The findings of the files that a run may write."""
        kept = [number for number, finding in enumerate(sifted.findings) if self.may_write(finding.path)]
        return sifted._replace(
            findings=[sifted.findings[number] for number in kept], fingerprints=[sifted.fingerprints[number] for number in kept]
        )

    def unshipped(self, new: str, users: Iterable[str]) -> list[str]:
        """What else has to name a new file, as `also copy mcp_stateless.py: Dockerfile:7`; `users` import it."""
        from . import shipping, worktree

        location = os.path.abspath(self.location(new))
        top = worktree.root_of(os.path.dirname(location)) or os.path.abspath(self.root)
        found = shipping.gaps(location, [os.path.abspath(self.location(user)) for user in users], top)
        return [f"{gap.what}: {self.show(os.path.relpath(gap.file, self.root))}:{gap.line}" for gap in found]

    def above(self, read: Reading) -> list[str]:
        """What is asked for outside of the given paths, and keeps or admits what the moved code does not run with."""
        project = read.project
        if not project.outside:
            return []
        seen = Project.link(project.files.values(), project.packages, project.manifests, keeps=project.keeps)
        found = engine.check(
            seen,
            self.catalog,
            self._eras,
            select=self.select,
            ignore=self.ignore,
            aim=self.aim,
            within=lambda seen: {path: file for path, file in seen.manifests.items() if path in project.outside},
            on_error=self.failures.append,
        )
        return [
            f"{self.show(one.path)}:{seen.manifests[one.path].source.position(one.span.start).line}: {one.message}; not in the given paths"
            for one in found
        ]

    def locked(self, changes: Iterable[Change]) -> list[str]:
        """What makes the locks anew that changed files leave behind, as `uv.lock: make it again with uv lock`."""
        changed = [os.path.abspath(self.location(change.path)) for change in changes if manifests.installs(change.path)]
        top = os.path.abspath(self.root)
        return [
            f"{self.show(os.path.relpath(file, self.root))}: make it again with `{command}`" for file, command in locks.stale(changed, top)
        ]

    def stops(self, read: Reading, fixed: Fixed, left: Sifted) -> list[str]:
        """The imports that keep a file from being imported, now that the rest is written for newer releases alone."""
        from . import unimportable

        moving = {entry.id for entry in self.catalog.entries if entry.is_of_sdk}
        if self.aim is Aim.BOTH or not any(moving & rules.keys() for rules in fixed.applied.values()):
            return []
        return [f"{self.show(path)}:{line} {', '.join(keys)}" for path, line, keys in unimportable.stops(left.findings, read.project)]

    def fixable(self, sifted: Sifted) -> Sifted:
        """The findings that have an edit, safe or not; and what could not be read, which nobody may miss."""
        told = [finding.applicability is not Applicability.MANUAL or finding.rule == house.UNREADABLE for finding in sifted.findings]
        return sifted._replace(
            findings=list(itertools.compress(sifted.findings, told)), fingerprints=list(itertools.compress(sifted.fingerprints, told))
        )

    def report(self, read: Reading, sifted: Sifted, show: Callable[[str], str] | None = None) -> Report:
        """What reports are made from. `show` spells a path; as the command line did, unless told otherwise."""
        show = show or self.show
        wholes = {path: whole for path in read.carried if (whole := self._whole(read, path)) is not None}
        findings = [
            dataclasses.replace(one, span=wholes[one.path].span(one.span)) if one.path in wholes else one for one in sifted.findings
        ]
        sources = {**read.sources, **{path: whole.source for path, whole in wholes.items()}}
        return Report(
            era=self.era,
            places=place(findings, sifted.fingerprints, sources, show, self._notebooks(read)),
            entries=self.entries,
            checked=read.checked,
            seen=tuple(_seen(read, show)),
            suppressed=sifted.suppressed,
            suppressions=tuple(
                Silenced(show(path), comment.line, comment.rules, comment.reason, number) for path, comment, number in sifted.suppressions
            ),
            baselined=sifted.baselined,
            least={
                show(path if path not in read.notebooks else read.notebooks[path].file): self._fail_on(path)
                for path in {finding.path for finding in findings}
            },
            stale=tuple(Stale(show(key.path), key.rule) for key in sifted.stale),
        )

    @staticmethod
    def _notebooks(read: Reading) -> Mapping[str, Notebook]:
        """The notebooks as they are with what was made of their code."""
        edits: defaultdict[str, list[notebooks.Change]] = defaultdict(list)
        for path, notebook in read.notebooks.items():
            edits[notebook.file] += notebook.edits(read.project.files[path].source.text)
        renewed = [new for path, made in edits.items() if made for new in notebooks.read(path, notebooks.written(read.data[path], made))]
        return {**read.notebooks, **{notebook.path: notebook for notebook in renewed}}

    def show(self, path: str) -> str:
        """A path as the user would spell it: absolute if a path was given so, else from the working folder."""
        return self.location(path) if any(map(os.path.isabs, self.flags.paths)) else self.relative(path)

    def relative(self, path: str) -> str:
        """A path from the working folder; absolute if that would lead upwards."""
        relative = discover.relative_to(self.location(path), os.getcwd())
        return self.location(path) if relative.startswith(os.pardir) else relative

    def location(self, path: str) -> str:
        """Where a path of the run lies on disk."""
        return os.path.join(self.root, path).replace(os.sep, "/")

    def keys(self, sifted: Sifted, folder: Path) -> list[Key]:
        """The keys of all findings, for a baseline in this folder."""
        return [key._replace(path=discover.relative_to(self.location(key.path), str(folder.absolute()))) for key in sifted.keys]

    def _shipped(self, finding: Finding, project: Project) -> Finding:
        """A wiring that needs a new file says what else has to name it."""
        if not isinstance(finding.fact, Dispatcher) or finding.applicability is not SAFE or self.flags.stdin is not None:
            return finding
        new = str(PurePosixPath(finding.path).with_name(BOUNDARY_MODULE))
        more = self.unshipped(new, [finding.path]) if new not in project.files and not self.is_inline(finding.path) else []
        return dataclasses.replace(finding, hint="; ".join([finding.hint, *more]))

    def found(self, project: Project, *without: str) -> list[Finding]:
        """What the chosen rules find in a project, but for some of them."""
        ignore = (*self.ignore, *without)
        return engine.check(
            project, self.catalog, self._eras, select=self.select, ignore=ignore, aim=self.aim, on_error=self.failures.append
        )

    @property
    def _eras(self) -> engine.Eras:
        several = self.flags.era is None and len({one.era for one in self._all_configs()}) > 1
        return self.era_at if several else self.era

    def _sifted(self, read: Reading, findings: Iterable[Finding]) -> Sifted:
        # What a boundary settles, a comment may have kept before; the comment still says what it said.
        bare = without_boundaries(read.project) if any(map(is_commented, read.sources.values())) else None
        settled = self.found(bare) if bare is not None else []
        # A file that is gone has no findings; one that is there and was not read may have all of them.
        gone = [path for path in {key.path for key in self.sieve.accepted} if not disk.lexists(self.location(path))]
        return self.sieve.sift([*read.unreadable, *findings], read.sources, [*read.locations, *gone], settled=settled)

    def _without_deleted(self, findings: Iterable[Finding], read: Reading) -> list[Finding]:
        """What goes with the handlers that the modern era deletes; only the fix itself knows that."""
        told = len(self.failures)
        left = self.fix(read, unsafe=False)
        del self.failures[told:]
        sources = {path: file.source for path, file in left.project.files.items()}
        keys = frozenset(baseline.keys_of(left.remaining, sources))
        return [
            dataclasses.replace(finding, applicability=SAFE, hint=self.entries[finding.rule].hints["deleted"])
            if finding.applicability is not SAFE and finding.fact is not None and key not in keys
            else finding
            for finding, key in zip(findings, baseline.keys_of(findings, read.sources), strict=True)
        ]

    def _contents(self, tick: Callable[[int], None]) -> Iterator[tuple[File, bytes] | Unreadable]:
        if self.flags.stdin is not None:
            name = os.path.relpath(os.path.abspath(self.flags.paths[0]), self.root).replace(os.sep, "/")
            yield File(name, self.location(name)), self.flags.stdin
            return
        excludes = (Exclude(self.config.exclude, str(self.config.base)), Exclude(self.flags.exclude, os.getcwd()))
        found = discover.find(
            self.flags.paths, self.root, exclude=excludes, respect_gitignore=self.flags.respect_gitignore, also=_is_beside
        )
        wanted = self._tracked()
        for number, item in enumerate(found, start=1):
            tick(number)
            if isinstance(item, File) and wanted is not None and item.location not in wanted:
                continue
            if isinstance(item, Unreadable):
                yield item
            elif self._is_left_out(item):
                continue
            else:
                data = discover.read(item)
                if not isinstance(data, Unreadable):
                    yield item, data
                elif item.path.endswith((*discover.SUFFIXES, notebooks.SUFFIX)) or not _is_beside(item.path):
                    yield data

    def _tracked(self) -> frozenset[str] | None:
        """The files that may be read, by location; None for all. Raises GitError."""
        if not self.flags.tracked:
            return None
        from . import worktree

        paths = [os.path.abspath(path) for path in self.flags.paths]
        named = [path for path in paths if not os.path.isdir(path)]
        return frozenset(named).union(*(worktree.tracked(path) for path in paths if os.path.isdir(path)))

    def _is_left_out(self, file: File) -> bool:
        """Whether the settings of a folder inside leave a file out; those that hold for all were asked on the way there."""
        settings = self.config_at(file.path)
        if settings is self.config or not settings.exclude or file.location in map(os.path.abspath, self.flags.paths):
            return False
        return discover.leaves_out(Exclude(settings.exclude, str(settings.base)), file.location)

    def _sieve(self) -> Sieve:
        active = selection.choose(self.catalog.entries, self.select, self.ignore)
        configs = self._all_configs()
        silent = {id(one): active - self._chosen(one) if len(configs) > 1 else frozenset[str]() for one in configs}
        ignored = {id(one): selection.per_file(one.per_file_ignores, self.catalog.entries) for one in configs}

        def ignored_in(path: str) -> frozenset[str]:
            settings = self.config_at(path)
            one = id(settings) if id(settings) in silent else id(self.config)
            return silent[one] | ignored[one](discover.relative_to(self.location(path), str(settings.base.absolute())))

        baselines = [self.flags.baseline] if self.flags.baseline else [one.baseline for one in configs]
        accepted = (key for file in dict.fromkeys(baselines) if file for key in self._accepted(file)) if self._accepts else ()
        return Sieve(
            entries=self.entries,
            active=active,
            ignored_in=ignored_in,
            accepted=frozenset(accepted),
            reasons=self.config.require_reasons,
        )

    def _accepted(self, file: Path) -> Iterable[Key]:
        """The keys of a baseline, which are relative to its folder, as keys of this run."""
        try:
            # One that is named may come out of a pipe; one of the settings is a file.
            if file == self.flags.baseline and not disk.is_file(str(file)):
                data: bytes | Unreadable = disk.drain(str(file))
            else:
                data = discover.read(File(str(file), str(file)))
            if isinstance(data, Unreadable):
                raise BaselineError(data.reason)
            keys = baseline.load(data.decode("utf-8"))
        except OSError as error:
            raise BaselineError(f"{file}: {(error.strerror or str(error)).lower()}") from error
        except (BaselineError, UnicodeDecodeError) as error:
            raise BaselineError(f"{file}: {error}") from error
        return (key._replace(path=discover.relative_to(os.path.join(file.parent.absolute(), key.path), self.root)) for key in keys)


def _modules_inside(carried: Mapping[str, Iterable[str]]) -> set[str]:
    return {inline.module_beside(path, name) for path, names in carried.items() for name in names}


def _is_beside(path: str) -> bool:
    return path.endswith(_READ) or manifests.kind_of(path) is not None


def _linked(project: Project, one: str, other: str) -> bool:
    # What the code needs and the code itself go together: half of a move runs with neither release.
    if one in project.manifests or other in project.manifests:
        return all(path not in project.manifests or manifests.installs(path) for path in (one, other))
    return other in project.imports(one) or one in project.imports(other)


def _seen(read: Reading, show: Callable[[str], str]) -> Iterator[Seen]:
    for path, file in read.project.files.items():
        if any(not isinstance(fact, Borrowed | Requirement) for fact in file.facts):
            yield Seen(show(path), tuple(sorted(file.evidence)), tuple(sorted(file.boundary)))


def _silent(read: Reading, importer: str, names: Iterable[str]) -> Iterator[Source]:
    """The modules without a word of the protocol that a file imports by these dotted names, or takes something from."""
    wanted = {module for name in names for module in (name, name.rpartition(".")[0]) if module}
    shorts = {module.rpartition(".")[2] for module in wanted}
    folder = importer.split("/")[:-1]
    found: dict[str, str] = {}  # dotted name -> the nearest file
    for path in read.locations:
        name = module_name(path) if PurePosixPath(path).suffix in discover.SUFFIXES else ""
        if name.rpartition(".")[2] not in shorts or path in read.project.files or path in read.unparsed or path in read.installed:
            continue
        for module in wanted:
            if f".{name}".endswith(f".{module}") and (module not in found or _near(path, folder) > _near(found[module], folder)):
                found[module] = path
    for path in dict.fromkeys(found.values()):
        data = discover.read(discover.File(path, read.locations[path]))
        if not isinstance(data, discover.Unreadable):
            with contextlib.suppress(SyntaxError, ValueError):
                source = decode(path, data)
                read.data[path] = data
                yield source


def _near(path: str, folder: list[str]) -> int:
    """How many folders a file has in common with another one."""
    return next((at for at, (one, two) in enumerate(zip(path.split("/"), folder, strict=False)) if one != two), len(folder))


def _contents_beside(read: Reading) -> Iterator[bytes]:
    """The files that hold no protocol code, as far as they can be read: they may use names of those that do."""
    for path, location in read.locations.items():
        is_code = path.endswith((*discover.SUFFIXES, notebooks.SUFFIX))
        if is_code and path not in read.project.files and path not in read.project.manifests and path not in read.data:
            data = discover.read(File(path, location))
            if not isinstance(data, Unreadable):
                yield data
