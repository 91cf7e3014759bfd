"""Comments that silence findings, and those that silence nothing."""

from __future__ import annotations

import pytest
from mcp_migrate.rule import Severity
from mcp_migrate.source import Source
from mcp_migrate.suppress import judge
from samples import CODES, ENTRIES, TASKS, UNUSED, at

ALL = {**ENTRIES, UNUSED.id: UNUSED}
RUNNING = frozenset(ALL)


def judged(text: str, *rules, active: frozenset[str] = RUNNING) -> tuple[list[str], int, list[str]]:
    """What is kept, silenced and unused when each rule has a finding at each `HERE`."""
    source = Source("app.py", text)
    findings = [at(source, "HERE", rule, nth=number) for number in range(text.count("HERE")) for rule in rules]
    kept, silenced, unused = judge(source, findings, ALL, active)
    return [finding.rule for finding in kept], sum(silenced.values()), [finding.message for finding in unused]


@pytest.mark.parametrize(
    "comment",
    [
        "# mcp-migrate: ignore[MCP114]",
        "# mcp-migrate: ignore[MCP114] -- the old clients need it",
        "# mcp-migrate: ignore[core_tasks]",
        "# mcp-migrate: ignore",
        "#mcp-migrate:ignore[ MCP114 ]",
        "# noqa: E501  # mcp-migrate: ignore[MCP114]",
        "# mcp-migrate: ignore [MCP114]",
        "# mcp-migrate: ignore[mcp114]",
        "# mcp-migrate: ignore[MCP1]",
        "# mcp-migrate: ignore[ALL]",
    ],
)
def test_a_comment_on_the_line_silences_the_rule(comment):
    assert judged(f"HERE = 1  {comment}\n", TASKS) == ([], 1, [])


def test_a_comment_for_what_a_boundary_settles_is_of_use():
    source = Source("app.py", "HERE = 1  # mcp-migrate: ignore[MCP114, MCP201] -- the old clients need it\n")
    kept, silenced, unused = judge(source, [], ALL, RUNNING, settled=[at(source, "HERE", TASKS)])
    assert (kept, silenced) == ([], {})
    assert [("MCP201" in finding.message, "MCP114" in finding.message) for finding in unused] == [(True, False)]


def test_only_the_named_rules_are_silenced():
    assert judged("HERE = 1  # mcp-migrate: ignore[MCP114]\n", TASKS, CODES) == (["MCP201"], 1, [])


def test_several_rules_may_be_named():
    assert judged("HERE = 1  # mcp-migrate: ignore[MCP114, error_code]\n", TASKS, CODES) == ([], 2, [])


def test_only_its_own_line_is_silenced():
    kept, silenced, unused = judged("# mcp-migrate: ignore[MCP114]\nHERE = 1\n", TASKS)
    assert (kept, silenced, unused) == (["MCP114"], 0, ["this suppression silences nothing"])


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("line", [0, 2])
def test_the_first_and_the_last_line_of_a_finding_count(newline, line):
    lines = ["call(", "    1,", ")"]
    lines[line] += "  # mcp-migrate: ignore[MCP114]"
    source = Source("app.py", newline.join(["é = 1", *lines, ""]))
    whole = at(source, newline.join(lines)[: None if line == 0 else -len("  # mcp-migrate: ignore[MCP114]")], TASKS)
    kept, silenced, unused = judge(source, [whole], ALL, RUNNING)
    assert (kept, list(silenced.values()), unused) == ([], [1], [])


def test_a_whole_file_may_be_silenced():
    assert judged("# mcp-migrate: ignore-file\nHERE = 1\nHERE = 2\n", TASKS) == ([], 2, [])
    assert judged("# mcp-migrate: ignore-file[MCP201]\nHERE = 1\n", TASKS, CODES) == (["MCP114"], 1, [])


@pytest.mark.parametrize(
    "text",
    [
        'x = "# mcp-migrate: ignore"; HERE = 1\n',
        '"""\n# mcp-migrate: ignore-file\n"""\nHERE = 1\n',
        "HERE = 1  # mcp-migrate: TODO[MCP114] do it\n",
    ],
    ids=["string", "docstring", "other directive"],
)
def test_text_that_is_no_suppression_silences_nothing_and_is_not_reported(text):
    assert judged(text, TASKS) == (["MCP114"], 0, [])


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("ignore", "this suppression silences nothing"),
        ("ignore[MCP114]", "this suppression silences nothing"),
        ("ignore[]", "this suppression silences nothing"),
        ("ignore-file[MCP114]", "this suppression silences nothing"),
        ("ignore[MCP999]", "no rule is called `MCP999`"),
        ("ignore[MCP201, MCP114]", "`MCP114` in this suppression silences nothing"),
    ],
)
def test_an_unused_comment_is_a_note(comment, message):
    assert judged(f"HERE = 1  # mcp-migrate: {comment}\n", *([CODES] if "MCP201" in comment else []))[2] == [message]


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("noqa", "`noqa` is no directive; `ignore` and `ignore-file` are"),
        ("Ignore[MCP114]", "`Ignore` is no directive; `ignore` and `ignore-file` are"),
        (" please look here", "`please` is no directive; `ignore` and `ignore-file` are"),
        ("[MCP114]", "this is no directive; `ignore` and `ignore-file` are"),
    ],
)
def test_a_comment_that_says_nothing_known_is_a_warning(comment, message):
    source = Source("app.py", f"HERE = 1  # mcp-migrate: {comment}\n")
    kept, silenced, (stray,) = judge(source, [at(source, "HERE", TASKS)], ALL, RUNNING)
    assert (len(kept), silenced, stray.message, stray.severity) == (1, {}, message, Severity.WARNING)
    assert source.slice(stray.span).startswith("# mcp-migrate:")


def test_a_prefix_of_which_not_all_rules_ran_proves_nothing():
    assert judged("HERE = 1  # mcp-migrate: ignore[MCP1]\n", CODES, active=RUNNING - {"MCP114"}) == (["MCP201"], 0, [])


def test_the_note_stands_on_the_comment():
    source = Source("app.py", "é = 1  # fine # mcp-migrate: ignore[MCP114] -- why\n")
    (note,) = judge(source, [], ALL, RUNNING).unused
    assert source.slice(note.span) == "# mcp-migrate: ignore[MCP114]"
    assert (note.rule, note.severity, note.path) == ("MCP001", Severity.NOTE, "app.py")


@pytest.mark.parametrize("comment", ["ignore[MCP114]", "ignore"])
def test_a_rule_that_did_not_run_proves_nothing_about_its_comment(comment):
    assert judged(f"x = 1  # mcp-migrate: {comment}\n", active=RUNNING - {"MCP114"}) == ([], 0, [])


def test_unused_comments_can_be_switched_off():
    assert judged("x = 1  # mcp-migrate: ignore[MCP114]\n", active=RUNNING - {"MCP001"}) == ([], 0, [])


def test_comments_before_text_that_cannot_be_tokenized_still_count():
    assert judged("HERE = 1  # mcp-migrate: ignore\ny = (\n", TASKS) == ([], 1, [])


# Reasons


def reasons_of(text: str) -> list[tuple[str, int]]:
    """The reason of each comment, and how many findings it silences."""
    source = Source("app.py", text)
    silenced = judge(source, [at(source, "HERE", rule) for rule in (TASKS, CODES)], ALL, RUNNING).silenced
    return [(comment.reason, number) for comment, number in sorted(silenced.items())]


@pytest.mark.parametrize(
    ("comment", "reason"),
    [
        ("# mcp-migrate: ignore -- the old clients need it", "the old clients need it"),
        ("# mcp-migrate: ignore[ALL] --see #12, till 2027 ", "see #12, till 2027"),
        ("# mcp-migrate: ignore-file -- generated", "generated"),
        ("# mcp-migrate: ignore", ""),
        ("# mcp-migrate: ignore --", ""),
        ("# mcp-migrate: ignore  # noqa: E501 -- long", ""),
    ],
)
def test_a_reason_stands_behind_two_dashes(comment, reason):
    assert reasons_of(f"HERE = 1  {comment}\n") == [(reason, 2)]


def test_each_of_two_comments_in_a_line_has_its_own_reason():
    text = "HERE = 1  # mcp-migrate: ignore[MCP114] -- one  # mcp-migrate: ignore[MCP201] -- other\n"
    assert reasons_of(text) == [("one", 1), ("other", 1)]


@pytest.mark.parametrize(
    ("comment", "wanted", "messages"),
    [
        ("# mcp-migrate: ignore[MCP114]", True, ["this suppression gives no reason; write one behind ` -- `"]),
        ("# mcp-migrate: ignore[MCP114]", False, []),
        ("# mcp-migrate: ignore[MCP114] -- till 2027", True, []),
        # What silences nothing wants to go, not a reason.
        ("# mcp-migrate: ignore[MCP103]", True, ["this suppression silences nothing"]),
    ],
)
def test_a_reason_can_be_asked_for(comment, wanted, messages):
    source = Source("app.py", f"HERE = 1  {comment}\n")
    told = judge(source, [at(source, "HERE", TASKS)], ALL, RUNNING, reasons=wanted).unused
    assert [finding.message for finding in told] == messages
    assert {finding.severity for finding in told if "reason" in finding.message} <= {Severity.WARNING}
