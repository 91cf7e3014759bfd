"""A text is told with the work of some of its authors, and knows whose work hangs together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from mcp_migrate.pieces import Pieces
from mcp_migrate.rewrite import edits
from mcp_migrate.rewrite.edits import Edit
from mcp_migrate.source import Span


def test_each_author_can_be_left_out() -> None:
    pieces = Pieces(b"one two three")
    pieces.edit([(Span(0, 3), b"1", 1), (Span(8, 13), b"3", 2)])
    assert pieces.text == b"1 two 3"
    assert pieces.with_work_of({1}) == b"1 two three"
    assert pieces.with_work_of({2}) == b"one two 3"
    assert pieces.with_work_of(()) == b"one two three"
    assert pieces.leader(1) != pieces.leader(2)


def test_who_changes_the_work_of_another_hangs_together_with_them() -> None:
    pieces = Pieces(b"a b")
    pieces.edit([(Span(0, 1), b"first", 1)])
    pieces.edit([(Span(1, 3), b"ORTRE", 2)])  # into what the first has written
    pieces.edit([(Span(8, 9), b"c", 3)])
    assert pieces.text == b"fORTREstcb"
    assert pieces.leader(1) == pieces.leader(2) != pieces.leader(3)
    assert pieces.with_work_of({3}) == b"acb"


def test_who_writes_between_the_words_of_another_hangs_together_with_them() -> None:
    pieces = Pieces(b"x")
    pieces.edit([(Span(1, 1), b"call()", 1)])
    pieces.edit([(Span(6, 6), b"argument", 2), (Span(0, 0), b"y", 3)])
    assert pieces.text == b"yxcall(argument)"
    assert pieces.leader(1) == pieces.leader(2) != pieces.leader(3)


def test_insertions_at_one_place_keep_their_order() -> None:
    pieces = Pieces(b"[]")
    pieces.edit([(Span(1, 1), b"a", 1), (Span(1, 1), b"b", 2)])
    assert pieces.text == b"[ab]"
    assert pieces.with_work_of({2}) == b"[b]"


def test_what_a_text_becomes_is_told_by_its_lines() -> None:
    pieces = Pieces("a = 'é'\nb = 2\nc = 3\n".encode())
    pieces.edit([(Span(13, 14), b"5", 1)])
    pieces.become("import z\na = 'è'\nb = 5\n".encode(), 0)
    assert pieces.text.decode() == "import z\na = 'è'\nb = 5\n"
    assert pieces.with_work_of({1}).decode() == "a = 'é'\nb = 5\nc = 3\n"
    assert pieces.leader(0) != pieces.leader(1)


@st.composite
def rounds(draw: st.DrawFn) -> tuple[bytes, list[list[tuple[Span, bytes, int]]]]:
    """A text and rounds of edits that do not overlap, each by an author of its own."""
    text = draw(st.text("abc\n", max_size=12)).encode()
    length, author, made = len(text), 0, []
    for _ in range(draw(st.integers(1, 3))):
        ends = sorted(draw(st.lists(st.integers(0, length), max_size=6)))
        spans = [Span(*pair) for pair in zip(ends[::2], ends[1::2], strict=False)]
        one = []
        for span in spans:
            author += 1
            one.append((span, draw(st.text("XY\n", max_size=3)).encode(), author))
        made.append(one)
        length += sum(len(new) - (span.end - span.start) for span, new, _ in one)
    return text, made


@given(rounds())
def test_all_work_together_is_what_the_edits_make(case: tuple[bytes, list[list[tuple[Span, bytes, int]]]]) -> None:
    text, made = case
    pieces = Pieces(text)
    plain = text
    for one in made:
        plain = edits.apply(plain, [Edit(span, new.decode()) for span, new, _ in one])
        pieces.edit(one)
        assert pieces.text == plain
    authors = {author for one in made for *_, author in one}
    assert pieces.with_work_of(authors) == plain
    assert pieces.with_work_of(()) == text
