"""The tree finds nodes by bytes, and replacing one changes no other byte."""

from __future__ import annotations

import sys

import libcst as cst
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_migrate.rewrite import edits
from mcp_migrate.rewrite.tree import Tree, Unwritable
from mcp_migrate.source import Source, Span, decode


def tree_of(text: str, encoding: str = "utf-8") -> Tree:
    return Tree(decode("app.py", text.encode(encoding)))


def find(tree: Tree, kind: type[cst.CSTNode], text: str) -> cst.CSTNode:
    """The node of this kind whose own text is `text`."""
    start = tree.source.utf8.index(text.encode())
    node = tree.node(kind, Span(start, start + len(text.encode())))
    assert node is not None
    return node


def rename(text: str, old: str, new: str, *, encoding: str = "utf-8") -> str:
    tree = tree_of(text, encoding)
    edit = tree.replace(find(tree, cst.Name, old), cst.Name(new))
    return edits.apply(tree.source.utf8, [edit]).decode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if a:\r\n    old()\r\nb\r\n", "if a:\r\n    new()\r\nb\r\n"),
        ("if a:\r    old()\rb\r", "if a:\r    new()\rb\r"),
        ("if a:\n\tif b:\n\t\told()\n", "if a:\n\tif b:\n\t\tnew()\n"),
        ("if a:\n  if b:\n        old()\n", "if a:\n  if b:\n        new()\n"),
        ("s = 'äöü→'; old(); t = 'ß'\n", "s = 'äöü→'; new(); t = 'ß'\n"),
        ("x = 1\n\x0c\nold()\n", "x = 1\n\x0c\nnew()\n"),
        ("x = 1\nold()", "x = 1\nnew()"),
        ("if a:\n    old()", "if a:\n    new()"),
        ("if a: b(); old(); c()\n", "if a: b(); new(); c()\n"),
        ("class A:\n    def f(self): return old\n", "class A:\n    def f(self): return new\n"),
        ("if a: pass\nelif b: old()\nelse: c\n", "if a: pass\nelif b: new()\nelse: c\n"),
        ("s = '''\r\nkept\r\n''' + old\r\n", "s = '''\r\nkept\r\n''' + new\r\n"),
        ("@deco(old)\n# why\ndef f(): ...\n", "@deco(new)\n# why\ndef f(): ...\n"),
        ("match a:\n    case 1 if old:\n        pass\n", "match a:\n    case 1 if new:\n        pass\n"),
        ("x = [  # one\n  old,  # two\n]\n", "x = [  # one\n  new,  # two\n]\n"),
        ("a\r\nb\nold\r\n", "a\r\nb\nnew\r\n"),
    ],
    ids=[
        "crlf", "cr", "tabs", "odd indentation", "non-ascii", "form feed", "no newline", "no newline in block", "semicolons",
        "one-line body", "elif", "triple-quoted", "decorator", "match guard", "comments", "mixed newlines",
    ],
)  # fmt: skip
def test_replacing_a_name_changes_its_bytes_only(text: str, expected: str) -> None:
    assert rename(text, "old", "new") == expected


def test_positions_count_from_behind_a_byte_order_mark() -> None:
    tree = Tree(decode("app.py", b"\xef\xbb\xbfold = 1\n"))
    edit = tree.replace(find(tree, cst.Name, "old"), cst.Name("new"))
    assert edits.apply(tree.source.utf8, [edit]) == b"new = 1\n"


def test_positions_are_utf8_offsets_in_a_latin1_file() -> None:
    text = "# -*- coding: latin-1 -*-\ns = 'é'; old()\n"
    assert rename(text, "old", "new", encoding="latin-1") == text.replace("old", "new")


def test_a_form_feed_before_code_is_refused_because_libcst_drops_it() -> None:
    with pytest.raises(Unwritable, match="form feed"):
        _ = tree_of("a = 1\n\x0cb = 2\n").module


def test_two_edits_in_one_chain_touch_different_bytes() -> None:
    tree = tree_of('if m == "a":\n    one()\nelif m == "b":\n    two()\n')
    first = tree.replace(find(tree, cst.Name, "one"), cst.Name("uno"))
    second = tree.replace(find(tree, cst.Name, "two"), cst.Name("dos"))
    assert not edits.overlaps(first.span, second.span)
    assert edits.apply(tree.source.utf8, [first, second]).decode() == 'if m == "a":\n    uno()\nelif m == "b":\n    dos()\n'


def test_a_statement_can_become_several() -> None:
    tree = tree_of("def f():\n    if a:\n        b()\n        c()\n    d()\n")
    statement = tree.statement(Span(tree.source.utf8.index(b"if a"), tree.source.utf8.index(b"if a") + 2))
    assert isinstance(statement, cst.If)
    assert isinstance(statement.body, cst.IndentedBlock)
    edit = tree.replace(statement, statement.body.body)  # type: ignore[arg-type]
    assert edits.apply(tree.source.utf8, [edit]) == b"def f():\n    b()\n    c()\n    d()\n"


def test_whole_span_owns_comments_above_and_the_newline() -> None:
    tree = tree_of("a\n# about b\nb  # too\nc\n")
    name = tree.node(cst.Name, Span(12, 13))
    assert name is not None
    statement = tree.statement(tree.span(name))
    assert statement is not None
    assert tree.source.slice(tree.whole(statement)) == "# about b\nb  # too\n"


def test_a_parenthesised_node_is_found_by_either_span() -> None:
    tree = tree_of("x = (a, b)\n")
    assert tree.node(cst.Tuple, Span(4, 10)) is tree.node(cst.Tuple, Span(5, 9)) is not None


def test_enclosing_climbs_to_the_innermost_of_a_kind() -> None:
    tree = tree_of("f(g(h))\n")
    call = tree.enclosing(cst.Call, Span(4, 5))
    assert call is not None
    assert tree.text(call) == "g(h)"
    assert tree.enclosing(cst.ClassDef, Span(4, 5)) is None


NAMES = st.sampled_from(["a", "bé", "long_name"])
LINES = st.recursive(
    NAMES.map(lambda name: [f"{name}()"]),
    lambda inner: st.tuples(NAMES, st.lists(inner, min_size=1, max_size=3)).map(
        lambda block: [f"if {block[0]}:", *("\t" + line for lines in block[1] for line in lines)]
    ),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(st.lists(LINES, min_size=1, max_size=4), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), st.randoms(use_true_random=False))
def test_any_name_anywhere_can_be_replaced_without_another_byte_changing(blocks, newline, last, random) -> None:
    text = newline.join(line for block in blocks for line in block) + (newline if last else "")
    tree = Tree(Source("app.py", text))
    names = [node for node in tree.walk(tree.module) if isinstance(node, cst.Name)]
    name = random.choice(names)
    span = tree.span(name)
    edit = tree.replace(name, cst.Name("other"))
    expected = tree.source.utf8[: span.start] + b"other" + tree.source.utf8[span.end :]
    assert edits.apply(tree.source.utf8, [edit]) == expected


def chain(branches: int) -> str:
    head = "def f(m):\n    if m == 'a':\n        return 0\n"
    return head + "".join(f"    elif m == 'x{number}':\n        return {number}\n" for number in range(branches))


@pytest.mark.parametrize("branches", [1000, 3000])
def test_a_chain_that_is_too_deep_is_refused_in_one_sentence(branches: int) -> None:
    with pytest.raises(Unwritable, match="nested too deeply"):
        _ = tree_of(chain(branches)).module


def test_walking_needs_no_stack() -> None:
    tree = tree_of(chain(150))
    limit = sys.getrecursionlimit()
    assert tree.children(tree.module)
    sys.setrecursionlimit(120)
    try:
        assert sum(isinstance(node, cst.Return) for node in tree.walk(tree.module)) == 151
    finally:
        sys.setrecursionlimit(limit)
