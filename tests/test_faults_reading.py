"""What is read may be of any size, depth, encoding or kind: one clear finding or the right answer, in reasonable time."""

from __future__ import annotations

import ast
import encodings.aliases
import json
import os
import time
from pathlib import Path

import expressions
import pytest
from calling import FIX, FIXED, SERVER, put
from mcp_migrate import catalog, discover, reading
from mcp_migrate.config import ConfigError
from mcp_migrate.config import load as settings
from mcp_migrate.discover import File
from mcp_migrate.source import Source, decode

pytestmark = pytest.mark.faults
ENTRIES = {entry.id: entry for entry in catalog.load().entries}
PATIENCE = 20.0  # seconds of CPU for a megabyte at its worst; what was mended took minutes to hours


def gather(name: str, data: bytes | str) -> reading.Reading:
    """What a run reads of one file."""
    data = data.encode() if isinstance(data, str) else data
    return reading.gather([(File(name, f"/nowhere/{name}"), data)], ENTRIES["MCP000"])


# Encodings

NAMES = sorted({*encodings.aliases.aliases.values(), "utf-8-sig"})


def unlike(name: str) -> str:
    """A letter of an encoding that UTF-8 writes in another way; nothing where it has none."""
    for char in "éжאعกあ한中":
        try:
            if (data := char.encode(name)) != char.encode() and data.decode(name) == char:
                return char
        except (UnicodeError, LookupError):
            continue
    return ""


@pytest.mark.parametrize("name", NAMES)
def test_every_encoding_that_python_reads_is_written_back_or_refused(name: str) -> None:
    try:
        data = f"# -*- coding: {name} -*-\nimport mcp\nx = '{unlike(name)}'\n".encode(name)
        compile(data, "x.py", "exec", dont_inherit=True)
    except (UnicodeError, LookupError, SyntaxError, ValueError):
        data = f"# -*- coding: {name} -*-\nimport mcp\nx = 'y'\n".encode()
    try:
        source = decode("x.py", data)
    except (SyntaxError, UnicodeDecodeError):
        return
    assert source.encode(source.text) == data
    try:
        ast.parse(source.text)
    except SyntaxError:  # of EBCDIC, nobody can read the line that names it
        assert len(gather("x.py", data).unreadable) == 1
    else:
        assert gather("x.py", data).unreadable == ()


@pytest.mark.parametrize(
    "name", ["latin-1", "cp1251", "koi8-r", "shift_jis", "euc-kr", "gb18030", "big5", "iso8859-15", "utf-8-sig", "mac-roman"]
)
def test_a_fix_keeps_every_other_byte_in_any_encoding(run, tmp_path, name):
    letters = unlike(name) or "é"
    head = "" if name == "utf-8-sig" else f"# coding: {name}\n"
    text = f"{head}# {letters * 50}\n{SERVER}# {letters}\n"
    file = put(tmp_path, "server.py", text.encode(name))
    assert run(*FIX).err == ""
    assert file.read_bytes() == text.replace("-32002", "-32602").encode(name)


@pytest.mark.parametrize(
    "name", ["idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "bz2_codec", "rot_13", "uu_codec", "utf-7", "mbcs"]
)
def test_codecs_that_are_no_encodings_of_files_do_not_take_long(run, tmp_path, name):
    put(tmp_path, "bad.py", b"# coding: %s\nimport mcp\nx = '%s'\n" % (name.encode(), b"a-" * 200_000))
    began = time.process_time()
    done = run("check", "--output-format", "concise")
    assert time.process_time() - began < PATIENCE
    assert done.status in (0, 2)
    assert (done.err, done.out.count("\n")) == ("", done.status and 1)


@pytest.mark.parametrize("cookie", ["os", "mcp_migrate.cli", "..cli", "a/b", "x" * 5000, "\\0", "%n", "этот"])
def test_an_encoding_is_a_name_and_no_way_into_anything(run, tmp_path, cookie):
    put(tmp_path, "bad.py", f"# coding: {cookie}\nimport mcp\n")
    done = run("check", "--output-format", "concise")
    assert (done.err, done.out.count("\n")) == ("", done.status and 1)
    assert done.status in (0, 2)


# Sizes


def test_what_is_longer_than_any_code_is_not_read(run, tmp_path):
    for name in ("huge.py", "huge.ipynb", "requirements.txt", "README.md"):
        put(tmp_path, name, "import mcp\n")
        os.truncate(tmp_path / name, 1 << 40)  # a hole, which takes no room on the disk
    put(tmp_path, "server.py")
    done = run(*FIX)
    assert (done.status, done.err) == (2, "")
    assert done.out.count("longer than 100 million bytes") == 2
    assert (tmp_path / "server.py").read_text() == FIXED


@pytest.mark.parametrize(
    "head", [b"", b"import mcp\n", b"\x7fELF\x02", b"\xff\xfei\0m\0p\0", b"PK\x03\x04"], ids=["noise", "import", "elf", "utf-16", "zip"]
)
def test_a_file_that_is_no_text_is_one_finding_or_none(run, tmp_path, head):
    put(tmp_path, "bad.py", head + bytes(range(256)) * 1000 + b"\0mcp tools/call\0" * 100)
    done = run("check", "--output-format", "concise")
    assert (done.status, done.err) == (2, "")
    assert done.out.startswith("bad.py:")
    assert (done.out.count("\n"), done.out.count("MCP000")) == (1, 1)


LONG = 1_000_000
LINES = {
    "a text": f"x = '{'a' * LONG}'\n",
    "a name": f"{'a' * LONG} = 1\n",
    "spaces": f"x = 1{' ' * LONG}# mcp\n",
    "blank lines": "\n" * LONG,
    "comments": "#" * LONG + "\n",
    "suppressions": "# mcp-migrate: ignore[" * (LONG // 22) + "\n",
    "a reason": f"y = 1  # mcp-migrate: ignore -- a{' ' * LONG}b\n",
    "unclosed texts": "z = " + 'f"{' * (LONG // 20) + "\n",
    "words of ours": "# " + "mcp " * (LONG // 4) + "\n",
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES.keys())
def test_a_line_of_a_megabyte_takes_no_longer_than_its_bytes_do(run, tmp_path, line):
    put(tmp_path, "server.py", SERVER + line)
    began = time.process_time()
    done = run("check", "--output-format", "concise")
    assert time.process_time() - began < PATIENCE
    assert (done.err, done.status) == ("", 2 if "f" + '"{' in line else 1)
    assert all(len(said) < 1000 for said in done.out.splitlines())


@pytest.mark.parametrize("text", ["é", "e"], ids=["letters", "ascii"])
def test_a_line_with_thousands_of_findings_is_counted_and_shown_once_for_each(run, tmp_path, text):
    put(tmp_path, "server.py", f"{SERVER}CODES = ['{text * 50_000}', {'-32002, ' * 1500}]\n")
    began = time.process_time()
    done = run("check", "--select", "retired_code", "--report", "junit=junit.xml", "--report", "json=all.json", "--quiet")
    assert time.process_time() - began < PATIENCE
    assert (done.status, done.err) == (1, "")
    places = json.loads((tmp_path / "all.json").read_text())["findings"]
    assert [(place["line"], place["column"]) for place in places[-2:]] == [(22, 50_014 + 8 * number) for number in (1498, 1499)]
    assert (tmp_path / "junit.xml").stat().st_size < 3_000_000 * len(text.encode()) * 2
    assert max(map(len, done.out.splitlines())) < 300


def test_positions_in_long_lines_are_those_of_short_ones() -> None:
    text = "é한a𐐀" * 5000 + "\nb"
    source = Source("a.py", text)
    starts = {len(text[:column].encode()): column for column in range(0, 20_000, 37)}
    assert {offset: source.position(offset).column - 1 for offset in starts} == starts
    assert source.position(len(source.utf8)) == (2, 2)


# Depths

HEAD = "from mcp.server.fastmcp import FastMCP\nmcp = FastMCP('a')\n"
DEEP = {
    "brackets": lambda n: f"x = {'(' * n}1{')' * n}\n",
    "attributes": lambda n: f"x = mcp{'.b' * n}\n",
    "calls": lambda n: f"x = mcp{'()' * n}\n",
    "sums": lambda n: f"x = {'1+' * n}1\n",
    "texts": lambda n: "x = " + "'tools/'+" * n + "'list'\n",
    "signs": lambda n: f"x = {'-' * n}1\n",
    "branches": lambda n: f"x = {'1 if mcp else ' * n}1\n",
    "lambdas": lambda n: f"x = {'lambda: ' * n}mcp\n",
    "aliases": lambda n: "a0 = mcp\n" + "".join(f"a{i} = a{i - 1}\n" for i in range(1, n)) + f"a{n - 1}.settings.port = 1\n",
    "functions": lambda n: (
        "def f0(): return mcp\n" + "".join(f"def f{i}(): return f{i - 1}()\n" for i in range(1, n)) + f"f{n - 1}().settings\n"
    ),
    "bases": lambda n: (
        "class A0(FastMCP): pass\n" + "".join(f"class A{i}(A{i - 1}): pass\n" for i in range(1, n)) + f"A{n - 1}('x').settings\n"
    ),
    "bases in a circle": lambda n: (
        "".join(f"class A{i}(A{(i + 1) % n}): pass\n" for i in range(n)) + "A0('x').settings\n@mcp.tool()\ndef f(): raise A0()\n"
    ),
    "bases that meet": lambda n: (
        "class A0(FastMCP): pass\nclass B0(FastMCP): pass\n"
        + "".join(f"class A{i}(A{i - 1}, B{i - 1}): pass\nclass B{i}(A{i - 1}, B{i - 1}): pass\n" for i in range(1, min(n, 60)))
        + f"A{min(n, 60) - 1}('x').settings\n@mcp.tool()\ndef f(): raise A{min(n, 60) - 1}()\n"
    ),
    "names in a circle": lambda n: "".join(f"n{i} = n{(i + 1) % n}\n" for i in range(n)) + "n0.settings\n",
}


@pytest.mark.parametrize("depth", [2, 700])
@pytest.mark.parametrize("kind", DEEP)
def test_depth_is_no_fault_of_ours(run, tmp_path, kind, depth):
    put(tmp_path, "deep.py", HEAD + DEEP[kind](depth))
    put(tmp_path, "server.py")
    done = run("check", "--output-format", "concise")
    assert (done.err, done.status in (1, 2)) == ("", True)
    assert ("MCP000" in done.out) == (done.status == 2)
    assert "server.py:9:18: MCP103" in done.out


D = 20_000
JSON_DEPTH = '{"mcpServers": "sse", "mcp": ' + "[" * D + "]" * D + "}"
BOMBS = {
    "mcp.json": JSON_DEPTH,
    "claude.json": '{"mcpServers":' + '{"a":' * D + "1" + "}" * D + "}",
    "a.ipynb": '{"nbformat": 4, "metadata": {}, "nbformat_minor": 5, "cells": [{"cell_type": "code", "source": ["import mcp"], "x":'
    + "[" * D,
    "pyproject.toml": f"[project]\nname = 'x'\ndependencies = ['mcp']\nx = {'[' * D}{']' * D}\n",
    "Pipfile": f"mcp = '1'\n{'a.' * D}b = 1\n",
    "environment.yml": f"# mcp\ndependencies: {'[' * D}{']' * D}\n",
    ".github/dependabot.yml": "# mcp\n" + "{a: " * D,
    ".pre-commit-config.yaml": "mcp: &a0 [mcp, mcp]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}, *a{i - 1}]\n" for i in range(1, 40)),
    "x/.pre-commit-config.yaml": "a: &a [*a, mcp]\nb: &b {c: *b, d: *a}\n",
    "compose.yaml": "x: &x [mcp, mcp]\n" + "".join(f"y{i}: &x [*x, *x, *x]\n" for i in range(40)),
    "tox.ini": "[testenv]\ndeps = mcp\n" + "[" * D,
    "setup.cfg": "[options]\ninstall_requires = mcp\n" + "a = %(a)s\n" * 2000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_beside_the_code_does_not_go_off(run, tmp_path, name):
    put(tmp_path, "server.py")
    put(tmp_path, name, BOMBS[name])
    began = time.process_time()
    for command in (["check", "--output-format", "concise"], ["fix", "--diff"]):
        done = run(*command)
        assert "Traceback" not in done.err
        assert "internal error" not in done.err
        assert done.status == (2 if name.endswith("ipynb") else 1)
    assert time.process_time() - began < PATIENCE


@pytest.mark.parametrize(
    "text", [f"x = {'[' * D}\n", f"{'a.' * D}b = 1\n", f"{'a. ' * D}b = 1\n", f"[{'a.' * D}b]\n", "x = {" + "\"a\".'b' ." * D + "c = 1}\n"]
)
def test_settings_that_are_a_bomb_are_one_line(tmp_path, text):
    put(tmp_path, ".mcp-migrate.toml", text)
    began = time.process_time()
    with pytest.raises(ConfigError, match=r"^[^\n]*mcp-migrate\.toml: (nested too deeply|a key of more than 100 parts)$"):
        settings(tmp_path)
    assert time.process_time() - began < 5


def test_a_baseline_that_is_a_bomb_is_one_line(run, tmp_path):
    put(tmp_path, "server.py")
    put(tmp_path, "baseline.json", "[" * D)
    done = run("check", "--baseline", "baseline.json")
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)


# Repetitions

# Names of files have 255 bytes at most.
OF_NAMES = ("migrate/manifests/files.py", "migrate/shipping.py")


def test_no_expression_backtracks() -> None:
    """Four times the text takes about four times as long, however the text is made to fit a pattern nearly."""
    written = [*expressions.written()]
    assert len(written) > 200
    assert [
        one.where for one in written if not one.where.startswith(OF_NAMES) and takes_too_long(one, 500) and takes_too_long(one, 2000)
    ] == []


def test_expressions_that_backtrack_are_seen() -> None:
    import re

    for pattern in (r"(a+)+b", r"#.*\bgenerated", r"\s+$", r"[ \t]*,x", r"(\w+)\(", r"a[ ]*(?:b|[c ]+=)d"):
        one = expressions.Expression("here", re.compile(pattern), "search")
        assert takes_too_long(one, 500), pattern


def takes_too_long(one: expressions.Expression, size: int) -> bool:
    def seconds(text: object) -> float:
        began = time.thread_time()
        if one.way == "search":
            for _ in one.pattern.finditer(text):
                pass
        else:
            getattr(one.pattern, one.way)(text)
        return time.thread_time() - began

    # A very short one first: what takes exponential time must not be given more.
    if any(seconds(tiny) > 0.01 for tiny in expressions.worst(one, 20)):
        return True
    for small, large in zip(expressions.worst(one, size), expressions.worst(one, 4 * size), strict=True):
        if seconds(small) > 0.5:
            return True
        if seconds(large) > 2e-6 * size and min(seconds(large) for _ in range(3)) > max(
            8 * min(seconds(small) for _ in range(3)), 1e-6 * size
        ):
            return True
    return False


REPEATED = [
    ("README.md", "```python\nimport mcp\n```\n", "```python\n"),
    ("README.md", "> ```python\n> import mcp\n", "> ```python\n"),
    ("README.md", "mcp ", "pip install mcp "),
    ("docs/page.md", '"sse" "mcpServers"\n```python\nimport mcp\n```\n', "- "),
    ("docs/x.rst", "import mcp\n.. code:: python\n", ".. code:: python\n"),
    ("requirements.txt", "mcp", "#"),
    ("requirements.txt", "mcp ", "# "),
    ("requirements.txt", "mcp --hash", "\t"),
    ("Dockerfile", "RUN pip install mcp", " \\\n"),
    ("Makefile", "mcp: ", "uv run --with mcp "),
    ("server.py", "import mcp\nx = ", "'-32002', "),
    ("server.py", "import mcp\nx = 1\n", "import mcp "),
    ("a.ipynb", "", "mcp @ "),
    (".env", "mcp ", "FASTMCP_A"),
    ("mcp.json", '{"mcp": ', '"--with", '),
]


@pytest.mark.parametrize(("name", "head", "unit"), REPEATED, ids=[f"{name} {unit!r}" for name, _, unit in REPEATED])
def test_what_is_repeated_is_not_read_again_for_each_time(name, head, unit):
    def seconds(size: int) -> float:
        text = head + unit * (size // len(unit))
        if name.endswith(".ipynb"):
            cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": f"import mcp\nx = {text}"}
            text = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]})
        began = time.process_time()
        gather(name, text)
        return time.process_time() - began

    small = min(seconds(8_000) for _ in range(2))
    assert seconds(64_000) < max(20 * small, 0.5)


def test_a_folder_of_deep_folders_is_walked(tmp_path: Path) -> None:
    here = os.getcwd()
    os.chdir(tmp_path)
    try:
        for _ in range(60):
            os.mkdir("d" * 60)
            os.chdir("d" * 60)
        Path("server.py").write_text(SERVER)  # its whole name is about as long as names may be
    finally:
        os.chdir(here)
    found = [*discover.find([str(tmp_path)], str(tmp_path))]
    assert [item.path.endswith("server.py") for item in found] == [True]
