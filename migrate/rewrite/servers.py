"""The hand-written servers of a project: where each one is wired, or why not, and what `fix` writes for it."""

from __future__ import annotations

import ast
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import PurePosixPath
from typing import Any
from weakref import WeakKeyDictionary

from ..facts.code import Code, Unit
from ..facts.functions import Module
from ..facts.functions import read as functions_of
from ..facts.gates import is_boundary_module
from ..facts.handshake import Work
from ..facts.hooks import ELSEWHERE, Blocker, Hook, Hooks, Strategy
from ..facts.mask import parse
from ..facts.model import Dispatcher, FileFacts, Import, Version, VersionUse
from ..facts.syntax import descend
from ..project import Project
from ..rule import Era, NewFile
from ..source import Source, Span
from . import asking, module
from .boundary import EITHER, Wiring, file_name, wire
from .edits import Edit
from .module import Part
from .traced import Asked, Question, Traced, holds
from .tree import Tree

# A module without one of these neither asks the client nor keeps what it has set; most need no look at their syntax.
_TALK = (b"jsonrpc", b"JSONRPC", b"elicitation", b"sampling", b"roots", b"setLevel", b"resources/subscribe", b"capabilities")
_TESTS = frozenset({"test", "tests", "testing", "benchmarks"})
_MODULE = PurePosixPath(module.FILE_NAME).stem
_OPEN = 4  # folders whose code is kept: what follows sessions goes from one to another
_KNOWN: WeakKeyDictionary[Project, dict[Era, _Servers]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Answer:
    """What can be done for one dispatcher: a wiring, or why there is none; `path` and `span` are the place that it is about."""

    path: str
    span: Span
    function: str = ""  # its dotted name, where it is one
    wiring: Wiring | None = None
    reason: str = ""
    way_out: str = ""
    at: Span = Span(0, 0)  # the place that the reason is about
    served: bool = True  # False: nothing in the project brings requests to it
    named: bool = True  # False: no code calls the server anything
    lost: tuple[tuple[str, Span, str], ...] = ()  # what only a session could keep: path, place and text
    home: str = ""  # the file that makes the boundary object, where it is another one
    behind: bool = False  # its dispatcher has a boundary for another transport
    fed: bool = False  # messages from standard input surely reach its dispatcher
    reached: bool = True  # these, or those of an endpoint


def answers(project: Project, path: str, era: Era) -> tuple[Answer, ...]:
    """One answer for each dispatcher that the file holds, or that routes to the handlers which the file registers."""
    return _servers(project, era).answers(path)


def answer_at(project: Project, path: str, start: int, era: Era) -> Answer | None:
    """The wiring of the function that begins here; its dispatcher may lie in another file."""
    others = (other for other, file in project.files.items() if other != path and any(isinstance(f, Dispatcher) for f in file.facts))
    for other in chain([path], others):
        for answer in answers(project, other, era):
            if answer.wiring is not None and answer.path == path and answer.span.start == start:
                return answer
    return None


def edits(project: Project, answer: Answer, era: Era) -> Iterator[Edit | NewFile]:
    """Everything that one wiring wants but its import."""
    assert answer.wiring is not None
    yield from answer.wiring.edits
    if (new := boundary_module(project, answer.home or answer.path, era, also=answer.wiring.parts)) is not None:
        yield new


def boundary_module(project: Project, path: str, era: Era, *, also: frozenset[Part] = frozenset()) -> NewFile | None:
    """The boundary module with the parts of all servers in the folder of a file, wired or about to be; None where it is there."""
    target = file_name(path)
    held = project.files.get(target)
    have = module.parts_of(held.source.text) if held else frozenset[Part]()
    needed = module.complete(_servers(project, era).parts(str(PurePosixPath(path).parent)) | (have or frozenset()) | also)
    if held is None:
        return NewFile(target, module.render(needed, project.files[path].source.newline))
    if have is None or needed <= have:
        return None
    return NewFile(target, module.render(needed, held.source.newline), replaces=held.source.text)


def is_ours(project: Asked, path: str) -> bool:
    """Whether `fix` may write the boundary module beside a file: there is none, or one that nobody has changed since."""
    held = project.files.get(file_name(path))
    return held is None or module.parts_of(held.source.text) is not None


def is_missing(project: Project, path: str) -> bool:
    """Whether a file imports a boundary module that should lie beside it, and does not."""
    file = project.files[path]
    folder = PurePosixPath(path).parent
    wanted = {target.rpartition(".")[0] for target in file.imports.values() if target.endswith(f"{_MODULE}.Stateless")}
    beside = (f".{'.'.join(folder.parts)}.{_MODULE}".endswith(f".{name}") or name == _MODULE for name in wanted)
    return any(beside) and all(project.module(name, path) is None for name in wanted)


def taken_from(project: Asked, home: str, path: str) -> str | None:
    """How a file imports the boundary module beside `home`, which imports the file itself; None where that is not sure."""
    own, theirs = PurePosixPath(path).parts[:-1], PurePosixPath(home).parts[:-1]
    source = project.files[home].source
    way = package_of(project.files[home], functions_of(source, parse(source)[0]), project)
    if way == "":
        shared = next((at for at, (one, two) in enumerate(zip(own, theirs, strict=False)) if one != two), min(len(own), len(theirs)))
        # The folder in which no relative import works any more is the one around the package.
        if "/".join(own[: shared or 1]) not in project.packages and own != theirs:
            return None
        return "." * (len(own) - shared + 1) + ".".join((*theirs[shared:], _MODULE))
    if way is None:
        return _MODULE if own[: len(theirs)] == theirs else None
    return None if way == EITHER else f"{way}.{_MODULE}"


def handshake_work(project: Project, path: str) -> Work | None:
    """What the handshake of a server does for its other methods, so that it cannot be deleted."""
    return _servers(project, Era.MODERN).handshake_work(path)


def unit(project: Project, path: str) -> tuple[Code, Unit] | None:
    """The code of a file with that of the modules around it."""
    code = _servers(project, Era.MODERN)._hooks(str(PurePosixPath(path).parent)).code
    found = code.unit(project.files[path].module)
    return (code, found) if found is not None and found.module.source.path == path else None


def told(fact: Dispatcher, project: Project, path: str, era: Era) -> Iterator[Answer]:
    """The answers that a fact has to tell: each answer is told once, by the fact that is nearest to the dispatcher which it is about."""
    file = project.files[path]
    wired = project.settled(file, fact, Era.DUAL)
    dispatchers = sorted((one for one in file.facts if isinstance(one, Dispatcher)), key=lambda one: one.span)
    facts = [one for one in dispatchers if project.settled(file, one, Era.DUAL) is wired]
    found = answers(project, path, era)
    if not wired:
        found = tuple(answer for answer in found if not answer.behind) or found
    else:
        # A file may be imported by one with a boundary, and have a loop of its own all the same.
        alone = len(facts) == len(dispatchers)
        found = tuple(answer for answer in found if answer.behind or (answer.fed and alone))
    if not found or not facts:
        return
    teller: dict[int, Dispatcher] = {}
    if not wired:
        for one in facts:
            teller.setdefault(id(_nearest(one, found, path)), one)
    rest = [answer for answer in found if id(answer) not in teller]
    if rest and _servers(project, era).tells(path):
        said = {(answer.path, answer.at, answer.reason) for answer in found if id(answer) in teller}
        for answer in rest:
            # What nothing calls is told where nothing else is.
            if answer.reached and (key := (answer.path, answer.at, answer.reason)) not in said:
                said.add(key)
                teller[id(answer)] = min(facts, key=lambda f: _distance(answer, f, path))
    yield from (answer for answer in found if teller.get(id(answer)) == fact)


def _nearest(fact: Dispatcher, found: Iterable[Answer], path: str) -> Answer:
    inside = [answer for answer in found if answer.path == path and answer.span.contains(fact.span)]
    rest = sorted(found, key=lambda answer: (answer.wiring is None, answer.path != path, abs(answer.span.start - fact.span.start)))
    return min(inside, key=lambda answer: answer.span.end - answer.span.start) if inside else rest[0]


def _distance(answer: Answer, fact: Dispatcher, path: str) -> int:
    return abs(answer.span.start - fact.span.start) if answer.path == path else fact.span.start


def _servers(project: Project, era: Era) -> _Servers:
    known = _KNOWN.setdefault(project.code, {})
    if era not in known:
        known[era] = _Servers(weakref.proxy(project.code), era)
    return known[era]


@dataclass
class _Folder:
    """The code of one folder, and what its servers are found to be."""

    hooks: Hooks
    traced: Traced
    found: dict[Unit, tuple[Answer, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Proven:
    """The answers for the files of a folder, each with the file that it is about, and all that their proofs have asked of the project."""

    answers: dict[str, tuple[tuple[Answer, ...], str | None]]
    asked: dict[Question, Any]


class _Servers:
    """The servers of a project in one era, each looked at once and only when it is asked for."""

    def __init__(self, project: Project, era: Era) -> None:
        self.project, self.era = project, era
        self._answers: dict[str, tuple[Answer, ...]] = {}
        self._parts: dict[str, frozenset[Part]] = {}
        self._work: dict[str, Work | None] = {}
        self._origin: dict[str, str] = {}  # the file whose dispatchers the answers of a file are about
        # The code of few folders only: the trees of all modules at once would be the largest thing in memory.
        self._open: dict[str, _Folder] = {}
        self._proven: dict[str, _Proven | None] = {}

    def answers(self, path: str) -> tuple[Answer, ...]:
        if path not in self._answers:
            folder = str(PurePosixPath(path).parent)
            proven = self._earlier(folder)
            if proven is not None and path in proven.answers:
                self._answers[path], origin = proven.answers[path]
                if origin is not None:
                    self._origin[path] = origin
                return self._answers[path]
            try:
                self._answers[path] = self._find(path)
            except RecursionError:  # some of the proof follows an `elif` chain down, a level a branch
                self._answers[path] = tuple(_too_deep(path, fact) for fact in self.project.of(path, Dispatcher))
            else:
                self._keep(path, folder, proven)
        return self._answers[path]

    def _earlier(self, folder: str) -> _Proven | None:
        """What was proven of an earlier state of the project, where all that it goes by is as it was.

        Most files do not change from round to round: to prove all servers anew in each was a third of a `fix` of 2,000 files.
        """
        if folder not in self._proven:
            proven = self.project.proofs.get(("servers", self.era, folder))
            assert proven is None or isinstance(proven, _Proven)
            same = proven is not None and holds(proven.asked, self.project)
            # Another project may go on with the same ones.
            self._proven[folder] = _Proven(dict(proven.answers), dict(proven.asked)) if proven is not None and same else None
        return self._proven[folder]

    def _keep(self, path: str, folder: str, proven: _Proven | None) -> None:
        asked = self._folder(folder).traced.asked
        if proven is None or proven.asked is not asked:
            # What was proven before holds as well.
            asked.update({} if proven is None else proven.asked)
            proven = self._proven[folder] = _Proven({} if proven is None else dict(proven.answers), asked)
            self.project.proofs["servers", self.era, folder] = proven
        proven.answers[path] = self._answers[path], self._origin.get(path)

    def tells(self, path: str) -> bool:
        """Whether a file is the one to tell what none of its facts is nearest to: several may share the dispatchers of another."""
        origin = self._origin.get(path, path)
        if origin == path:
            return True
        if any(isinstance(fact, Dispatcher) for fact in self.project.files[origin].facts):
            return False
        others = (other for other, file in self.project.files.items() if any(isinstance(fact, Dispatcher) for fact in file.facts))
        return next((other for other in others if self.answers(other) and self._origin.get(other) == origin), path) == path

    def parts(self, folder: str) -> frozenset[Part]:
        """What all servers of a folder use, so that each of them writes the same file."""
        if folder not in self._parts:
            parts: set[Part] = set()
            for path, file in self.project.files.items():
                if str(PurePosixPath(path).parent) != folder or _is_test(path):
                    continue
                own: set[Part] = set()
                if any(isinstance(fact, Import) and fact.key == _MODULE for fact in file.facts):
                    own.update(self._used(file))
                if any(isinstance(fact, Dispatcher) for fact in file.facts):
                    beside = (one for one in self.answers(path) if str(PurePosixPath(one.path).parent) == folder)
                    own.update(part for answer in beside if answer.wiring for part in answer.wiring.parts)
                echoes = any(isinstance(fact, Version) and fact.use is VersionUse.ECHO for fact in file.facts)
                own |= {Part.APART} if own and self._is_asked(folder) else set()
                parts |= own | ({Part.HANDSHAKE} if own and echoes and self.era is Era.DUAL else set())
            self._parts[folder] = frozenset(parts)
        return self._parts[folder]

    def _is_asked(self, folder: str) -> bool:
        """Whether a module, of another folder perhaps, takes `is_modern` from the boundary module of this one."""
        home = f".{'.'.join(PurePosixPath(folder).parts)}.{_MODULE}.is_modern"
        return any(
            target.endswith(f"{_MODULE}.is_modern") and home.endswith(f".{target}")
            for f in self.project.files.values()
            for target in f.imports.values()
        )

    def _used(self, file: FileFacts) -> Iterator[Part]:
        """What a wired server and the modules that take its boundary object from it use."""
        for path in (file.source.path, *self.project.importers(file.source.path)):
            if not _is_test(path):
                yield from module.used(parse(self.project.files[path].source)[0], file.makes)

    def handshake_work(self, path: str) -> Work | None:
        if path not in self._work:
            hooks = self._hooks(str(PurePosixPath(path).parent))
            unit = hooks.code.unit(self.project.files[path].module)
            behind = self.project.files[path].beside
            self._work[path] = hooks.handshake_work([p for p in unit.places if not behind or p.name in behind]) if unit else None
        return self._work[path]

    def _find(self, path: str) -> tuple[Answer, ...]:
        folder = self._folder(str(PurePosixPath(path).parent))
        project, code = folder.traced, folder.hooks.code
        unit = code.unit(project.files[path].module)
        if unit is None:
            return ()
        for one in _near(code, unit, project):
            if one not in folder.found:
                folder.found[one] = tuple(self._answer(found, code, project) for found in folder.hooks.find(one))
            if folder.found[one]:
                self._origin[path] = one.module.source.path
                return folder.found[one]
        return ()

    def _hooks(self, folder: str) -> Hooks:
        return self._folder(folder).hooks

    def _folder(self, folder: str) -> _Folder:
        if folder in self._open:
            self._open[folder] = self._open.pop(folder)
        else:
            while len(self._open) >= _OPEN:
                del self._open[next(iter(self._open))]
            traced = Traced(self.project)
            self._open[folder] = _Folder(Hooks(Code(_Files(traced, folder))), traced)
        return self._open[folder]

    def _answer(self, found: Hook | Blocker, code: Code, project: Asked) -> Answer:
        if isinstance(found, Blocker):
            return _blocked(found)
        stdio = found.strategy is not Strategy.HOST
        behind = list(self._behind(code, found.place.unit, project))
        for other in behind:
            if (doubt := asking.elsewhere(other.module, stdio=stdio)) is not None:
                way_out = "make `MCP` of the server's module known there, and use it by hand"
                return _blocked(Blocker(other, doubt.span, doubt.reason, way_out, behind=found.borrowed is not None, fed=found.fed))
        place = found.place
        source = place.unit.module.source
        span = place.unit.module.span(place.function.node) if place.function else Span(0, len(source.utf8))
        package = package_of(project.files[source.path], place.unit.module, project)
        publishes = bool(found.hosts) and not any(asking.announces(other.module) for other in behind)
        for at, node in found.elsewhere:
            home_ = (found.borrowed[0] if found.borrowed else found.place.unit).module.source.path
            if taken_from(project, home_, at.unit.module.source.path) is None and isinstance(node, ast.expr | ast.stmt):
                way_out = "let 2026-07-28 requests pass here"
                return _blocked(Blocker(at.unit, at.unit.module.span(node), ELSEWHERE, way_out, fed=found.fed))
        wired = wire(found, Tree(source), self.era, package=package, publishes=publishes)
        home = found.borrowed[0].module.source.path if found.borrowed else ""
        if isinstance(wired, Blocker):
            reason, way_out = wired.reason, wired.way_out
            return Answer(source.path, span, place.name, None, reason, way_out, wired.span, home=home, behind=bool(home), fed=found.fed)
        if found.borrowed is None and not is_ours(project, source.path):
            reason = f"{file_name(source.path)} exists, and is not as `fix` writes it"
            way_out = "rename it, or delete it when it was written by `fix`"
            return Answer(source.path, span, place.name, None, reason, way_out, span, fed=found.fed)
        lost = tuple((m.source.path, m.span(one.node), m.text(one.node)) for one in found.lost if (m := one.place.unit.module))
        # Around an application it stands before all functions of the module.
        function = "" if wired.parts & {Part.ASGI, Part.WSGI, Part.FASTAPI_ROUTE} else place.name
        return Answer(
            source.path, span, function, wired, named=found.identity.named, lost=lost, home=home, behind=bool(home), fed=found.fed
        )

    def _behind(self, code: Code, unit: Unit, project: Asked) -> Iterator[Unit]:
        """The modules behind the dispatcher's that may ask the client, or keep what it has set, by themselves."""
        start = unit.module.source.path
        seen = {start: None}  # a dict, for its order
        pending = [start]
        while pending:
            found = [path for path in project.imports(pending.pop()) if path not in seen and not _is_test(path)]
            seen |= dict.fromkeys(found)
            pending += found
        for path in seen:
            file = project.files[path]
            if path != start and any(word in file.source.utf8 for word in _TALK):
                behind = code.unit(file.module)
                if behind is not None and behind is not unit:
                    yield behind


def _too_deep(path: str, fact: Dispatcher) -> Answer:
    reason, way_out = "its code is nested too deeply to be proven", "make the long chain a table"
    return Answer(path, fact.span, fact.function, None, reason, way_out, fact.span)


def _blocked(blocker: Blocker) -> Answer:
    path = blocker.unit.module.source.path
    answer = Answer(path, blocker.span, "", None, blocker.reason, blocker.way_out, blocker.span, blocker.served)
    return replace(answer, behind=blocker.behind, fed=blocker.fed, reached=blocker.reached)


def _near(code: Code, unit: Unit, project: Asked) -> Iterator[Unit]:
    """The module, those that import it, and those that import what it imports: a registry has its loop in one of them."""
    seen: set[str] = set()
    imported = (code.unit(project.files[path].module) for path in project.imports(unit.module.source.path))
    for between in chain([unit], imported):
        for other in code.around(between) if between else ():
            if other.name not in seen:
                seen.add(other.name)
                yield other


def package_of(file: FileFacts, code: Module, project: Asked) -> str | None:
    """How this file would import a neighbour: "" by a relative import, a dotted package, EITHER, or None for a plain name."""
    folders = PurePosixPath(file.source.path).parts[:-1]
    relative = [node for node in code.nodes(ast.ImportFrom) if node.level]
    if relative:
        # An import that may fail says that the file is run by its path as well.
        guarded = {inner for node in code.nodes(ast.Try) for inner in descend(node)}
        return EITHER if guarded.issuperset(relative) else ""
    imports: list[ast.Import | ast.ImportFrom] = [*code.nodes(ast.ImportFrom), *code.nodes(ast.Import)]
    for node in imports:
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
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

    project: Asked
    near: str

    def module(self, name: str) -> tuple[str, Source] | None:
        file = self.project.module(name, self.near)
        # What a boundary does is no work of the server.
        return (file.module, file.source) if file and not is_boundary_module(file.source) else None

    def imports(self, path: str) -> Iterator[str]:
        """The modules that a file imports, or that stand before what it answers."""
        yield from (self.project.files[other].module for other in self.project.imports(path))

    def importers(self, path: str) -> Iterator[str]:
        """The modules that import something from a file, from it or from a package that hands its names on."""
        files = self.project.files
        found = dict.fromkeys(self.project.importers(path))
        origins = {files[path].module}
        for other in (pending := [*found]):
            if not other.endswith("__init__.py"):
                continue
            handed = {f"{files[other].module}.{name}" for name, target in files[other].imports.items() if _origin(target) in origins}
            if handed:
                more = [one for one in self.project.importers(other) if one not in found and handed & {*files[one].imports.values()}]
                found |= dict.fromkeys(more)
                pending += more
                origins.add(files[other].module)
        for other in found:
            if not _is_test(other):
                yield files[other].module


def _origin(target: str) -> str:
    """The module that an imported name is taken from."""
    return target.rpartition(".")[0]


def _is_test(path: str) -> bool:
    parts = PurePosixPath(path)
    return any(part in _TESTS for part in parts.parts[:-1]) or parts.name.startswith(("test_", "conftest")) or parts.stem.endswith("_test")
