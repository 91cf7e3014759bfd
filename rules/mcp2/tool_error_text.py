"""`raise ValueError("...")` that leaves a tool, resource or prompt: version 2 shows no other text than that of its own errors."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ...facts.model import Symbol, SymbolUse
from ...rewrite import compat
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import, NewFile, Severity
from ...sdk.escapes import builtin, expected_class, is_caught, is_expected
from ...sdk.handlers import Handler, own_nodes, registered
from ...sdk.modules import Module
from ...sdk.types import OWN, ClassOf, Instance, members

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_EXCEPTIONS = "mcp.server.mcpserver.exceptions"


class Raised(NamedTuple):
    """One statement, the exception that it makes, and its text."""

    statement: ast.Raise
    call: ast.Call
    text: str  # the text of the expression that is the message
    whole: bool  # the call has to be written anew, not only its name
    name: str  # of the class


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    for handler in _of(fact, ctx):
        message = ctx.entry.message.replace("{name}", handler.function.name)
        for raised in _raised(handler, ctx):
            if _is_typed(raised, ctx):
                yield ctx.finding(
                    fact,
                    message="an error of the protocol raises in the client in version 2, where it was a result of the tool",
                    severity=Severity.WARNING,
                    span=ctx.module.span(raised.statement),
                    hint=ctx.entry.hints["typed"],
                )
                continue
            fits = _fits(handler, raised, ctx)
            yield ctx.finding(
                fact,
                Applicability.SAFE if fits else Applicability.MANUAL,
                message=message.replace("{", "{{").replace("}", "}}"),
                span=ctx.module.span(raised.statement),
            )


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    for handler in _of(fact, ctx):
        for raised in _raised(handler, ctx):
            if _fits(handler, raised, ctx) and not _is_typed(raised, ctx):
                yield from _renamed(handler, raised, ctx)


def keep(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import | NewFile]:
    """What either release shows to clients: of resources, mcp 1 has no error of its own for those that are absent."""
    for handler in _of(fact, ctx):
        for raised in _raised(handler, ctx):
            if not _fits(handler, raised, ctx) or _is_typed(raised, ctx):
                continue
            if handler.kind == "prompt":
                if not compat.obstacle(ctx):
                    made = f"{compat.NAME}.error(ErrorData(code=INVALID_PARAMS, message={raised.text}))"
                    yield Edit(ctx.module.span(raised.call), made)
                    yield from (Import("mcp.types", name) for name in ("ErrorData", "INVALID_PARAMS"))
                    yield from compat.needs(ctx, ctx.module.span(raised.call), "errors")
                continue
            for wish in _renamed(handler, raised, ctx):
                if isinstance(wish, Edit):
                    yield wish._replace(text=wish.text.replace("ResourceNotFoundError", "ResourceError"))
                else:
                    yield wish._replace(name=wish.name.replace("ResourceNotFoundError", "ResourceError"))


def _of(fact: Symbol, ctx: Context) -> list[Handler]:
    """The handlers that a call registers, where they stand in the same file."""
    node = ctx.module.at(fact.span)
    return [handler for handler in registered(node, ctx.sdk) if handler.module is ctx.module]


def _renamed(handler: Handler, raised: Raised, ctx: Context) -> Iterator[Edit | Import]:
    module = ctx.module
    where = module.span(raised.call)
    if handler.kind == "prompt":
        yield Edit(where, f"MCPError(code=INVALID_PARAMS, message={raised.text})")
        yield Import("mcp.shared.exceptions", "MCPError")
        yield Import("mcp.types", "INVALID_PARAMS")
        return
    new = "ToolError"
    if handler.kind == "resource":
        new = "ResourceNotFoundError" if _says_absent(raised, ctx) else "ResourceError"
    if raised.whole:
        yield Edit(where, f"{new}({raised.text})")
    else:
        yield Edit(module.span(raised.call.func), new)
    yield Import(_EXCEPTIONS, new)


def _says_absent(raised: Raised, ctx: Context) -> bool:
    return raised.name in ctx.entry.data["absent_classes"] or any(word in raised.text.lower() for word in ctx.entry.data["absent"])


def _raised(handler: Handler, ctx: Context) -> Iterator[Raised]:
    """The exceptions with a text that leave a handler."""
    for node in own_nodes(handler.function):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and not any(isinstance(a, ast.Starred) for a in node.exc.args):
            raised = _known(node, node.exc, ctx)
            if raised is not None and raised.name == "McpError" and handler.kind != "tool":
                continue  # it carries its text to the client
            if raised is not None and not is_caught(node, handler.function, ctx.module, ctx.sdk):
                yield raised


def _known(statement: ast.Raise, call: ast.Call, ctx: Context) -> Raised | None:
    module, data = ctx.module, ctx.entry.data
    known = [*members(ctx.sdk.type(call.func, module))]
    if len(known) == 1 and isinstance(known[0], ClassOf) and known[0].name in data["errors"]:
        text = _message(call, module, ctx)
        return Raised(statement, call, text, True, "McpError") if text else None
    if {"McpError", "MCPError"} & {*expected_class(call.func, module, ctx.sdk)}:
        return Raised(statement, call, "", True, "McpError")  # a class of the project's own
    if len(call.args) != 1 or call.keywords:
        return None
    text = module.text(call.args[0])
    name = builtin(call.func, module, ctx.sdk)
    if name in data["quoted"]:
        return Raised(statement, call, f"repr({text})", True, name)
    if name in data["plain"]:
        return Raised(statement, call, text, False, name)
    if len(known) == 1 and isinstance(known[0], ClassOf) and OWN in known[0].name and _is_plain(known[0].name, ctx):
        return Raised(statement, call, text, False, known[0].name.rpartition(".")[2])
    return None


def _is_plain(name: str, ctx: Context) -> bool:
    """Whether a class of the project adds nothing to how a plain exception tells its text."""
    for _ in range(8):
        path, _, qualified = name.partition(OWN)
        module = ctx.sdk.module_at(path)
        node = module.defined.get(qualified)
        if not isinstance(node, ast.ClassDef) or len(node.bases) != 1 or node.keywords or node.decorator_list:
            return False
        own = module.scopes[node].bindings
        if "__init__" in own or "__str__" in own or "__new__" in own:
            return False
        base = node.bases[0]
        if builtin(base, module, ctx.sdk) in ctx.entry.data["plain"]:
            return True
        known = ctx.sdk.type(base, module)
        if not isinstance(known, ClassOf) or OWN not in known.name:
            return False
        name = known.name
    return False


def _message(call: ast.Call, module: Module, ctx: Context) -> str:
    """The message of an error of the protocol."""
    match call:
        case ast.Call(args=[ast.Call() as inner], keywords=[]):
            known = ctx.sdk.type(inner, module)
            if isinstance(known, Instance) and known.name == "mcp.types.ErrorData":
                word = next((word.value for word in inner.keywords if word.arg == "message"), None)
                return module.text(word) if word is not None else ""
        case ast.Call(args=[ast.Name(id=name)], keywords=[]):
            known = ctx.sdk.type(call.args[0], module)
            return f"{name}.message" if isinstance(known, Instance) and known.name == "mcp.types.ErrorData" else ""
        case ast.Call(args=[], keywords=[ast.keyword(arg="error", value=ast.Call() as inner)]):
            word = next((word.value for word in inner.keywords if word.arg == "message"), None)
            return module.text(word) if word is not None else ""
        case ast.Call(args=[], keywords=keywords):
            word = next((word.value for word in keywords if word.arg == "message"), None)
            return module.text(word) if word is not None else ""
    return ""


def _fits(handler: Handler, raised: Raised, ctx: Context) -> bool:
    return handler.is_plain and _is_free(handler, raised, ctx)


def _is_typed(raised: Raised, ctx: Context) -> bool:
    """Whether codes and data of protocol errors are meant: the error has data, or the file has error classes of its own."""
    if raised.name != "McpError" or not raised.text:
        return raised.name == "McpError"
    errors = ctx.entry.data["errors"]
    if any(isinstance(fact, Symbol) and fact.use is SymbolUse.BASE and fact.key in errors for fact in ctx.file.facts):
        return True
    made: list[ast.AST | None] = [raised.call]
    for argument in raised.call.args:
        if isinstance(argument, ast.Name):
            made += [binding.value for binding in ctx.sdk.inference.bindings(argument.id, argument, ctx.module)]
    words = [word for node in made if node is not None for word in ast.walk(node) if isinstance(word, ast.keyword)]
    return any(word.arg == "data" for word in words)


def _is_free(handler: Handler, raised: Raised, ctx: Context) -> bool:
    """Whether nothing of the project counts on the class, and the new name means nothing else here."""
    new = {"tool": ["ToolError"], "prompt": ["MCPError", "INVALID_PARAMS"]}.get(handler.kind, ["ResourceError", "ResourceNotFoundError"])
    module = ctx.module
    for name in new:
        for binding in module.bound.get(name, ()):
            if not binding.target.startswith("mcp.") or binding.target.rpartition(".")[2] != name:
                return False
    return not is_expected(expected_class(raised.call.func, module, ctx.sdk), handler.function, module, ctx.sdk)
