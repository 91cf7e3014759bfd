"""Imports are added where the file would have them and removed without a trace."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcp_migrate.rewrite import edits, imported, imports
from mcp_migrate.rewrite.tree import Tree
from mcp_migrate.source import Source


def added(text: str, *needs: tuple[str, str], local: frozenset[str] = frozenset({"mcp_stateless", "mine"})) -> str:
    source = Source("app.py", text)
    return edits.apply(source.utf8, imports.add(Tree(source), needs, local=local)).decode()


def removed(text: str, *names: str, scope: str = "") -> str:
    source = Source("app.py", text)
    return edits.apply(source.utf8, imports.remove(Tree(source), {(scope, name) for name in names})).decode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from m import a\n", "from m import a\n"),
        ("from m import b\n", "from m import a, b\n"),
        ("from m import _b\nx = 1\n", "from m import _b, a\nx = 1\n"),
        ("from m import z, b\n", "from m import z, b, a\n"),
        ("from m import (b)\n", "from m import (a, b)\n"),
        ("from m import (\n    b,  # why\n    c,\n)\n", "from m import (\n    a,\n    b,  # why\n    c,\n)\n"),
        ("from m import (\n    A,  # why\n    B  # too\n)\n", "from m import (\n    A,  # why\n    B,  # too\n    a\n)\n"),
        ("from m import (\n    A,\n    B,  # too\n)\n", "from m import (\n    A,\n    B,  # too\n    a,\n)\n"),
        ("from m import a as b\n", "from m import a, a as b\n"),
        ("from m import a as a\n", "from m import a as a\n"),
        ("from m import *\n", "from m import *\nfrom m import a\n"),
        ("try:\n    from m import a\nexcept ImportError:\n    a = None\n", "try:\n    from m import a\nexcept ImportError:\n    a = None\n"),
        ("try:\n    from m import b\nexcept ImportError:\n    b = None\n", "try:\n    from m import a, b\nexcept ImportError:\n    b = None\n"),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from m import a\n",
            "from typing import TYPE_CHECKING\n\nfrom m import a\nif TYPE_CHECKING:\n    from m import a\n",
        ),
    ],
    ids=[
        "already there", "sorted", "sorted behind", "unsorted", "parentheses", "own lines first", "own lines no comma", "own lines last",
        "aliased", "aliased to itself", "star", "guarded", "into the guard", "type checker only",
    ],
)  # fmt: skip
def test_a_name_joins_an_import_of_its_module(text: str, expected: str) -> None:
    assert added(text, ("m", "a")) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "from mcp_stateless import S\n"),
        ("x = 1\n", "from mcp_stateless import S\n\nx = 1\n"),
        ("# only a comment", "# only a comment\nfrom mcp_stateless import S\n"),
        ("#!/usr/bin/env python\nx = 1\n", "#!/usr/bin/env python\nfrom mcp_stateless import S\n\nx = 1\n"),
        ("def f(): ...\n", "from mcp_stateless import S\n\n\ndef f(): ...\n"),
        ('"""Doc."""\n\nx = 1\n', '"""Doc."""\n\nfrom mcp_stateless import S\n\nx = 1\n'),
        ('"""Doc."""\nx = 1\n', '"""Doc."""\n\nfrom mcp_stateless import S\n\nx = 1\n'),
        ('"""Doc."""', '"""Doc."""\n\nfrom mcp_stateless import S\n'),
        ("from __future__ import annotations\nx = 1\n", "from __future__ import annotations\n\nfrom mcp_stateless import S\nx = 1\n"),
        ("import json\nimport sys\n\nx = 1\n", "import json\nimport sys\n\nfrom mcp_stateless import S\n\nx = 1\n"),
        ("import json\nimport mcp_other", "import json\nimport mcp_other\n\nfrom mcp_stateless import S\n"),
        ("import json\r\n\r\nx = 1\r\n", "import json\r\n\r\nfrom mcp_stateless import S\r\n\r\nx = 1\r\n"),
        ("import json\rx = 1\r", "import json\r\rfrom mcp_stateless import S\rx = 1\r"),
        ("import os\n\n\ndef f(): ...\n\n\nimport late\n", "import os\n\nfrom mcp_stateless import S\n\n\ndef f(): ...\n\n\nimport late\n"),
        ("from .a import b\n", "from mcp_stateless import S\n\nfrom .a import b\n"),
        ("import json\n\nfrom mine import a\n", "import json\n\nfrom mcp_stateless import S\nfrom mine import a\n"),
        ("import json\n\n# ours\nfrom mine import a\n", "import json\n\n# ours\nfrom mcp_stateless import S\nfrom mine import a\n"),
    ],
    ids=[
        "empty", "statement", "comment", "shebang", "function", "docstring", "docstring and code", "docstring only", "future",
        "imports", "no newline", "crlf", "cr", "late import", "relative", "first of its section", "first of its section with a comment",
    ],
)  # fmt: skip
def test_a_new_import_stands_where_the_file_would_have_it(text: str, expected: str) -> None:
    assert added(text, ("mcp_stateless", "S")) == expected


def test_sections_are_kept() -> None:
    text = "import sys\n\nimport mcp\n\nfrom .a import b\n"
    expected = "import json\nimport sys\n\nimport mcp\n\nfrom .a import b\nfrom .mcp_stateless import S\n"
    assert added(text, ("json", ""), (".mcp_stateless", "S"), (".mcp_stateless", "S")) == expected


@pytest.mark.parametrize(("rest", "gap"), [("from mcp import x\n", ""), ("x = 1\n", "\n")], ids=["imports below", "none"])
def test_new_imports_above_all_others_stand_in_their_sections(rest: str, gap: str) -> None:
    needs = [("typing", "Any"), ("anyio", "run"), ("importlib.metadata", "version")]
    above = "from importlib.metadata import version\nfrom typing import Any\n\nfrom anyio import run\n"
    assert added(rest, *needs) == f"{above}{gap}{rest}"


def test_a_plain_import_is_not_made_twice() -> None:
    assert added("import json, sys\n", ("json", "")) == "import json, sys\n"
    assert added("import json as j\n", ("json", "")) == "import json as j\nimport json\n"


def test_several_names_of_one_module_share_a_statement() -> None:
    assert added("x = 1\n", ("m", "b"), ("m", "a")) == "from m import a, b\n\nx = 1\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import a\nimport b\n", "import b\n"),
        ("import a, b\n", "import b\n"),
        ("import b, a\n", "import b\n"),
        ("from m import (a, b)\n", "from m import (b)\n"),
        ("from m import (\n    a,  # why\n    b,\n)\n", "from m import (\n    b,\n)\n"),
        ("from m import (\n    b,\n    a\n)\n", "from m import (\n    b,\n)\n"),
        ("from m import b, \\\n    a\n", "from m import b\n"),
        ("from m import x as a\nb\n", "b\n"),
        ("import a.b.c\nb\n", "b\n"),
        ("import json; import a; b()\n", "import json; b()\n"),
        ("try:\n    import a\nexcept ImportError:\n    a = None\n", "try:\n    import a\nexcept ImportError:\n    a = None\n"),
        ("def f():\n    import a\n", "def f():\n    import a\n"),
        ("if x:\n    import a\n", "if x:\n    pass\n"),
    ],
)
def test_an_import_goes(text: str, expected: str) -> None:
    assert removed(text, "a") == expected


def test_several_names_go_behind_the_last() -> None:
    assert added("from m import (\n    A,\n    B\n)\n", ("m", "y"), ("m", "x")) == "from m import (\n    A,\n    B,\n    x,\n    y\n)\n"
    assert added("from m import A\n", ("m", "y"), ("m", "x")) == "from m import A, x, y\n"


def test_an_import_of_a_function_goes_by_its_scope() -> None:
    assert removed("def f():\n    import a\n    b()\n", "a", scope="f") == "def f():\n    b()\n"


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_both_parsers_see_the_same_imports(ending: str) -> None:
    known = 0
    for path in sorted((Path(__file__).parent.parent / "fixtures").glob("*/*/*/before.py"))[::12]:
        source = Source(path.name, path.read_text(encoding="utf-8").replace("\n", ending).rstrip())
        if (found := imported.read(source)) is not None:
            known += 1
            assert found == list(imported.walked(Tree(source))), path
    assert known > 50


@pytest.mark.parametrize(
    "text",
    [
        "import a; import b\n",
        "if x: import a\n",
        "x = 1; import a\n",
        "if x: \\\n  import a\n",
        "from m import a \\\n    , b\n",
        "from m import (a  # why\n    , b)\n",
        "x = 1\n\fimport a\n",
        "import a\rimport b\n",
        "if (x, TYPE_CHECKING):\n    import a\n",
    ],
)
def test_what_is_written_oddly_is_left_to_libcst(text: str) -> None:
    assert imported.read(Source("app.py", text)) is None
