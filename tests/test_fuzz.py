"""Nothing that a file can hold makes the tool fall over: a file, a setting or a baseline is read, or refused in words.

The input is made by hypothesmith, from Python's grammar, and from the fixtures, whose code is cut up and put together anew.
`--hypothesis-profile=long` tries much more of it, and other input each time.
"""

from __future__ import annotations

import ast
import json
import math
import os
import random
import re
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import properties
import pytest
from conftest import examples
from fixture_cases import FIXTURES
from hypothesis import given
from hypothesis import strategies as st
from mcp_migrate import baseline, config
from mcp_migrate.cli import app
from mcp_migrate.project import Project, read
from mcp_migrate.rule import Era
from mcp_migrate.source import Source, decode

PATIENCE = 60  # seconds of CPU time for one example; the slowest that was seen took 10
# What `reading` tells of as a file that cannot be read.
REFUSED = (SyntaxError, ValueError, RecursionError, MemoryError)
# With it every line of a file is looked at: it names the SDK.
SPEAKING = "\n\nimport mcp.server.fastmcp as speaking_of_it\n"


@contextmanager
def in_time() -> Iterator[None]:
    """Ends what hangs."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def ring(number: int, frame: object) -> None:
        raise AssertionError(f"still at it after {PATIENCE} s")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@cache
def pool() -> Sequence[tuple[str, str]]:
    """The name and the text of every file of the fixtures, as it is before a fix."""
    found = {path for stem in ("before", "before.py") for path in FIXTURES.rglob(stem)}
    files = sorted(file for path in found for file in ([path] if path.is_file() else path.rglob("*")) if file.is_file())
    return [(file.name, file.read_bytes().decode("utf-8", "replace")) for file in files if "__pycache__" not in file.parts]


@cache
def code() -> Sequence[str]:
    return [text for name, text in pool() if name.endswith(".py")]


NASTY = (
    "async ", "await ", "*", "**", "lambda: ", "yield ", "match x:\n    case _: ", "@", ":=", "f'{x!r:>{w}}'", "\x0c", "\t", "é = 1\n", "'\\N{BULLET}'",
    "\\\n", ";", "global method\n", "nonlocal x\n", "del msg\n", "with a as b, c: ", "*_, method = ", "print(f'''\n{method}\n''')\n", "# mcp-migrate: ignore\n",
    "# type: ignore[x] # fmt: off\n", "if False:\n", "try: pass\nfinally: ", "0xFFFFFFFFFFFFFFFF", "1_0j", "...", "r'\\", "b''", "''' ", '"""', "(" * 40, "\x00", "\ufeff",
)  # fmt: skip


@st.composite
def cut_up(draw: st.DrawFn, texts: Sequence[str]) -> str:
    """A text of the fixtures, with lines and pieces of it in other places."""
    draw_from = random.Random(draw(st.integers(0, 2**32)))
    text = draw_from.choice(texts)
    for _ in range(draw(st.integers(1, 6))):
        lines = text.splitlines(keepends=True) or [""]
        one, other = draw_from.randrange(len(lines)), draw_from.randrange(len(lines))
        way = draw_from.randrange(7)
        if way == 0:
            del lines[one : one + draw_from.randrange(1, 4)]
        elif way == 1:
            lines.insert(other, lines[one])
        elif way == 2:
            lines[one], lines[other] = lines[other], lines[one]
        elif way == 3:
            at = draw_from.randrange(len(lines[one]) + 1)
            lines[one] = lines[one][:at] + draw_from.choice(NASTY) + lines[one][at:]
        elif way == 4:
            strange = draw_from.choice(texts).splitlines(keepends=True)
            at = draw_from.randrange(len(strange) + 1)
            lines[other:other] = strange[at : at + draw_from.randrange(1, 12)]
        elif way == 5:
            lines[one] = "    " + lines[one]
        else:
            words = re.findall(r"\w+|\S", "".join(lines))
            if words:
                old, new = draw_from.choice(words), draw_from.choice(words)
                lines = ["".join(lines).replace(old, new, draw_from.randrange(1, 4))]
        text = "".join(lines)
    return text


@st.composite
def regrown(draw: st.DrawFn) -> str:
    """A module of the fixtures some of whose expressions and statements stand where others stood; it parses, mostly."""
    draw_from = random.Random(draw(st.integers(0, 2**32)))
    text = draw_from.choice(code())
    for _ in range(draw(st.integers(1, 5))):
        try:
            tree = ast.parse(text)
            other = ast.parse(draw_from.choice(code()))
        except REFUSED:
            return text
        kind = draw_from.choice((ast.expr, ast.expr, ast.stmt))
        here = [node for node in ast.walk(tree) if isinstance(node, kind)]
        there = [node for node in ast.walk(draw_from.choice((tree, other))) if isinstance(node, kind)]
        if not here or not there:
            return text
        text = _put(text, draw_from.choice(here), draw_from.choice(there), draw_from.random())
    return text


def _put(text: str, node: ast.AST, new: ast.AST, chance: float) -> str:
    lines = text.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    data = b"".join(lines)
    start, end = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
    made = ast.unparse(new)
    if isinstance(new, ast.stmt):
        indent = " " * node.col_offset  # type: ignore[attr-defined]
        if chance < 0.3:
            made = (
                f"if made:\n    {made}".replace("\n", "\n    ")
                if chance < 0.1
                else f"def made():\n{ast.unparse(ast.Pass())}"
                if chance < 0.12
                else made
            )
        made = made.replace("\n", f"\n{indent}")
    elif chance < 0.5:
        made = f"({made})"
    return (data[:start] + made.encode() + data[end:]).decode("utf-8", "replace")


# Code


def survives(text: str) -> None:
    """Whatever the text is, it is refused as no Python, or looked at and rewritten into code that parses."""
    with in_time():
        try:
            source = decode("server.py", text.encode("utf-8", "surrogatepass"))
            file = read(source)
        except REFUSED:
            return
        texts = {"server.py": file.source.text}
        project = Project.link([file])
        for era in Era:
            properties.engine.check(project, properties.rules(), era)
            made = properties.fix(texts, era, unsafe=era is Era.MODERN)
            for new in (*made.texts.values(), *made.created.values()):
                ast.parse(new)


def hypothesmith() -> Any:
    """Loaded, and its grammar read, by what draws from it: that takes seconds, and each process of a run collects all tests."""
    import hypothesmith

    return hypothesmith


@examples(quick=4, long=400)
@given(st.deferred(lambda: hypothesmith().from_grammar(auto_target=False)))
def test_what_pythons_grammar_allows_is_looked_at(text: str) -> None:
    survives(text)
    survives(text + SPEAKING)


@examples(quick=1, long=150)
@given(st.deferred(lambda: hypothesmith().from_node(auto_target=False)))
def test_what_a_syntax_tree_allows_is_looked_at(text: str) -> None:
    survives(text + SPEAKING)


@examples(quick=8, long=1500)
@given(regrown())
def test_protocol_code_with_other_code_inside_is_looked_at(text: str) -> None:
    survives(text)


@examples(quick=6, long=1500)
@given(st.deferred(lambda: cut_up(code())))
def test_protocol_code_that_is_cut_up_is_looked_at_or_refused(text: str) -> None:
    survives(text)


@examples(quick=20, long=2000)
@given(
    st.binary(max_size=400),
    st.sampled_from(("", "# coding: latin-1\n", "# coding: utf-16\n", "# coding: undefined\n", "# coding: idna\n", "\ufeff")),
)
def test_bytes_are_a_text_or_refused(data: bytes, head: str) -> None:
    try:
        source = decode("server.py", head.encode() + data)
    except REFUSED:
        return
    assert source.encode(source.text) == head.encode() + data


# A folder, as the command line reads it


def runs(files: dict[str, bytes], *argv: str) -> int:
    """The exit status of a run over these files; what is no status is a crash."""
    with tempfile.TemporaryDirectory() as folder, in_time():
        for name, data in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        home, out, err = os.getcwd(), sys.stdout, sys.stderr
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            os.chdir(folder)
            sys.stdout = sys.stderr = nowhere
            try:
                app([*argv, "."], standalone_mode=False)
            except SystemExit as ended:
                return int(ended.code or 0)
            finally:
                sys.stdout, sys.stderr = out, err
                os.chdir(home)
    return 0


@examples(quick=5, long=600)
@given(st.data())
def test_a_folder_of_files_that_are_cut_up_is_looked_at(data: st.DataObject) -> None:
    wanted = data.draw(st.lists(st.integers(0, len(pool()) - 1), min_size=1, max_size=3))
    beside = [number for number, (name, _) in enumerate(pool()) if not name.endswith(".py")]
    wanted.append(data.draw(st.sampled_from(beside)))
    files = {}
    for number in wanted:
        name, text = pool()[number]
        same = [text for other, text in pool() if other == name] if not name.endswith(".py") else code()
        files[name] = data.draw(cut_up([text, *same[:20]])).encode("utf-8", "surrogatepass")
    options = data.draw(st.sampled_from(((), ("--era", "modern"), ("--keep-v1",))))
    assert runs(files, "check", *options) in (0, 1, 2)
    assert runs(files, "fix", "--allow-dirty", "--mark", *options) in (0, 1, 2)


# Settings


def refusal(load: Callable[[], object], kind: type[Exception], *, taken: str) -> str:
    """The words of a refusal; `taken` where there is none."""
    try:
        load()
    except kind as error:
        return str(error)
    return taken


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.booleans(),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(),
        st.text(max_size=12),
        st.sampled_from(("dual", "modern", "MCP1", "ALL", "never", "*.py", "[")),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=6,
)
KEYS = st.one_of(
    st.sampled_from(
        ("era", "exclude", "select", "ignore", "per-file-ignores", "fail-on", "baseline", "inline", "keep-v1", "require-reasons")
    ),
    st.text(max_size=8),
)


def toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf") if math.isinf(value) else repr(value)
    if isinstance(value, str):
        return json.dumps(value).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml(key)} = {toml(inner)}" for key, inner in value.items()) + "}"
    return str(value)


def tables(name: str) -> st.SearchStrategy[bytes]:
    head = "[tool.mcp-migrate]\n" if name == config.SHARED_FILE else ""
    made = st.dictionaries(KEYS, VALUES, max_size=4).map(
        lambda table: "".join(f"{toml(key)} = {toml(value)}\n" for key, value in table.items())
    )
    return made.map(lambda text: (head + text).encode("utf-8", "replace"))


@examples(quick=60, long=5000)
@given(
    st.sampled_from((config.OWN_FILE, config.SHARED_FILE)).flatmap(
        lambda name: st.tuples(st.just(name), st.one_of(tables(name), st.binary(max_size=60)))
    )
)
def test_settings_are_taken_or_refused_in_words(held: tuple[str, bytes]) -> None:
    name, data = held
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, name)
        file.write_bytes(data)
        assert name in refusal(lambda: config.load_file(file), config.ConfigError, taken=name)


@examples(quick=5, long=600)
@given(tables(config.OWN_FILE))
def test_a_run_with_such_settings_ends_as_documented(data: bytes) -> None:
    assert runs({config.OWN_FILE: data, "server.py": code()[0].encode()}, "check") in (0, 1, 2)


@examples(quick=30, long=3000)
@given(
    st.one_of(
        st.text(max_size=60),
        VALUES.map(lambda value: json.dumps(value)),
        VALUES.map(lambda value: json.dumps({"version": 1, "findings": [value]})),
    )
)
def test_a_baseline_is_taken_or_refused_in_words(text: str) -> None:
    assert refusal(lambda: baseline.load(text), baseline.BaselineError, taken="taken")


@pytest.mark.parametrize(
    "text", ["def f(:\n", "\x00", "x = " + "(" * 3000, "x = " + "-" * 100_000 + "1"], ids=["syntax", "null", "deep", "deeper"]
)
def test_what_is_no_python_is_refused(text: str) -> None:
    with pytest.raises(REFUSED):
        read(Source("server.py", text))
