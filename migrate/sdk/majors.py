"""Which major of the SDK a file is written for: by what it imports, how it registers handlers, and how it spells fields.

Much code looks the same for both and means something else: a constant, a dump without aliases. Only beside other signs can be
told what was meant.
"""

from __future__ import annotations

import ast
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING

from ..facts.gates import COMPAT_MODULE
from ..facts.syntax import descend
from ..facts.vocabulary import imports_standalone
from .api import Api
from .modules import Module
from .types import Instance, members
from .vocabulary import ONLY, STANDALONE

if TYPE_CHECKING:
    from .program import Program

OLD, NEW = 1, 2
_MCP = "mcp"
_IMPORTING = (ast.Import, ast.ImportFrom)
_SNAKE = frozenset(re.sub(r"(?<=[a-z])([A-Z])", lambda found: f"_{found[1].lower()}", name) for name in ONLY)
_IMPORTS = re.compile(rb"^[ \t]*(from|import)[ \t]+mcp(_types)?\b", re.MULTILINE)
# The low-level server's decorators, which the newer release has no more, and what it takes in their place.
_DECORATORS = frozenset(
    {
        "list_tools", "call_tool", "list_resources", "list_resource_templates", "read_resource", "list_prompts", "get_prompt", "completion",
        "set_logging_level", "subscribe_resource", "unsubscribe_resource", "progress_notification",
    }
)  # fmt: skip
_HANDLERS = frozenset(f"on_{name}" for name in _DECORATORS)
_MARKED = re.compile(r"(?m)^[ \t]*except ImportError:  # (?:mcp 1|fastmcp 3)$")
_TOLD = re.compile(rb"\b(?:" + b"|".join(sorted(name.encode() for name in _HANDLERS)) + rb")\s*=")
# Code that asks which of both it runs with.
_ASKED = {
    _MCP: re.compile(rb"\bversion\([\"']mcp[\"']\)|\bfind_spec\([\"']mcp\b"),
    STANDALONE: re.compile(rb"\bversion\([\"']fastmcp[\"']\)|\bfastmcp\.__version__|\bfind_spec\([\"']fastmcp\b"),
}
_ROOTS = {_MCP: ("mcp", "mcp_types"), STANDALONE: (STANDALONE,)}


class Major(Enum):
    """What a file, or the code of a project, is written for."""

    ONE = "mcp 1"
    TWO = "mcp 2"
    BOTH = "both"
    EITHER = "mcp, with nothing that only one of both has"
    OTHER = "the SDK only by way of another package"
    NONE = "nothing of it"


class Line(Enum):
    """Which releases of the standalone `fastmcp` a file is written for."""

    OLD = "fastmcp 2 or 3"
    NEW = "fastmcp 4"
    BOTH = "both"
    EITHER = "fastmcp, with nothing that only one of both has"
    NONE = "nothing of it"


def line(program: Program, path: str) -> Line:
    """Which releases of `fastmcp` a file is written for, by what it imports and says of a version."""
    if not program.api.standalone or not imports_standalone(program.files[path].source.utf8):
        return Line.NONE
    if program.is_guarded(path, STANDALONE):
        return Line.BOTH
    module = program.module_at(path)
    signs = {sign for node in module.of(*_IMPORTING) for sign in _imported(node, program.api, STANDALONE)}
    return Line.OLD if OLD in signs else Line.NEW if signs else Line.EITHER


def supports_both(module: Module, api: Api, root: str = _MCP) -> bool:
    """Whether one branch of a guard imports or does what only the older release has, and another one what only the newer one has."""
    imports = {node: sign for node in module.of(*_IMPORTING) if (sign := {*_imported(node, api, root)})}
    told = root == _MCP and _TOLD.search(module.source.utf8) is not None
    signs = {one for sign in imports.values() for one in sign}
    # Nearly all files end here.
    if NEW not in signs and not told and not (root == STANDALONE and OLD in signs):
        return False
    apart: dict[ast.AST, int] = {}
    for node in module.of(ast.Try, ast.If):
        branches = _branches(node)
        found = [{*_signs(branch, api, root), *(_registers(branch) if root == _MCP else ())} for branch in branches]
        if {OLD} in found and ({NEW} in found or (root == STANDALONE and any(_stays(branch, api) for branch in branches))):
            return True
        for branch, sign in zip(branches, found, strict=True):
            if len(sign) == 1:
                apart.update((inner, next(iter(sign))) for top in branch for inner in descend(top) if inner in imports)
    if signs != {OLD, NEW}:
        return False
    # Each in a guard of its own, or in functions of which the right one is called.
    return (apart.keys() >= imports.keys() and {*apart.values()} == {OLD, NEW}) or _ASKED[root].search(module.source.utf8) is not None


def leans(module: Module, handlers: bool) -> bool:
    """Whether a file uses what `fix` writes for both releases; `handlers` is whether the module for handlers is for both."""
    names = (b"mcp_compat", *((b"mcp_handlers",) if handlers else ()))
    if not any(name in module.source.utf8 for name in names):
        return False
    wanted = tuple(name.decode() for name in names)
    return any(
        alias.name.rpartition(".")[2] in wanted or f"{getattr(node, 'module', '') or ''}".rpartition(".")[2] in wanted
        for node in module.of(*_IMPORTING)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    )


def is_plain(module: Module, api: Api, root: str = _MCP) -> bool:
    """Whether all that a file for both does for that is to import the same names from either release."""
    if (root == _MCP and _TOLD.search(module.source.utf8) is not None) or _ASKED[root].search(module.source.utf8) is not None:
        return False
    inside: set[ast.AST] = set()
    # Those that `fix` has written: whoever has written others knows what they are for.
    plain = {guard for guard in choices(module, api, root) if _MARKED.search(module.source.slice(module.span(guard)))}
    for node in module.of(ast.Try, ast.If):
        branches = _branches(node)
        found = [{*_signs(branch, api, root)} for branch in branches]
        newer = {NEW} in found or (root == STANDALONE and any(_stays(branch, api) for branch in branches))
        if {OLD} in found and newer and node not in plain:
            return False
        inside.update(descend(node) if node in plain else ())
    return all(NEW not in {*_imported(node, api, root)} for node in module.of(*_IMPORTING) if node not in inside)


def choices(module: Module, api: Api, root: str = _MCP) -> Iterator[ast.Try]:
    """The guards that import the same names from either release, and do nothing else."""
    for node in module.of(ast.Try):
        if not isinstance(node, ast.Try) or node.orelse or node.finalbody:
            continue
        branches = _branches(node)
        if not all(isinstance(one, ast.Import | ast.ImportFrom) for branch in branches for one in branch):
            continue
        signs = [{*_signs(branch, api, root)} for branch in branches]
        names = [{alias.asname or alias.name for one in branch for alias in getattr(one, "names", ())} for branch in branches]
        if {NEW} in signs and any(NEW not in sign for sign in signs) and all(one == names[0] for one in names):
            yield node


def unguarded(module: Module, api: Api, root: str = _MCP) -> frozenset[str]:
    """The names that a file imports although the older release has none of them, as far as no guard says what is done then."""
    inside = {inner for node in module.of(ast.Try, ast.If) for inner in descend(node)}
    found = set()
    for node in module.of(*_IMPORTING):
        if node in inside:
            continue
        for alias in getattr(node, "names", ()):
            one = ast.ImportFrom(node.module, [alias], node.level) if isinstance(node, ast.ImportFrom) else ast.Import([alias])
            if _is_lacking(one, api, root):
                found.add(f"{node.module}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name)
    return frozenset(found)


def _is_lacking(node: ast.Import | ast.ImportFrom, api: Api, root: str) -> bool:
    """Whether an import of one name works in the newer release, and not in the older one: what 2 alone had is none of `fastmcp` 3."""
    if root != STANDALONE:
        return NEW in {*_imported(node, api, root)}
    module, name = (node.module or "", node.names[0].name) if isinstance(node, ast.ImportFrom) else (node.names[0].name, "")
    name = name.removesuffix("*")
    stays = api.stays(module, name) if name else module in api.new["modules"]
    return not getattr(node, "level", 0) and module.partition(".")[0] == root and stays and not api.kept(module, name)


def newer(module: Module, api: Api) -> Iterator[ast.AST]:
    """The names of these guards that come from the newer release; a class that stands in for one of the older release as well."""
    if module.path.rpartition("/")[2] == COMPAT_MODULE:
        yield from (node for node in module.of(ast.ClassDef) if isinstance(node, ast.ClassDef))
        yield from (alias for node in module.of(ast.ImportFrom) for alias in getattr(node, "names", ()) if NEW in {*_imported(node, api)})
        return
    for root, guard in ((one, guard) for one in _ROOTS for guard in choices(module, api, one)):
        for branch in _branches(guard):
            if {*_signs(branch, api, root)} == {NEW}:
                yield from (alias for one in branch for alias in getattr(one, "names", ()))


def decide(program: Program, known: Mapping[str, Major]) -> dict[str, Major]:
    """What each file is written for that is not among the known ones."""
    found = dict(known)
    new = [path for path in program.files if path not in found]
    found.update((path, _judged(program, path)) for path in new)
    if {Major.ONE, Major.TWO} <= {*found.values()}:
        found.update((path, Major.BOTH) for path in _sides(program, found) if path in new)
    return {path: found[path] for path in new}


def by_folder(decided: Mapping[str, Major]) -> dict[str, Major]:
    """What the files below each folder are written for, where some of them show it: for the older release, if any of them is."""
    found: dict[str, Major] = {}
    order = (Major.ONE, Major.BOTH, Major.TWO)
    for path, major in decided.items():
        folder = path
        while major in order and folder:
            folder = folder.rpartition("/")[0]
            found[folder] = min(major, found.get(folder, major), key=order.index)
    return found


def is_mixed(program: Program) -> bool:
    """Whether some file shows at once that it is for the newer release, so that another one may be its counterpart."""
    files = ((path, file.source.utf8) for path, file in program.near.items())
    named = ((path, data) for path, data in files if _IMPORTS.search(data) is not None)
    return any(
        _TOLD.search(data) is not None or any(NEW in _imported(node, program.api) for node in program.module_at(path).of(*_IMPORTING))
        for path, data in named
    )


def _judged(program: Program, path: str) -> Major:
    if _IMPORTS.search(program.files[path].source.utf8) is None or program.is_shadowed(program.module_at(path)):
        return Major.NONE
    if program.is_guarded(path):
        return Major.BOTH
    signs = {*_signs_of(program, path)}
    return Major.ONE if OLD in signs else Major.TWO if signs else Major.EITHER


def _signs_of(program: Program, path: str) -> set[int]:
    module = program.module_at(path)
    imports = (node for node in module.of(*_IMPORTING) if not _is_own(node, program, module))
    signs = {sign for node in imports for sign in _imported(node, program.api)}
    if signs:
        return signs

    def is_ours(value: ast.expr, *, surely: bool) -> bool:
        types = [*members(program.type(value, module))]
        return (bool(types) or not surely) and all(isinstance(one, Instance) and program.api.is_class(one.name) for one in types)

    for node in module.nodes:
        match node:
            case ast.Call(func=ast.Attribute(attr=name, value=value)) if name in _DECORATORS and _decorates(node, module):
                if is_ours(value, surely=False):
                    signs.add(OLD)
            case ast.Call(func=ast.Attribute(attr="add_request_handler", value=value)) if is_ours(value, surely=False):
                signs.add(NEW)
            case ast.Attribute(attr=attr, value=value) if (attr in _SNAKE or attr in ONLY) and is_ours(value, surely=True):
                signs.add(NEW if attr in _SNAKE else OLD)
            case ast.keyword(arg=str(name)) if name in _HANDLERS:
                signs.add(NEW)
    return signs


def _is_own(node: ast.AST, program: Program, module: Module) -> bool:
    """Whether an import takes types from a module of the project that happens to be called as that of the SDK."""
    named = isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "mcp_types"
    return named and program.locate("mcp_types", module) is not None


def _decorates(node: ast.Call, module: Module) -> bool:
    above = module.parents.get(node)
    return isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef) and node in above.decorator_list


def _sides(program: Program, decided: Mapping[str, Major]) -> set[str]:
    """The files for one major that a guard chooses in place of files for the other one, and what only these import."""
    written = {path: OLD if major is Major.ONE else NEW for path, major in decided.items() if major in (Major.ONE, Major.TWO)}
    names = [path.removesuffix("/__init__.py").rpartition("/")[2].removesuffix(".py") for path in written]
    stems = [re.escape(os.fsencode(name)) for name in names]
    named = re.compile(rb"\b(?:%s)\b" % b"|".join(sorted({*stems})))

    @cache
    def reached(path: str) -> dict[ast.AST, set[str]]:
        module = program.module_at(path)
        if named.search(module.source.utf8) is None:
            return {}
        return {node: {*_targets(program, module, node)} & written.keys() for node in module.of(*_IMPORTING)}

    sides: set[str] = set()
    for path in program.files:
        targets = reached(path)
        if not any(targets.values()):
            continue
        module = program.module_at(path)
        # Only what stands around such an import can choose: to look into each branch of each long chain took a tenth of a large run.
        around = {above for node, found in targets.items() if found for above in module.around(node)}
        for node in module.of(ast.Try, ast.If):
            if node not in around:
                continue
            signs, files = [], []
            for branch in _branches(node):
                inner = [one for top in branch for one in descend(top) if isinstance(one, ast.Import | ast.ImportFrom)]
                chosen = {target for one in inner for target in targets.get(one, ())} - {path}
                signs.append({*(written[target] for target in chosen), *_signs(branch, program.api)})
                files.append(chosen)
            if {OLD} in signs and {NEW} in signs:
                sides.update(target for sign, chosen in zip(signs, files, strict=True) if len(sign) == 1 for target in chosen)
    importers: defaultdict[str, set[str]] = defaultdict(set)
    for path in program.files if sides else ():
        for target in {target for found in reached(path).values() for target in found} - {path}:
            importers[target].add(path)
    while more := {path for path, users in importers.items() if path not in sides and users <= sides}:
        sides |= more
    return sides


def _targets(program: Program, module: Module, node: ast.AST) -> Iterator[str]:
    """The project's own files that an import reaches."""
    names: list[str] = []
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        base = module.imported_from(node)
        names = [f"{base}.{alias.name}" for alias in node.names]
    for name in names:
        if (found := program.locate(name, module)) is not None:
            yield found[0].path


def _branches(node: ast.AST) -> list[list[ast.stmt]]:
    match node:
        case ast.Try():
            return [[*node.body, *node.orelse], *(handler.body for handler in node.handlers)]
        case ast.If():
            return [node.body, node.orelse] if node.orelse else [node.body]
    return []


def _stays(branch: Iterable[ast.stmt], api: Api) -> bool:
    """Whether a branch imports something of `fastmcp`, and release 4 has all of it, as 3 may have had."""
    names: list[tuple[str, str]] = []
    for top in branch:
        for node in descend(top):
            if isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").partition(".")[0] == STANDALONE:
                names += [(node.module or "", alias.name) for alias in node.names]
    return bool(names) and all(api.stays(module, name) for module, name in names)


def _registers(nodes: Iterable[ast.AST]) -> Iterator[int]:
    """What the ways say in which a low-level server is told its handlers: decorators, or arguments."""
    for top in nodes:
        for node in descend(top):
            match node:
                case ast.keyword(arg=str(name)) if name in _HANDLERS:
                    yield NEW
                case ast.FunctionDef(decorator_list=decorators) | ast.AsyncFunctionDef(decorator_list=decorators):
                    for one in decorators:
                        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in _DECORATORS:
                            yield OLD


def _signs(nodes: Iterable[ast.AST], api: Api, root: str = _MCP) -> Iterator[int]:
    """What the imports below some nodes say."""
    for top in nodes:
        for node in descend(top):
            yield from _imported(node, api, root)


def _imported(node: ast.AST, api: Api, root: str = _MCP) -> Iterator[int]:
    """What one import says; nothing for other nodes."""
    if isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").partition(".")[0] in _ROOTS[root]:
        for alias in node.names:
            yield from _sign(f"{node.module}", alias.name, api)
    elif isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name.partition(".")[0] in _ROOTS[root]:
                yield from _sign(alias.name, "", api)


def _sign(module: str, name: str, api: Api) -> Iterator[int]:
    if module.partition(".")[0] == "mcp_types":  # came with the newer release
        if name and api.stays(f"mcp.types{module.removeprefix('mcp_types')}", name):
            yield NEW
        return
    if module == "mcp.types" and not name:
        return
    old = api.was(module, name) if name and name != "*" else module in api.old["modules"]
    new = api.stays(module, name) if name and name != "*" else module in api.new["modules"]
    if old != new:
        yield OLD if old else NEW
