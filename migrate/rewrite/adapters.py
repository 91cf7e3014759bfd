"""The module that `fix` writes beside low-level servers of the SDK, which calls their handlers as version 1 did, and its uses."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from weakref import WeakKeyDictionary

from ..facts.gates import HANDLER_MODULE
from ..facts.model import Symbol, SymbolUse
from ..project import Project
from ..rule import Applicability, Context, Import, NewFile
from ..sdk.modules import Module
from ..sdk.types import ClassOf, members
from ..source import Span, is_test
from . import homes, written
from . import module as modules
from .edits import Edit

FILE_NAME = HANDLER_MODULE
NAME = FILE_NAME.removesuffix(".py")
SESSION = "mcp.server.session.ServerSession"
SERVER = "mcp.server.lowlevel.server.Server"
REQUEST_CTX = "mcp.server.lowlevel.server.request_ctx"
HIGHER = ("mcp.server.fastmcp.server.FastMCP", "mcp.server.mcpserver.server.MCPServer")
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
_HTTP = ("StreamableHTTPSessionManager", ".streamable_http_app", ".run_streamable_http_async")
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
    found = _use(fact, ctx.project, ctx.file.source.path)
    # What a table is asked for has no form that both releases know.
    return None if found is not None and ctx.keeps and not found.part and str(fact.key).rpartition(".")[2] in TABLES else found


def holds_context(project: Project) -> bool:
    """Whether the context variable of the module is set, or can be, while any handler of the project runs."""
    if project.keeps:
        return not _serves_otherwise(project)  # servers of the older release take no middleware

    def found() -> bool:
        return all(_takes_middleware(path, project) for path in project.files if not is_test(path))

    return not _serves_otherwise(project) or project.remember("all servers take middleware", found)


def middleware(fact: Symbol, ctx: Context) -> str:
    """What sets the context variable for this server of the higher level; nothing where it is set already, or nobody asks for it."""
    call = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or fact.key not in HIGHER or not isinstance(call, ast.Call) or is_in_test(ctx):
        return ""
    if ctx.keeps or any(word.arg == "middleware" for word in call.keywords) or not _asks_for_context(ctx.project):
        return ""
    return f"middleware=[{NAME}.remember]" if holds_context(ctx.project) else ""


def is_in_test(ctx: Context) -> bool:
    """Whether a file is a test: what its servers tell their clients is nobody's business."""
    return is_test(ctx.file.source.path)


def serves_http(project: Project) -> bool:
    """Whether servers of the project are reached over Streamable HTTP."""

    def found() -> bool:
        return any(
            str(fact.key).endswith(_HTTP) or (str(fact.key).endswith("FastMCP.run") and b"streamable-http" in file.source.utf8)
            for path, file in project.files.items()
            if not is_test(path)
            for fact in project.of(path, Symbol)
            if fact.use in (SymbolUse.CALL, SymbolUse.IMPORT)
        )

    return project.remember("servers are reached over HTTP", found)


def _is_written(project: Project) -> bool:
    """Whether some file imports the module."""
    return project.remember("the module for handlers", lambda: any(NAME in file.imports for file in project.files.values()))


def is_from_1(ctx: Context) -> bool:
    """Whether a file was written for version 1, before `fix` or after."""
    return not ctx.sdk.is_moved(ctx.file.source.path) or _is_written(ctx.project)


def obstacle(ctx: Context) -> str:
    """Why the module cannot be written, or cannot be used in this file."""
    home = _homes(ctx.project).get(ctx.file.source.path)
    if home is not None and (reason := homes.obstacle(ctx.project, _path(home))):
        return reason
    return f"`{NAME}` means something else here" if homes.is_taken(ctx.module, NAME) else ""


def needs(ctx: Context, at: Span) -> Iterator[Edit | Import | NewFile]:
    """The module, and its import where something is rewritten at these bytes."""
    home = _homes(ctx.project).get(ctx.file.source.path)
    if home is None:
        return
    yield from homes.imported(ctx, home.folder, NAME, at)
    path = _path(home)
    held = ctx.project.files.get(path)
    have = written.parts(held.source.text) if held is not None else ()
    parts = home.parts | ({"both"} if ctx.keeps else set())
    if held is None:
        yield NewFile(path, modules.handlers(parts, ctx.file.source.newline))
    elif have is not None and not parts <= {*have}:
        yield NewFile(path, modules.handlers(parts | {*have}, held.source.newline), replaces=held.source.text)


def place(ctx: Context) -> str:
    """The module that a file would import from, as a `from` import spells it; for a move of an imported name."""
    home = _homes(ctx.project).get(ctx.file.source.path)
    return homes.spelled(ctx, home.folder, NAME) if home is not None else NAME


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

    def found() -> bool:
        facts = (fact for path in project.files if not is_test(path) for fact in project.of(path, Symbol))
        return any(fact.key == f"{SERVER}.subscribe_resource" and fact.use is SymbolUse.CALL for fact in facts)

    return project.remember("low-level servers take subscriptions", found) and not _serves_otherwise(project)


def _serves_otherwise(project: Project) -> bool:
    """Whether some server of the project has handlers that the module does not call."""

    def found() -> bool:
        facts = (fact for path in project.files if not is_test(path) for fact in project.of(path, Symbol))
        words = ("FastMCP", "MCPServer")
        return any(str(fact.key).endswith(words) for fact in facts if fact.use in (SymbolUse.IMPORT, SymbolUse.NAME))

    return project.remember("servers of the higher level", found)


def _takes_middleware(path: str, project: Project) -> bool:
    """Whether all servers of the higher level that a file makes can be given one."""
    assert project.sdk is not None
    facts = [fact for fact in project.of(path, Symbol) if str(fact.key).endswith(("FastMCP", "MCPServer"))]
    module = project.sdk.module_at(path) if facts else None
    for fact in facts:
        node = module.at(fact.span) if module is not None else None
        if fact.use is SymbolUse.CALL and isinstance(node, ast.Call):
            given = {word.arg for word in node.keywords}
            if not fact.sure or None in given or ("middleware" in given and f"{NAME}.remember" not in ast.unparse(node)):
                return False
    bases = (base for node in (module.nodes if module is not None else ()) if isinstance(node, ast.ClassDef) for base in node.bases)
    return not any(ast.unparse(base).endswith(("FastMCP", "MCPServer")) for base in bases)


def _asks_for_context(project: Project) -> bool:
    """Whether code of the project reads the variable of version 1, or the module has been written for servers that set its own."""
    return project.remember("context variable", lambda: _reads_variable(project))


def _reads_variable(project: Project) -> bool:
    texts = (file.source.text for path, file in project.files.items() if PurePosixPath(path).name == FILE_NAME)
    if any("ambient" in (written.parts(text) or ()) for text in texts):
        return True
    return any(fact.key == REQUEST_CTX for path in project.files for fact in project.of(path, Symbol))


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
    if _asks_for_context(project) and _serves_otherwise(project) and holds_context(project):
        for path in project.files:
            if not is_test(path) and any(fact.key in HIGHER and fact.use is SymbolUse.CALL for fact in project.of(path, Symbol)):
                wanted.setdefault(path, set()).add("ambient")
    folders = homes.find(project, wanted, FILE_NAME)
    parts: dict[str, set[str]] = {}
    for path, folder in folders.items():
        parts.setdefault(folder, set()).update(part for part in wanted[path] if part)
    return {path: _Home(folder, frozenset(parts[folder])) for path, folder in folders.items()}


def _path(home: _Home) -> str:
    return str(PurePosixPath(home.folder) / FILE_NAME)


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
