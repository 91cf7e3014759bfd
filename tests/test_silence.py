"""Code that has nothing to do with MCP: nothing is found in it, nothing of it is changed, and nothing in it makes a rule fail.

The files are those of the standard library and of the packages that are installed, here and in the environments of other tests. They
go past the gate that lets `check` pass over most files unparsed. A few of the standard library run with the other tests; with
`--hypothesis-profile=long` all do.
"""

from __future__ import annotations

import json
import random
import site
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby
from pathlib import Path

import properties
import pytest
import sdk
from conftest import effort, is_long
from generated import Shape, server
from mcp_migrate import engine
from mcp_migrate.project import Project, read
from mcp_migrate.rule import Era
from mcp_migrate.source import Source, decode
from servers import migrate

LIBRARY = Path(sysconfig.get_paths()["stdlib"])
REFUSED = (SyntaxError, ValueError, RecursionError, MemoryError)
# Whoever names it may have something to say to this tool.
NAMED = (b"mcp", b"modelcontextprotocol")
# What a file looks like whose other lines have nothing to do with MCP.
SPEAKING = "\n\nimport mcp.server.fastmcp as speaking\n"
SERVING = f"\n\n{server(Shape(words=1))}"


@cache
def library() -> list[Path]:
    """The files of the standard library."""
    return sorted(path for path in LIBRARY.rglob("*.py") if not {"site-packages", "__pycache__"} & {*path.relative_to(LIBRARY).parts})


def some(*, quick: int, long: int) -> list[Path]:
    """A few of them, always the same; others, and more, in each long run."""
    if is_long():
        return random.sample(library(), min(len(library()), round(long * effort())))
    return random.Random(1).sample([path for path in library() if path.stat().st_size < 40_000 and path.parent.name != "encodings"], quick)


def packages() -> dict[str, list[Path]]:
    """The files of every package that is installed in an environment of the tests, one environment for each."""
    folders = [Path(folder) for folder in (sysconfig.get_paths()["purelib"], *site.getsitepackages([sys.base_prefix]))]
    folders += sorted(path for home in sdk.CACHE.glob("*") for path in home.glob("lib/python*/site-packages"))
    found: dict[str, list[Path]] = {}
    for folder in folders:
        for path in sorted(folder.glob("*")) if folder.is_dir() else ():
            if path.name not in found and path.name not in ("mcp_migrate", "__pycache__"):
                files = [path] if path.suffix == ".py" else sorted(path.rglob("*.py")) if path.is_dir() else []
                if files:
                    found[path.name] = files
    return found


def sources(files: Iterable[Path], folder: Path, tail: str = "") -> Iterator[Source]:
    for path in files:
        try:
            source = decode(path.relative_to(folder).as_posix(), path.read_bytes())
            yield Source(source.path, source.text + tail, source.encoding, source.bom)
        except REFUSED:
            continue  # bad on purpose, such as the texts of a parser's tests


def linked(found: Iterable[Source]) -> Project:
    files = []
    for source in found:
        try:
            files.append(read(source))
        except REFUSED:
            continue
    return Project.link(files)


def assert_silent(project: Project) -> None:
    for era in Era:
        assert engine.check(project, properties.rules(), era) == []
    made = engine.fix(project, properties.rules(), Era.MODERN, unsafe=True)
    assert (dict(made.texts), dict(made.created)) == ({}, {})


def by_folder(files: Iterable[Path], base: Path) -> Iterator[list[Path]]:
    """The files of a package at once, single modules alone."""
    for _, group in groupby(files, key=lambda path: path.relative_to(base).parts[:2]):
        yield list(group)


def test_nothing_is_found_in_the_standard_library() -> None:
    for files in by_folder(library() if is_long() else some(quick=12, long=0), LIBRARY):
        assert_silent(linked(sources(files, LIBRARY)))


def test_what_names_the_sdk_in_one_line_is_found_in_that_line_alone() -> None:
    """With it, types and names of the whole file are inferred."""
    for source in sources(some(quick=12, long=300), LIBRARY, SPEAKING):
        project = linked([source])
        start = len(source.utf8) - len(SPEAKING.encode())
        found = engine.check(project, properties.rules())
        assert [(one.path, one.rule) for one in found if one.span.start < start] == []
        assert found or source.path not in project.files
        assert_keeps_the_rest(source, project, SPEAKING)


def test_a_server_below_other_code_is_migrated_and_the_other_code_stays() -> None:
    for source in sources(some(quick=4, long=100), LIBRARY, SERVING):
        project = linked([source])
        start = len(source.utf8) - len(SERVING.encode())
        for era in Era:
            assert [one.rule for one in engine.check(project, properties.rules(), era) if one.span.start < start] == []
        assert_keeps_the_rest(source, project, SERVING)


def assert_keeps_the_rest(source: Source, project: Project, tail: str) -> None:
    """Every line above the tail is there, in order, whatever stands between them now."""
    if source.path not in project.files:
        return
    made = engine.fix(project, properties.rules())
    after = made.texts.get(source.path, source.text)
    properties.parses({source.path: after})
    left = iter(after.split("\n"))
    assert all(any(line == one for one in left) for line in source.text.removesuffix(tail).rstrip().split("\n"))


@pytest.mark.skipif(not is_long(), reason="a long run")
def test_the_command_says_nothing_about_the_standard_library() -> None:
    done = migrate("check", "--no-respect-gitignore", "--output-format", "json", ".", cwd=LIBRARY)
    assert (done.returncode, json.loads(done.stdout)["findings"]) == (0, [])


@pytest.mark.skipif(not is_long(), reason="a long run")
def test_nothing_is_found_in_packages_that_do_not_name_mcp(record_property) -> None:
    """Those that name it may have findings; what they are is told, not judged."""
    seen, files_seen, findings = 0, 0, Counter[str]()
    for name, files in packages().items():
        folder = files[0].parents[len(files[0].parts) - next(at for at, part in enumerate(files[0].parts) if part == name) - 1]
        project = linked(sources(files, folder))
        named = any(word in path.read_bytes().lower() for path in files for word in NAMED)
        found = engine.check(project, properties.rules())
        seen, files_seen = seen + 1, files_seen + len(files)
        if named:
            findings[name] += len(found)
            engine.fix(project, properties.rules(), Era.MODERN, unsafe=True)
        else:
            assert found == [], name
            assert_silent(project)
    told = {name: number for name, number in findings.items() if number}
    print(f"{seen} packages with {files_seen} files; {len(findings)} of them name MCP, and have findings: {told}")
    assert seen > 100
