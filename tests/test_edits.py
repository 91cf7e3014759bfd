"""Edits go together if they touch different bytes, and all of a group goes or none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_migrate.rewrite.edits import Edit, apply, compose, overlaps
from mcp_migrate.source import Span


def edit(start: int, end: int, text: str = "") -> Edit:
    return Edit(Span(start, end), text)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((0, 2), (2, 4), False),
        ((0, 3), (2, 4), True),
        ((0, 4), (1, 2), True),
        ((2, 2), (2, 2), False),
        ((2, 2), (2, 4), False),
        ((4, 4), (2, 4), False),
        ((3, 3), (2, 4), True),
    ],
    ids=["neighbours", "crossing", "inside", "insertions", "insertion before", "insertion behind", "insertion inside"],
)
def test_overlap(one: tuple[int, int], other: tuple[int, int], expected: bool) -> None:
    assert overlaps(Span(*one), Span(*other)) is expected
    assert overlaps(Span(*other), Span(*one)) is expected


def test_a_group_waits_as_a_whole() -> None:
    taken, waiting = compose([[edit(0, 2)], [edit(1, 3), edit(5, 6)], [edit(5, 7)]])
    assert taken == [edit(0, 2), edit(5, 7)]
    assert waiting == [1]


def test_equal_edits_unite() -> None:
    assert compose([[edit(0, 0, "a"), edit(2, 3)], [edit(0, 0, "a"), edit(4, 5)]]) == ([edit(0, 0, "a"), edit(2, 3), edit(4, 5)], [])


def test_insertions_at_one_place_keep_their_order() -> None:
    assert apply(b"xy", [edit(1, 1, "b"), edit(1, 2, "Y"), edit(1, 1, "a")]) == b"xbaY"


def test_offsets_are_bytes() -> None:
    assert apply("äöü".encode(), [edit(2, 4, "→")]).decode() == "ä→ü"


def test_overlapping_edits_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap at byte 1"):
        apply(b"abc", [edit(0, 2), edit(1, 3)])


SPANS = st.tuples(st.integers(0, 20), st.integers(0, 5)).map(lambda pair: (pair[0], min(pair[0] + pair[1], 20)))
EDITS = st.builds(lambda span, text: edit(*span, text), SPANS, st.text("ab", max_size=2))


@given(st.lists(st.lists(EDITS, min_size=1, max_size=3), max_size=6))
def test_whole_groups_are_taken_and_bytes_outside_of_them_stay(groups: list[list[Edit]]) -> None:
    groups = [group for group in groups if not any(overlaps(a.span, b.span) for n, a in enumerate(group) for b in group[:n])]
    text = b"0123456789ABCDEFGHIJ"
    taken, waiting = compose(groups)
    for number, group in enumerate(groups):
        assert number in waiting or all(it in taken for it in group)
    result = apply(text, taken)
    changed = sum(len(it.text) - (it.span.end - it.span.start) for it in taken)
    assert len(result) == len(text) + changed
    touched = {at for it in taken for at in range(it.span.start, it.span.end)}
    kept = bytes(byte for at, byte in enumerate(text) if at not in touched)
    assert bytes(byte for byte in result if byte not in b"ab") == kept
