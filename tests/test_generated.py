"""Servers that nobody wrote: `fix` keeps what it promises for every shape of hand-written server.

A few examples run with the other tests, always the same ones; `--hypothesis-profile=long` draws many, and others each time.
"""

from __future__ import annotations

import http.client
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import http_wire
import properties
import pytest
import sdk
from conftest import examples
from generated import CHAINS, STDIO, WORDS, Shape, framed, possible, scripts, server, shapes
from hypothesis import assume, event, example, given
from hypothesis import strategies as st
from mcp_migrate.rule import Era
from mcp_migrate.verify import messages
from mcp_migrate.verify.ledger import Outcome
from mcp_migrate.verify.messages import Plan
from mcp_migrate.verify.proof import Wishes, verify
from mcp_migrate.verify.server import Target

# A call of several lines in a file that is indented with tabs.
TABBED = Shape(
    transport="starlette", dispatch="decorator", envelope="helper", notices="prefix", asynchronous=True, prompts=True, logging=True
)


def texts(shape: Shape) -> dict[str, str]:
    return {"server.py": server(shape)}


# What is written


@examples(quick=8, long=400)
@given(shapes())
def test_a_fix_is_whole_at_rest_and_tells_what_it_leaves(shape: Shape) -> None:
    after = properties.holds(texts(shape))
    event("migrated" if len(after) > 1 else "left as it is")


@examples(quick=3, long=200)
@given(shapes())
def test_so_is_one_that_drops_the_older_clients(shape: Shape) -> None:
    properties.holds(texts(shape), Era.MODERN)


@examples(quick=2, long=100)
@given(shapes())
def test_so_is_one_with_unsafe_fixes(shape: Shape) -> None:
    properties.holds(texts(shape), unsafe=True)


@examples(quick=2, long=100)
@example(TABBED)
@given(shapes().map(lambda shape: replace(shape, indent="    ")))
def test_line_ends_tabs_a_mark_and_neighbours_change_nothing_else(shape: Shape) -> None:
    text = server(shape)
    for variant in (properties.crlf, properties.tabs, properties.with_bystander):
        properties.same_under(variant, text)
    properties.same_bytes_under_a_mark(text)


@examples(quick=3, long=100)
@given(shapes(), st.integers(0, len(WORDS) - 1), st.sampled_from("\"'"))
def test_names_quotes_and_docstrings_do_not_decide_what_is_found(shape: Shape, words: int, quote: str) -> None:
    spelled = replace(shape, words=words, quote=quote, documented=not shape.documented)
    assert properties.found_rules(server(spelled)) == properties.found_rules(server(shape))


@examples(quick=2, long=100)
@given(shapes().filter(lambda shape: shape.dispatch in CHAINS and shape.place != "method"))
def test_a_function_inside_of_another_is_looked_at_like_any_other(shape: Shape) -> None:
    outside = possible(replace(shape, place="function"))
    assert properties.found_rules(server(replace(outside, place="nested"))) == properties.found_rules(server(outside))


# What is said


@examples(quick=7, long=300)
@given(shapes(*STDIO), scripts())
def test_older_clients_are_told_the_same_bytes_over_pipes(shape: Shape, script: list[str]) -> None:
    before = texts(shape)
    after = properties.written(before, properties.fix(before))
    assume(after != before)
    said = framed(shape, script)
    was, now = conversation(before, said), conversation(after, said)
    assert now.stdout == was.stdout, now.stderr.decode()
    assert now.returncode == was.returncode


@examples(quick=1, long=60, shrink=False)
@example(Shape("http_server", session="store"), ['{"jsonrpc": "2.0", "id": 1, "method": "ping"}', "{"])
@given(shapes("http_server", "flask", "fastapi", "starlette", "aiohttp"), scripts())
def test_older_clients_are_told_the_same_over_http(shape: Shape, script: list[str]) -> None:
    before = texts(shape)
    after = properties.written(before, properties.fix(before))
    assume(after != before)
    assert answers(shape, after, script) == answers(shape, before, script)


@examples(quick=1, long=60, shrink=False)
@example(Shape())
@given(shapes())
def test_clients_of_the_revision_are_served(shape: Shape) -> None:
    assume(shape.transport != "content_length")  # which no revision of MCP has, though servers do
    before = texts(shape)
    made = properties.fix(before)
    assume(made.created)
    with tempfile.TemporaryDirectory() as folder:
        put(folder, properties.written(before, made))
        call = messages.call('echo {"text": "hi"} => hi')
        proof = verify(target(shape, folder), Wishes(plan=Plan((call,))))
    bad = [check for check in proof.checks if check.outcome is Outcome.FAILED and "older" not in check.group]
    assert not bad, "\n".join(f"{check.group}: {check.name}: {check.detail}" for check in bad) + proof.log


def python(shape: Shape) -> str:
    return str(sdk.frameworks()) if shape.transport in ("flask", "fastapi", "starlette", "aiohttp") else sys.executable


def target(shape: Shape, folder: str) -> Target:
    command = f"{python(shape)} server.py"
    return Target(start=f"{command} {{port}}", folder=folder) if shape.http else Target(stdio=command, folder=folder)


def put(folder: str, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        (Path(folder) / path).write_bytes(text.encode())


def conversation(files: Mapping[str, str], said: bytes) -> subprocess.CompletedProcess[bytes]:
    """All that a server writes when it is told this, and then no more."""
    with tempfile.TemporaryDirectory() as folder:
        put(folder, files)
        return subprocess.run([sys.executable, "server.py"], cwd=folder, input=said, capture_output=True, timeout=60)


def answers(shape: Shape, files: Mapping[str, str], script: list[str]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        put(folder, files)
        with http_wire.serving([python(shape), "server.py", "{port}"], Path(folder), "/mcp", {}) as wire:
            return [said for line in script for said in _told(wire, line)]


def _told(wire: http_wire.HttpWire, line: str) -> list[str]:
    try:
        return list(http_wire.dialogue(wire, line, {}))
    except (http.client.HTTPException, ConnectionError) as error:  # what http.server does with a message that its code fails at
        return [type(error).__name__]


@pytest.mark.parametrize("transport", STDIO)
def test_most_generated_servers_are_such_that_fix_migrates_them(transport: str) -> None:
    """Servers that nothing is done to would prove nothing."""
    assert properties.fix(texts(Shape(transport))).created or transport == "content_length"
