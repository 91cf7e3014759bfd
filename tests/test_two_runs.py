"""`fix` and later `fix --unsafe-fixes` give what `fix --unsafe-fixes` gives at once, without the fixes that the first run calls lost."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fixture_cases import FIXTURES, OTHERS, Case, cases
from mcp_migrate import catalog, engine
from mcp_migrate.project import Project
from mcp_migrate.rule import Applicability, Finding
from mcp_migrate.source import Source
from servers import migrate
from servers import texts as files_of
from test_rules import link

CATALOG = catalog.load()
CASES = [*cases()]
WHOLE = sorted(folder for pack in OTHERS for folder in (FIXTURES / pack).glob("*/before") if folder.is_dir())
# Of one rule, some fixes are lost and others are not: names of the file are moved in the first run, what only other files hand it is not.
IN_PART = {"mcp2-camel_case_field-stand_ins": {"MCP502"}}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_two_runs_give_what_one_gives(case: Case) -> None:
    assert_same(link(case.before()), IN_PART.get(case.id, set()))


@pytest.mark.parametrize("folder", WHOLE, ids=lambda folder: f"{folder.parent.parent.name}-{folder.parent.name}")
def test_two_runs_over_a_whole_program_give_what_one_gives(folder) -> None:
    assert_same(link(files_of(folder)), set())


def test_the_first_run_says_what_a_later_one_cannot_do(tmp_path) -> None:
    (tmp_path / "server.py").write_text('from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP("x")\n')
    told = "for 1 of what is left (MCP512) --unsafe-fixes has an edit, in a first run only: "
    assert f"{told}better run at once `mcp-migrate fix --unsafe-fixes`" in migrate("fix", "--diff", ".", cwd=tmp_path).stderr
    done = migrate("fix", ".", cwd=tmp_path).stdout
    assert f"{told}take this one back and run `mcp-migrate fix --unsafe-fixes`" in done
    assert "by hand: give `version=` to the constructor; `fix --unsafe-fixes` writes it in a first run only" in done
    assert "fix --unsafe-fixes` would settle" not in done


def test_nothing_is_lost_where_unsafe_fixes_are_made_or_can_still_be_made(tmp_path) -> None:
    (tmp_path / "server.py").write_text('from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP("x")\n')
    assert "first run" not in migrate("fix", "--unsafe-fixes", ".", cwd=tmp_path).stdout
    (tmp_path / "client.py").write_text((FIXTURES / "mcp2" / "client_session" / "folded" / "before.py").read_text())
    assert "first run" not in migrate("fix", ".", cwd=tmp_path).stdout


def assert_same(before: Project, in_part: set[str]) -> None:
    first = engine.fix(before, CATALOG)
    open_findings = [*engine.check(before, CATALOG), *first.remaining]
    if not first.missed and all(finding.applicability is not Applicability.UNSAFE for finding in open_findings):
        return  # there is nothing unsafe that either could do
    once = engine.fix(before, CATALOG, unsafe=True, may_fix=without_unsafe({rule for rules in first.missed.values() for rule in rules}))
    again = engine.fix(link(texts(first.project)), CATALOG, unsafe=True, may_fix=without_unsafe(in_part))
    assert texts(again.project) == texts(once.project)


def without_unsafe(rules: set[str]) -> Callable[[Source, list[Finding]], list[Finding]]:
    return lambda source, findings: [one for one in findings if one.rule not in rules or one.applicability is not Applicability.UNSAFE]


def texts(project: Project) -> dict[str, str]:
    return {path: file.source.text for path, file in (*project.manifests.items(), *project.files.items())}
