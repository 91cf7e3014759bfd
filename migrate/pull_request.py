"""What a run gives its reviewers: a series of commits, and the text that goes with them."""

from __future__ import annotations

import contextlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from . import discover, inline, proving, series
from .commits import RULES, Commit, Series
from .engine import Fixed
from .facts.model import FileFacts
from .files import Change
from .project import read as facts_of
from .reading import Reading
from .report import message, summary
from .report.summary import Package, Proof, Summary
from .run import Run
from .sieve import Sifted
from .source import decode
from .units import Part, Unit, units

_MANY = 4  # packages that the subject of a commit does not name any more


@dataclass(frozen=True)
class Made:
    """A run of `fix`: what was read, what it is then, what was done to which files."""

    run: Run
    before: Reading
    after: Reading
    fixed: Fixed
    changes: list[Change]

    def commits(self) -> list[list[Commit]]:
        """The commits, by packages that do not need each other."""
        found = self._units()
        return [[self._commit(part, unit, alone=len(found) == 1) for part in unit.parts] for unit in found]

    def summary(self, left: Sifted, made: Series | None, also: Iterable[str], *, would: bool) -> Summary:
        """What the body of a pull request is made from. `left` is what is still found, `also` what has to be done beside the code."""
        run = self.run
        applied: defaultdict[int, dict[str, Counter[str]]] = defaultdict(dict)
        for path, rules in self.fixed.applied.items():
            for rule, number in rules.items():
                applied[run.catalog.group_of(rule)].setdefault(run.relative(path), Counter())[rule] += number
        commits = made.made if made is not None else []
        earlier = len(commits) - (made.new if made is not None else 0)
        return Summary(
            report=run.report(self.after, left, run.relative),
            changes=[summary.Change(run.catalog.groups[number], files) for number, files in sorted(applied.items())],
            changed=[run.relative(change.path) for change in self.changes],
            created=[run.relative(change.path) for change in self.changes if change.before is None],
            packages=list(self._packages(left)),
            commits=[summary.Commit(one.commit, one.subject, one.rules, number < earlier) for number, one in enumerate(commits)],
            base=made.base if made is not None else "",
            also=list(also),
            asked=len(run.sieve.active),
            reasons=[(run.relative(dropped.path), dropped.reason) for dropped in self.fixed.dropped],
            would=would,
            proofs=list(self._proofs()),
        )

    def _proofs(self) -> Iterator[Proof]:
        run = self.run
        packages: defaultdict[str, list[str]] = defaultdict(list)
        for path in self.after.project.files:
            if run.may_write(path) and path not in self.fixed.created and PurePosixPath(path).name not in inline.MODULES:
                packages[run.packages.of(path)].append(path)
        for base, paths in sorted(packages.items()):
            found = proving.proof(self.after.project, paths, base, Path(run.location(base)), silent=self._mains(base))
            if found is not None:
                era = run.era_at(f"{base}/_" if base else "_")
                folder = run.relative(base) if base else ""
                yield Proof(folder, era, found.kind.serves, found.kind.asks, found.options, found.older)

    def _mains(self, base: str) -> Iterator[FileFacts]:
        """The modules of a package that run it, and hold no word of the protocol."""
        for path, location in self.before.locations.items():
            if PurePosixPath(path).name == "__main__.py" and path not in self.after.project.files and self.run.packages.of(path) == base:
                data = discover.read(discover.File(path, location))
                with contextlib.suppress(SyntaxError, ValueError):
                    if isinstance(data, bytes):
                        yield facts_of(decode(path, data))

    def _units(self) -> list[Unit]:
        sources = {path: file.source for path, file in self.before.project.files.items()}
        stages = series.stages(
            self.before.project,
            self.fixed,
            self.run.catalog,
            changed=[change.path for change in self.changes],
            whole={*self.after.carried, *self.before.carried},
            beside=self.before.locations.keys(),
        )
        return units(
            self.changes,
            stages,
            self.before.project,
            self.after.project,
            self.run.packages,
            encode=lambda path, text: self.run.encode(self.before, replace(sources[path], text=text)),
        )

    def _commit(self, part: Part, unit: Unit, *, alone: bool) -> Commit:
        rules = Counter[str]()
        for made in part.applied.values():
            rules.update(made)
        named = [self.run.relative(folder) for folder in unit.folders if folder] if not alone else []
        scope = ", ".join(named) if len(named) < _MANY else f"{len(named)} packages"
        created = [self.run.relative(change.path) for change in part.changes if change.before is None]
        return Commit(message.render(part.group, rules, self.run.entries, trailer=RULES, scope=scope, created=created), part.changes)

    def _packages(self, left: Sifted) -> Iterator[Package]:
        run = self.run
        changed = Counter(run.packages.of(change.path) for change in self.changes)
        made = Counter[str]()
        for path, rules in self.fixed.applied.items():
            made[run.packages.of(path)] += rules.total()
        found = Counter(run.packages.of(finding.path) for finding in left.findings)
        seen = {run.packages.of(path) for path, file in self.after.project.files.items() if file.evidence and run.may_write(path)}
        for folder in sorted({*changed, *made, *found, *seen}):
            era = run.era_at(f"{folder}/_" if folder else "_")
            yield Package(run.relative(folder) if folder else "", era, changed[folder], made[folder], found[folder])
