"""What a run reports of all that is found: comments, settings and the baseline hold findings back, each for its own file."""

from __future__ import annotations

from collections.abc import Mapping

from mcp_migrate.baseline import keys_of
from mcp_migrate.house import UNREADABLE
from mcp_migrate.rule import Finding
from mcp_migrate.sieve import Sieve
from mcp_migrate.source import Source
from samples import CODES, ENTRIES, PING, TASKS, UNUSED, at, entry

BROKEN = entry(UNREADABLE, "unreadable", "engine")
ALL = {**ENTRIES, UNUSED.id: UNUSED, BROKEN.id: BROKEN}
ACTIVE = frozenset(ALL) - {BROKEN.id}


def sieve(*accepted: Finding, sources: Mapping[str, Source], ignored: Mapping[str, frozenset[str]] | None = None) -> Sieve:
    keys = frozenset(keys_of(accepted, sources))
    return Sieve(entries=ALL, active=ACTIVE, ignored_in=lambda path: (ignored or {}).get(path, frozenset()), accepted=keys)


def files(**texts: str) -> dict[str, Source]:
    return {f"{name}.py": Source(f"{name}.py", text) for name, text in texts.items()}


def places(findings: list[Finding]) -> list[tuple[str, str, int]]:
    return [(finding.path, finding.rule, finding.span.start) for finding in findings]


def test_a_rule_that_did_not_run_here_or_at_all_says_nothing() -> None:
    sources = files(a="HERE\n", b="HERE\n")
    found = [at(source, "HERE", rule) for source in sources.values() for rule in (PING, TASKS)]
    some = Sieve(entries=ALL, active=frozenset({PING.id}), ignored_in=lambda path: frozenset({PING.id}) if path == "b.py" else frozenset())
    assert places(some.wanted(found)) == [("a.py", PING.id, 0)]


def test_what_cannot_be_read_is_told_whatever_runs_and_no_comment_of_such_a_file_counts() -> None:
    sources = files(a="HERE  # mcp-migrate: ignore\n")
    unreadable, other = at(sources["a.py"], "HERE", BROKEN), at(sources["a.py"], "HERE", PING)
    sifted = sieve(sources=sources).sift([unreadable, other], sources, sources)
    assert places(sifted.findings) == [("a.py", UNREADABLE, 0), ("a.py", PING.id, 0)]
    assert (sifted.suppressed, [key.rule for key in sifted.keys]) == (0, [PING.id])


def test_a_file_without_a_text_has_findings_too() -> None:
    found = at(Source("gone.py", "HERE\n"), "HERE", PING)
    sifted = sieve(sources={}).sift([found], {}, ["gone.py"])
    assert places(sifted.findings) == [("gone.py", PING.id, 0)]
    assert len(sifted.fingerprints) == 1


def test_findings_come_by_file_place_and_rule() -> None:
    sources = files(b="HERE\nHERE\n", a="HERE\n")
    found = [
        at(sources["b.py"], "HERE", TASKS, nth=1),
        at(sources["b.py"], "HERE", TASKS),
        at(sources["b.py"], "HERE", PING),
        at(sources["a.py"], "HERE", CODES),
    ]
    sifted = sieve(sources=sources).sift(found, sources, sources)
    assert places(sifted.findings) == [("a.py", CODES.id, 0), ("b.py", PING.id, 0), ("b.py", TASKS.id, 0), ("b.py", TASKS.id, 5)]


def test_a_comment_is_of_use_for_what_is_settled_in_its_own_file_alone() -> None:
    text = "HERE  # mcp-migrate: ignore[MCP103]\n"
    sources = files(a=text, b=text)
    settled = [at(sources["a.py"], "HERE", PING)]
    sifted = sieve(sources=sources).sift([], sources, sources, settled=settled)
    assert places(sifted.findings) == [("b.py", UNUSED.id, 6)]


def test_a_comment_for_a_rule_that_is_ignored_in_its_file_is_of_no_use_and_not_told() -> None:
    sources = files(a="HERE  # mcp-migrate: ignore[MCP103]\n")
    found = [at(sources["a.py"], "HERE", PING)]
    sifted = sieve(sources=sources, ignored={"a.py": frozenset({PING.id})}).sift(found, sources, sources)
    assert (sifted.findings, sifted.suppressed) == ([], 0)


def test_what_is_suppressed_is_counted_with_its_comment() -> None:
    sources = files(a="HERE  # mcp-migrate: ignore\nHERE\n")
    found = [at(sources["a.py"], "HERE", PING, nth=number) for number in (0, 1)]
    sifted = sieve(sources=sources).sift(found, sources, sources)
    assert (places(sifted.findings), sifted.suppressed) == ([("a.py", PING.id, sources["a.py"].text.rindex("HERE"))], 1)
    assert [(one.path, one.comment.line, one.number) for one in sifted.suppressions] == [("a.py", 1, 1)]


def test_a_fix_may_touch_what_neither_comment_nor_baseline_holds_back() -> None:
    sources = files(a="HERE 1\nHERE 2  # mcp-migrate: ignore\nHERE 3\n", b="HERE 1\n")
    found = [at(sources["a.py"], f"HERE {number}", PING) for number in (1, 2, 3)]
    kept = sieve(found[0], sources=sources)
    assert kept.open(sources["a.py"], found) == [found[2]]
    elsewhere = [at(sources["b.py"], "HERE 1", PING)]
    assert kept.open(sources["b.py"], elsewhere) == elsewhere  # the same line of another file


def test_of_equal_lines_as_many_are_accepted_as_the_baseline_has() -> None:
    sources = files(a="HERE\nHERE\nHERE\n")
    found = [at(sources["a.py"], "HERE", PING, nth=number) for number in range(3)]
    sifted = sieve(*found[:2], sources=sources).sift(found, sources, sources)
    assert (len(sifted.findings), sifted.baselined, sifted.stale) == (1, 2, [])


def test_an_entry_that_is_gone_is_told_and_one_whose_place_an_equal_line_has_is_not() -> None:
    """The occurrences 1 and 2 of three equal lines are accepted; one line is left, whose occurrence is 0."""
    before = files(a="HERE\nHERE\nHERE\n")
    found = [at(before["a.py"], "HERE", PING, nth=number) for number in range(3)]
    first, second, third = keys_of(found, before)
    now = files(a="HERE\n")
    sifted = Sieve(entries=ALL, active=ACTIVE, accepted=frozenset({second, third})).sift([at(now["a.py"], "HERE", PING)], now, now)
    assert (sifted.findings, sifted.baselined) == ([], 1)
    assert sifted.stale == [third]
    assert first not in sifted.stale


def test_each_rule_and_file_has_places_of_its_own_in_a_baseline() -> None:
    before = files(a="HERE\n", b="HERE\n")
    accepted = [at(before["a.py"], "HERE", PING), at(before["a.py"], "HERE", TASKS), at(before["b.py"], "HERE", PING)]
    sifted = sieve(*accepted, sources=before).sift([], before, before)
    assert [(key.path, key.rule) for key in sifted.stale] == [("a.py", PING.id), ("a.py", TASKS.id), ("b.py", PING.id)]


def test_nothing_is_stale_that_was_not_looked_for() -> None:
    before = files(a="HERE\n", b="HERE\n")
    accepted = keys_of([at(before["a.py"], "HERE", PING), at(before["a.py"], "HERE", CODES), at(before["b.py"], "HERE", PING)], before)
    some = Sieve(entries=ALL, active=frozenset({PING.id}), accepted=frozenset(accepted))
    assert some.sift([], {}, ["b.py"]).stale == [accepted[2]]
