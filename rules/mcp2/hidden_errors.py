"""Tools that let exceptions out whose text nobody in the file gives: one class restores what version 1 told of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import
from ...sdk.handlers import Handler, own_nodes, tools_of
from ...sdk.modules import Def
from ...sdk.servers import Server
from ...sdk.types import OWN, ClassOf, Known, members
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree
    from ...sdk.modules import Module

_TEXT = '''class {name}(MCPServer):
    """Tells the client why a tool failed, as version 1 of the SDK did."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context | None = None
    ) -> CallToolResult | InputRequiredResult:
        try:
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError as error:
            raise ToolError(f"Error executing tool {{name}}: {{error.__cause__}}") from error.__cause__
'''
_REFUSED = """        except {error} as error:
            if error.error.code in (MISSING_REQUIRED_CLIENT_CAPABILITY, URL_ELICITATION_REQUIRED):
                raise
            raise ToolError(f"Error executing tool {{name}}: {{error}}") from error
"""
_NAMES = (
    "Any",
    "CallToolResult",
    "Context",
    "InputRequiredResult",
    "MCPError",
    "MCPServer",
    "MISSING_REQUIRED_CLIENT_CAPABILITY",
    "ToolError",
    "URL_ELICITATION_REQUIRED",
    "UnexpectedToolError",
)
_SHOWN = 3
_EXCEPTIONS = "mcp.server.mcpserver.exceptions"


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.use is SymbolUse.BASE:
        yield from _derived(fact, ctx)
        return
    server = _server(fact, ctx)
    if server is None:
        return
    open_tools = [handler for handler in tools_of(server, ctx.sdk) if _lets_out(handler)]
    if not open_tools:
        return
    applicability = Applicability.UNSAFE if _can_stand(server, ctx) else Applicability.MANUAL
    yield ctx.finding(fact, applicability, hint=_hint(applicability.word, open_tools, ctx))


def _derived(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    """A class of the project's own: its servers may be given tools anywhere, unless all that is known of them hold their exceptions."""
    node = ctx.module.at(fact.span)
    owner = next((above for above in ctx.module.around(node) if isinstance(above, ast.ClassDef)), None) if node is not None else None
    if owner is None or node not in owner.bases or any(isinstance(one, Def) and one.name == "call_tool" for one in owner.body):
        return
    own = ClassOf(f"{ctx.module.path}{OWN}{ctx.module.qualified(owner)}")
    made = ctx.project.remember("servers by class", partial(_by_class, ctx)).get(own, [])
    tools = [tool for server in made for tool in tools_of(server, ctx.sdk)]
    open_tools = [tool for tool in tools if _lets_out(tool)]
    if open_tools or not tools:
        message = f"tools of `{owner.name}` servers may let exceptions out, whose text version 2 hides from the client"
        yield ctx.finding(fact, Applicability.MANUAL, message=message, hint=_hint("derived", open_tools, ctx))


def _by_class(ctx: Context) -> dict[Known, list[Server]]:
    """The servers of the project by what is called to make them."""
    found: dict[Known, list[Server]] = {}
    for server in ctx.sdk.servers:
        for one in dict.fromkeys(members(ctx.sdk.type(server.call.func, server.module))):
            found.setdefault(one, []).append(server)
    return found


def _hint(kind: str, open_tools: list[Handler], ctx: Context) -> str:
    names = [f"`{handler.function.name}`" for handler in open_tools[:_SHOWN]]
    told = ", ".join(names) + (" ..." if len(open_tools) > _SHOWN else "")
    return ctx.entry.hints[kind].replace("{tools}", told).replace("{count}", str(len(open_tools)))


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    server, module = _server(fact, ctx), ctx.module
    name = ctx.entry.data["class"][0]
    if server is None:
        return
    if not _can_stand(server, ctx) or name in module.scopes[module.tree].bindings:
        return
    from ...rewrite.lines import above_remarks

    at = above_remarks(module.source, module.span(_anchor(server)).start)
    text = _TEXT.format(name=name)
    if ctx.project.texts.saying(b"McpError"):
        # An error of the protocol was a result of the tool as well.
        imported = _imported_error(module)
        text += _REFUSED.format(error=imported or "MCPError")
        if not imported:
            yield Import("mcp.shared.exceptions", "MCPError")
        yield Import("mcp.types", "MISSING_REQUIRED_CLIENT_CAPABILITY")
        yield Import("mcp.types", "URL_ELICITATION_REQUIRED")
    yield Edit(module.span(server.call.func), name)
    lines_above = module.source.utf8[:at].replace(b"\r\n", b"\n")
    gap = "" if lines_above.endswith(b"\n\n\n") or not lines_above.strip() else "\n" if lines_above.endswith(b"\n\n") else "\n\n"
    yield Edit(Span(at, at), f"{gap}{text}\n\n".replace("\n", module.source.newline))
    yield Import("typing", "Any")
    if "Context" not in module.scopes[module.tree].bindings:
        yield Import("mcp.server.mcpserver", "Context")
    yield Import("mcp.server.mcpserver", "MCPServer")
    yield Import(_EXCEPTIONS, "ToolError")
    yield Import(_EXCEPTIONS, "UnexpectedToolError")
    yield Import("mcp.types", "CallToolResult")
    yield Import("mcp.types", "InputRequiredResult")


def _server(fact: Symbol, ctx: Context) -> Server | None:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL:
        return None
    server = ctx.sdk.servers.at(node)
    # A class of the project's own may do this, or something else, already.
    named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute)
    return server if server is not None and named and not _is_own_class(server) else None


def _imported_error(module: Module) -> str:
    """What this file calls the SDK's error, by the name of either release."""
    for name in ("MCPError", "McpError"):
        bindings = module.scopes[module.tree].bindings.get(name, ())
        if bindings and all(binding.target.startswith("mcp.") and binding.target.endswith(f".{name}") for binding in bindings):
            return name
    return ""


def _is_own_class(server: Server) -> bool:
    func = server.call.func
    name = func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""
    return name in server.module.classes


def _can_stand(server: Server, ctx: Context) -> bool:
    """Whether a class above the server is seen by it, and its names mean nothing else here."""
    module = server.module
    taken = module.scopes[module.tree].bindings
    own = (binding for name in _NAMES for binding in taken.get(name, ()) if not binding.target.startswith(("mcp.", "typing.")))
    return ctx.entry.data["class"][0] not in taken and not any(own)


def _anchor(server: Server) -> ast.AST:
    """The statement at the top of the module that the server is made in."""
    module = server.module
    node: ast.AST = server.call
    for above in module.around(server.call):
        if above is module.tree:
            break
        node = above
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.decorator_list:
        return node.decorator_list[0]
    return node


def _lets_out(handler: Handler) -> bool:
    """Whether something in a tool may raise, outside of every `try` that catches all."""
    return any(
        isinstance(node, ast.Call | ast.Subscript | ast.Raise) and not _is_held(node, handler) and not _is_harmless(node)
        for node in own_nodes(handler.function)
    )


def _is_held(node: ast.AST, handler: Handler) -> bool:
    child = node
    for above in handler.module.around(node):
        if isinstance(above, ast.Try) and child in above.body:
            for caught in above.handlers:
                names = caught.type.elts if isinstance(caught.type, ast.Tuple) else [caught.type]
                whole = any(name is None or (isinstance(name, ast.Name) and name.id in ("Exception", "BaseException")) for name in names)
                if whole and not any(isinstance(inside, ast.Raise) for step in caught.body for inside in ast.walk(step)):
                    return True
        if isinstance(above, ast.ExceptHandler):
            return True  # what is said about an exception hardly raises another one
        if above is handler.function:
            return False
        child = above
    return False


_SAFE_NAMES = frozenset(
    {
        "str",
        "len",
        "print",
        "repr",
        "isinstance",
        "list",
        "dict",
        "set",
        "tuple",
        "bool",
        "range",
        "sorted",
        "min",
        "max",
        "sum",
        "any",
        "all",
    }
)
_SAFE_METHODS = frozenset(
    {
        "append", "debug", "endswith", "error", "extend", "get", "info", "isoformat", "items", "join", "keys", "lower", "now", "replace",
        "split", "startswith", "strip", "title", "upper", "values", "warning", "exception", "format", "report_progress", "time",
    }
)  # fmt: skip


def _is_harmless(node: ast.AST) -> bool:
    """Calls that do not fail on what they are commonly given, and errors that have a text for the client."""
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return (
                name in _SAFE_NAMES or name in ("ToolError", "ResourceError") or name.endswith(("Error", "Exception", "Result", "Content"))
            )
        case ast.Call(func=ast.Attribute(attr=attr)):
            return attr in _SAFE_METHODS
        case ast.Subscript(slice=ast.Slice() | ast.Tuple()):
            return True
        case ast.Raise(exc=ast.Call()):
            return True  # a finding of its own
    return False
