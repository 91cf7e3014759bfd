"""The baseline knows findings by content, so edits elsewhere do not wake them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_migrate import baseline
from mcp_migrate.baseline import BaselineError, Key
from mcp_migrate.source import Source
from samples import CODES, PING, at


def keys(text: str, *words: str) -> list[Key]:
    source = Source("app.py", text)
    return baseline.keys_of([at(source, word) for word in words], {"app.py": source})


def test_a_finding_keeps_its_key_when_lines_move_and_indentation_changes():
    moved = 'import x\n\nwhile 1:\n    if method == "ping":\n        pass\n'
    assert keys('if method == "ping":\n    pass\n', '"ping"') == keys(moved, '"ping"')


def test_a_finding_gets_a_new_key_when_its_line_changes():
    assert keys('a == "ping"\n', '"ping"') != keys('b == "ping"\n', '"ping"')


def test_equal_lines_are_counted():
    source = Source("app.py", "ping\nping\n")
    first, second = baseline.keys_of([at(source, "ping"), at(source, "ping", nth=1)], {"app.py": source})
    assert (first.occurrence, second.occurrence) == (0, 1)
    assert first._replace(occurrence=1) == second
    assert first.fingerprint != second.fingerprint


def test_rules_and_files_are_told_apart():
    one, other = Source("a.py", "ping\n"), Source("b.py", "ping\n")
    found = baseline.keys_of([at(one, "ping"), at(one, "ping", CODES), at(other, "ping")], {"a.py": one, "b.py": other})
    assert len({key._replace(occurrence=0) for key in found}) == 3


def test_a_file_without_text_is_known_by_the_message():
    one, other = (at(Source("a.py", "x"), "x", PING, message=message) for message in ("not utf-8", "gone"))
    assert baseline.keys_of([one], {}) != baseline.keys_of([other], {})


def test_an_equal_line_takes_the_place_of_one_that_is_gone():
    first, second, third = (Key("a.py", "MCP103", "0" * 16, number) for number in range(3))
    other = Key("a.py", "MCP201", "0" * 16, 0)
    assert baseline.covered([first, second], {second}) == {second}
    assert baseline.covered([first], {second}) == {first}
    assert baseline.covered([first, second, other], {third, second}) == {first, second}
    assert baseline.covered([other], {first}) == frozenset()


KEYS = st.builds(Key, st.text(max_size=9), st.text(max_size=6), st.text("0123456789abcdef", max_size=16), st.integers(0, 99))


@given(st.lists(KEYS, unique=True))
def test_what_is_written_is_read_again(found):
    assert baseline.load(baseline.dump(found)) == frozenset(found)


def test_the_text_does_not_depend_on_the_order_and_has_one_finding_a_line():
    found = [Key("b.py", "MCP103", "0" * 16, 0), Key("a.py", "MCP201", "1" * 16, 2)]
    text = baseline.dump(found)
    assert text == baseline.dump(reversed(found))
    assert [line.strip(" ,") for line in text.splitlines() if "rule" in line] == [
        '{"path": "a.py", "rule": "MCP201", "digest": "1111111111111111", "occurrence": 2}',
        '{"path": "b.py", "rule": "MCP103", "digest": "0000000000000000", "occurrence": 0}',
    ]


def test_an_empty_baseline_is_one():
    assert json.loads(baseline.dump([])) == {"version": 1, "findings": []}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON"),
        ("[]", "version 1"),
        ('{"version": 2, "findings": []}', "version 1"),
        ('{"version": 1, "findings": {}}', "version 1"),
        ('{"version": 1, "findings": [{"path": "a.py"}]}', "'rule'"),
        ('{"version": 1, "findings": [3]}', "not whole"),
        ('{"version": 1, "findings": [{"path": "a", "rule": "b", "digest": "c", "occurrence": "many"}]}', "many"),
    ],
)
def test_what_is_no_baseline_is_said(text, words):
    with pytest.raises(BaselineError, match=words):
        baseline.load(text)


def test_the_fingerprint_of_a_key_is_always_the_same_word():
    """Whoever keeps reports from run to run knows a finding by it."""
    assert Key("a.py", "MCP103", "0123456789abcdef", 0).fingerprint == "48560cdd3e811fcddff3e8f2b2ebd22f"


def test_one_that_is_gone_makes_room_for_one():
    def keys(*numbers, digest="0123456789abcdef"):
        return {Key("a.py", "MCP103", digest, number) for number in numbers}

    assert baseline.covered(keys(0, 1), keys(5)) == keys(0)
    assert baseline.covered(keys(0, 1, 2), keys(5, 6)) == keys(0, 1)
    assert baseline.covered(keys(0, 1), keys(5, digest="another")) == frozenset()
