"""Asks the rules: `check` gives findings, `fix` gives new texts. Knows no rule by name, reads and writes no file.

LibCST is loaded when the first fix is wanted, not before.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import cache, cached_property, partial
from typing import NamedTuple, NoReturn

from . import aside, counterparts, needed, selection
from .accept import Acceptance
from .bystanders import Bystanders
from .catalog import Catalog
from .facts.idle import Idle
from .facts.mask import parsed
from .facts.model import Fact, FileFacts, Standalone, Symbol
from .manifests import files as manifests
from .project import Project, read
from .rewrite import edits
from .rewrite.edits import Edit
from .rewrite.tree import TOO_DEEP, Tree, Unwritable
from .rule import Aim, Applicability, Both, Context, Either, Era, Finding, Import, NewFile, Rule
from .scope import bound_to
from .source import Source, Span

# Wiring, deleting and importing need two or three; ten means that two fixes undo each other.
MAX_ROUNDS = 10
_FIRST_WORD = re.compile(r"\s*([\w.]+)")
# Characters of text below which other processes are not worth it: 0.2 s of work for each 20,000.
_FEW = 60_000
_FIRST_RUN_ONLY = "`fix --unsafe-fixes` writes it in a first run only, for it goes by what this run has moved"


class InternalError(Exception):
    """A rule that failed; the run goes on without it."""

    def __init__(self, rule: str, path: str, reason: str) -> None:
        super().__init__(f"{path}: {rule}: {reason}")
        self.rule, self.path, self.reason = rule, path, reason


@dataclass(frozen=True, slots=True)
class Dropped:
    """A fix that was not made, because its result could not be accepted."""

    rule: str
    path: str
    span: Span
    reason: str


class Made(NamedTuple):
    """What one fix has done to a text: its rule ("" for a sweep), its edits, and the imports that these need."""

    rule: str
    edits: tuple[Edit, ...]
    imports: frozenset[Import | Either]


class Step(NamedTuple):
    """One rewriting of a file. `after` has the edits made, and imports added and taken away for them."""

    path: str
    before: Source
    made: tuple[Made, ...]
    after: Source


@dataclass(frozen=True, slots=True)
class Fixed:
    """What `fix` would write, and what it leaves. All paths are relative to the run's root."""

    project: Project  # the project as it would be
    texts: Mapping[str, str]  # the new text of every file that changes
    created: Mapping[str, str]  # files that must not exist yet, with their text
    remaining: list[Finding]  # findings of the project as it would be
    applied: Mapping[str, Counter[str]]  # path -> rule id -> fixes made
    dropped: tuple[Dropped, ...]
    steps: tuple[Step, ...] = ()  # in order, of all files of code that were there before
    missed: Mapping[str, Counter[str]] = field(default_factory=dict)  # path -> rule id -> unsafe fixes that no later run can make


Eras = Era | Callable[[str], Era]
"""One era for all files, or what tells that of each by its path."""


def _era_at(era: Eras, path: str) -> Era:
    return era if isinstance(era, Era) else era(path)


def _raise(error: InternalError) -> NoReturn:
    raise error


def _all_files(project: Project) -> Mapping[str, FileFacts]:
    return {**project.manifests, **project.files}


def _beside(project: Project) -> Mapping[str, FileFacts]:
    return project.manifests


def check(
    project: Project,
    catalog: Catalog,
    era: Eras = Era.DUAL,
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    per_file_ignores: Mapping[str, Sequence[str]] | None = None,
    aim: Aim = Aim.MOVE,
    within: Callable[[Project], Mapping[str, FileFacts]] = _all_files,
    on_error: Callable[[InternalError], None] = _raise,
) -> list[Finding]:
    """Every finding of the chosen rules, by path, place and rule. A rule that fails is told to `on_error` and passed over.

    `within` chooses the files that are looked at. Raises UnknownRule for a selector that no rule answers to.
    """
    chosen = selection.choose(catalog.entries, select, ignore)
    ignored_in = selection.per_file(per_file_ignores or {}, catalog.entries)
    found: set[Finding] = set()
    for path, file in within(project).items():
        if path in project.outside:
            continue
        active = chosen - ignored_in(path)
        obstacles: dict[str, str] = {}  # by pack
        imports = _Imports(file, project)
        asked: dict[str, tuple[Callable[[Fact, Context], Iterator[Finding]], Context]] = {}  # some files have thousands of facts
        for fact in file.facts:
            for entry in catalog.entries_for(fact):
                if entry.id in active:
                    try:
                        if entry.id not in asked:
                            asked[entry.id] = catalog.module(entry).check, Context(entry, file, project, _era_at(era, path), aim)
                        ask, ctx = asked[entry.id]
                        new = [*ask(fact, ctx)]
                        if new and ctx.keeps:
                            new = [*_for_both(new, fact, catalog.module(entry), imports.tree, ctx)]
                        if any(finding.applicability is not Applicability.MANUAL for finding in new):
                            if entry.pack not in obstacles:
                                obstacles[entry.pack] = catalog.obstacle(entry, ctx)
                            if reason := obstacles[entry.pack]:
                                new = [
                                    replace(finding, applicability=Applicability.MANUAL, hint=f"not moved while {reason}")
                                    for finding in new
                                ]
                            new = [imports.held(finding, catalog.module(entry), ctx) for finding in new]
                        found.update(new)
                    except Exception as error:  # a rule may fail in any way, a run must not
                        on_error(_internal(entry.id, path, error))
    return [*_told_once(sorted(found, key=_order))]


def _for_both(findings: Iterable[Finding], fact: Fact, module: Rule, tree: Tree, ctx: Context) -> Iterator[Finding]:
    """The findings as they are where both releases of the SDK have to work: what a guard settles is none, what one lacks is for a human."""
    entry, sdk = ctx.entry, ctx.project.sdk
    if entry.both is Both.SILENT:
        return
    standalone = isinstance(fact, Standalone)
    if sdk is not None and isinstance(fact, Symbol | Standalone) and sdk.in_guard(ctx.file.source.path, fact.span):
        return
    wishes: list[object] | str | None = None
    for finding in findings:
        if entry.both is Both.SAME and finding.applicability is Applicability.MANUAL:
            yield finding
            continue
        if wishes is None:
            wishes = _wishes(fact, module, tree, ctx)
        made = [wish.span for wish in wishes if isinstance(wish, Edit)] if isinstance(wishes, list) else []
        if finding.applicability is Applicability.MANUAL:  # what has no form for the newer release alone may have one for both
            made = [span for span in made if span.start <= finding.span.end and span.end >= finding.span.start]
        if made:
            sure = Applicability.SAFE if getattr(fact, "sure", True) else Applicability.UNSAFE
            yield finding if entry.both is Both.SAME else replace(finding, applicability=sure, hint=entry.hints.get("keep", ""))
        else:
            told = wishes if isinstance(wishes, str) else ""
            if standalone and entry.both is not Both.NONE and finding.applicability is Applicability.MANUAL:
                told = told or finding.hint
            told = told or entry.hints["one_release_of_fastmcp" if standalone else "one_release"]
            yield replace(finding, applicability=Applicability.MANUAL, hint=told)


def _wishes(fact: Fact, module: Rule, tree: Tree, ctx: Context) -> list[object] | str:
    """What the fix of a rule would have done: the one for both releases of the SDK, where these have to work. A text says why nothing."""
    if not ctx.keeps:
        return list(module.fix(fact, tree, ctx))
    if ctx.entry.both in (Both.NONE, Both.SILENT):
        return []
    make = getattr(module, "keep") if ctx.entry.both is Both.OWN else module.fix  # noqa: B009
    wishes: list[object] = list(make(fact, tree, ctx))
    return counterparts.adapted(wishes, ctx) if ctx.project.sdk is not None else wishes


def _told_once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings, without those for a human that say the same of the same place because of another fact."""
    told = set()
    for finding in findings:
        same = replace(finding, fact=None)
        if finding.applicability is not Applicability.MANUAL or same not in told:
            told.add(same)
            yield finding


def fix(
    project: Project,
    catalog: Catalog,
    era: Eras = Era.DUAL,
    *,
    unsafe: bool = False,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    per_file_ignores: Mapping[str, Sequence[str]] | None = None,
    may_fix: Callable[[Source, list[Finding]], list[Finding]] = lambda source, findings: findings,
    obstacle: Callable[[str], str] = lambda path: "",
    others: Callable[[], Iterable[bytes]] = tuple,
    beside: Collection[str] = (),
    silent: Callable[[str, Iterable[str]], Iterable[Source]] = lambda importer, names: (),
    aim: Aim = Aim.MOVE,
    on_error: Callable[[InternalError], None] = _raise,
) -> Fixed:
    """Applies the fixes of the chosen rules until nothing changes any more.

    `may_fix` leaves out the findings of a file that must not be touched (suppressed ones); `obstacle` tells why a file outside
    of the project cannot be made; `others` gives the content of the run's other files, which may use names of these, and
    `beside` their paths; `silent` gives those of them that a file (a path) may import by these dotted names.
    """
    find = partial(
        check, catalog=catalog, era=era, select=select, ignore=ignore, per_file_ignores=per_file_ignores, aim=aim, on_error=on_error
    )
    threshold = Applicability.UNSAFE if unsafe else Applicability.SAFE
    return _Fixing(project, catalog, era, aim, find, threshold, may_fix, obstacle, Bystanders(others), beside, silent, on_error).run()


def needs_module(finding: Finding, project: Project, catalog: Catalog, era: Eras, aim: Aim) -> bool:
    """Whether the fix of a finding would write a module beside its file; also where it cannot be made."""
    entry, file = catalog.rule(finding.rule), project.files[finding.path]
    if entry is None or finding.fact is None:
        return False
    ctx = Context(entry, file, project, _era_at(era, finding.path), aim)
    try:
        return any(isinstance(wish, NewFile) for wish in catalog.module(entry).fix(finding.fact, Tree(file.source), ctx))
    except (Unwritable, RecursionError):
        return True


def _order(finding: Finding) -> tuple[str, Span, str, str, str]:
    return finding.path, finding.span, finding.rule, finding.message, finding.hint


def _internal(rule: str, path: str, error: Exception) -> InternalError:
    internal = InternalError(rule, path, f"{type(error).__name__}: {error}")
    internal.__cause__ = error
    return internal


def _reason(error: Unwritable | RecursionError) -> str:
    return str(error) if isinstance(error, Unwritable) else TOO_DEEP


@dataclass(frozen=True, slots=True)
class _Group:
    """Edits that are made together or not at all; what one finding wants, or what one name that is swept away takes along."""

    edits: tuple[Edit, ...]
    finding: Finding | None = None
    imports: frozenset[Import | Either] = frozenset()
    files: tuple[NewFile, ...] = ()


class _Attempt(NamedTuple):
    """What can be done to one file in a round: its new self, what was accepted, what was not, and the new files that any of it wants."""

    file: FileFacts
    accepted: list[_Group]
    dropped: list[Dropped]
    files: tuple[NewFile, ...]


@dataclass
class _Imports:
    """Tells which fixes of a file would need a name that means something else there."""

    file: FileFacts
    project: Project

    @cached_property
    def tree(self) -> Tree:
        return Tree(self.file.source)

    @cached_property
    def taken(self) -> frozenset[str]:
        """The names of the file that stand for something of its own somewhere."""
        if self.project.sdk is None or self.file.source.path not in self.project.files:
            return frozenset()
        module = self.project.sdk.module_at(self.file.source.path)
        return frozenset(
            name
            for scope in module.scopes.values()
            for name, given in scope.bindings.items()
            if not all(one.target.rpartition(".")[2] == name for one in given)
        )

    def held(self, finding: Finding, module: Rule, ctx: Context) -> Finding:
        """The finding; one for a human, where its fix would have to import such a name."""
        needs = ctx.entry.data.get("needs", ())
        if not needs or finding.applicability is Applicability.MANUAL or finding.fact is None or self.taken.isdisjoint(needs):
            return finding
        # Hardly ever gets here, so that what a fix would do may cost what it costs.
        try:
            wishes = _wishes(finding.fact, module, self.tree, ctx)
            made = tuple(wish for wish in wishes if isinstance(wish, Edit))
            group = _Group(made, finding, frozenset(wish for wish in wishes if isinstance(wish, Import)))
            after = replace(self.file.source, text=edits.apply(self.file.source.utf8, dict.fromkeys(made)).decode("utf-8"))
        except (Unwritable, RecursionError, ValueError):
            return finding
        reason = _taken_name(self.file.source, after, [group])
        return replace(finding, applicability=Applicability.MANUAL, hint=reason) if reason else finding


class _Fixing:
    """The rounds of one `fix`. The project grows from round to round; every step of it has been accepted."""

    def __init__(
        self,
        project: Project,
        catalog: Catalog,
        era: Eras,
        aim: Aim,
        find: Callable[..., list[Finding]],
        threshold: Applicability,
        may_fix: Callable[[Source, list[Finding]], list[Finding]],
        obstacle: Callable[[str], str],
        bystanders: Bystanders,
        beside: Collection[str],
        silent: Callable[[str, Iterable[str]], Iterable[Source]],
        on_error: Callable[[InternalError], None],
    ) -> None:
        self.start = self.project = project
        self.catalog, self.era, self.aim, self.find, self.threshold = catalog, era, aim, find, threshold
        self.may_fix, self.obstacle, self.bystanders, self.on_error = may_fix, obstacle, bystanders, on_error
        self.beside, self.silent = beside, silent
        self.taken_in: dict[str, FileFacts] = {}  # modules without a word of the protocol, as they were
        self.asked: set[str] = set()  # files whose imports have been looked for among these
        self.acceptance = Acceptance(bystanders)
        self.created: set[str] = set()
        self.written: dict[str, str] = {}  # the text of each file that this round makes or replaces
        self.wanted_by: defaultdict[str, set[str]] = defaultdict(set)
        self.applied: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.dropped: list[Dropped] = []
        self.steps: list[Step] = []
        self.tried: set[Finding] = set()
        self.trees: dict[str, Tree] = {}
        self.swept: set[str] = set()
        self.waiting: list[Finding] = []  # of rules whose turn comes last
        self.kept: list[Finding] = []  # of early rules, which would not find them again
        self.missed: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def run(self) -> Fixed:
        # What the code needs comes first: the rules about it ask what the code is like before it is moved, and whether it can be.
        self._fix_beside(last=False)
        refused = [*self.dropped]
        # What is left to do there is told, though code that is moved meanwhile gives no occasion to find it.
        found = self.find(self.project, within=_beside) if self.project.manifests else []
        beside = {self._left(finding) for finding in found if not self._is_last(finding)}
        rounds = 0
        while (changed := self._round()) or self._sweep() or (changed := self._apply(self.waiting)):
            rounds += bool(changed)
            if rounds > MAX_ROUNDS:
                self._take_back(changed)
                break
        self._put_back()
        dropped = self.dropped
        self._fix_beside(last=True)
        self.dropped = [*dropped, *self.dropped]
        return Fixed(
            project=self.project,
            texts={
                path: file.source.text
                for old, new in ((self.start.files, self.project.files), (self.start.manifests, self.project.manifests))
                for path, file in new.items()
                if path in old and file.source.text != old[path].source.text
            },
            created={path: self.project.files[path].source.text for path in sorted(self.created)},
            remaining=sorted({*self._remaining(), *beside}, key=_order),
            applied={path: count for path, count in self.applied.items() if count},
            dropped=(*refused, *self.dropped),
            steps=tuple(self.steps),
            missed=dict(self.missed),
        )

    def _left(self, finding: Finding) -> Finding:
        """A finding whose fix gave nothing is for a human, whatever its rule had hoped."""
        if finding not in self.tried:
            return finding
        reason = next((d.reason for d in self.dropped if (d.rule, d.path, d.span) == (finding.rule, finding.path, finding.span)), "")
        return replace(finding, applicability=Applicability.MANUAL, hint=reason or finding.hint)

    def _remaining(self) -> list[Finding]:
        """What is still found, and what an early rule has found before the names were moved that it goes by."""
        found = [self._left(finding) for finding in self.find(self.project)]
        there = {_line(finding, self.project) for finding in found}
        kept = [*dict.fromkeys(one for one in self.kept if _line(one, self.project) not in there)]
        missed = {one for one in (*found, *kept) if one.applicability is Applicability.UNSAFE and self.threshold is Applicability.SAFE}
        if missed and self._touched():
            # A later run takes the code for what it is by then, and knows nothing of the release that it was written for.
            later = self.project.anew()
            paths = {one.path for one in missed}
            found_later = self.find(later, within=lambda project: {path: one for path, one in _all_files(project).items() if path in paths})
            there = {_line(one, later) for one in found_later if one.applicability is Applicability.UNSAFE}
            missed = {one for one in missed if _line(one, self.project) not in there}
        else:
            missed = set()
        self.missed = defaultdict(Counter)
        for one in missed:
            self.missed[one.path][one.rule] += 1
        found = [self._by_hand(one, missed=True) if one in missed else one for one in found]
        kept = [self._by_hand(one, missed=one in missed) for one in kept]
        return sorted([*found, *kept], key=_order) if kept else found

    def _by_hand(self, finding: Finding, *, missed: bool) -> Finding:
        """A finding that no fix reaches any more; what its fix would have done is nothing to tell a human.

        `missed` is whether `--unsafe-fixes` would have settled it.
        """
        entry = self.catalog.rule(finding.rule)
        told = entry.hints.get("manual", "") if entry is not None and finding.applicability is not Applicability.MANUAL else ""
        hint = "; ".join(filter(None, (told if told and "{" not in told else finding.hint, _FIRST_RUN_ONLY if missed else "")))
        return replace(finding, applicability=Applicability.MANUAL, hint=hint)

    def _keep(self, findings: Iterable[Finding], accepted: Collection[Finding], before: Project) -> None:
        """Follows the findings of early rules that are not fixed into the texts that this round has made.

        What such a rule goes by, another one moves, so that it finds nothing any more where a human still has to act: the line
        is followed instead, from round to round, until it is gone or the rule finds something there again.
        """
        early = [finding for finding in findings if finding.path in before.files and not self._is_late(finding)]
        again = {_line(finding, before) for finding in early}
        by_path: defaultdict[str, list[Finding]] = defaultdict(list)
        for finding in (*(one for one in self.kept if _line(one, before) not in again), *(one for one in early if one not in accepted)):
            by_path[finding.path].append(finding)
        self.kept = [
            finding
            for path, kept in by_path.items()
            for finding in _carried(kept, before.files[path].source, self.project.files[path].source)
        ]

    # The files beside the code

    def _fix_beside(self, *, last: bool) -> None:
        changed: list[FileFacts] = []
        before = self.project.manifests
        for _ in range(MAX_ROUNDS):
            changed = []
            self.dropped = []
            by_path: defaultdict[str, list[Finding]] = defaultdict(list)
            for finding in self.find(self.project, within=_beside):
                if finding.applicability >= self.threshold and finding.fact is not None and self._is_last(finding) is last:
                    by_path[finding.path].append(finding)
            for path, findings in by_path.items():
                file = self.project.manifests[path]
                new, made = self._rewritten(file, self.may_fix(file.source, findings))
                if made:
                    changed.append(new)
                    self.applied[path] += made
            if not changed:
                return
            self.project = self.project.with_manifests(changed)
        for file in changed:
            rules = ", ".join(sorted(self.applied.pop(file.source.path)))
            self.on_error(InternalError(rules, file.source.path, f"fixes do not come to rest in {MAX_ROUNDS} rounds"))
        self.project = self.project.with_manifests(before[file.source.path] for file in changed)

    def _rewritten(self, file: FileFacts, findings: Iterable[Finding]) -> tuple[FileFacts, Counter[str]]:
        """A file with the fixes of these findings, as far as each says what it should and leaves the rest as it was."""
        made: Counter[str] = Counter()
        taken: list[Edit] = []
        best = file
        meant: set[int] = set()
        for group in self._groups(file, findings):
            finding = group.finding
            assert finding is not None
            new = [edit for edit in group.edits if edit not in taken]
            if any(edits.overlaps(edit.span, other.span) for edit in new for other in taken):
                continue  # waits for the next round
            source = replace(file.source, text=edits.apply(file.source.utf8, [*taken, *new]).decode("utf-8"))
            numbers = meant | {number for number, fact in enumerate(file.facts) if fact == finding.fact}
            result = manifests.read(source)
            if objection := manifests.objection(file, result, frozenset(numbers)):
                self.dropped.append(Dropped(finding.rule, finding.path, finding.span, objection))
                continue
            best, meant = result, numbers
            taken += new
            made[finding.rule] += 1
        return best, made

    # One round

    def _round(self) -> dict[str, Counter[str]]:
        """Fixes what can be fixed at once; what changed, with the rules that did it."""
        self.dropped, self.tried = [], set()
        found = self.find(self.project)
        self.waiting = [finding for finding in found if self._is_last(finding)]
        return self._apply([finding for finding in found if not self._is_last(finding)])

    def _apply(self, findings_of_all: list[Finding]) -> dict[str, Counter[str]]:
        self.written = {}
        by_path: defaultdict[str, list[Finding]] = defaultdict(list)
        fixed: set[Finding] = set()
        for finding in findings_of_all:
            if finding.applicability >= self.threshold and finding.fact is not None and finding.path in self.project.files:
                by_path[finding.path].append(finding)
        changed: dict[str, Counter[str]] = {}
        read_anew: list[FileFacts] = []
        wanted = {path: self.may_fix(self.project.files[path].source, findings) for path, findings in by_path.items()}
        for path, attempt in self._attempts(wanted):
            file = self.project.files[path]
            self.tried.update(wanted[path])
            self.dropped += attempt.dropped
            if attempt.accepted:
                new, accepted = attempt.file, attempt.accepted
                changed[path] = Counter(group.finding.rule for group in accepted if group.finding is not None)
                fixed |= {group.finding for group in accepted if group.finding is not None}
                self._keep_step(file, accepted, new)
                read_anew += [new, *self._create(path, accepted)]
                self.applied[path] += changed[path]
        before = self.project
        if read_anew:
            self.project = self.project.replace(read_anew)
            self._keep(findings_of_all, fixed, before)
        return changed

    def _attempts(self, wanted: Mapping[str, list[Finding]]) -> Iterator[tuple[str, _Attempt]]:
        """What becomes of each file, one after the other: whoever asks for the next one has made the new files of the one before."""
        paths = [*wanted]
        made: dict[int, _Attempt | None] = {}
        many = aside.processes() if sum(len(self.project.files[path].source.text) for path in paths) > _FEW else 1
        if many > 1 and len(paths) > 1:
            # The largest first, so that none of the processes has to wait for long.
            order = sorted(range(len(paths)), key=lambda number: -len(self.project.files[paths[number]].source.text))
            made = aside.share(lambda number: self._tried_aside(paths[number], wanted[paths[number]]), order, many)
        for number, path in enumerate(paths):
            attempt = made.get(number)
            # What new files hold is agreed upon file by file.
            if attempt is None or any(self.written.get(new.path, new.text) != new.text for new in attempt.files):
                attempt = self._attempt(path, wanted[path])
            yield path, attempt

    def _tried_aside(self, path: str, findings: list[Finding]) -> _Attempt | None:
        """The same before any file of this round is made; None where there is something to tell on the way."""
        told: list[InternalError] = []
        tell, self.on_error = self.on_error, told.append
        try:
            attempt = self._attempt(path, findings)
        finally:
            self.on_error = tell
        return None if told else attempt

    def _attempt(self, path: str, findings: list[Finding]) -> _Attempt:
        file, before, self.dropped = self.project.files[path], self.dropped, []
        try:
            new, accepted = file, list[_Group]()
            if groups := self._groups_of(file, sorted(findings, key=self._is_late)):
                new, accepted = self._best(file, groups)
            return _Attempt(new, accepted, self.dropped, tuple(_files(groups)))
        finally:
            self.dropped = before

    def _keep_step(self, before: FileFacts, groups: Iterable[_Group], after: FileFacts) -> None:
        made = (Made(group.finding.rule if group.finding is not None else "", group.edits, group.imports) for group in groups)
        self.steps.append(Step(after.source.path, before.source, tuple(made), after.source))

    def _is_last(self, finding: Finding) -> bool:
        entry = self.catalog.rule(finding.rule)
        return entry is not None and entry.last

    def _is_late(self, finding: Finding) -> bool:
        entry = self.catalog.rule(finding.rule)
        return entry is None or not entry.early

    def _groups_of(self, file: FileFacts, findings: Sequence[Finding]) -> list[_Group]:
        """What the findings of a file want; nothing for a file that cannot be rewritten, so that no result has to be tried."""
        try:
            self._tree(file.source).require()
        except Unwritable as error:
            self.dropped += (Dropped(finding.rule, finding.path, finding.span, str(error)) for finding in findings)
            return []
        return list(self._groups(file, findings))

    def _groups(self, file: FileFacts, findings: Iterable[Finding]) -> Iterator[_Group]:
        for finding in findings:
            entry = self.catalog.rule(finding.rule)
            module = self.catalog.module(entry) if entry is not None else None
            if entry is None or not hasattr(module, "fix") or finding.fact is None:
                continue
            ctx = Context(entry, file, self.project, _era_at(self.era, file.source.path), self.aim)
            try:
                assert module is not None
                wishes = _wishes(finding.fact, module, self._tree(file.source), ctx)
            except (Unwritable, RecursionError) as error:
                self.dropped.append(Dropped(finding.rule, finding.path, finding.span, _reason(error)))
                continue
            except Exception as error:
                self.on_error(_internal(entry.id, file.source.path, error))
                continue
            # An edit that says what already stands there would never let the rounds come to rest.
            made = tuple(wish for wish in wishes if isinstance(wish, Edit) if file.source.slice(wish.span) != wish.text)
            files = tuple(wish for wish in wishes if isinstance(wish, NewFile) if not self._is_there(wish))
            if made or files:
                yield _Group(made, finding, frozenset(wish for wish in wishes if isinstance(wish, Import | Either)), files)

    def _best(self, file: FileFacts, groups: list[_Group]) -> tuple[FileFacts, list[_Group]]:
        """The file with as many groups as go together; the others wait for the next round, and one that fails alone is dropped."""
        _, waiting = edits.compose([group.edits for group in groups])
        best, accepted = self._halved(file, [group for number, group in enumerate(groups) if number not in waiting], file, [])
        for group in (groups[number] for number in waiting):
            if not accepted:
                best, accepted = self._halved(file, [group], file, [])
        if not accepted:
            for group in groups:
                reason = self._result(file, [group])
                if isinstance(reason, str) and group.finding is not None:
                    self.dropped.append(Dropped(group.finding.rule, file.source.path, group.finding.span, reason))
        return best, accepted

    def _halved(self, file: FileFacts, groups: list[_Group], best: FileFacts, accepted: list[_Group]) -> tuple[FileFacts, list[_Group]]:
        if not groups:
            return best, accepted
        result = self._result(file, [*accepted, *groups])
        if not isinstance(result, str):
            return result, [*accepted, *groups]
        if len(groups) == 1:
            return best, accepted
        half = len(groups) // 2
        best, accepted = self._halved(file, groups[:half], best, accepted)
        return self._halved(file, groups[half:], best, accepted)

    def _result(self, file: FileFacts, groups: Sequence[_Group]) -> FileFacts | str:
        """The file with these groups applied, read again; or what speaks against it."""
        texts: dict[str, str] = {}
        for new in _files(groups):
            if texts.setdefault(new.path, new.text) != new.text:
                return f"{new.path} would have to be written in two ways"
            if objection := self._taken(new):
                return objection
        try:
            data = edits.apply(file.source.utf8, dict.fromkeys(edit for group in groups for edit in group.edits))
        except ValueError as error:
            return str(error)
        source = replace(file.source, text=data.decode("utf-8"))
        # The file's border: whatever goes wrong with one result, the rest of the run goes on.
        try:
            source = self._with_imports(source, groups)
            return _taken_name(file.source, source, groups) or self._accepted(file, source)
        except (Unwritable, RecursionError) as error:
            return _reason(error)
        except Exception as error:
            rules = ", ".join(sorted({group.finding.rule for group in groups if group.finding is not None}))
            self.on_error(_internal(rules or "sweep", file.source.path, error))
            return str(error)

    def _accepted(self, file: FileFacts, source: Source) -> FileFacts | str:
        source = needed.without_unused(file.source, source, self.acceptance.names)
        tree = Tree(source)
        others = (other for path, other in self.project.files.items() if path != source.path)
        if objection := self.acceptance.objection(file, tree, others):
            return objection
        after = read(source)
        if self.aim is Aim.BOTH and self.project.sdk is not None and (lacking := self.project.sdk.lacks(file, after)):
            return lacking
        self.trees[source.path] = tree
        return after

    def _with_imports(self, source: Source, groups: Sequence[_Group]) -> Source:
        needs = {need for group in groups for need in group.imports}
        return needed.with_needs(source, needs, self.project, (*self.beside, *(new.path for new in _files(groups))))

    def _tree(self, source: Source) -> Tree:
        tree = self.trees.get(source.path)
        if tree is None or tree.source.text != source.text:
            tree = self.trees[source.path] = Tree(source)
        return tree

    # New files

    def _is_there(self, new: NewFile) -> bool:
        held = self.project.files.get(new.path)
        return held is not None and held.source.text == new.text

    def _taken(self, new: NewFile) -> str:
        """Why a file cannot be made."""
        held = self.project.files.get(new.path)
        if self._is_there(new):
            return ""
        if self.written.get(new.path, new.text) != new.text:
            return f"{new.path} would have to be written in two ways"
        if held is not None and held.source.text != new.replaces:
            return f"{new.path} exists already"
        if obstacle := self.obstacle(new.path):
            return obstacle
        return "" if needed.parses(Source(new.path, new.text)) else f"{new.path} would not parse"

    def _create(self, path: str, groups: Iterable[_Group]) -> Iterator[FileFacts]:
        for new in _files(groups):
            self.wanted_by[new.path].add(path)
            self.written[new.path] = new.text
            held = self.project.files.get(new.path)
            if held is None:
                self.created.add(new.path)
            yield read(Source(new.path, new.text) if held is None else replace(held.source, text=new.text))

    # Ends

    def _sweep(self) -> dict[str, Counter[str]]:
        """Takes away what only deleted code used, where only the new era is served. It counts for no rule."""
        if self.era is Era.DUAL:
            return {}
        changed: dict[str, Counter[str]] = {}
        self._take_in()
        touched = self._touched()
        # What a changed file has used of another one may have no user any more.
        for path in dict.fromkeys([*touched, *(imported for importer in touched for imported in self.start.imports(importer))]):
            file = self.project.files[path]
            # What a rule has written as a whole holds nothing that deleted code has left.
            if path not in self.wanted_by and _era_at(self.era, path) is Era.MODERN and (groups := self._unused(file)):
                new, accepted = self._best(file, groups)
                if accepted and new.source.text != file.source.text:
                    changed[path] = Counter()
                    self.swept.add(path)
                    self._keep_step(file, accepted, new)
                    self.project = self.project.replace([new])
        return changed

    def _take_in(self) -> None:
        """Adds the modules without a word of the protocol that changed files have used: what only these needed goes there, too."""
        found: dict[str, FileFacts] = {}
        for path in [path for path in self._touched() if path not in self.asked]:
            self.asked.add(path)
            file = self.start.files[path]
            for source in self.silent(path, (*file.imports.values(), *file.hidden)):
                if source.path not in self.start.files and needed.parses(source):
                    found[source.path] = read(source)
        if found:
            self.taken_in |= found
            self.bystanders.renew()
            self.start, self.project = self.start.replace(found.values()), self.project.replace(found.values())

    def _put_back(self) -> None:
        """Leaves out again what was taken in and has not changed: nothing is to be said about it."""
        same = {path for path, file in self.taken_in.items() if self.project.files[path].source.text == file.source.text}
        if same:
            self.project = self.project.without(same)

    def _unused(self, file: FileFacts) -> list[_Group]:
        from .rewrite.sweep import sweep

        path = file.source.path
        elsewhere = self.bystanders.attributes | self.bystanders.taken_from(file.module)
        mentioned, formerly = self._mentions(self.project, path) | elsewhere, self._mentions(self.start, path)
        try:
            found = sweep(self.start.files[path].source, self._tree(file.source), mentioned, formerly, self._handed(file))
            return [_Group(tuple(swept)) for swept in found]
        except (Unwritable, RecursionError):
            return []  # what only deleted code used may stay
        except Exception as error:
            self.on_error(_internal("sweep", path, error))
            return []

    def _handed(self, file: FileFacts) -> Mapping[str, Idle]:
        """What does nothing any more in other files, by the dotted name that it has in this one."""
        handed: dict[str, Idle] = {}
        for path in self._touched():
            other = self.project.files[path]
            if path == file.source.path or not (new := self._idle_now(self.start.files[path].source, other.source)):
                continue
            for name, kind in new.items():
                handed[f"{other.module}.{name}"] = kind  # as settings spell it
                for local, target in file.imports.items():
                    module, _, last = target.rpartition(".")
                    if last == name and self._is_module(module, file, path):
                        handed[local] = kind
                    elif self._is_module(target, file, path):
                        handed[f"{local}.{name}"] = kind
        return handed

    def _is_module(self, name: str, importer: FileFacts, path: str) -> bool:
        found = self.project.module(name, importer.source.path) if name else None
        return found is not None and found.source.path == path

    @cached_property
    def _idle_now(self) -> Callable[[Source, Source], Mapping[str, Idle]]:
        from .rewrite.idle import new

        return cache(new)

    def _touched(self) -> list[str]:
        # What was taken in for a sweep, and stayed as it was, is no part of the project any more in the end.
        now = self.project.files
        return [path for path, file in self.start.files.items() if path in now and now[path].source.text != file.source.text]

    def _mentions(self, project: Project, path: str) -> frozenset[str]:
        """The names that the other files of a project mention; a file that this fix writes knows nothing of the others."""
        others = (file.source for other, file in project.files.items() if other != path and other not in self.created)
        return frozenset[str]().union(*map(self._mentions_of, others))

    @cached_property
    def _mentions_of(self) -> Callable[[Source], frozenset[str]]:
        from .rewrite.sweep import mentions

        return cache(mentions)

    def _take_back(self, changed: Mapping[str, Counter[str]]) -> None:
        """Files whose fixes never come to rest stay as they were, with the changes that only make sense beside theirs."""
        for path, rules in changed.items():
            self.on_error(InternalError(", ".join(sorted(rules)), path, f"fixes do not come to rest in {MAX_ROUNDS} rounds"))
        taken_back = self._connected(changed)
        for path in taken_back:
            self.applied.pop(path, None)
        self.steps = [step for step in self.steps if step.path not in taken_back]
        needless = {path for path in self.created if self.wanted_by[path] <= taken_back}
        self.created -= needless
        files = {**self.project.files, **{path: self.start.files[path] for path in taken_back}}
        self.project = Project(
            {path: file for path, file in files.items() if path not in needless},
            self.project.packages,
            self.project.manifests,
            outside=self.project.outside,
            begun=self.project.begun,
            keeps=self.project.keeps,
        )

    def _connected(self, changed: Iterable[str]) -> set[str]:
        """These files with all changed ones that are linked to them by imports, before or now.

        A sweep looks at all files: what it took, one of these may need again, so every file that was swept is among them.
        """
        touched = self._touched()
        links: defaultdict[str, set[str]] = defaultdict(set)
        for path in touched:
            for imported in (*self.start.imports(path), *self.project.imports(path)):
                links[path].add(imported)
                links[imported].add(path)
        connected: set[str] = set()
        pending = [*changed, *self.swept]
        while pending:
            path = pending.pop()
            if path in self.start.files and path not in connected:
                connected.add(path)
                pending += links[path] & {*touched}
        return connected


def _line(finding: Finding, project: Project) -> tuple[str, str, int]:
    """Where a finding stands, and whose it is."""
    file = project.files.get(finding.path) or project.manifests[finding.path]
    return finding.rule, finding.path, file.source.position(finding.span.start).line


def _carried(findings: Iterable[Finding], old: Source, new: Source) -> Iterator[Finding]:
    """The findings of a file at the same lines of its newer text, or at what has become of them; without those whose lines are gone."""
    if old is new:
        yield from findings
        return
    lines = {finding: old.position(finding.span.start).line for finding in findings}
    rows = _followed({*lines.values()}, old, new)
    for finding, line in lines.items():
        if line in rows:
            text, at = new.line(rows[line]), new.line_starts[rows[line] - 1]
            indent = len(text) - len(text.lstrip(" \t"))
            yield replace(finding, span=Span(at + indent, at + len(text.encode("utf-8"))))


def _followed(lines: Collection[int], old: Source, new: Source) -> dict[int, int]:
    """Which line of a newer text these lines have become; of those that were rewritten, the one most like it."""
    # As bytes, for `Source` counts lines so; text has more line ends.
    matcher = SequenceMatcher(None, old.utf8.splitlines(), new.utf8.splitlines(), autojunk=False)
    rows: dict[int, int] = {}
    for kind, first, last, start, end in matcher.get_opcodes():
        for line in range(first + 1, last + 1):
            if line in lines and kind == "equal":
                rows[line] = line - first + start
            elif line in lines and kind == "replace":
                rows[line] = max(range(start + 1, end + 1), key=partial(_likeness, old, line, new))
    return rows


def _likeness(old: Source, line: int, new: Source, row: int) -> tuple[bool, float]:
    """What a line begins with counts first: a long one goes on in lines of its own, each of which may have more of it."""
    before, after = old.line(line), new.line(row)
    first, other = (_FIRST_WORD.match(text) for text in (before, after))
    same = first is not None and other is not None and first[1] == other[1]
    return same, SequenceMatcher(None, before, after, autojunk=False).ratio()


def _taken_name(before: Source, after: Source, groups: Iterable[_Group]) -> str:
    """Why a name cannot be imported: the module, or a function that is to use it, means something else by it."""
    wanting = [group for group in groups if group.imports]
    if not wanting or not needed.parses(after):
        return ""
    tree = parsed(before)[0]
    old, new = bound_to(tree), bound_to(parsed(after)[0])
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    for group in wanting:
        inner = [bound_to(node) for node in functions if any(_holds(node, edit, before) for edit in group.edits)]
        for module, name in (need for need in group.imports if isinstance(need, Import)):
            spelled, _, alias = name.partition(" as ")
            local = alias or spelled or module.partition(".")[0]
            wanted = f"{module}.{spelled}" if spelled else local
            bindings = [bound.get(local, frozenset()) for bound in (inner if wanted in old.get(local, ()) else [new, *inner])]
            if any(not _is_same(other, wanted) for given in bindings for other in given):
                return f"`{local}` means something else here"
    return ""


def _holds(function: ast.FunctionDef | ast.AsyncFunctionDef, edit: Edit, source: Source) -> bool:
    start = source.offset(function.lineno, function.col_offset)
    end = source.offset(function.end_lineno or function.lineno, function.end_col_offset or 0)
    return bool(edit.text) and start < edit.span.start < end


def _is_same(one: str, other: str) -> bool:
    """Whether two imports give the same thing: packages hand on what their modules have, and may have it elsewhere one day."""
    (root, _, _), (root_of_other, _, _) = one.partition("."), other.partition(".")
    same = root == root_of_other or {root, root_of_other} <= {"typing", "typing_extensions"}
    return same and one.rpartition(".")[2] == other.rpartition(".")[2]


def _files(groups: Iterable[_Group]) -> Iterator[NewFile]:
    return (new for group in groups for new in group.files)
