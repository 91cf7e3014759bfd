"""Syntax newer than the running interpreter is masked, never moved."""

from __future__ import annotations

import ast

import pytest
from mcp_migrate.facts.mask import parse
from mcp_migrate.source import Source

NEWER = [
    "def first[T](items: list[T]) -> T:\n    return items[0]\nlast = 1\n",
    "class Box[T: (int, str)](Base):\n    pass\nlast = 1\n",
    "type Pair[T] = tuple[T, T]\nlast = 1\n",
    "type Name = str\nlast = 1\n",
    "x = f'{d['key']}'\nlast = 1\n",
    'x = f"{", ".join(a)}"\nlast = 1\n',
    "x = f'''{\n    d['a']  # why\n}'''\nlast = 1\n",
    "x = f'{a + '\\n'}'\nlast = 1\n",
    "try:\n    pass\nexcept KeyError, ValueError:\n    pass\nlast = 1\n",
]


@pytest.mark.parametrize("text", NEWER)
def test_newer_syntax_is_read_with_every_position_exact(text):
    tree, _ = parse(Source("x.py", text))
    last = tree.body[-1]
    assert isinstance(last, ast.Assign)
    assert (last.lineno, last.col_offset) == (text.count("\n"), 0)


def test_older_syntax_is_not_masked():
    assert parse(Source("x.py", "x = f'{a!r:>10}'\n"))[1] is False


def test_broken_text_is_an_error_of_its_own_place():
    with pytest.raises(SyntaxError) as error:
        parse(Source("x.py", "x = 1\nif:\n"))
    assert error.value.lineno == 2
