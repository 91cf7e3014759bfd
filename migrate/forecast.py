"""What the boundary would do for the other findings: those that `fix` takes along, and those that wait until a human has wired it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from .facts.model import Dispatcher
from .project import Project
from .rule import Applicability, Entry, Finding
from .source import Span

Find = Callable[..., list[Finding]]  # in a project, without some rules
_SAFE = Applicability.SAFE


def foretold(findings: Sequence[Finding], project: Project, find: Find, entries: Mapping[str, Entry]) -> list[Finding]:
    """The findings; those that `fix` would settle with a boundary are called safe, and those that wait for one say so.

    Cheaper than the fix itself: only links, and asks the rules, with the boundaries as given.
    """
    wirings = [finding for finding in findings if isinstance(finding.fact, Dispatcher)]
    if not wirings:
        return list(findings)
    made = [finding for finding in wirings if finding.applicability is _SAFE]
    blocked = [finding for finding in wirings if finding.applicability is not _SAFE]
    # A boundary changes nothing about uses of the SDK: asking their rules twice more would be a third of the cost.
    apart = frozenset(entry.id for entry in entries.values() if entry.is_of_sdk)
    with_fix = _left(project, made, find, apart) if made else None
    with_all = _left(project, wirings, find, apart) if blocked else None
    nearest = _Nearest(blocked)

    def told(finding: Finding) -> Finding:
        if finding.fact is None or isinstance(finding.fact, Dispatcher) or finding.applicability is _SAFE or finding.rule in apart:
            return finding
        if with_fix is not None and _identity(finding) not in with_fix:
            return replace(finding, applicability=_SAFE, hint=_done(entries[finding.rule].hints))
        if with_all is not None and _identity(finding) not in with_all:
            return replace(finding, hint=_waits(finding, nearest.of(finding), project, entries))
        return finding

    return [told(finding) for finding in findings]


def without_boundaries(project: Project) -> Project | None:
    """The project as if nothing stood in front of its dispatchers; None where nothing does."""
    bare = [replace(file, boundary=frozenset(), borrows={}) for file in project.files.values() if file.boundary or file.borrows]
    return project.replace(bare) if bare else None


def _left(project: Project, wirings: Iterable[Finding], find: Find, apart: frozenset[str]) -> frozenset[tuple[str, str, Span]]:
    """What would still be found by hand with boundaries before these dispatchers."""
    functions: defaultdict[str, set[str]] = defaultdict(set)
    # The wiring itself is not asked for again: to prove every server anew would be most of the cost.
    proven = {wiring.rule for wiring in wirings}
    for wiring in wirings:
        if isinstance(wiring.fact, Dispatcher):
            functions[wiring.path].add(wiring.fact.function)
    return frozenset(
        _identity(finding) for finding in find(project.bounded(functions), *proven, *apart) if finding.applicability is not _SAFE
    )


def _done(hints: Mapping[str, str]) -> str:
    return hints.get("safe", hints["bounded"])


class _Nearest:
    """The wirings that a human has to do, by where they are: thousands of findings may wait for hundreds of these."""

    def __init__(self, wirings: Iterable[Finding]) -> None:
        self._all = [*wirings]
        self._inside: defaultdict[str, list[int]] = defaultdict(list)
        for number in sorted(range(len(self._all)), key=lambda one: self._all[one].span.start):
            self._inside[""].append(number)
            self._inside[self._all[number].path].append(number)
        self._starts = {path: [self._all[number].span.start for number in numbers] for path, numbers in self._inside.items()}

    def of(self, finding: Finding) -> Finding:
        """The wiring nearest to a finding: one of its file, if there is one, and the first of those that are equally near."""
        path, place = finding.path if finding.path in self._inside else "", finding.span.start
        starts, numbers = self._starts[path], self._inside[path]
        behind = bisect_right(starts, place)
        before = bisect_left(starts, starts[behind - 1]) if behind else behind
        near = [one for one in (before, behind) if one < len(starts)]
        return self._all[min((abs(starts[one] - place), numbers[one]) for one in near)[1]]


def _waits(finding: Finding, wiring: Finding, project: Project, entries: Mapping[str, Entry]) -> str:
    """Which wiring a finding waits for: the one of its own file, if there is one."""
    line = project.files[wiring.path].source.position(wiring.span.start).line
    place = f"line {line}" if wiring.path == finding.path else f"{wiring.path}:{line}"
    return entries[finding.rule].hints["blocked"].format(rule=wiring.rule, place=place)


def _identity(finding: Finding) -> tuple[str, str, Span]:
    return finding.rule, finding.path, finding.span
