"""Which rules run, by ids, prefixes, names and packs."""

from __future__ import annotations

import pytest
from mcp_migrate.selection import UnknownRule, choose, ids_of, per_file
from samples import ENTRIES

RULES = tuple(ENTRIES.values())
EVERY = frozenset(ENTRIES)


@pytest.mark.parametrize(
    ("select", "ignore", "chosen"),
    [
        ([], [], {"MCP103", "MCP114", "MCP201"}),
        (["ALL"], ["MCP1"], {"MCP201"}),
        (["MCP1"], [], {"MCP103", "MCP114"}),
        (["mcp1"], [], {"MCP103", "MCP114"}),
        (["ping"], [], {"MCP103"}),
        (["removed"], ["core_tasks"], {"MCP103"}),
        (["MCP103"], ["MCP1"], {"MCP103"}),
        (["MCP103"], ["MCP103"], set()),
        (["MCP1", "MCP201"], ["ALL"], {"MCP103", "MCP114", "MCP201"}),
        ([], ["ping", "MCP2"], {"MCP114"}),
    ],
)
def test_the_more_specific_selector_wins_and_ignore_wins_a_tie(select, ignore, chosen):
    assert choose(RULES, select, ignore) == chosen


@pytest.mark.parametrize("selector", ["MCP9", "pong", "", "MCP1033"])
def test_a_selector_that_no_rule_answers_to_is_said(selector):
    with pytest.raises(UnknownRule, match="mcp-migrate rules"):
        ids_of(selector, RULES)


def test_rules_can_be_silenced_by_file():
    silenced = per_file({"tests/": ["ALL"], "*_legacy.py": ["MCP1", "error_code"], "src/one.py": ["ping"]}, RULES)
    assert silenced("tests/deep/test_x.py") == EVERY
    assert silenced("src/a_legacy.py") == {"MCP103", "MCP114", "MCP201"}
    assert silenced("src/one.py") == {"MCP103"}
    assert silenced("src/two.py") == frozenset()


def test_a_wrong_selector_by_file_is_said_at_once():
    with pytest.raises(UnknownRule):
        per_file({"tests/": ["pong"]}, RULES)
