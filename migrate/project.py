"""Links the files of one run: references across modules, evidence, and what stands behind a boundary."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import TypeVar

from .facts import vocabulary as words
from .facts.classify import classify
from .facts.code import unit_of
from .facts.collect import collect
from .facts.gates import beside, is_boundary_module
from .facts.kept import drop_trees
from .facts.model import (
    Borrowed,
    Call,
    Class,
    CodeUse,
    Constant,
    Dispatcher,
    Envelope,
    ErrorCode,
    Fact,
    FileFacts,
    Gate,
    Handler,
    Header,
    Import,
    MetaKey,
    Ref,
    Requirement,
    Result,
    Role,
    Route,
    Send,
    Shape,
    Standalone,
    Store,
    Stream,
    Symbol,
    Use,
    Value,
    Version,
    VersionUse,
)
from .facts.texts import Texts
from .facts.walk import is_word
from .manifests.inside import inside
from .sdk.program import Program
from .source import Source, Span, is_test

F = TypeVar("F", bound=Fact)
T = TypeVar("T")
# What linking adds to a file, and has to make anew when another file has changed.
_LINKED = (Constant, Dispatcher, ErrorCode, Handler, Header, MetaKey, Send, Standalone, Symbol, Version)
_MAX_HOPS = 8
_REFUSES = re.compile(r"\blegacy\s*=\s*False\b")
_ENOUGH = 3  # words that only MCP has, beside another protocol's: a gateway that speaks both


def module_name(path: str) -> str:
    """The dotted name of a file, from the run's root; `src` folders and `__init__` do not count."""
    # By text: every file of a run has its name asked for, and a path object costs ten times as much.
    stem, suffix = os.path.splitext(path)
    parts = (f"{stem} (notebook)" if suffix == ".ipynb" else stem).split("/")  # which nothing can import
    if parts and parts[-1] == "__init__":
        parts.pop()
    if parts and parts[0] == "src":
        parts = parts[1:]
    return ".".join(part for part in parts if part not in ("", ".", ".."))


def read(source: Source) -> FileFacts:
    """The facts of one source, under its module name. Raises what `collect` raises."""
    facts = collect(source, module_name(source.path), package=PurePosixPath(source.path).stem == "__init__")
    asked = tuple(inside(source))
    return replace(facts, facts=(*facts.facts, *asked)) if asked else facts


class Project:
    """All files of a run, linked. Files are addressed by path, modules by dotted name; `packages` are folders with an `__init__.py`.

    `manifests` are the files beside the code that say what it needs; nothing links them.
    """

    def __init__(
        self,
        files: Mapping[str, FileFacts],
        packages: frozenset[str] = frozenset(),
        manifests: Mapping[str, FileFacts] | None = None,
        *,
        outside: frozenset[str] = frozenset(),
        before: Program | None = None,
        begun: Mapping[str | Ref, tuple[tuple[FileFacts, Requirement], ...]] | None = None,
        keeps: bool = False,
        proofs: dict[tuple[object, ...], object] | None = None,
        read: Program | None = None,
    ) -> None:
        """`outside` are files that are read to judge the others by, and no part of the run; `before` is what was read of the same files.

        `keeps` is whether the code has to run with both releases of the SDK: then what a guard gives under one name is looked at, too.
        `proofs` are those about earlier states of the project, each with what it goes by; `read` has modules that may be the same,
        and nothing else that holds any more.
        """
        self.keeps = keeps
        self.proofs = {} if proofs is None else proofs
        self._origin: Project | None = None
        self._begun = begun
        self.files = files
        self.outside = outside
        self.packages = packages
        self.manifests = manifests or {}
        self._kinds: dict[tuple[str, type[Fact]], tuple[Fact, ...]] = {}
        self._spans: dict[tuple[str, type[Fact]], dict[Span, tuple[Fact, ...]]] = {}
        self._said: dict[tuple[str, bytes], bool] = {}
        self._around: dict[frozenset[str], frozenset[str]] = {}  # functions, and those that are around them
        self._remembered: dict[str, object] = {}
        self._concluded: dict[tuple[object, ...], object] = {}
        self._once: dict[tuple[str, Callable[[FileFacts], object]], object] = {}
        self._modules = _index(files.values())
        self._nearest: dict[str, dict[tuple[str, ...], FileFacts]] = {}
        self._imported = {path: tuple(self._imports(file)) for path, file in files.items()}
        # Django finds middleware by a text in its settings, which need not be read.
        if beyond := [path for path, file in files.items() if _is_django_gate(file)]:
            for path, file in files.items():
                if b"django" in file.source.utf8 and path not in beyond and not is_test(path):
                    self._imported[path] += tuple(other for other in beyond if other not in self._imported[path])
        self._importers: dict[str, list[str]] = defaultdict(list)
        for path, targets in self._imported.items():
            for target in targets:
                self._importers[target].append(path)
        self.texts = Texts(files)
        self.files = self._linked(files)
        # The types of expressions cost more than all other facts: only a project that imports the SDK has them asked for.
        near = self._near_sdk()
        self.sdk = Program(self.files, self.texts, self.module, near, packages, before, keeps=keeps, read=read) if near else None
        if self.sdk is not None:
            symbols = {path: self.sdk.symbols(path) for path in near if not is_boundary_module(self.files[path].source)}
            self.files = {
                path: replace(file, facts=(*self._sent(file), *symbols[path])) if path in symbols else file
                for path, file in self.files.items()
            }
        drop_trees()
        self._settle()

    def _settle(self) -> None:
        """What stands behind boundaries; nothing else that linking finds depends on them."""
        self._fronts = self._boundaries()
        self._behind = self._reached(self._fronts)
        self._served = self._reached(path for path in self._fronts if self.files[path].boundary or self._borrowed(self.files[path]))
        self._modern = self._modern_files()

    @classmethod
    def link(
        cls,
        files: Iterable[FileFacts],
        packages: frozenset[str] = frozenset(),
        manifests: Mapping[str, FileFacts] | None = None,
        outside: frozenset[str] = frozenset(),
        *,
        keeps: bool = False,
    ) -> Project:
        return cls({file.source.path: file for file in files}, packages, manifests, outside=outside, keeps=keeps)

    @property
    def code(self) -> Project:
        """The project that all belongs to which is known of the code alone: itself, or the one that it was before files beside the code."""
        return self._origin or self

    def with_manifests(self, changed: Iterable[FileFacts]) -> Project:
        """The project with some of the files beside the code read anew."""
        # No link depends on them: the copy shares all of these.
        other = copy(self)
        other._origin = self.code
        other._begun = self.begun
        other.manifests = {**self.manifests, **{file.source.path: file for file in changed}}
        other._concluded = {}
        other.__dict__.pop("requirements", None)
        return other

    def bounded(self, functions: Mapping[str, Collection[str]]) -> Project:
        """The project as if a boundary stood before these functions, given by path."""
        changed = dict(self.files)
        for path, behind in functions.items():
            file = self.files[path]
            unit = unit_of(file.module, file.source)
            server = beside(unit.module, behind) if unit else ()
            changed[path] = replace(file, boundary=frozenset(behind), beside=frozenset(server))
        # Linking anew would find the same facts: the copy shares them, and costs a tenth.
        bounded = copy(self)
        bounded._origin = None
        bounded.files = changed
        bounded._settle()
        return bounded

    def replace(self, changed: Iterable[FileFacts]) -> Project:
        """The project with some files read anew."""
        files = {**self.files, **{file.source.path: file for file in changed}}
        return self._with(files)

    def without(self, paths: Collection[str]) -> Project:
        """The project without some files of code."""
        return self._with({path: file for path, file in self.files.items() if path not in paths})

    def _with(self, files: Mapping[str, FileFacts]) -> Project:
        return Project(
            files,
            self.packages,
            self.manifests,
            outside=self.outside,
            before=self.sdk,
            begun=self.begun,
            keeps=self.keeps,
            proofs=self.proofs,
        )

    def anew(self) -> Project:
        """The project as a later run would find it, which takes the code for what it is by then."""
        return Project(self.files, self.packages, self.manifests, outside=self.outside, proofs=self.proofs, read=self.sdk)

    def module(self, name: str, importer: str = "") -> FileFacts | None:
        """The file that `import name` in `importer` (a path) reaches; the nearest one where several fit."""
        found = self._modules.get(name, ())
        if len(found) < 2:
            return found[0] if found else None
        # Hundreds of files may be called `server`, and be asked for by all that import one: the folders lead to the nearest.
        if name not in self._nearest:
            self._nearest[name] = _by_folder(found)
        parts = PurePosixPath(importer).parts
        return next(near for end in range(len(parts), -1, -1) if (near := self._nearest[name].get(parts[:end])) is not None)

    def resolve(self, value: Value, importer: str) -> Value | None:
        """Text, number or collection behind a value; None where a reference leads out of the project."""
        for _ in range(_MAX_HOPS):
            if isinstance(value, tuple):
                resolved = [self.resolve(item, importer) for item in value]
                flat = [part for item in resolved if item is not None for part in (item if isinstance(item, tuple) else (item,))]
                return tuple(flat) or None
            if not isinstance(value, Ref):
                return value
            found = next((f for star in value.stars if (f := self._lookup(f"{star}.{value.name}", importer)) is not None), None)
            if not value.stars:
                found = self._lookup(value.name, importer)
            if found is None:
                return None
            target, importer = found
            if value.lower:
                target = target.lower() if isinstance(target, str) else replace(target, lower=True) if isinstance(target, Ref) else target
            value = target
        return None

    def imports(self, path: str) -> tuple[str, ...]:
        """The paths of the project's own files that a file imports."""
        return self._imported.get(path, ())

    def importers(self, path: str) -> tuple[str, ...]:
        """The paths of the files that import this one."""
        return tuple(self._importers.get(path, ()))

    def settled(self, file: FileFacts, fact: Fact, era: str) -> bool:
        """Whether a legacy fact is served by a boundary: then it is no finding in the dual era. What a client sends never is."""
        path = file.source.path
        sent = isinstance(fact, (Send, Call)) or (isinstance(fact, Version) and fact.use in (VersionUse.SEND, VersionUse.HEADER))
        if era != "dual" or path not in self._behind or (sent and path not in self._fronts):
            return False
        # Who answers server/discover by hand has to mend results, envelopes and codes by hand as well.
        if isinstance(fact, (Result, Envelope, ErrorCode)) and path not in self._served:
            return False
        return not self._is_apart(file, fact)

    def refuses_legacy(self, file: FileFacts) -> bool:
        """Whether the boundaries that this file stands behind refuse older clients, as far as they are made in other files."""
        path = file.source.path
        near = [other for other in self.files.values() if other.makes and other is not file]
        near = [o for o in near if path in self._reached([o.source.path]) or o.source.path in self._reached([path])]
        return all(_REFUSES.search(other.source.text) for other in near)

    def offers_modern(self, file: FileFacts) -> bool:
        """Whether the server that this file belongs to already offers 2026-07-28."""
        return file.source.path in self._modern

    def is_test(self, path: str) -> bool:
        """Whether a file is named as tests are."""
        return is_test(path)

    def facts(self, kind: type[Fact], key: str | None = None) -> Iterator[tuple[FileFacts, Fact]]:
        for file in self.files.values():
            for fact in file.facts:
                if isinstance(fact, kind) and (key is None or fact.key == key):
                    yield file, fact

    def of(self, path: str, kind: type[F]) -> tuple[F, ...]:
        """The facts of one kind in one file; found once, because rules ask for them at each of what may be thousands of facts."""
        if (path, kind) not in self._kinds:
            self._kinds[path, kind] = tuple(fact for fact in self.files[path].facts if isinstance(fact, kind))
        return self._kinds[path, kind]  # type: ignore[return-value]

    def at(self, path: str, kind: type[F], span: Span) -> tuple[F, ...]:
        """The facts of one kind at exactly these bytes of a file."""
        if (path, kind) not in self._spans:
            found: dict[Span, tuple[Fact, ...]] = {}
            for fact in self.of(path, kind):
                found[fact.span] = (*found.get(fact.span, ()), fact)
            self._spans[path, kind] = found
        return self._spans[path, kind].get(span, ())  # type: ignore[return-value]

    def says(self, path: str, word: bytes) -> bool:
        """Whether the text of a file contains a word; searched for once."""
        if (path, word) not in self._said:
            self._said[path, word] = word in self.files[path].source.utf8
        return self._said[path, word]

    def once(self, path: str, find: Callable[[FileFacts], T]) -> T:
        """What can be found out from the facts of one file, whatever stands behind boundaries; projects that differ in these share it."""
        if (path, find) not in self._once:
            self._once[path, find] = find(self.files[path])
        return self._once[path, find]  # type: ignore[return-value]

    def remember(self, question: str, answer: Callable[[], T]) -> T:
        """What can be found out from the code of all files, whatever stands behind boundaries and in the files beside it."""
        if question not in self._remembered:
            self._remembered[question] = answer()
        return self._remembered[question]  # type: ignore[return-value]

    def conclude(self, question: tuple[object, ...], answer: Callable[[], T]) -> T:
        """What can be found out from the code of all files and from what the files beside it ask for, whatever stands behind boundaries."""
        if question not in self._concluded:
            self._concluded[question] = answer()
        return self._concluded[question]  # type: ignore[return-value]

    def place(self, path: str) -> int:
        """The place of a file in the order of all."""
        return self._places[path]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {path: number for number, path in enumerate(self.files)}

    @cached_property
    def folders(self) -> frozenset[str]:
        """Every folder that holds code, and those around it; "" is the run's root."""
        found: set[str] = set()
        for path in self.files:
            while path and (path := path.rpartition("/")[0]) not in found:
                found.add(path)
        return frozenset(found)

    @property
    def begun(self) -> Mapping[str | Ref, tuple[tuple[FileFacts, Requirement], ...]]:
        """What the files of the project asked for before anything was written in this run."""
        return self.requirements if self._begun is None else self._begun

    @cached_property
    def requirements(self) -> Mapping[str | Ref, tuple[tuple[FileFacts, Requirement], ...]]:
        """What the files of the project ask for, by the name of the distribution."""
        found: defaultdict[str | Ref, list[tuple[FileFacts, Requirement]]] = defaultdict(list)
        for file in (*self.manifests.values(), *self.files.values()):
            for fact in file.facts:
                if isinstance(fact, Requirement):
                    found[fact.key].append((file, fact))
        return {key: tuple(asked) for key, asked in found.items()}

    @cached_property
    def codes(self) -> Mapping[tuple[str | Ref, str], tuple[tuple[ErrorCode, Source], ...]]:
        """The error codes of all files, by their key and the last part of the name that they are defined or used under."""
        found: defaultdict[tuple[str | Ref, str], list[tuple[ErrorCode, Source]]] = defaultdict(list)
        for path, file in self.files.items():
            for code in self.of(path, ErrorCode):
                spelled = code.name if code.use is CodeUse.CONSTANT else file.source.slice(code.span)
                found[code.key, spelled.rpartition(".")[2]].append((code, file.source))
        return {key: tuple(codes) for key, codes in found.items()}

    def _is_apart(self, file: FileFacts, fact: Fact) -> bool:
        """Whether a fact belongs to another dispatcher of a file than the one that has a boundary."""
        if not file.boundary or not fact.scope or self._is_among(fact.scope, file.beside):
            return False
        others = self.of(file.source.path, Dispatcher)
        return any(other.function and not self._is_among(other.function, file.beside) for other in others)

    def _is_among(self, scope: str, functions: frozenset[str]) -> bool:
        """Whether a function is one of these, inside of one, or around one."""
        if functions not in self._around:
            self._around[functions] = frozenset(above for name in functions for above in _upwards(name))
        return scope in self._around[functions] or not functions.isdisjoint(_upwards(scope))

    # -- linking ------------------------------------------------------------
    def _near_sdk(self) -> list[str]:
        """The files that can hold values of the SDK: those that import it, and what imports lead to or from these, however far.

        Tests get fixtures of the `conftest.py` above them without an import.
        """
        reached = {path for path, file in self.files.items() if words.imports_sdk(file.source.utf8)}
        if not reached:
            return []
        given: dict[str, list[str]] = defaultdict(list)
        for folder in (path.removesuffix("conftest.py") for path in self.files if PurePosixPath(path).name == "conftest.py"):
            given[f"{folder}conftest.py"] = [path for path in self.files if path.startswith(folder)]
        pending = [*reached]
        while pending:
            path = pending.pop()
            further = {*self._imported[path], *self._importers.get(path, ()), *given[path]} - reached
            reached |= further
            pending += further
        return [path for path in self.files if path in reached]

    def _linked(self, files: Mapping[str, FileFacts]) -> dict[str, FileFacts]:
        resolved = {path: self._resolved_uses(file) for path, file in files.items()}
        speaks = self._speakers(resolved)
        linked: dict[str, FileFacts] = {}
        for path, file in files.items():
            facts = [fact for fact in file.facts if not isinstance(fact, _LINKED)]
            facts += classify(resolved[path], speaks=path in speaks)
            linked[path] = replace(file, facts=tuple(facts))
        handled = {path: {fact.key for fact in file.facts if isinstance(fact, Handler)} for path, file in linked.items()}
        for path, file in linked.items():
            kept = [fact for fact in file.facts if path in speaks or isinstance(fact, (Import, Call, Class, Requirement, Borrowed))]
            headers = [fact for fact in file.facts if isinstance(fact, Header)]
            kept = [fact for fact in kept if self._holds(fact, file, headers, handled)]
            linked[path] = replace(file, facts=tuple(_unique([*kept, *_dispatchers(file)])))
        return linked

    def _sent(self, file: FileFacts) -> Iterator[Fact]:
        """The facts of a file, without calls by the name of a request that run functions of the project which send none."""
        assert self.sdk is not None
        for fact in file.facts:
            # A client of the project's own opens its connection with whatever has this name.
            if not isinstance(fact, Call) or fact.key == "initialize" or not self.sdk.sends_nothing(file.source.path, fact.span):
                yield fact

    def _resolved_uses(self, file: FileFacts) -> list[Use]:
        out: list[Use] = []
        for use in file.uses:
            value = self.resolve(use.value, file.source.path)
            name = self.resolve(use.name, file.source.path) if isinstance(use.name, (Ref, tuple)) else use.name
            if isinstance(use.value, Ref) and use.role in (Role.ENTRY, Role.KEYWORD) and isinstance(value, str) and value in words.VERSIONS:
                continue  # reported where the constant stands
            if value is not None and (is_word(value) or use.role is Role.SUBSTRING or name == "protocolVersion" or use.role is Role.ECHO):
                out.append(replace(use, value=value, name="" if name is None else name))
        return out

    def _speakers(self, uses: Mapping[str, list[Use]]) -> set[str]:
        """Files that speak MCP: by their own words, or as neighbours of such files with JSON-RPC of their own."""
        strong: set[str] = set()
        foreign: set[str] = set()
        for path, file in self.files.items():
            spoken = {word for word in file.evidence if not word.startswith("other ") and word != "jsonrpc"}
            spoken |= {
                str(use.value)
                for use in uses[path]
                if isinstance(use.value, str) and use.value in words.METHODS and use.value not in words.COMMON_WORDS
            }
            spoken |= {
                "protocolVersion"
                for use in uses[path]
                if use.role in (Role.ENTRY, Role.DEFAULT) and use.name == "protocolVersion" and use.value in words.VERSIONS
            }
            spoken |= {
                "mcp codes" for use in uses[path] if use.role is Role.CONSTANT and "MCP" in str(use.name) and isinstance(use.value, int)
            }
            if any(word.startswith("other ") for word in file.evidence):
                foreign.add(path)
                if len(spoken) >= _ENOUGH or any(word.startswith("import ") for word in spoken):
                    strong.add(path)
            elif spoken:
                strong.add(path)
        # JSON-RPC of its own, and the protocol's name somewhere: a neighbour that speaks something else has no reason to name it.
        near = {path for path, file in self.files.items() if strong and "jsonrpc" in file.evidence and b"mcp" in file.source.utf8.lower()}
        if strong:
            near |= {
                path
                for path, file in self.files.items()
                if any(isinstance(use.value, Ref) and self.resolve(use.value, path) in words.METHODS for use in file.uses)
            }
        pending = [imported for path in strong for imported in self._imported[path]]
        reached = set(pending)
        for path in pending:  # through modules that only hand on what others define
            if not self.files[path].uses:
                further = [other for other in self._imported[path] if other not in reached]
                pending += further
                reached.update(further)
        near |= reached | {path for path in self.files if any(i in strong for i in self._imported[path])}
        return strong | {path for path in near if path not in foreign}

    def _holds(self, fact: Fact, file: FileFacts, headers: list[Header], handled: Mapping[str, set[str | Ref]]) -> bool:
        """Whether a fact that needs company has it."""
        session = any(other.key == "mcp-session-id" for other in headers)
        match fact:
            case Result() | Envelope() if is_test(file.source.path):
                # What a test expects or fakes is nobody's answer; a server inside of a test is one.
                return len(handled[file.source.path] & words.SERVER_REQUESTS) > 1
            case Result():
                # Built here, or for a dispatcher that imports this; a test that imports the server builds none.
                dispatchers = (file.source.path, *self._importers.get(file.source.path, ()))
                return any(fact.key in handled[path] or handled[path] & words.KEPT_REQUESTS for path in dispatchers)
            case Gate(key="initialized"):
                return any(handled[path] & words.SERVER_REQUESTS for path in (file.source.path, *self._neighbours(file)))
            case Store():
                return session
            case Gate(key="session"):
                return session
            case Stream(key="id" | "retry"):
                return session or any(other.key == "last-event-id" for other in headers)
            case Route(path="" | "#stream" | "#handler"):
                in_scope = any(other.scope == fact.scope for other in headers)
                return in_scope or (session and (fact.path != "" or fact.key == "DELETE"))
            case Route():
                return fact.key == "POST" or self._is_endpoint(fact, file.facts)
            case Class():
                return any(word.startswith("import mcp") for word in file.evidence) or session
            case Call():
                near_sdk = any(_uses_sdk(self.files[path]) for path in (file.source.path, *self._imported[file.source.path]))
                return near_sdk and _is_session_call(fact)
        return True

    def _is_endpoint(self, route: Route, facts: Iterable[Fact]) -> bool:
        """A GET or DELETE route beside the POST route of the same path, in a file that routes MCP methods."""
        facts = list(facts)
        path, _, mark = route.path.partition("#")
        posts = {other.path.partition("#")[0] for other in facts if isinstance(other, Route) and other.key == "POST"}
        if not any(isinstance(other, (Handler, Header)) for other in facts):
            return False
        if mark == "registered":  # its handler stands elsewhere
            return path in posts and any(isinstance(other, Header) and other.key == "mcp-session-id" for other in facts)
        in_scope = any(isinstance(other, Header) and other.key == "mcp-session-id" and other.scope == route.scope for other in facts)
        if route.key == "GET":  # without a stream it is a page about the endpoint
            return in_scope or (mark == "stream" and bool(posts))
        return in_scope or path in posts

    def _neighbours(self, file: FileFacts) -> set[str]:
        path = file.source.path
        return {*self._imported[path], *self._importers.get(path, ())}

    def _imports(self, file: FileFacts) -> Iterator[str]:
        for target in dict.fromkeys((*file.imports.values(), *file.hidden, *file.stars)):
            above = target.removeprefix("src.")  # tests of some projects reach their code from above `src`
            for name in dict.fromkeys((target, target.rpartition(".")[0], above, above.rpartition(".")[0])):
                found = self.module(name, file.source.path) if name else None
                if found is not None and found is not file:
                    yield found.source.path
                    break

    def _lookup(self, name: str, importer: str) -> tuple[Value, str] | None:
        """The value of a dotted name and the path of the file that gives it."""
        head = name
        while "." in head:
            head, _, _ = head.rpartition(".")
            file = self.module(head, importer)
            if file is None:
                continue
            rest = name[len(head) + 1 :]
            if rest in file.names:
                return file.names[rest], file.source.path
            first, _, more = rest.partition(".")
            if first in file.imports:
                target = f"{file.imports[first]}.{more}" if more else file.imports[first]
                return (Ref(target), file.source.path) if target != name else None
            if file.stars:
                return Ref(rest, stars=tuple(reversed(file.stars))), file.source.path
        return None

    def _boundaries(self) -> frozenset[str]:
        """The files that put a boundary in front of their dispatcher, ours or one made by hand."""
        return frozenset(path for path, file in self.files.items() if file.boundary or self._borrowed(file) or _is_dual_by_hand(file))

    def _borrowed(self, file: FileFacts) -> bool:
        for name in file.borrows:
            head, _, rest = name.rpartition(".")
            made = self.module(head, file.source.path)
            if made is not None and rest in made.makes:
                return True
        return False

    def _reached(self, fronts: Iterable[str]) -> frozenset[str]:
        """These files, and what they import: handlers, constants, helpers."""
        behind: set[str] = set()
        pending = [*fronts]
        while pending:
            path = pending.pop()
            if path not in behind:
                behind.add(path)
                pending.extend(self._imported[path])
        return frozenset(behind)

    def _modern_files(self) -> frozenset[str]:
        """Files beside, or imported by, one that answers server/discover or lists the current revision."""
        modern = set(self._behind)
        for path, file in self.files.items():
            if not is_test(path) and (_answers_discover(file) or any(_offers_current(fact) for fact in file.facts)):
                modern |= {path, *self._neighbours(file)}
        return frozenset(modern)


def _index(files: Iterable[FileFacts]) -> dict[str, list[FileFacts]]:
    """Every dotted suffix of a module's name: which part of a path is the import root only the user knows."""
    index: dict[str, list[FileFacts]] = defaultdict(list)
    for file in files:
        parts = file.module.split(".")
        for start in range(len(parts)):
            index[".".join(parts[start:])].append(file)
    return index


def _by_folder(files: Iterable[FileFacts]) -> dict[tuple[str, ...], FileFacts]:
    """The first of some files in each folder, however deep below it, by the parts of the folder's path."""
    found: dict[tuple[str, ...], FileFacts] = {}
    for file in files:
        parts = PurePosixPath(file.source.path).parts
        for end in range(len(parts) + 1):
            found.setdefault(parts[:end], file)
    return found


def _unique(facts: Iterable[Fact]) -> Iterator[Fact]:
    seen: set[tuple[object, ...]] = set()
    for fact in facts:
        identity = (type(fact), fact.span, fact.key)
        if identity not in seen:
            seen.add(identity)
            yield fact


def _upwards(dotted: str) -> Iterator[str]:
    while dotted:
        yield dotted
        dotted = dotted.rpartition(".")[0]


def _is_dual_by_hand(file: FileFacts) -> bool:
    """A dispatcher that answers server/discover beside the methods of a server serves 2026-07-28 without our help."""
    return (
        not is_test(file.source.path)
        and any(isinstance(fact, Dispatcher) and "server/discover" in fact.methods for fact in file.facts)
        and _answers_discover(file)
    )


def _answers_discover(file: FileFacts) -> bool:
    """Whether a handler gives server/discover an answer; a branch that refuses it, or a list that names it, gives none."""
    routing = (Shape.COMPARE, Shape.CASE, Shape.TABLE, Shape.REGISTER, Shape.DECORATOR, Shape.ATTRIBUTE)
    return any(
        isinstance(fact, Handler)
        and fact.key == "server/discover"
        and fact.shape in routing
        and not fact.negated
        and not (fact.body is not None and b"-32601" in file.source.utf8[slice(*fact.body)])
        for fact in file.facts
    )


def _offers_current(fact: Fact) -> bool:
    uses = (VersionUse.LIST, VersionUse.REPLY, VersionUse.CONSTANT)
    return isinstance(fact, Version) and fact.key == words.CURRENT and fact.use in uses


def _is_django_gate(file: FileFacts) -> bool:
    """Whether a file has middleware of Django that knows the header of the session."""
    text = file.source.utf8
    return b"get_response" in text and b"django" in text and b"mcp-session-id" in text.lower().replace(b"_", b"-")


def _uses_sdk(file: FileFacts) -> bool:
    return any(word.startswith("import ") for word in file.evidence)


def _is_session_call(call: Call) -> bool:
    receiver = call.receiver.rpartition(".")[2].lower()
    match call.key:
        case "initialize":
            return receiver.endswith(("session", "client"))
        case "create_message" | "elicit" | "elicit_form" | "elicit_url":
            return "session" in receiver or receiver in ("ctx", "context")
        case _:
            return call.receiver != "self"


def _dispatchers(file: FileFacts) -> Iterator[Dispatcher]:
    """Functions, tables and registries that route at least two of a server's methods."""
    groups: dict[tuple[str, Shape], list[Handler]] = defaultdict(list)
    for fact in file.facts:
        if isinstance(fact, Handler):
            tested = fact.shape in (Shape.COMPARE, Shape.CASE, Shape.SUBSTRING)
            groups[fact.scope if tested or fact.shape is Shape.TABLE else "", Shape.COMPARE if tested else fact.shape].append(fact)
    for (scope, shape), handlers in groups.items():
        if shape in (Shape.MEMBER, Shape.TYPE):
            continue
        methods = frozenset(str(handler.key) for handler in handlers)
        served = methods & words.SERVER_REQUESTS
        if len(served) > 1 and served - {"initialize"}:
            first = next((handler for handler in handlers if handler.key == "initialize"), handlers[0])
            yield Dispatcher(first.span, "server", scope, methods=methods, function=scope if shape is Shape.COMPARE else "")
