"""`FastMCP("x", host=..., port=...)`, whose options go to what runs the server."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ...facts.model import Standalone, SymbolUse
from ...rewrite import calls
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding
from ...sdk.modules import Module
from ...sdk.servers import Server, Use

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_SINKS = {"run": "", "run_async": "", "run_http_async": "http", "run_stdio_async": "stdio", "http_app": "app"}
_TRANSPORTS = {"http": "http", "streamable-http": "http", "sse": "sse", "stdio": "stdio"}


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call):
        return
    if fact.key == "fastmcp.FastMCP.__init__":
        if any(word.arg in ctx.entry.data["options"] for word in node.keywords):
            yield ctx.finding(fact, hint=ctx.entry.hints["subclass"])
        return
    for server in _about(node, ctx):
        given = _given(server, ctx)
        if not given:
            continue
        problem = _problem(server, given, ctx)
        if server.call is node:
            if problem:
                yield ctx.finding(fact, hint=problem)
            else:
                yield ctx.finding(fact, Applicability.SAFE)
        elif not problem and any(use.node is node and _missing(use, given, ctx) for use in server.uses):
            yield ctx.finding(fact, Applicability.SAFE)


def fix(fact: Standalone, tree: Tree, ctx: Context) -> Iterator[Edit]:
    node, call = ctx.module.at(fact.span), calls.at(tree, fact.span)
    for server in _about(node, ctx):
        given = _given(server, ctx)
        if not given or call is None or _problem(server, given, ctx):
            continue
        sinks = [use for use in server.uses if use.name in _SINKS]
        if server.call is node and not any(_missing(use, given, ctx) for use in sinks):
            # Every place that runs it has its options by now.
            yield from calls.drop(tree, call, [one for name in given if (one := calls.keyword(call, name)) is not None])
        for use in sinks:
            if use.node is node:
                yield from calls.add(
                    tree, call, [f"{new}={server.module.text(given[old])}" for old, new in _missing(use, given, ctx).items()]
                )


def _about(node: ast.AST | None, ctx: Context) -> list[Server]:
    """The server that a call makes, or those that it may be a use of."""
    servers = ctx.sdk.standalone_servers
    made = servers.at(node)
    return servers.using(node) if made is None else [made, *(one for one in servers.using(node) if one is not made)]


def _given(server: Server, ctx: Context) -> dict[str, ast.expr]:
    return {word.arg: word.value for word in server.call.keywords if word.arg in ctx.entry.data["options"]}


def _problem(server: Server, given: Mapping[str, ast.expr], ctx: Context) -> str:
    """Why nothing can be moved, as the hint says it; nothing where it can."""
    hints = ctx.entry.hints
    for pair in ctx.entry.data["variables"]:
        name, variable = pair.split()
        if name in given:
            return hints["variable"].format(name=name, variable=variable)
    if any(isinstance(one, ast.Starred) for one in server.call.args) or any(word.arg is None for word in server.call.keywords):
        return hints["starred"]
    sinks = [use for use in server.uses if use.name in _SINKS]
    if not sinks:
        return hints["unserved"].format(variables=", ".join(f"FASTMCP_{name.upper()}" for name in given))
    if not server.sure or not all(isinstance(use.node, ast.Call) for use in sinks):
        return hints["unsure"]
    for use in sinks:
        assert isinstance(use.node, ast.Call)
        if any(isinstance(one, ast.Starred) for one in use.node.args) or any(word.arg is None for word in use.node.keywords):
            return hints["starred"]
        if _kind(use) is None:
            return hints["chosen"].format(sink=use.name)
        if not all(_reaches(given[old], server, use) for old in _missing(use, given, ctx)):
            return hints["reach"].format(sink=use.name)
    return ""


def _kind(use: Use) -> str | None:
    """Which table says what a call takes; None where its transport is not written down."""
    assert isinstance(use.node, ast.Call)
    transport = next((word.value for word in use.node.keywords if word.arg == "transport"), None)
    if transport is None and use.name in ("run", "run_async") and use.node.args:
        transport = use.node.args[0]
    if transport is None or (isinstance(transport, ast.Constant) and transport.value is None):
        return _SINKS[use.name] or "stdio"
    if not isinstance(transport, ast.Constant) or transport.value not in _TRANSPORTS:
        return None
    kind = _TRANSPORTS[transport.value]
    return kind if use.name != "http_app" else "app" if kind == "http" else "stdio"


def _missing(use: Use, given: Mapping[str, ast.expr], ctx: Context) -> dict[str, str]:
    """The options that have to be added to a call, by their older names."""
    kind = _kind(use) if isinstance(use.node, ast.Call) else None
    if kind is None or not isinstance(use.node, ast.Call):
        return {}
    has = {word.arg for word in use.node.keywords}
    table = dict(pair.split(" -> ") for pair in ctx.entry.data.get(kind, ()))
    return {old: table[old] for old in given if old in table and table[old] not in has}


def _reaches(value: ast.expr, server: Server, use: Use) -> bool:
    """Whether an expression means the same where the server is run as where it is made."""
    if all(isinstance(node, ast.Constant | ast.UnaryOp | ast.USub) for node in ast.walk(value)):
        return True
    module = server.module
    if use.module is not module:
        return False
    names = [node for node in ast.walk(value) if isinstance(node, ast.Name)]
    plain = all(isinstance(node, ast.Name | ast.Attribute | ast.Constant | ast.expr_context) for node in ast.walk(value))
    return plain and all(_is_settled(name, use, module) for name in names)


def _is_settled(name: ast.Name, use: Use, module: Module) -> bool:
    """Whether a name is given once, at the top of the module or in the function that both stand in."""
    scope = module.scope(name)
    found = scope.bindings.get(name.id, [])
    if not found:
        scope = module.scopes[module.tree]
        found = scope.bindings.get(name.id, [])
    inner = module.scope(use.node)
    return len(found) == 1 and not module.given_to(name.id) and (scope is inner or (scope.parent is None and name.id not in inner.bindings))
