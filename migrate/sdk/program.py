"""The modules of a project as the typed wing reads them: parsed when they are asked for, with the types of their expressions."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from pathlib import PurePosixPath

from ..facts.gates import COMPAT_MODULE, HANDLER_MODULE
from ..facts.model import Defined, FileFacts, Ref, Symbol
from ..facts.texts import Texts
from ..facts.vocabulary import imports_standalone
from ..source import Span
from . import majors
from .api import Api, load
from .infer import Inference
from .majors import Line, Major
from .modules import Module
from .quiet import Quiet
from .servers import STANDALONE_CLASSES, Servers, servers
from .symbols import Symbols, attributes
from .types import Known
from .vocabulary import FIELDS, STANDALONE, USES

# What a file has to hold to be worth a look, beside an import of the SDK.
_WORDS = (b"mcp", *USES)


_CALLED = re.compile(rb"\b(\w+)\(", re.ASCII)
_FOR_BOTH = re.compile(r"^# parts: (?:\w+ )*both\b", re.MULTILINE)
_SCANS = 20  # names that are looked for file by file, before an index is made of all
_CALLS = 60  # calls by one name, beyond which nothing is concluded from them


class Program:
    """All files of a run. `find` gives the file that `import name` in a file (a path) reaches."""

    def __init__(
        self,
        files: Mapping[str, FileFacts],
        texts: Texts,
        find: Callable[[str, str], FileFacts | None],
        near: Collection[str],
        packages: Collection[str] = (),
        before: Program | None = None,
        *,
        keeps: bool = False,
        read: Program | None = None,
    ) -> None:
        """`near` are the files that can hold values of the SDK, in the order of `files`; no use is looked for in the others.

        `packages` are folders with an `__init__.py`, which need not be among the files; `before` has modules that may be the same.
        `keeps` is whether the code has to run with both releases of the SDK. `read` has such modules, too, and nothing else of it counts.
        """
        self.keeps = keeps
        self.files = files
        self.texts = texts
        self.near = {path: files[path] for path in near}
        self.packages = packages
        # What `fastmcp` defines takes 14 ms to read, twice as long as what the SDK does: projects without it do not read it.
        self.api: Api = load(standalone=any(imports_standalone(file.source.utf8) for file in self.near.values()))
        self._find = find
        self._modules: dict[str, Module] = {}
        if (given := before or read) is not None:
            same = (path for path in given._modules if path in files and files[path].source is given.files[path].source)
            self._modules.update((path, given._modules[path]) for path in same)
        self._handed: dict[tuple[str, str], bool] = {}
        self._shadowed: dict[tuple[str, str], bool] = {}
        # What speaks for either major goes away while files are fixed: the first look decides.
        self._both: dict[tuple[str, str], bool] = {} if before is None else before._both
        self._standalone: dict[str, Line] = {} if before is None else before._standalone
        self._majors: dict[str, Major] = {} if before is None else dict(before.majors)
        self._folders: dict[str, Major] = {}
        self._symbols: dict[str, tuple[Defined, ...]] = {}
        self._callers: dict[str, tuple[tuple[Module, ast.Call], ...]] = {}
        self._newer: dict[str, frozenset[ast.AST]] = {}
        self.memo: dict[str, object] = {}  # what rules have worked out about the whole program
        self._fields: dict[str, frozenset[str]] = {}
        self.inference = Inference(self)
        self._quiet = Quiet(self)
        self._mixed: bool = majors.is_mixed(self) if before is None else before._mixed

    def symbols(self, path: str) -> tuple[Defined, ...]:
        """Every use of something that the SDK or `fastmcp` defines, in one file."""
        if path not in self._symbols:
            self._symbols[path] = tuple(self._found(path))
        return self._symbols[path]

    def _found(self, path: str) -> Iterator[Defined]:
        if path in self.near and any(word in self.files[path].source.utf8 for word in _WORDS):
            module = self.module_at(path)
            sdk = not self.is_shadowed(module) and not self.supports_both(path)
            # Each of both may be the project's own, or asked for in both ways, without the other.
            standalone = bool(self.api.standalone) and not self._runs_with_both(path) and not self.is_shadowed(module, STANDALONE)
            if sdk or standalone:
                found = Symbols(module, self.inference).all()
                yield from (one for one in found if (sdk if isinstance(one, Symbol) else standalone))

    @cached_property
    def servers(self) -> Servers:
        """The FastMCP servers, with what is done with each."""
        return servers(self, {path: self.symbols(path) for path in self.near})

    @cached_property
    def standalone_servers(self) -> Servers:
        """The servers of the package `fastmcp`, with what is done with each."""
        return servers(self, {path: self.symbols(path) for path in self.near}, STANDALONE_CLASSES)

    def line(self, path: str) -> Line:
        """Which releases of `fastmcp` a file is written for, or was before it was fixed."""
        if path not in self._standalone:
            self._standalone[path] = majors.line(self, path)
        return self._standalone[path]

    def _runs_with_both(self, path: str) -> bool:
        """Whether a file is for 3 and 4 of `fastmcp`, and asks for more than names to be so, or need not be."""
        return self.line(path) is Line.BOTH and not (self.keeps and majors.is_plain(self.module_at(path), self.api, STANDALONE))

    def supports_both(self, path: str) -> bool:
        """Whether a file is for either major: it asks for the one or the other itself, or is what another one asks for."""
        if self.keeps and self.is_guarded(path) and majors.is_plain(self.module_at(path), self.api):
            return False  # it asks for nothing but names: what it does with them has to be right for both
        return self.is_guarded(path) or (self._mixed and self.majors.get(path) is Major.BOTH)

    def is_guarded(self, path: str, root: str = "mcp") -> bool:
        """Whether a file imports what only one major has in one branch, and what only the other one has in another."""
        if (path, root) not in self._both:
            module = self.module_at(path)
            self._both[path, root] = majors.supports_both(module, self.api, root) or (
                root == "mcp" and majors.leans(module, self._handlers_of_both)
            )
        return self._both[path, root]

    @cached_property
    def _handlers_of_both(self) -> bool:
        """Whether the module for handlers that `fix` has written into this project is for both releases."""
        named = (file for path, file in self.files.items() if path.rpartition("/")[2] == HANDLER_MODULE)
        return any(_FOR_BOTH.search(file.source.text) is not None for file in named)

    def newer_in(self, module: Module) -> frozenset[ast.AST]:
        """The imports of the newer release in guards that give the same names from the older one, where both have to work."""
        if not self.keeps or (b"except" not in module.source.utf8 and module.path.rpartition("/")[2] != COMPAT_MODULE):
            return frozenset()
        if module.path not in self._newer:
            self._newer[module.path] = frozenset(majors.newer(module, self.api))
        return self._newer[module.path]

    def lacks(self, before: FileFacts, after: FileFacts) -> str:
        """What a file has come to import that the older release does not have, as "mcp 1 has no ..."; "" for nothing."""
        if b"mcp" not in after.source.utf8:
            return ""
        modules = [Module(file.source, file.module, package=False) for file in (before, after)]
        for root, release in (("mcp", "mcp 1"), (STANDALONE, "fastmcp 3")):
            old, new = (majors.unguarded(module, self.api, root) for module in modules)
            if lacking := min(new - old, default=""):
                return f"{release} has no `{lacking}`"
        return ""

    def in_guard(self, path: str, span: Span) -> bool:
        """Whether these bytes lie in a guard that gives the same names from either release."""
        module = self.module_at(path)
        roots = ("mcp", STANDALONE) if self.api.standalone else ("mcp",)
        return any(module.span(guard).contains(span) for root in roots for guard in majors.choices(module, self.api, root))

    @property
    def majors(self) -> Mapping[str, Major]:
        """What each file is written for, or was before it was fixed."""
        if not self._majors.keys() >= self.files.keys():
            self._majors.update(majors.decide(self, self._majors))
        return self._majors

    def is_moved(self, path: str) -> bool:
        """Whether a file is written for the newer release already: what looks the same in both is right there."""
        major = self.majors.get(path, Major.NONE)
        return (self._around(path) if major in (Major.EITHER, Major.NONE) else major) is Major.TWO

    def _around(self, path: str) -> Major:
        """What the files around one are written for, in the innermost folder where that can be told: older code, if there is any."""
        if not self._folders:
            self._folders.update(majors.by_folder(self.majors))
        folder = path.rpartition("/")[0]
        while folder and folder not in self._folders:
            folder = folder.rpartition("/")[0]
        return self._folders.get(folder, Major.EITHER)

    def type(self, node: ast.expr, module: Module) -> Known | None:
        """What an expression stands for; None where that is not known."""
        return self.inference.type(node, module)

    def sends_nothing(self, path: str, span: Span) -> bool:
        """Whether what is called at these bytes, by the name of a request, only runs functions of the project that send nothing."""
        module = self.module_at(path)
        node = module.at(span)
        return isinstance(node, ast.Call) and self._quiet.call(node, module)

    def fields_of(self, path: str) -> frozenset[str]:
        """The attributes that classes of a file define, of those that the SDK has under another name now."""
        if path not in self._fields:
            data = self.files[path].source.utf8
            named = [name for name in FIELDS if name.encode() in data]
            self._fields[path] = attributes(self.module_at(path)) & frozenset(named) if named else frozenset()
        return self._fields[path]

    # -- what the inference asks -------------------------------------------------
    def module_at(self, path: str) -> Module:
        """A file as a module. Raises KeyError for a path that is not part of the run."""
        if path not in self._modules:
            file = self.files[path]
            self._modules[path] = Module(file.source, file.module, package=PurePosixPath(path).stem == "__init__")
        return self._modules[path]

    def locate(self, dotted: str, importer: Module) -> tuple[Module, str] | None:
        """The project's own module that a dotted name leads into, and the rest of the name."""
        parts = dotted.split(".")
        for end in range(len(parts), 0, -1):
            found = self._find(".".join(parts[:end]), importer.path)
            if found is not None and found.source.path in self.files and (end == len(parts) or found.source.path != importer.path):
                return self.module_at(found.source.path), ".".join(parts[end:])
        # Tests of some projects reach their code from above `src`.
        return self.locate(dotted.removeprefix("src."), importer) if dotted.startswith("src.") else None

    def hands_on(self, dotted: str, importer: str) -> bool:
        """Whether a name that a file (a path) imports is one of the project's own modules' for something of the SDK or `fastmcp`."""
        key = dotted, importer
        if key not in self._handed:
            self._handed[key] = False  # for modules that import each other
            home, _, name = dotted.rpartition(".")
            file = self._find(home, importer) if home else None
            if file is not None:
                value = file.names.get(name)
                further = file.imports.get(name) or (value.name if isinstance(value, Ref) else "")
                known = further.partition(".")[0] in self.api.roots or any(self.api.exported(star, name) for star in file.stars)
                self._handed[key] = known or (bool(further) and self.hands_on(further, file.source.path))
        return self._handed[key]

    def is_shadowed(self, importer: Module, root: str = "mcp") -> bool:
        """Whether `mcp`, or another package, is one of the project's own, as imports of this file see it."""
        key = (importer.path, "mcp" if root == "mcp_types" else root)
        if key not in self._shadowed:
            self._shadowed[key] = self._is_own(importer, key[1])
        return self._shadowed[key]

    def _is_own(self, importer: Module, name: str) -> bool:
        folders = importer.path.split("/")[:-1]
        above = ["/".join([*folders[:depth], name]) for depth in range(len(folders), -1, -1)]
        # Inside of a package, a neighbour is no top-level module; nor is one of a package further up.
        homes = [home for home in above if not self._is_package(home.rpartition("/")[0])]
        own = self._own(name)
        return any(home in own and self._leads(home, importer, name) for home in [*homes, f"src/{name}"])

    def _is_package(self, folder: str) -> bool:
        return folder in self.packages or f"{folder}/__init__.py".lstrip("/") in self.files

    def is_shared(self, name: str, module: Module) -> bool:
        """Whether another file may take a name from a module: it says the name, and imports something of the module's name."""
        word = name.encode()
        likely = self.texts.importing_like(module.name.rpartition(".")[2])
        return any(path != module.path and word in self.files[path].source.utf8 for path in likely)

    def callers(self, name: str) -> Iterator[tuple[Module, ast.Call]]:
        """All calls of the project by the last part of what is called; none for a name that half the project calls something by."""
        if name not in self._callers:
            modules = map(self.module_at, self._mentioning(name))
            self._callers[name] = tuple((module, call) for module in modules for call in module.calls.get(name, ()))
        yield from self._callers[name]

    def _mentioning(self, name: str) -> list[str]:
        """The files that may hold such calls. Each call has its function looked up, so that `run` or `get` would cost minutes."""
        if name not in self._mentions:
            if len(self._mentions) < _SCANS:
                word = f"{name}(".encode()
                counts = {path: count for path, file in self.near.items() if (count := file.source.utf8.count(word))}
            else:
                counts = self._called.get(name, {})
            self._mentions[name] = [*counts] if sum(counts.values()) <= _CALLS else []
        return self._mentions[name]

    @cached_property
    def _mentions(self) -> dict[str, list[str]]:
        return {}

    @cached_property
    def _called(self) -> dict[str, dict[str, int]]:
        """How often each name is called in each file: worth its second for 2,000 files once many names have been asked for."""
        found: dict[str, dict[str, int]] = defaultdict(dict)
        for path, file in self.near.items():
            for name, count in Counter(_CALLED.findall(file.source.utf8)).items():
                found[name.decode()][path] = count
        return found

    def _own(self, name: str) -> dict[str, list[str]]:
        """The folders and modules called `mcp`, or by another name, with the files that belong to them."""
        if name not in self._named:
            found = self._named[name] = defaultdict(list)
            for path in self.files:
                parts = path.removesuffix(".py").split("/")
                if name in parts:
                    found["/".join(parts[: parts.index(name) + 1])].append(path)
        return self._named[name]

    @cached_property
    def _named(self) -> dict[str, dict[str, list[str]]]:
        return {}

    def _leads(self, root: str, importer: Module, package: str) -> bool:
        """Whether what a file imports of a package lies below this folder (or is this module), or is no module of the installed one."""
        own = {path.removesuffix(".py").removesuffix("/__init__") for path in self._own(package)[root]}
        names: list[str] = []
        for node in importer.of(ast.Import, ast.ImportFrom):
            if isinstance(node, ast.Import):
                names += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                names.append(node.module)
        if f"{root}.py" in self.files:  # a module has nothing below it
            return not any(name.startswith(f"{package}.") for name in names)
        below = [name for name in names if name.startswith(f"{package}.")] or [name for name in names if name == package]
        return any(f"{root}{name.removeprefix(package).replace('.', '/')}" in own for name in below)
