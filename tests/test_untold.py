"""No dispatcher is left without a boundary and without a word: over all fixtures, after `fix`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from fixture_cases import FIXTURES, cases, plain
from mcp_migrate import catalog, engine
from mcp_migrate.facts import chains, endpoints
from mcp_migrate.facts.code import Code, Place
from mcp_migrate.facts.gates import boundaries, is_boundary_module
from mcp_migrate.facts.model import Dispatcher
from mcp_migrate.project import Project, read
from mcp_migrate.rewrite import servers
from mcp_migrate.source import Source

CATALOG = catalog.load()
RULE = "server_discover"


def programs() -> Iterator[tuple[str, Mapping[str, str]]]:
    for case in cases():
        code = {path: plain(text) for path, text in case.before().items() if path.endswith(".py")}
        if code:
            yield case.id, code
    for folder in sorted(FIXTURES.glob("servers/*/before")):
        yield folder.parent.name, {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in sorted(folder.rglob("*.py"))}


PROGRAMS = dict(programs())


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_dispatcher_that_messages_reach_is_behind_a_boundary_or_told(name: str) -> None:
    fixed = engine.fix(Project.link(read(Source(path, text)) for path, text in PROGRAMS[name].items()), CATALOG, select=[RULE])
    told = " ".join(f"{finding.path} {finding.hint}" for finding in fixed.remaining)
    assert [one for one in unbounded(fixed.project) if one.partition(":")[0] not in told] == []


def test_a_dispatcher_without_a_boundary_is_seen() -> None:
    """The look itself: what it finds before `fix` is no less than what `fix` then wires."""
    texts = {path: plain(path_text) for path, path_text in PROGRAMS["added-server_discover-handed_on_beside_http"].items()}
    assert unbounded(Project.link(read(Source(path, text)) for path, text in texts.items())) == ["dispatch.py:answer"]


def unbounded(project: Project) -> list[str]:
    """The dispatchers that a loop or an endpoint without a boundary leads to, by names alone."""
    found = []
    for path, file in project.files.items():
        if is_boundary_module(file.source) or not any(isinstance(fact, Dispatcher) for fact in file.facts) or "test" in Path(path).stem:
            continue
        if (read_ := servers.unit(project, path)) is None:
            continue
        code, unit = read_
        for place in unit.places:
            chain = chains.find(code, place)
            if chain is not None and "server/discover" not in chain.methods and any(enters(code, one, place) for one in above(code, place)):
                found.append(f"{path}:{place.name}")
    return found


def above(code: Code, start: Place) -> Iterator[Place]:
    """A function and all that leads to it, as far as no boundary stands in between."""
    seen = [start]
    for place in seen:
        wired = boundaries(place.unit.module, place.unit.names.imports)
        behind = wired.own.union(*wired.borrowed.values())
        if place.name in behind or ("" in behind and endpoints.of(code, place) is not None):
            continue
        yield place
        if place.function is not None:
            seen += [call.place for call in code.callers(place) if call.place not in seen]


def enters(code: Code, place: Place, dispatcher: Place) -> bool:
    """Whether messages come in here: an endpoint, or a loop over standard input."""
    endpoint = endpoints.of(code, place)
    if endpoint is not None:
        # Replies that go into the stream of another request are told by the rule about that transport.
        return endpoint.answers and not endpoints.streams(code, place, lambda other: dispatcher in code.reachable(other))
    return place.function is not None and any("sys.stdin" in place.unit.module.text(one) for one in place.function.node.body)
