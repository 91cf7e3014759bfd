"""The reading half of a run: paths to a linked project, with a finding for everything that could not be read."""

from __future__ import annotations

import ast
import contextlib
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import PurePosixPath

from . import discover, disk, documents, house, inline, notebooks
from .discover import File, Unreadable
from .documents import Example
from .facts.borrowed import BORROWED, may_borrow
from .facts.model import FileFacts, Ref, Requirement, Value
from .facts.vocabulary import imports_sdk, imports_standalone, may_speak
from .feeders import Feeders, dispatches
from .inline import Carried
from .manifests import files as manifests
from .notebooks import Notebook
from .project import Project, module_name
from .project import read as facts_of
from .rule import Entry, Finding
from .sdk.vocabulary import STANDS_IN, USES
from .source import Source, decode, is_test

_SDK = "mcp"
_ROOM = 32_000_000  # bytes of silent files that are kept until it is known whether they are needed

_EVERYBODYS = frozenset({"jsonrpc"})  # what other protocols say as well

# What asks its client, and what has to be waited for since a newer release: whoever calls the function around it has a part in the change.
_ASKS = (b".elicit", b".create_message", b".list_roots", b"get_state", b"set_state")
_COPIES = b".import_server("
_READS = (b"stdin", b"readline", b"input(")


@dataclass(frozen=True)
class Document:
    """A document with examples that may hold protocol code."""

    source: Source
    examples: tuple[Example, ...]


@dataclass(frozen=True)
class Reading:
    """What a run has read. Only files that may hold protocol code are decoded; `checked` counts the others too."""

    project: Project
    data: dict[str, bytes]  # the bytes on disk of each decoded file; a deletion may ask for more of them
    locations: Mapping[str, str]  # where each file lies that was found
    unreadable: tuple[Finding, ...]
    unparsed: Mapping[str, Source]  # the text of files that could be decoded, but no more
    checked: int
    # The modules inside of scripts, by the script's path and their file names.
    carried: Mapping[str, Mapping[str, Carried]] = field(default_factory=dict)
    notebooks: Mapping[str, Notebook] = field(default_factory=dict)  # as they are on disk, by the paths of their modules
    documents: Mapping[str, Document] = field(default_factory=dict)
    installed: frozenset[str] = frozenset()  # files of installed packages that have no word of the protocol

    @property
    def sources(self) -> Mapping[str, Source]:
        """The text of every file that has one, for positions and comments."""
        files = (*self.project.manifests.items(), *self.project.files.items())
        shown = {path: document.source for path, document in self.documents.items()}
        return {**self.unparsed, **shown, **{path: file.source for path, file in files if path not in self.project.outside}}


def gather(
    found: Iterable[tuple[File, bytes] | Unreadable], rule: Entry, above: Iterable[str] = (), root: str = "", *, keeps: bool = False
) -> Reading:
    """Links the files that may hold protocol code, and those that give them constants or messages; `rule` objects to the unreadable.

    `above` are the paths (absolute) whose surroundings tell what is installed with the code, `root` is what paths are relative to.
    `keeps` is whether the code has to run with both releases of the SDK.
    """
    reader = _Reader(rule, keeps=keeps)
    for item in found:
        if isinstance(item, Unreadable):
            reader.unreadable.append(house.finding(rule, item.path, item.reason))
            continue
        file, raw = item
        if file.path.endswith(documents.SUFFIXES):
            reader.leaf_through(file, raw)
        if manifests.kind_of(file.path) is not None:
            reader.look_at(file, raw)
            if not file.path.endswith(discover.SUFFIXES):
                continue
        if file.path.endswith(documents.SUFFIXES):
            continue
        reader.locations[file.path] = file.location
        if notebooks.is_notebook(file.path):
            reader.unpack(file, raw)
            continue
        if may_speak(raw):
            reader.add(file, raw)
        else:
            reader.pass_over(file, raw)
    reader.look_above(above, root)
    reader.leave_installed(root)
    reader.look_up_constants()
    reader.look_for_feeders()
    reader.look_for_loops()
    reader.look_for_borrowers()
    reader.look_for_callers()
    reader.look_for_mains()
    reader.kept.clear()
    reader.look_beside(root)
    reader.take_apart()
    return reader.done()


class _Reader:
    """What has been read so far."""

    def __init__(self, rule: Entry, *, keeps: bool) -> None:
        self.rule, self.keeps = rule, keeps
        self.facts: list[FileFacts] = []
        self.data: dict[str, bytes] = {}
        self.locations: dict[str, str] = {}
        self.unreadable: list[Finding] = []
        self.unparsed: dict[str, Source] = {}
        self.packages: set[str] = set()
        self.manifests: dict[str, tuple[FileFacts, File, bytes]] = {}
        self.outside: set[str] = set()
        self.carried: dict[str, Mapping[str, Carried]] = {}
        self.notebooks: dict[str, Notebook] = {}
        self.documents: dict[str, Document] = {}
        self.pages: dict[str, bytes] = {}  # what these are on disk
        # The files without a word of the protocol, by the last part of their module's name.
        self.silent: defaultdict[str, list[File]] = defaultdict(list)
        # Their content, as far as it does not take too much: it is asked for again once there is a dispatcher.
        self.kept: dict[str, bytes] = {}
        self.room = _ROOM
        # The silent files that were asked for; None for one that cannot be read.
        self.looked_up: dict[str, FileFacts | None] = {}
        self.installed: set[str] = set()
        self.package_of: Callable[[str], str] = lambda path: ""
        # What holds dispatchers, and packages that hand them on.
        self.passing: set[str] = set()

    def leaf_through(self, file: File, raw: bytes) -> None:
        """Keeps a document if one of its examples may hold protocol code."""
        if documents.may_show(file.path, raw) and (source := documents.read(file.path, raw)) is not None:
            examples = documents.examples(source)
            if examples:
                self.documents[file.path] = Document(source, tuple(examples))
                self.locations[file.path] = file.location
                self.pages[file.path] = raw

    def unpack(self, file: File, raw: bytes) -> None:
        """Reads the cells of a notebook as a module; those that cannot be parsed are told one by one."""
        try:
            for notebook in notebooks.read(file.path, raw):
                self.facts.append(facts_of(notebook.source))
                self.notebooks[notebook.path] = notebook
                self.data[file.path] = raw
                for line, error in notebooks.broken(notebook):
                    self.unreadable.append(house.unreadable(self.rule, notebook.path, error, notebook.source, line))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            self.unreadable.append(house.unreadable(self.rule, file.path, error))

    def look_at(self, file: File, raw: bytes) -> None:
        """Keeps a file beside the code if it says something about the SDK, or what may come along with it."""
        if manifests.may_ask(file.path, raw):
            # One that is written as no other is says nothing: no line of it can be shown.
            with contextlib.suppress(SyntaxError, UnicodeDecodeError):
                facts = manifests.read(decode(file.path, raw))
                if facts.facts:
                    self.manifests[file.path] = facts, file, raw

    def look_above(self, paths: Iterable[str], root: str) -> None:
        """Reads what says, around and above the given paths, which packages the code is installed with, and the project's own `mcp`."""
        folders: set[str] = set()
        for path in dict.fromkeys(paths) if self.facts else ():
            for folder, names in discover.above(path, manifests.installs, manifests.TOPS):
                if folder not in folders:
                    folders.add(folder)
                    for name in names:
                        self._take_outside(os.path.join(folder, name), root)
                    self._look_for_namesake(folder, root)

    def _take_outside(self, location: str, root: str) -> None:
        path = os.path.relpath(location, root).replace(os.sep, "/")
        if path in self.manifests or path in self.data or path in self.unparsed:
            return
        raw = discover.read(File(path, location))
        if not isinstance(raw, Unreadable):
            self.look_at(File(path, location), raw)
            if path in self.manifests:
                self.outside.add(path)

    def _look_for_namesake(self, folder: str, root: str) -> None:
        """A package of the project that is called `mcp` is what its code imports, though it is no part of the run."""
        for base in (folder, os.path.join(folder, "src")):
            package = os.path.join(base, _SDK)
            found = [f"{package}.py"]
            if disk.is_file(os.path.join(package, "__init__.py")):
                found = [os.path.join(package, name) for name in disk.names(package) if name.endswith(".py")]
            for location in found:
                path = os.path.relpath(location, root).replace(os.sep, "/")
                if (
                    path.startswith("../")
                    or path in self.data
                    or path in self.unparsed
                    or path in self.locations
                    or not disk.is_file(location)
                ):
                    continue
                data = discover.read(File(path, location))
                if not isinstance(data, Unreadable):
                    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
                        source = decode(path, data)
                        ast.parse(source.text)
                        self.facts.append(FileFacts(source, module_name(path)))
                        self.outside.add(path)

    def pass_over(self, file: File, raw: bytes) -> None:
        self.silent[module_name(file.path).rpartition(".")[2]].append(file)
        if len(raw) <= self.room:
            self.room -= len(raw)
            self.kept[file.path] = raw

    def read(self, file: File) -> bytes | Unreadable:
        return self.kept[file.path] if file.path in self.kept else discover.read(file)

    def add(self, file: File, raw: bytes) -> None:
        source = None
        try:
            source = decode(file.path, raw)
            if (parted := inline.split(source)) is not None:
                source, self.carried[file.path] = parted
            self.facts.append(facts_of(source))
            self.data[file.path] = raw
            if disk.is_file(os.path.join(os.path.dirname(file.location), "__init__.py")):
                self.packages.add(os.path.dirname(file.path))
        # A null byte is a ValueError before Python 3.12, absurd nesting a MemoryError in some places of the parser.
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            self.unreadable.append(house.unreadable(self.rule, file.path, error, source))
            if source is not None:
                self.unparsed[file.path] = source

    def leave_installed(self, root: str) -> None:
        """Installed packages that do not speak the protocol are not looked into, as they are not where they lie outside of the run.

        Of 10,000 files, 9,000 of them in packages that the projects import, 3,500 would be read: 47 s in place of 9.
        """
        if not self.facts:
            return
        homes: discover.Homes = {}
        self.package_of = lambda path: discover.package_of(path, root, homes)
        speaking = {self.package_of(facts.source.path) for facts in self.facts if facts.evidence - _EVERYBODYS or dispatches(facts)}
        for name, files in self.silent.items():
            package = {file: self.package_of(file.path) for file in files}
            self.silent[name] = [file for file in files if not package[file] or package[file] in speaking]
            self.installed.update(file.path for file in files if package[file] and package[file] not in speaking)

    def look_up_constants(self) -> None:
        """A module of constants need not hold a word of the protocol: `VERSION = "2025-06-18"`. It is read when it is asked for.

        Of such a module only what is asked for leads on, until something speaks: then all that it imports may have a part in a server.
        Without that, one common word in a tree would have half of it read: 2.4 s for 1,538 files in place of 0.4 s.
        """
        self._look_up(_passed_on)
        speaking = {self.package_of(facts.source.path) for facts in self.facts if facts.facts or facts.evidence - _EVERYBODYS}
        if speaking:
            speaking.add("")
            self._look_up(lambda facts, name: facts.imports.values() if self.package_of(facts.source.path) in speaking else ())

    def _look_up(self, passed_on: Callable[[FileFacts, str], Iterable[str]]) -> None:
        names = [(name, facts.source.path) for facts in self.facts for name in _used(facts)]
        asked: set[tuple[str, str]] = set()
        while names:
            name, asking = names.pop()
            package = self.package_of(asking)
            if (name, package) in asked:
                continue
            asked.add((name, package))
            for file, inside in self.defining(name):
                # Into an installed package only its own files lead.
                if self.package_of(file.path) not in ("", package):
                    continue
                if file.path not in self.looked_up:
                    self.looked_up[file.path] = None
                    data = self.read(file)
                    if not isinstance(data, Unreadable):
                        self.add(file, data)
                    if file.path in self.data:
                        self.looked_up[file.path] = self.facts[-1]
                        names += [(used, file.path) for used in _used(self.facts[-1])]
                if (facts := self.looked_up[file.path]) is not None:
                    names += [(further, file.path) for further in passed_on(facts, inside)]

    def look_for_feeders(self) -> None:
        """What a dispatcher is fed by need not hold a word of the protocol either; a package may hand the dispatcher on."""
        held = [facts for facts in self.facts if dispatches(facts)]
        passed = {facts.source.path for facts in held}
        unread = [file for files in self.silent.values() for file in files if file.path not in self.data]
        while feeders := Feeders(held):
            waiting, unread = unread, []
            for file in waiting:
                data = self.read(file)
                if isinstance(data, Unreadable) or not feeders.named_in(file.path, data):
                    unread.append(file)
                else:
                    self.add(file, data)
            packages = (facts for facts in self.facts if _is_package(facts) and facts.source.path not in passed)
            held = [facts for facts in packages if feeders.named_in(facts.source.path, facts.source.utf8)]
            passed.update(facts.source.path for facts in held)
        self.passing = passed

    def look_for_loops(self) -> None:
        """A loop that is handed a dispatcher, `serve(handle)`, imports none: it is read where what hands it over imports it."""
        held = Feeders(facts for facts in self.facts if facts.source.path in self.passing)
        handing = [facts for facts in self.facts if held and held.named_in(facts.source.path, facts.source.utf8)]
        for target in dict.fromkeys(target for facts in handing for target in (*facts.imports.values(), *facts.hidden)):
            for module in (target, target.rpartition(".")[0]):
                for file in self.silent.get(module.rpartition(".")[2], ()):
                    if not f".{module_name(file.path)}".endswith(f".{module}") or file.path in self.data:
                        continue
                    data = self.read(file)
                    if not isinstance(data, Unreadable) and any(word in data for word in _READS):
                        self.add(file, data)

    def look_for_borrowers(self) -> None:
        """Who imports what only comes along with the SDK need not hold a word of the protocol."""
        asked = {fact.key for facts, _, _ in self.manifests.values() for fact in facts.facts if isinstance(fact, Requirement)}
        wanted = [module for module, name in BORROWED.items() if name not in asked] if "mcp" in asked else []
        if wanted:
            for file in [file for files in self.silent.values() for file in files if file.path not in self.data]:
                data = self.read(file)
                if not isinstance(data, Unreadable) and may_borrow(data, wanted):
                    self.add(file, data)

    def look_for_mains(self) -> None:
        """A `__main__` that runs a server of the SDK need not hold a word of the protocol; what it prints may reach the client."""
        mains = [file for file in self.silent.get("__main__", ()) if file.path not in self.data]
        running = (
            Feeders(facts for facts in self.facts if b"stdio" in facts.source.utf8 and imports_sdk(facts.source.utf8)) if mains else None
        )
        for file in mains:
            data = self.read(file)
            if running and not isinstance(data, Unreadable) and b"print(" in data and running.named_in(file.path, data):
                self.add(file, data)

    def look_for_callers(self) -> None:
        """A test that calls what asks its client need not hold a word of the protocol; what it hands over has to stay.

        Nor need what takes values of the SDK from a module that holds some: fields that it reads, decorators, targets of `patch`.
        """
        # Of a server that another one copies, it counts what anybody does with it.
        copies = any(_COPIES in facts.source.utf8 for facts in self.facts)
        asking = Feeders(
            facts
            for facts in self.facts
            if any(word in facts.source.utf8 for word in _ASKS) or (copies and imports_standalone(facts.source.utf8))
        )
        own = {facts.module for facts in self.facts if imports_sdk(facts.source.utf8)}
        holding = Feeders(facts for facts in self.facts if facts.module in own)
        while asking or holding:
            done = len(self.facts)
            for file in [file for files in self.silent.values() for file in files if file.path not in self.data]:
                data = self.read(file)
                if isinstance(data, Unreadable):
                    continue
                # Imports first: they are found faster than words of use are missed.
                uses = bool(holding) and holding.named_in(file.path, data, tests=True) and any(word in data for word in USES)
                # A class of a test that stands in for one of the SDK: whoever imports it is taken in already.
                imitates = bool(own) and is_test(file.path) and STANDS_IN.search(data) is not None
                if uses or imitates or (asking and asking.named_in(file.path, data, tests=True)):
                    self.add(file, data)
            # What a module has by a star it hands on like what it defines.
            asking, holding = Feeders(()), Feeders(facts for facts in self.facts[done:] if own.intersection(facts.stars))

    def defining(self, name: str) -> Iterator[tuple[File, str]]:
        """The files among the silent ones that may define a dotted name, each with the name inside of it."""
        head = name.rpartition(".")[0]
        for module in (head, head.rpartition(".")[0]):  # a class of constants may stand between
            for file in self.silent.get(module.rpartition(".")[2], ()):
                if f".{module_name(file.path)}".endswith(f".{module}"):
                    yield file, name[len(module) + 1 :]

    def look_beside(self, root: str) -> None:
        """Takes in modules that `fix` has written and that are no part of the run: whether one is there decides what is found and fixed."""
        inside = [facts for facts in self.facts if facts.source.path not in self.outside and facts.source.path in self.locations]
        for facts, name in product(inside, inline.MODULES):
            path = str(PurePosixPath(facts.source.path).with_name(name))
            location = os.path.join(os.path.dirname(self.locations[facts.source.path]), name)
            if path in self.data or path in self.unparsed or not disk.is_file(location) or discover.leads_out(location, root):
                continue
            data = discover.read(File(path, location))
            if not isinstance(data, Unreadable):
                with contextlib.suppress(SyntaxError, ValueError):
                    # Nothing is found in it, as it was not asked for.
                    self.facts.append(FileFacts(decode(path, data), module_name(path)))
                    self.data[path] = data

    def take_apart(self) -> None:
        """Gives the modules inside of scripts a place of their own, where none lies beside these."""
        there = {facts.source.path for facts in self.facts}
        for path, modules in self.carried.items():
            for name, carried in modules.items():
                beside = inline.module_beside(path, name)
                if beside not in there:
                    there.add(beside)
                    self.facts.append(FileFacts(Source(beside, carried.module), module_name(beside)))

    def done(self) -> Reading:
        beside = {path: held for path, held in self.manifests.items() if path not in self.data}
        for path, (_, file, raw) in beside.items():
            if path not in self.outside:
                self.data[path] = raw
                self.locations[path] = file.location
        self.data |= self.pages
        kept = {path: facts for path, (facts, _, _) in beside.items()}
        project = Project.link(self.facts, frozenset(self.packages), kept, frozenset(self.outside), keeps=self.keeps)
        return Reading(
            project,
            self.data,
            self.locations,
            tuple(self.unreadable),
            self.unparsed,
            len(self.locations),
            self.carried,
            self.notebooks,
            self.documents,
            frozenset(self.installed),
        )


def _is_package(facts: FileFacts) -> bool:
    return PurePosixPath(facts.source.path).stem == "__init__"


def _used(facts: FileFacts) -> Iterator[str]:
    """The dotted names of other modules that these facts use as values."""
    for use in facts.uses:
        yield from _references(use.value)
    yield from (f"{star}.*" for star in facts.stars)


def _passed_on(facts: FileFacts, name: str) -> Iterator[str]:
    """What a module takes from others for one of its names, or for all of them."""
    first, _, more = name.partition(".")
    if name == "*":
        yield from facts.imports.values()
    elif first in facts.imports:
        yield f"{facts.imports[first]}.{more}" if more else facts.imports[first]
    for known, value in facts.names.items():
        if name == "*" or known in (name, first) or known.startswith(f"{name}."):
            yield from _references(value)
    yield from (f"{star}.{name}" for star in facts.stars)


def _references(value: Value) -> Iterator[str]:
    match value:
        case Ref(name=name, stars=()):
            yield name
        case tuple():
            for item in value:
                yield from _references(item)
