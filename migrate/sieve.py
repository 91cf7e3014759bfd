"""Which findings are reported: the rules that were chosen, `per-file-ignores`, suppressions, and the baseline."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from . import baseline
from .baseline import Key
from .house import UNREADABLE
from .rule import Entry, Finding
from .source import Source
from .suppress import Suppression, judge


class Silencing(NamedTuple):
    """A comment that silences findings: where it stands, and how many."""

    path: str
    comment: Suppression
    number: int


class Sifted(NamedTuple):
    """What is reported of a run's findings, with a fingerprint for each, and how many were held back."""

    findings: list[Finding]
    fingerprints: list[str]
    keys: list[Key]
    suppressed: int
    suppressions: list[Silencing]
    baselined: int
    stale: list[Key]  # what the baseline accepts, and is gone


@dataclass(frozen=True)
class Sieve:
    """What a run wants to hear about. `accepted` are the keys of its baseline."""

    entries: Mapping[str, Entry]
    active: frozenset[str]
    ignored_in: Callable[[str], frozenset[str]] = lambda path: frozenset()
    accepted: frozenset[Key] = frozenset()
    reasons: bool = False  # whether a suppression has to give one

    def wanted(self, findings: Iterable[Finding]) -> list[Finding]:
        """Without the rules that did not run, here or in the file. What cannot be read is always reported."""
        return [
            finding
            for finding in findings
            if finding.rule == UNREADABLE or (finding.rule in self.active and finding.rule not in self.ignored_in(finding.path))
        ]

    def open(self, source: Source, findings: Iterable[Finding]) -> list[Finding]:
        """The findings of one file that no comment silences and no baseline accepts: those that `fix` may touch."""
        kept = judge(source, self.wanted(findings), self.entries, self.active).kept
        if not self.accepted:
            return kept
        keys = baseline.keys_of(kept, {source.path: source})
        accepted = baseline.covered(keys, (key for key in self.accepted if key.path == source.path))
        return [finding for finding, key in zip(kept, keys, strict=True) if key not in accepted]

    def sift(
        self, findings: Iterable[Finding], sources: Mapping[str, Source], found: Iterable[str], *, settled: Iterable[Finding] = ()
    ) -> Sifted:
        """All findings of a run through all sieves. `found` are the paths of all files that were read, parsed or not, or are there no more.

        `settled` is what would be found without the boundaries: a comment that silences it is of use.
        """
        by_path: defaultdict[str, list[Finding]] = defaultdict(list)
        for finding in self.wanted(findings):
            by_path[finding.path].append(finding)
        settled = list(settled)
        kept: list[Finding] = []
        suppressed = 0
        suppressions: list[Silencing] = []
        for path in sorted({*by_path, *sources}):
            # In a file that cannot be read, nobody can tell what a comment is for.
            if path not in sources or any(finding.rule == UNREADABLE for finding in by_path[path]):
                kept += by_path[path]
                continue
            gone = [finding for finding in settled if finding.path == path]
            judged = judge(
                sources[path], by_path[path], self.entries, self.active - self.ignored_in(path), settled=gone, reasons=self.reasons
            )
            kept += [*judged.kept, *judged.unused]
            suppressed += len(by_path[path]) - len(judged.kept)
            suppressions += [Silencing(path, comment, number) for comment, number in sorted(judged.silenced.items())]
        kept.sort(key=lambda finding: (finding.path, finding.span, finding.rule))
        keys = baseline.keys_of(kept, sources)
        accepted = baseline.covered(keys, self.accepted) if self.accepted else frozenset[Key]()
        left = [(finding, key) for finding, key in zip(kept, keys, strict=True) if key not in accepted]
        return Sifted(
            findings=[finding for finding, _ in left],
            fingerprints=[key.fingerprint for _, key in left],
            keys=[key for key in keys if key.rule != UNREADABLE],
            suppressed=suppressed,
            suppressions=suppressions,
            baselined=len(kept) - len(left),
            stale=self._stale(keys, accepted, frozenset(found)),
        )

    def _stale(self, keys: Sequence[Key], accepted: frozenset[Key], found: frozenset[str]) -> list[Key]:
        """The accepted findings that are gone; a rule that did not run and a file that was not read say nothing about theirs."""
        taken = Counter(key[:3] for key in accepted - self.accepted)
        stale = []
        for key in sorted(self.accepted.difference(keys)):
            if key.path not in found or key.rule not in self.active:
                continue
            if taken[key[:3]]:
                taken[key[:3]] -= 1  # an equal line has its place
            else:
                stale.append(key)
        return stale
