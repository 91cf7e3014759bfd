"""The module that `fix` writes beside code that has to run with both releases of the SDK, and its uses."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from ..facts.gates import COMPAT_MODULE
from ..facts.model import Symbol, SymbolUse
from ..project import Project
from ..rule import Context, Import, NewFile
from ..sdk.modules import How
from ..sdk.options import MOVED
from ..sdk.symbols import UNKNOWN
from ..sdk.vocabulary import ONLY
from ..source import Span
from . import homes, renames, written
from . import module as modules
from .edits import Edit
from .quotes import fitting

if TYPE_CHECKING:
    from .tree import Tree

NAME = COMPAT_MODULE.removesuffix(".py")
# What the module has, and the part that each is in.
PARTS: Mapping[str, str] = {
    "field": "fields",
    "set_field": "fields",
    "has_field": "fields",
    "meta": "meta",
    "error": "errors",
    "error_arguments": "errors",
    "timeout": "timeouts",
    "unwrapped": "unions",
    "wrapped": "unions",
    "server_capabilities": "capabilities",
    "create_connected_server_and_client_session": "memory",
    "streamable_http_client": "http",
    "streamablehttp_client": "http",
    "FastMCP": "server",
}
SERVER = "mcp.server.fastmcp.server.FastMCP"
_ERROR = "mcp.shared.exceptions.McpError"
_FUNCTIONS = {
    "mcp.shared.memory.create_connected_server_and_client_session": "memory",
    "mcp.client.streamable_http.streamablehttp_client": "http",
}
_USES = (SymbolUse.READ, SymbolUse.STORE, SymbolUse.GETATTR)
_HOMES: WeakKeyDictionary[Project, dict[str, str]] = WeakKeyDictionary()


def obstacle(ctx: Context) -> str:
    """Why the module cannot be written, or cannot be used in this file."""
    return homes.obstacle(ctx.project, _path(ctx)) or (f"`{NAME}` means something else here" if homes.is_taken(ctx.module, NAME) else "")


def called(ctx: Context, at: Span, function: str) -> Iterator[Edit | Import | NewFile]:
    """The module's function in place of what stands at these bytes."""
    yield Edit(at, f"{NAME}.{function}")
    yield from needs(ctx, at, PARTS[function])


def around(ctx: Context, value: Span, function: str) -> Iterator[Edit | Import | NewFile]:
    """What stands at these bytes as the argument of the module's function."""
    yield Edit(Span(value.start, value.start), f"{NAME}.{function}(")
    yield Edit(Span(value.end, value.end), ")")
    yield from needs(ctx, value, PARTS[function])


def needs(ctx: Context, at: Span, part: str) -> Iterator[Edit | Import | NewFile]:
    """The module with this part, and its import for code at these bytes."""
    yield from homes.imported(ctx, _home(ctx), NAME, at)
    yield from files(ctx, part)


def taken(fact: Symbol, function: str, tree: Tree, ctx: Context) -> Iterator[Edit | Import | NewFile]:
    """A function or class of the SDK comes from the module, under the name that the file has for it."""
    node = ctx.module.at(fact.span)
    call = node.func if isinstance(node, ast.Call) else node
    if isinstance(call, ast.Attribute):
        yield from called(ctx, ctx.module.span(call), function)
        return
    aliases = [node] if isinstance(node, ast.alias) else []
    if isinstance(call, ast.Name):
        bindings = ctx.sdk.inference.bindings(call.id, call, ctx.module)
        aliases = [one.node for one in bindings if one.how is How.IMPORTED and isinstance(one.node, ast.alias)]
    for alias in aliases:
        statement = ctx.module.parents.get(alias)
        if isinstance(statement, ast.ImportFrom) and alias.name == function:
            yield from given(statement, alias, function, tree, ctx)


def asked(node: ast.Attribute, function: str, more: str, ctx: Context, until: int = 0) -> Iterator[Edit | Import | NewFile]:
    """The module's function in place of an attribute, with what that is taken of and `more` as arguments; nothing without a form."""
    of, module = before(node, ctx), ctx.module
    if of is None:
        return
    # Brackets are those of the call then, but for what needs some of its own.
    inner = of if isinstance(node.value, ast.Yield | ast.YieldFrom | ast.GeneratorExp) else module.span(node.value)
    yield Edit(Span(of.start, inner.start), f"{NAME}.{function}(")
    yield Edit(Span(inner.end, until or module.span(node).end), f"{more})")
    yield from needs(ctx, module.span(node), PARTS[function])


def before(node: ast.Attribute, ctx: Context) -> Span | None:
    """What an attribute is taken of, with the brackets around it; None where something else stands between."""
    module, data = ctx.module, ctx.module.source.utf8
    start, end = module.span(node.value)
    between = data[end : module.attribute_span(node).start]
    closing, _, rest = between.rpartition(b".")
    if rest.strip() or closing.replace(b")", b"").strip():
        return None
    for _ in range(closing.count(b")")):
        start = len(data[:start].rstrip()) - 1
        if data[start : start + 1] != b"(":
            return None
    return Span(start, end + len(closing.rstrip()))


def quoted(name: str, node: ast.AST, ctx: Context) -> str | None:
    """A text of the code, with quotes that fit; None where none do."""
    mark = fitting(node, ctx.module)
    return f"{mark}{name}{mark}" if mark else None


def given(statement: ast.ImportFrom, alias: ast.alias, function: str, tree: Tree, ctx: Context) -> Iterator[Edit | Import | NewFile]:
    """What a name of an import stands for comes from the module, where it is used; where others ask for the name, the import goes there."""
    local = alias.asname or alias.name
    uses = [*renames.uses(local, [alias], ctx.module, ctx.sdk.inference)]
    if uses and not renames.is_shared(local, [alias], ctx.module, ctx.sdk.inference, ctx.project.texts):
        spelled = f"{NAME}.{function}"
        yield from renames.replaced(statement, alias, lambda use: (spelled, ()), tree, ctx.module, ctx.sdk.inference)
        for use in uses:
            yield from needs(ctx, use, PARTS[function])
        return
    move = renames.Move(alias, homes.spelled(ctx, _home(ctx), NAME), function)
    yield from renames.moved(statement, [move], tree, ctx.module, ctx.sdk.inference, ctx.project.texts, anew=True)
    yield from files(ctx, PARTS[function])


def place(ctx: Context) -> str:
    """The module as a `from` import of this file spells it; "" where the file may be run by its path as well, and no one spelling fits."""
    return "" if homes.is_either(ctx, _home(ctx)) else homes.spelled(ctx, _home(ctx), NAME)


def files(ctx: Context, part: str) -> Iterator[NewFile]:
    """The module itself, where it is not there yet, or lacks the part."""
    path = _path(ctx)
    held = ctx.project.files.get(path)
    have = written.parts(held.source.text) if held is not None else ()
    if have is not None and part not in have:
        parts = {*have, part, *_wanted(ctx.project)}
        text = modules.compat(parts, ctx.file.source.newline if held is None else held.source.newline)
        yield NewFile(path, text, replaces=None if held is None else held.source.text)


def has_server(project: Project) -> bool:
    """Whether servers of the project are made, or are to be made, by the module."""
    return "server" in _wanted(project) or any(
        PurePosixPath(path).name == COMPAT_MODULE and "server" in (written.parts(file.source.text) or ())
        for path, file in project.files.items()
    )


def _path(ctx: Context) -> str:
    return str(PurePosixPath(_home(ctx)) / COMPAT_MODULE)


def _home(ctx: Context) -> str:
    if ctx.project not in _HOMES:
        users = [path for path in ctx.project.files if _parts_of(ctx.project, path) or _imports(ctx.project, path)]
        _HOMES[ctx.project] = homes.find(ctx.project, users, COMPAT_MODULE)
    return _HOMES[ctx.project].get(ctx.file.source.path) or str(PurePosixPath(ctx.file.source.path).parent)


def _imports(project: Project, path: str) -> bool:
    return any(NAME in target.split(".") for target in project.files[path].imports.values())


def _wanted(project: Project) -> frozenset[str]:
    """The parts that the code of a project wants: so that one round writes the module as it will be, and not in two ways."""
    return project.remember("parts for both", lambda: frozenset(part for path in project.files for part in _parts_of(project, path)))


def _parts_of(project: Project, path: str) -> Collection[str]:
    return {part for fact in project.of(path, Symbol) if (part := _part(fact, project, path))}


def _part(fact: Symbol, project: Project, path: str) -> str:
    assert project.sdk is not None
    if not isinstance(fact.key, str) or project.sdk.in_guard(path, fact.span):
        return ""
    owner, _, name = fact.key.rpartition(".")
    if fact.key in _FUNCTIONS:
        return _FUNCTIONS[fact.key] if fact.use in (SymbolUse.CALL, SymbolUse.IMPORT) else ""
    if fact.use is SymbolUse.CALL and (owner == _ERROR or fact.key == _ERROR or name == "__init__"):
        return "errors"
    if fact.use is SymbolUse.CALL and b"timedelta" in project.files[path].source.utf8:
        node = project.sdk.module_at(path).at(fact.span)
        if isinstance(node, ast.Call) and any(
            word.arg in ("read_timeout_seconds", "request_read_timeout_seconds") for word in node.keywords
        ):
            return "timeouts"
    if name == "get_server_capabilities" and fact.use is SymbolUse.CALL:
        return "capabilities"
    if (name == "root" and fact.use is SymbolUse.READ) or (fact.use is SymbolUse.CALL and project.sdk.api.is_union(fact.key)):
        return "unions"
    if name == "progressToken" or (name == "meta" and fact.use is SymbolUse.READ):
        return "meta"
    if fact.use in _USES and (project.sdk.api.renamed(owner, name) is not None or (owner == UNKNOWN and name in ONLY and fact.sure)):
        return "fields"
    if fact.use is SymbolUse.READ and owner == SERVER and name == "_mcp_server":
        return "server"
    node = project.sdk.module_at(path).at(fact.span) if owner.endswith("FastMCP") or fact.key == SERVER else None
    if fact.key == SERVER and fact.use is SymbolUse.CALL and isinstance(node, ast.Call):
        options = {*MOVED, "mount_path", None}
        return "server" if len(node.args) > 6 or any(word.arg in options for word in node.keywords) else ""
    if owner == SERVER and name == "settings" and node is not None:
        above = project.sdk.module_at(path).parents.get(node)
        return "server" if isinstance(above, ast.Attribute) and above.attr in {*MOVED, "mount_path"} else ""
    if owner == SERVER and name in ("run", "sse_app", "run_sse_async") and isinstance(node, ast.Call):
        given = any(word.arg in ("mount_path", None) for word in node.keywords) or len(node.args) > (name == "run")
        return "server" if given else ""
    return ""


def is_taken(call: ast.Call, ctx: Context) -> bool:
    """Whether what is called comes from the module."""
    if isinstance(call.func, ast.Attribute):
        return isinstance(call.func.value, ast.Name) and call.func.value.id == NAME
    found = ctx.sdk.inference.bindings(call.func.id, call.func, ctx.module) if isinstance(call.func, ast.Name) else []
    return any(binding.how is How.IMPORTED and NAME in binding.target.split(".") for binding in found)
