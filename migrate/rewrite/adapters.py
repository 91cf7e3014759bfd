"""The module that `fix` writes beside low-level servers of the SDK, which calls their handlers as version 1 did, and its uses."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from weakref import WeakKeyDictionary

from .. import __version__
from ..facts.gates import HANDLER_MODULE
from ..facts.model import Symbol, SymbolUse
from ..project import Project, is_test
from ..rule import Applicability, Context, Import, NewFile
from ..sdk.modules import How, Module
from ..sdk.types import ClassOf, members
from ..source import Span
from . import lines, written
from .edits import Edit

FILE_NAME = HANDLER_MODULE
NAME = FILE_NAME.removesuffix(".py")
SESSION = "mcp.server.session.ServerSession"
SERVER = "mcp.server.lowlevel.server.Server"
REQUEST_CTX = "mcp.server.lowlevel.server.request_ctx"
# The decorators of version 1, and the part of the module that has each of them now.
DECORATORS: Mapping[str, str] = {
    "list_tools": "tools",
    "call_tool": "tools",
    "list_prompts": "prompts",
    "get_prompt": "prompts",
    "list_resources": "resources",
    "list_resource_templates": "resources",
    "read_resource": "resources",
    "completion": "completion",
    "set_logging_level": "logging",
    "subscribe_resource": "subscriptions",
    "unsubscribe_resource": "subscriptions",
    "progress_notification": "progress",
}
TABLES: Mapping[str, str] = {"request_handlers": "request_handler", "notification_handlers": "notification_handler"}
_NEEDS: Mapping[str, frozenset[str]] = {
    "tools": frozenset({"lists"}),
    "prompts": frozenset({"lists"}),
    "resources": frozenset({"lists", "urls"}),
    "subscriptions": frozenset({"urls"}),
    "request_handler": frozenset({"classes"}),
    "notification_handler": frozenset({"classes"}),
    "answering": frozenset({"classes"}),
    "listening": frozenset({"subscriptions", "urls"}),
}
_ORDER = (
    *dict.fromkeys(DECORATORS.values()),
    "request_handler",
    "notification_handler",
    "answering",
    "listening",
)
_HTTP = ("StreamableHTTPSessionManager", ".streamable_http_app", ".run_streamable_http_async")
_ORIGIN = """\
Written by mcp-migrate {version} when this project moved to version 2 of the SDK, where a server has no decorators for
handlers. The project owns it. As long as nobody has changed it, `mcp-migrate fix` may add parts to it."""
_HOMES: WeakKeyDictionary[Project, dict[str, _Home]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Use:
    """One place that the module takes over: the part of it that is needed, and how the place is rewritten."""

    part: str
    edits: tuple[Edit, ...]
    applicability: Applicability = Applicability.SAFE
    hint: str = ""


@dataclass(frozen=True)
class _Home:
    """Where the module of some files lies, and all that they want of it."""

    folder: str
    parts: frozenset[str]


def use(fact: Symbol, ctx: Context) -> Use | None:
    """What becomes of a use of a low-level server; None where the module has no part in it."""
    return _use(fact, ctx.project, ctx.file.source.path)


def holds_context(project: Project) -> bool:
    """Whether every handler of the project is called by the module, so that its context variable is set in all of them."""
    return not _serves_otherwise(project)


def is_in_test(ctx: Context) -> bool:
    """Whether a file is a test: what its servers tell their clients is nobody's business."""
    return is_test(ctx.file.source.path)


def serves_http(project: Project) -> bool:
    """Whether servers of the project are reached over Streamable HTTP."""
    return any(
        str(fact.key).endswith(_HTTP) or (str(fact.key).endswith("FastMCP.run") and b"streamable-http" in file.source.utf8)
        for path, file in project.files.items()
        if not is_test(path)
        for fact in project.of(path, Symbol)
        if fact.use in (SymbolUse.CALL, SymbolUse.IMPORT)
    )


def is_from_1(ctx: Context) -> bool:
    """Whether a file was written for version 1, before `fix` or after."""
    return not ctx.sdk.is_moved(ctx.file.source.path) or any(NAME in file.imports for file in ctx.project.files.values())


def obstacle(ctx: Context) -> str:
    """Why the module cannot be written, or cannot be used in this file."""
    home = _homes(ctx.project).get(ctx.file.source.path)
    held = ctx.project.files.get(_path(home)) if home is not None else None
    if held is not None and written.parts(held.source.text) is None:
        return f"{held.source.path} exists, and is not as `fix` writes it"
    if any(NAME in scope.bindings and not _is_ours(scope.bindings[NAME]) for scope in ctx.module.scopes.values()):
        return f"`{NAME}` means something else here"
    return ""


def needs(ctx: Context, at: Span) -> Iterator[Edit | Import | NewFile]:
    """The module, and its import where something is rewritten at these bytes."""
    home = _homes(ctx.project).get(ctx.file.source.path)
    if home is None:
        return
    yield from _imported(ctx, home, at)
    path = _path(home)
    held = ctx.project.files.get(path)
    have = written.parts(held.source.text) if held is not None else ()
    if held is None:
        yield NewFile(path, render(home.parts, ctx.file.source.newline))
    elif have is not None and not home.parts <= {*have}:
        yield NewFile(path, render(home.parts | {*have}, held.source.newline), replaces=held.source.text)


def place(ctx: Context) -> str:
    """The module that a file would import from, as a `from` import spells it; for a move of an imported name."""
    home = _homes(ctx.project).get(ctx.file.source.path)
    spelled, either = _spelled(ctx, home) if home is not None else ("", False)
    if either or not spelled:
        return NAME
    return f"{spelled}{NAME}" if spelled.endswith(".") else f"{spelled}.{NAME}"


def render(parts: Collection[str], newline: str = "\n") -> str:
    """The text of the module with these parts, and what they need."""
    chosen = frozenset(parts).union(*(_NEEDS.get(part, ()) for part in parts))
    text = "\n".join(written.lines(written.source(FILE_NAME), chosen))
    names = [part for part in _ORDER if part in parts]
    return written.seal(written.without_unused_imports(text), _ORIGIN.format(version=__version__), names, newline)


# -- what is rewritten -----------------------------------------------------------
def _use(fact: Symbol, project: Project, path: str) -> Use | None:
    key = str(fact.key)
    owner, _, name = key.rpartition(".")
    if owner not in (SERVER, SESSION, "?"):
        return None
    assert project.sdk is not None
    module = project.sdk.module_at(path)
    node = module.at(fact.span)
    if owner == "?":
        return _decorating(node, module) if fact.use is SymbolUse.READ and name in DECORATORS else None
    sure = Applicability.SAFE if fact.sure else Applicability.UNSAFE
    if owner == SESSION:
        return _update(node, project, module, sure) if fact.use is SymbolUse.CALL and name == "send_resource_updated" else None
    if fact.use is SymbolUse.CALL and name in DECORATORS:
        return _registration(node, name, module, sure)
    if fact.use is SymbolUse.READ and name in TABLES and isinstance(node, ast.Attribute):
        return _table(node, name, project, module, sure)
    if fact.use is SymbolUse.READ and name == "request_context" and isinstance(node, ast.Attribute):
        return _context(node, project, module, sure)
    return None


def _registration(node: ast.AST | None, name: str, module: Module, sure: Applicability) -> Use | None:
    """`server.call_tool(...)`: the server becomes the first argument, and stays as it is spelled."""
    match node:
        case ast.Call(func=ast.Attribute(value=server), args=[], keywords=keywords) if not _is_super(server):
            known = {keyword.arg for keyword in keywords} <= ({"validate_input"} if name == "call_tool" else set())
            if not known:
                return None
            opening = module.source.utf8.index(b"(", module.span(node.func).end) + 1
            start, end = module.span(server)
            return Use(
                DECORATORS[name],
                (Edit(Span(start, start), f"{NAME}.{name}("), Edit(Span(end, opening), ", " if keywords else "")),
                sure,
            )
    return None


def _decorating(node: ast.AST | None, module: Module) -> Use | None:
    """A decorator of something unknown: what has such a decorator, and takes no arguments, can hardly be anything else."""
    call = module.parents.get(node) if node is not None else None
    if not isinstance(node, ast.Attribute) or not isinstance(call, ast.Call) or call.func is not node:
        return None
    above = module.parents.get(call)
    decorates = isinstance(above, ast.AsyncFunctionDef) and call in above.decorator_list
    if not decorates or not any(b"mcp.server" in line or b"mcp import" in line for line in module.source.utf8.splitlines()):
        return None
    return _registration(call, node.attr, module, Applicability.UNSAFE)


def _table(node: ast.Attribute, name: str, project: Project, module: Module, sure: Applicability) -> Use | None:
    above = module.parents.get(node)
    match above:
        case ast.Compare(left=asked, ops=[ast.In() | ast.NotIn() as test], comparators=[_]):
            method = _method(asked, project, module)
            if method:
                getter = "get_request_handler" if name == "request_handlers" else "get_notification_handler"
                how = "is not None" if isinstance(test, ast.In) else "is None"
                left, end = module.span(asked).start, module.span(node.value).end
                return Use(
                    "",
                    (
                        Edit(Span(left, module.span(node.value).start)),
                        Edit(Span(end, module.span(node).end), f'.{getter}("{method}") {how}'),
                    ),
                    sure,
                )
        case ast.Subscript(value=table, slice=key) if table is node:
            statement = module.parents.get(above)
            start, behind, end = module.span(node.value).start, module.span(key).start, module.span(key).end
            closing = module.span(above).end
            match statement:
                case ast.Assign(targets=[target], value=value) if target is above:
                    stop = module.span(value)
                    known = bool(_method(key, project, module))
                    return Use(
                        TABLES[name],
                        (
                            Edit(Span(start, start), f"{NAME}.{TABLES[name]}("),
                            Edit(Span(module.span(node.value).end, behind), ", "),
                            Edit(Span(end, stop.start), ")("),
                            Edit(Span(stop.end, stop.end), ")"),
                        ),
                        sure if known else Applicability.UNSAFE,
                    )
                case _ if isinstance(above.ctx, ast.Load) and name == "request_handlers":
                    return Use(
                        "answering",
                        (
                            Edit(Span(start, start), f"{NAME}.answering("),
                            Edit(Span(module.span(node.value).end, behind), ", "),
                            Edit(Span(end, closing), ")"),
                        ),
                        sure if _method(key, project, module) else Applicability.UNSAFE,
                        "outside of a request the handler is called without a client, as before",
                    )
    return None


def _context(node: ast.Attribute, project: Project, module: Module, sure: Applicability) -> Use | None:
    if isinstance(node.value, ast.Attribute) and node.value.attr in ("_mcp_server", "_lowlevel_server"):
        return None
    edits = (Edit(module.span(node), f"{NAME}.request_ctx.get()"),)
    if _serves_otherwise(project):
        return Use("", edits, Applicability.UNSAFE, "it is not set while a handler of `MCPServer` runs")
    return Use("", edits, sure)


def _update(node: ast.AST | None, project: Project, module: Module, sure: Applicability) -> Use | None:
    """`session.send_resource_updated(uri)` of a server whose clients can subscribe."""
    match node:
        case ast.Call(func=ast.Attribute(value=session), args=[uri], keywords=[]) if _subscribes(project):
            start, end = module.span(session)
            opening = module.source.utf8.index(b"(", module.span(node.func).end) + 1
            gap = ", " if opening == module.span(uri).start else ","
            return Use("listening", (Edit(Span(start, start), f"{NAME}.resource_updated("), Edit(Span(end, opening), gap)), sure)
    return None


def _subscribes(project: Project) -> bool:
    """Whether low-level servers take subscriptions, and none of the other kind sends updates of its own."""
    facts = (fact for path in project.files if not is_test(path) for fact in project.of(path, Symbol))
    found = any(fact.key == f"{SERVER}.subscribe_resource" and fact.use is SymbolUse.CALL for fact in facts)
    return found and not _serves_otherwise(project)


def _serves_otherwise(project: Project) -> bool:
    """Whether some server of the project has handlers that the module does not call."""
    facts = (fact for path in project.files if not is_test(path) for fact in project.of(path, Symbol))
    words = ("FastMCP", "MCPServer")
    return any(str(fact.key).endswith(words) for fact in facts if fact.use in (SymbolUse.IMPORT, SymbolUse.NAME))


def _method(node: ast.expr, project: Project, module: Module) -> str:
    """The method of a class of requests or notifications of the SDK; nothing for anything else."""
    assert project.sdk is not None
    found = [one.name.rpartition(".")[2] for one in members(project.sdk.type(node, module)) if isinstance(one, ClassOf)]
    return METHODS.get(found[0], "") if len(found) == 1 else ""


METHODS: Mapping[str, str] = {
    "PingRequest": "ping",
    "ListToolsRequest": "tools/list",
    "CallToolRequest": "tools/call",
    "ListResourcesRequest": "resources/list",
    "ListResourceTemplatesRequest": "resources/templates/list",
    "ReadResourceRequest": "resources/read",
    "SubscribeRequest": "resources/subscribe",
    "UnsubscribeRequest": "resources/unsubscribe",
    "ListPromptsRequest": "prompts/list",
    "GetPromptRequest": "prompts/get",
    "CompleteRequest": "completion/complete",
    "SetLevelRequest": "logging/setLevel",
    "ProgressNotification": "notifications/progress",
    "RootsListChangedNotification": "notifications/roots/list_changed",
    "InitializedNotification": "notifications/initialized",
}


# -- where the module lies -------------------------------------------------------
def _homes(project: Project) -> dict[str, _Home]:
    """The home of the module for each file that uses it."""
    if project not in _HOMES:
        _HOMES[project] = _find_homes(project)
    return _HOMES[project]


def _find_homes(project: Project) -> dict[str, _Home]:
    wanted: dict[str, set[str]] = {}
    for path in project.files:
        for fact in project.of(path, Symbol):
            found = _use(fact, project, path)
            if found is not None and found.applicability is not Applicability.MANUAL:
                wanted.setdefault(path, set()).add(found.part)
            elif str(fact.key) == REQUEST_CTX:
                wanted.setdefault(path, set())
    folders = _packages(project)
    groups: dict[str, list[str]] = {}
    for path in wanted:
        if not is_test(path):
            groups.setdefault(_top(path, folders), []).append(path)
    homes: dict[str, _Home] = {}
    tests = [path for path in wanted if is_test(path)]
    there = [path for path in _written(project) if not is_test(path)]
    if len(groups) == 1:  # tests use what the server has
        next(iter(groups.values())).extend(tests)
    elif not groups and len(there) == 1:
        groups[str(PurePosixPath(there[0]).parent)] = tests
    else:
        for path in tests:
            groups.setdefault(str(PurePosixPath(path).parent), []).append(path)
    for top, paths in groups.items():
        own = [path for path in paths if not is_test(path)] or paths
        held = [path for path in _written(project) if (top in folders and _is_below(path, top)) or str(PurePosixPath(path).parent) == top]
        folder = str(PurePosixPath(held[0]).parent) if len(held) == 1 else _common(own)
        home = _Home(folder, frozenset(part for path in paths for part in wanted[path] if part))
        homes.update(dict.fromkeys(paths, home))
    return homes


def _written(project: Project) -> list[str]:
    """The modules that `fix` has written, and nobody has changed since."""
    found = [path for path in project.files if PurePosixPath(path).name == FILE_NAME]
    return [path for path in found if written.parts(project.files[path].source.text) is not None]


def _is_below(path: str, folder: str) -> bool:
    return PurePosixPath(folder) in PurePosixPath(path).parents


def _packages(project: Project) -> frozenset[str]:
    inits = (path for path in project.files if PurePosixPath(path).name == "__init__.py")
    return project.packages | {str(PurePosixPath(path).parent) for path in inits}


def _top(path: str, packages: Collection[str]) -> str:
    """The outermost package that a file is part of; its own folder where it is part of none."""
    folder = PurePosixPath(path).parent
    top = folder
    for above in (folder, *folder.parents):
        if str(above) not in packages:
            break
        top = above
    return str(top)


def _common(paths: Iterable[str]) -> str:
    parts = [PurePosixPath(path).parent.parts for path in paths]
    shared = []
    for level in zip(*parts, strict=False):
        if len({*level}) > 1:
            break
        shared.append(level[0])
    return "/".join(shared) or "."


def _path(home: _Home) -> str:
    return str(PurePosixPath(home.folder) / FILE_NAME)


# -- how it is imported ----------------------------------------------------------
def _imported(ctx: Context, home: _Home, at: Span) -> Iterator[Edit | Import]:
    module = ctx.module
    node = module.at(at)
    if node is not None and ctx.sdk.inference.bindings(NAME, node, module):
        return
    spelled, either = _spelled(ctx, home)
    anchor = _anchor(module, at)
    if not either and anchor is None:
        yield Import(spelled, NAME) if spelled else Import(NAME, "")
        return
    plain = f"from {spelled} import {NAME}" if spelled else f"import {NAME}"
    text = f"try:\n    {plain}\nexcept ImportError:  # run by its path\n    import {NAME}\n" if either else f"{plain}\n"
    after = anchor or _last_import(module)
    if after is None:
        yield Import(spelled, NAME) if spelled else Import(NAME, "")
    else:
        gap = "\n" if either and anchor is None else ""
        yield _below(module, after, gap + text)


def _spelled(ctx: Context, home: _Home) -> tuple[str, bool]:
    """What stands before `import mcp_handlers`, and whether the file may be run by its path as well: `.`, `package`, or nothing."""
    module, path = ctx.module, ctx.file.source.path
    folder = PurePosixPath(path).parent
    packages = _packages(ctx.project)
    inside = folder == PurePosixPath(home.folder) or PurePosixPath(home.folder) in folder.parents
    depth = len(folder.parts) - len(PurePosixPath(home.folder).parts)
    dots = "." * (depth + 1)
    outer = PurePosixPath(_top(_path(home), packages))
    parts = PurePosixPath(home.folder).parts[len(outer.parent.parts) :] if str(outer) in packages else ()
    dotted = ".".join(parts)
    if not inside or (depth and home.folder not in packages):  # no dots lead out of the outermost package
        return dotted, False
    guarded = {inner for node in module.nodes if isinstance(node, ast.Try) for inner in ast.walk(node)}
    imports = [node for node in module.nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    relative = [node for node in imports if isinstance(node, ast.ImportFrom) and node.level]
    if relative:
        return dots, all(node in guarded for node in relative)
    own = {parts[0]} if parts else set()
    for node in imports:
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
        if any(name.partition(".")[0] in own and ctx.project.module(name, path) is not None for name in names):
            return dotted, False
    if PurePosixPath(path).name == "__init__.py":
        return dots, False
    if str(folder) not in packages:
        return "", False
    return dots, depth == 0 and not _is_part(ctx, path)


def _is_part(ctx: Context, path: str) -> bool:
    """Whether a file is only ever loaded as part of its package: others import it so, and it is no program."""
    module = ctx.module
    if any(isinstance(node, ast.Compare) and isinstance(node.left, ast.Name) and node.left.id == "__name__" for node in module.nodes):
        return False
    name = PurePosixPath(path).stem
    for other in ctx.project.importers(path):
        text = ctx.project.files[other].source.utf8
        package = PurePosixPath(path).parent.name
        if f".{name} import".encode() in text or f"from . import {name}".encode() in text or f"{package}.{name}".encode() in text:
            return True
    return False


def _anchor(module: Module, at: Span) -> ast.stmt | None:
    """The import of the SDK that the new one has to follow, where the file imports it under a guard or inside of functions only."""
    found = [
        node
        for node in module.nodes
        if (isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").partition(".")[0] == "mcp")
        or (isinstance(node, ast.Import) and any(alias.name.partition(".")[0] == "mcp" for alias in node.names))
    ]
    found = [node for node in found if not _is_for_types(node, module)]
    if not found or any(module.parents.get(node) is module.tree for node in found):
        return None
    outer = [node for node in found if module.function(node) is None]
    if outer:
        return outer[-1]
    here = [node for node in found if (function := module.function(node)) is not None and module.span(function).contains(at)]
    return here[-1] if here else None


def _is_for_types(node: ast.AST, module: Module) -> bool:
    """Whether an import is made for the type checker only."""
    return any(isinstance(above, ast.If) and module.text(above.test).endswith("TYPE_CHECKING") for above in module.around(node))


def _below(module: Module, node: ast.stmt, text: str) -> Edit:
    source, span = module.source, module.span(node)
    indented = textwrap.indent(text, lines.indent_of(source, span.start))
    at = lines.next_line(source, span.end)
    ends_open = at == len(source.utf8) and not source.utf8.endswith((b"\n", b"\r"))
    return Edit(Span(at, at), lines.block(source, ("\n" if ends_open else "") + indented))


def _last_import(module: Module) -> ast.stmt | None:
    """The last import at the top of a file."""
    last: ast.stmt | None = None
    for node in module.tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            break
        if isinstance(node, ast.Import | ast.ImportFrom):
            last = node
    return last


def _is_ours(bindings: Iterable[object]) -> bool:
    return all(getattr(binding, "how", None) is How.IMPORTED and getattr(binding, "target", "").endswith(NAME) for binding in bindings)


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
