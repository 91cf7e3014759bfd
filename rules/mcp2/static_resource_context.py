"""`@server.resource("cfg://app")` on a function with a context."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding
from ...sdk.handlers import Handler, callers, mentions, registered
from ...sdk.types import Instance, members

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_CONTEXTS = ("mcp.server.fastmcp.server.Context", "mcp.server.mcpserver.context.Context")


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    for handler, parameter in _found(fact, ctx):
        hint = ctx.entry.hints["manual"].replace("{uri}", handler.uri or "")
        if _goes(handler, parameter, ctx):
            yield ctx.finding(fact, Applicability.SAFE)
        else:
            yield ctx.finding(fact, Applicability.MANUAL, hint=hint)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    for handler, parameter in _found(fact, ctx):
        if _goes(handler, parameter, ctx):
            yield Edit(ctx.module.span(parameter))


def _found(fact: Symbol, ctx: Context) -> Iterator[tuple[Handler, ast.arg]]:
    node = ctx.module.at(fact.span)
    for handler in registered(node, ctx.sdk):
        if handler.module is ctx.module and handler.kind == "resource" and handler.uri and "{" not in handler.uri:
            for parameter in (*handler.function.args.args, *handler.function.args.kwonlyargs):
                known = ctx.sdk.inference.annotated(parameter.annotation, ctx.module)
                if any(isinstance(one, Instance) and one.name in _CONTEXTS for one in members(known)):
                    yield handler, parameter


def _goes(handler: Handler, parameter: ast.arg, ctx: Context) -> bool:
    """Whether nothing reads the context, and nobody but the server hands one over."""
    used = any(
        isinstance(node, ast.Name) and node.id == parameter.arg for statement in handler.function.body for node in ast.walk(statement)
    )
    alone = not [*callers(handler.function, ctx.module, ctx.sdk)] and not [*mentions(handler.function, ctx.module, ctx.sdk)]
    only = len(handler.function.args.args) + len(handler.function.args.kwonlyargs) == 1
    return not used and alone and handler.is_plain and only
