"""Every fixture proves four things: found here and only here; fixed to exactly this text; what remains is marked; a second run does nothing."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import lru_cache

import pytest
from fixture_cases import FIXTURES, OTHERS, Case, Mark, cases, marks, plain
from mcp_migrate import catalog, engine
from mcp_migrate.manifests import files as manifests
from mcp_migrate.project import Project, read
from mcp_migrate.rewrite import written
from mcp_migrate.rule import Applicability, Entry, Era, Finding
from mcp_migrate.source import Source

CATALOG = catalog.load()
CASES = list(cases())
ENTRIES = [entry for entry in CATALOG.entries if entry.pack != "engine"]

# Grouped by case, so that what is made of one is made once.
each_era = pytest.mark.parametrize("era", list(Era), ids=lambda era: era.value, scope="module")
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id, scope="module")


@each_era
@each_case
def test_the_rule_finds_what_is_marked_and_nothing_else(case: Case, era: Era) -> None:
    project = linked(case)
    assert found(project, engine.check(project, CATALOG, era, select=[case.rule])) == marks(case.before(), era)


@each_era
@each_case
def test_fix_makes_exactly_this_text_and_leaves_what_is_marked(case: Case, era: Era) -> None:
    fixed = fix(case, era)
    assert fixed.dropped == ()
    assert not fixed.created or next(entry for entry in ENTRIES if entry.name == case.rule).module
    assert texts(fixed) == {path: plain(text) for path, text in case.after(era).items()}
    remaining = sorted((mark.path, mark.line) for mark in marks(case.after(era), era))
    assert [(mark.path, mark.line) for mark in found(fixed.project, fixed.remaining)] == remaining


@each_era
@each_case
def test_a_second_run_changes_nothing(case: Case, era: Era) -> None:
    again = engine.fix(fix(case, era).project, CATALOG, era, select=[case.rule])
    assert (again.texts, again.created) == ({}, {})


@pytest.mark.parametrize("case", [case for case in CASES if case.after_unsafe()], ids=lambda case: case.id)
def test_unsafe_fixes_make_exactly_this_text(case: Case) -> None:
    fixed = engine.fix(link(case.before()), CATALOG, select=[case.rule], unsafe=True)
    assert texts(fixed) == {path: plain(text) for path, text in case.after_unsafe().items()}
    again = engine.fix(link(case.after_unsafe()), CATALOG, select=[case.rule], unsafe=True)
    assert (again.texts, again.created) == ({}, {})


@pytest.mark.parametrize(
    "case", [case for case in CASES if "unsafe" in {mark.applicability for mark in marks(case.before(), Era.DUAL)}], ids=str
)
def test_every_unsafe_fix_is_shown(case: Case) -> None:
    assert case.after_unsafe()


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_rule_has_a_case_that_it_finds_and_one_that_it_must_leave_alone(entry: Entry) -> None:
    own = [case for case in CASES if (case.pack, case.rule) == (entry.pack, entry.name)]
    silent = [case for case in own if not any(marks(case.before(), era) for era in Era)]
    assert silent
    assert len(own) > len(silent)


@pytest.mark.parametrize("case", [case for case in CASES if case.pack in ("mcp2", "fastmcp4", "deps")], ids=lambda case: case.id)
def test_check_says_what_fix_does_also_where_the_names_that_it_needs_are_taken(case: Case) -> None:
    before = {path: plain(text) for path, text in case.before().items()}
    assert_agree(before, case.rule)
    made = engine.fix(link(before), CATALOG, select=[case.rule])
    new = {name for path, text in before.items() if path in made.texts for name in imported(made.texts[path]) - imported(text)}
    for name in sorted(new):
        for taking in (f"{name} = object()\n", f"def shadow({name}=None):\n    return {name}\n"):
            assert_agree({path: f"{text}\n\n{taking}" if path.endswith(".py") else text for path, text in before.items()}, case.rule)


def test_every_fixture_belongs_to_a_rule() -> None:
    known = {(entry.pack, entry.name) for entry in ENTRIES}
    folders = {(folder.parent.name, folder.name) for folder in FIXTURES.glob("*/*") if folder.is_dir() and folder.parent.name not in OTHERS}
    assert folders <= known


@lru_cache(2)
def linked(case: Case) -> Project:
    return link(case.before())


@lru_cache(4)
def fix(case: Case, era: Era) -> engine.Fixed:
    return engine.fix(linked(case), CATALOG, era, select=[case.rule])


def link(before: Mapping[str, str]) -> Project:
    """The program without its marks, linked; a mark is a comment, and comments must not help a rule."""
    sources = [Source(path, plain(text)) for path, text in before.items()]
    beside = {source.path: manifests.read(source) for source in sources if manifests.kind_of(source.path) is not None}
    return Project.link((read(source) for source in sources if source.path not in beside), manifests=beside)


def assert_agree(before: Mapping[str, str], rule: str) -> None:
    project = link(before)
    by_hand = [finding for finding in engine.check(project, CATALOG, select=[rule]) if finding.applicability is not Applicability.SAFE]
    fixed = engine.fix(project, CATALOG, select=[rule])
    assert fixed.dropped == ()
    assert sorted((one.rule, one.path) for one in fixed.remaining) == sorted((one.rule, one.path) for one in by_hand)


def imported(text: str) -> set[str]:
    """The names that the imports of a module give; of a text that is none, nothing."""
    try:
        nodes = ast.walk(ast.parse(text))
    except SyntaxError:
        return set()
    return {
        alias.asname or alias.name.partition(".")[0]
        for node in nodes
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }


def found(project: Project, findings: list[Finding]) -> list[Mark]:
    lines = {path: file.source for path, file in (*project.files.items(), *project.manifests.items())}
    return sorted(Mark(f.path, lines[f.path].position(f.span.start).line, f.rule, f.applicability.word) for f in findings)


def texts(fixed: engine.Fixed) -> dict[str, str]:
    """The program as it is now, without the modules that `fix` writes, which have tests of their own."""
    files = (*fixed.project.manifests.items(), *fixed.project.files.items())
    made = {**{path: file.source.text for path, file in files}, **fixed.created}
    return {path: text for path, text in made.items() if written.parts(text) is None}
