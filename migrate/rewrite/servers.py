"""The hand-written servers of a project: where each one is wired, or why not, and what `fix` writes for it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import PurePosixPath

from ..facts.code import Code, Unit
from ..facts.hooks import Blocker, Hook, Hooks
from ..facts.model import Dispatcher, FileFacts
from ..project import Project
from ..rule import Era, NewFile
from ..source import Source, Span
from . import asking, module
from .boundary import EITHER, Wiring, file_name, wire
from .edits import Edit
from .module import Part
from .tree import Tree

# A module without one of these neither asks the client nor keeps what it has set; most need no look at their syntax.
_TALK = (b"jsonrpc", b"JSONRPC", b"elicitation", b"sampling", b"roots", b"setLevel", b"resources/subscribe", b"capabilities")
_TESTS = frozenset({"test", "tests", "testing", "benchmarks"})


@dataclass(frozen=True)
class Answer:
    """What can be done for one dispatcher: a wiring, or the blocker; `path` and `span` are the place that it is about."""

    path: str
    span: Span
    wiring: Wiring | None
    blocker: Blocker | None


@lru_cache(maxsize=16)
def answers(project: Project, path: str, era: Era) -> tuple[Answer, ...]:
    """One answer for each dispatcher that the file holds, or that routes to the handlers which the file registers."""
    file = project.files[path]
    hooks = Hooks(Code(_Files(project, path)))
    unit = hooks.code.unit(file.module)
    if unit is None:
        return ()
    for one in _near(hooks.code, unit, project):
        if found := hooks.find(one):
            return tuple(_answer(project, one, hook, era, _elsewhere(project, hooks.code, one)) for hook in found)
    return ()


def edits(project: Project, answer: Answer, era: Era) -> Iterator[Edit | NewFile]:
    """Everything that one wiring wants but its import; the boundary module has the parts of all servers in its folder."""
    assert answer.wiring is not None
    yield from answer.wiring.edits
    target = file_name(answer.path)
    held = project.files.get(target)
    have = module.parts_of(held.source.text) if held else None
    needed = module.complete(answer.wiring.parts | _parts_beside(project, answer.path, era))
    if have is None or not needed <= have:
        yield NewFile(target, module.render(needed, project.files[answer.path].source.newline))


def is_for(fact: Dispatcher, answer: Answer, project: Project, path: str, era: Era) -> bool:
    """Whether a fact is the first one that speaks of the dispatcher of this answer."""
    found = answers(project, path, era)
    facts = sorted((f for f in project.files[path].facts if isinstance(f, Dispatcher)), key=lambda f: f.span)
    mine = [f for f in facts if _nearest(f, found, path) is answer]
    return bool(mine) and mine[0] == fact


def _nearest(fact: Dispatcher, found: Iterable[Answer], path: str) -> Answer:
    inside = [answer for answer in found if answer.path == path and answer.span.contains(fact.span)]
    rest = sorted(found, key=lambda answer: (answer.wiring is None, answer.path != path, abs(answer.span.start - fact.span.start)))
    return min(inside, key=lambda answer: answer.span.end - answer.span.start) if inside else rest[0]


def _elsewhere(project: Project, code: Code, unit: Unit) -> Blocker | None:
    """A module behind the dispatcher's that asks the client, or keeps what it has set, by itself: one file cannot be wired for two."""
    start = unit.module.source.path
    seen = {start: None}  # a dict, for its order
    pending = [start]
    while pending:
        found = [path for path in project.imports(pending.pop()) if path not in seen and not _is_test(path)]
        seen |= dict.fromkeys(found)
        pending += found
    for path in seen:
        file = project.files[path]
        if path == start or not any(word in file.source.utf8 for word in _TALK):
            continue
        behind = code.unit(file.module)
        if behind is not None and behind is not unit and (doubt := asking.elsewhere(behind.module)) is not None:
            return Blocker(behind, doubt.span, doubt.reason, "make `MCP` of the server's module known there, and use it by hand")
    return None


def _answer(project: Project, unit: Unit, found: Hook | Blocker, era: Era, elsewhere: Blocker | None) -> Answer:
    if isinstance(found, Blocker):
        return Answer(found.unit.module.source.path, found.span, None, found)
    if elsewhere is not None:
        return Answer(elsewhere.unit.module.source.path, elsewhere.span, None, elsewhere)
    place = found.place
    source = place.unit.module.source
    span = place.unit.module.span(place.function.node) if place.function else Span(0, len(source.utf8))
    wired = wire(found, Tree(source), era, package=_package(project.files[source.path], place.unit.module.tree, project))
    if isinstance(wired, Wiring):
        held = project.files.get(file_name(source.path))
        have = module.parts_of(held.source.text) if held else None
        if held is None or (have is not None and module.complete(wired.parts) <= have):
            return Answer(source.path, span, wired, None)
        wired = Blocker(
            unit,
            span,
            f"{held.source.path} exists and lacks what this server needs",
            "rename it, or delete it when it was written by `fix`",
        )
    return Answer(source.path, span, None, wired)


def _near(code: Code, unit: Unit, project: Project) -> Iterator[Unit]:
    """The module, those that import it, and those that import what it imports: a registry has its loop in one of them."""
    seen: set[str] = set()
    imported = (code.unit(project.files[path].module) for path in project.imports(unit.module.source.path))
    for between in chain([unit], imported):
        for other in code.around(between) if between else ():
            if other.name not in seen:
                seen.add(other.name)
                yield other


def _parts_beside(project: Project, path: str, era: Era) -> frozenset[Part]:
    """The parts that other servers of the same folder use, so that both write the same file."""
    folder = PurePosixPath(path).parent
    parts: set[Part] = set()
    for other, file in project.files.items():
        if (
            other != path
            and PurePosixPath(other).parent == folder
            and not _is_test(other)
            and any(isinstance(fact, Dispatcher) for fact in file.facts)
        ):
            for answer in answers(project, other, era):
                if answer.wiring is not None and answer.path == other:
                    parts |= answer.wiring.parts
    return frozenset(parts)


def _package(file: FileFacts, tree: ast.Module, project: Project) -> str | None:
    """How this file would import a neighbour: "" by a relative import, a dotted package, EITHER, or None for a plain name."""
    folders = PurePosixPath(file.source.path).parts[:-1]
    guarded = {id(inner) for node in ast.walk(tree) if isinstance(node, ast.Try) for inner in ast.walk(node)}
    relative = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level]
    if relative:
        # An import that may fail says that the file is run by its path as well.
        return EITHER if all(id(node) in guarded for node in relative) else ""
    for node in ast.walk(tree):
        names = (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else []
        )
        for name in names:
            head = name.partition(".")[0]
            # A folder called mcp may hold a server, but `import mcp` may as well mean the SDK.
            own = head in folders and (head != "mcp" or (project.module(name, file.source.path) or file) is not file)
            if own and (isinstance(node, ast.ImportFrom) or "." in name):
                return ".".join(folders[folders.index(head) :])
    if file.source.path.endswith("__init__.py"):
        return ""
    # A module of a package may be imported from the package, from its own folder, or be run by its path.
    return EITHER if "/".join(folders) in project.packages else None


@dataclass(frozen=True)
class _Files:
    """The modules of a project as `Code` wants them; `near` decides between modules of one name."""

    project: Project
    near: str

    def module(self, name: str) -> tuple[str, Source] | None:
        file = self.project.module(name, self.near)
        return (file.module, file.source) if file else None

    def importers(self, path: str) -> Iterator[str]:
        for other, file in self.project.files.items():
            if path in self.project.imports(other) and not _is_test(other):
                yield file.module


def _is_test(path: str) -> bool:
    parts = PurePosixPath(path)
    return any(part in _TESTS for part in parts.parts[:-1]) or parts.name.startswith(("test_", "conftest")) or parts.stem.endswith("_test")
