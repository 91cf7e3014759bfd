"""Names are undefined, unused or imported twice exactly where Python and its linters say so."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest
from mcp_migrate.scope import Names, names_of


def names(text: str) -> Names:
    return names_of(ast.parse(dedent(text)))


@pytest.mark.parametrize(
    "text",
    [
        "def f(a, *b, c=len, **d): return a, b, c, d, e\n",
        "class A:\n    e = 1\n    def f(self): return e\n",
        "x = [e for y in range(3)]\n[y for y in x]\n",
        "def f() -> 'e': ...\n",
        "x: 'list[e]' = []\n",
        "@e\ndef f(): ...\n",
        "def f():\n    def g():\n        e = 1\n    return e\n",
        "print(e)\n",
        "f'{e}'\n",
        "lambda a=e: a\n",
        "try:\n    pass\nexcept e as x:\n    pass\n",
    ],
)
def test_a_name_that_is_bound_nowhere_is_undefined(text: str) -> None:
    assert names(text).undefined == {"e"}


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    return e\ne = 1\n",
        "def f():\n    global e\n    e = 1\nprint(e)\n",
        "for e in []: pass\nelse: e\n",
        "with a() as e: e\na = 1\n",
        "try: pass\nexcept OSError as e: e\n",
        "match 1:\n    case {'a': e, **rest}: e, rest\n    case [*others]: others\n    case e2: e2\n",
        "if (e := 1): e\n",
        "[e := y for y in []]\ne\n",
        "def f():\n    e = 1\n    def g():\n        nonlocal e\n        e = 2\n    return g\n",
        "class A:\n    def f(self): return __class__\n",
        "from x import *\nanything\n",
        "import a.b as c, d.e\nc, d\n",
        "e: int\ndef f(): e\n",
        "x: Literal['nothing'] = 1\nLiteral = 1\n",
        "print(__file__, __name__)\n",
    ],
)
def test_a_name_that_is_bound_somewhere_is_defined(text: str) -> None:
    assert names(text).undefined == frozenset()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import a\n", {("", "a")}),
        ("import a\na\n", set()),
        ("import a.b\n", {("", "a")}),
        ("from a import b as c\nb = 1\n", {("", "c")}),
        ("def f():\n    import a\na = 1\na\n", {("f", "a")}),
        ("import a\ndef f(a): return a\n", {("", "a")}),
        ("import a\ndef f() -> 'a.B': ...\n", set()),
        ("from a import b\n__all__ = ['b']\n", set()),
        ("from a import b\n__all__ = []\n__all__ += ['b']\n", set()),
        ("from a import b\ndef f():\n    __all__ = ['b']\n    return __all__\n", {("", "b")}),
        ("from a import b as b\n", set()),
        ("from __future__ import annotations\n", set()),
        ("import a\nclass C:\n    a: a\n", set()),
    ],
)
def test_an_import_that_nothing_looks_up_is_unused(text: str, expected: set[tuple[str, str]]) -> None:
    assert names(text).unused_imports == expected


@pytest.mark.parametrize(
    "text", ["-" * 50_000 + "a", "(" * 5000 + "a" + ")" * 5000, "a b", "\x00"], ids=["deep", "nested", "no expression", "null"]
)
def test_an_annotation_in_quotes_that_cannot_be_read_names_nothing(text: str) -> None:
    assert names_of(ast.Module([ast.AnnAssign(ast.Name("x", ast.Store()), ast.Constant(text), None, 1)], [])).undefined == frozenset()


def test_the_same_import_twice_in_a_scope_is_doubled() -> None:
    found = names("from a import b\nfrom a import b, c\ndef f():\n    from a import b\n").doubled_imports
    assert found == {("", "from a import b as b"): 1}


def test_an_import_that_was_made_twice_is_known_by_the_name_that_it_binds() -> None:
    old = names("from a import b\nfrom a import b\nimport c\nfrom d import e\nfrom f import e\n")
    assert [old.doubled("", what) for what in ("from x import y as b", "import c as c", "from x import e as e")] == [1, 0, 0]
    assert old.doubled("f", "from a import b as b") == 0


def test_a_function_that_yields_is_a_generator() -> None:
    found = names("def f():\n    def g(): yield 1\n    lambda: (yield)\nclass A:\n    async def h(self):\n        x = yield\n").functions
    assert found == {"f": False, "f.g": True, "f.<lambda>": True, "A.h": True}


def test_names_in_a_chain_of_a_thousand_branches_are_read() -> None:
    branches = "".join(f"    elif m == {number}:\n        return a{number}\n" for number in range(1000))
    assert len(names(f"def f(m):\n    if m:\n        return a\n{branches}").undefined) == 1001


def test_names_in_a_sum_of_a_thousand_terms_are_read() -> None:
    assert len(names("x = " + " + ".join(f"a{number}" for number in range(1000))).undefined) == 1000
