"""A handler is registered with a decorator of the low-level server."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...facts.syntax import descend
from ...rewrite import adapters
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import, NewFile, Severity

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_LOST = "what is raised here was a result of the tool with `isError`; to version 2 of the SDK it is an error of the protocol"


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    owner, _, name = str(fact.key).rpartition(".")
    if name not in adapters.DECORATORS or owner not in (adapters.SERVER, "?"):
        return
    if fact.use is SymbolUse.READ and owner != "?" and _is_called(fact, ctx):
        return  # the call is a fact of its own
    use = adapters.use(fact, ctx)
    if use is None:
        if owner != "?" and fact.use is not SymbolUse.STORE:
            yield ctx.finding(fact, Applicability.MANUAL)
    elif reason := adapters.obstacle(ctx):
        yield ctx.finding(fact, Applicability.MANUAL, hint=reason)
    else:
        hints = [ctx.entry.hints[use.applicability.word], *([ctx.entry.hints[name]] if name in ctx.entry.hints else [])]
        message = f"version 2 of the SDK has no `Server.{name}`"
        yield ctx.finding(fact, use.applicability, message=message, hint="; ".join(hints))
        for raised in _raised(fact, ctx) if name == "call_tool" else ():
            # Told at each place, as the one thing that bodies rely on most.
            yield ctx.finding(fact, use.applicability, message=_LOST, severity=Severity.NOTE, span=ctx.module.span(raised))


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import | NewFile]:
    use = adapters.use(fact, ctx)
    if use is not None:
        yield from use.edits
        yield from adapters.needs(ctx, fact.span)


def _raised(fact: Symbol, ctx: Context) -> Iterator[ast.Raise]:
    """Where the decorated function raises an error of its own for the caller."""
    call = ctx.module.at(fact.span)
    function = ctx.module.parents.get(call) if call is not None else None
    if not isinstance(function, ast.AsyncFunctionDef) or call not in function.decorator_list:
        return
    for node in descend(function):
        if isinstance(node, ast.Raise) and node.exc is not None and ctx.module.function(node) is function:
            guards = (above for above in ctx.module.around(node) if isinstance(above, ast.Try))
            if not any(ctx.module.span(part).contains(ctx.module.span(node)) for guard in guards if guard.handlers for part in guard.body):
                yield node


def _is_called(fact: Symbol, ctx: Context) -> bool:
    node = ctx.module.at(fact.span)
    call = ctx.module.parents.get(node) if node is not None else None
    return isinstance(call, ast.Call) and call.func is node


# The module is written for both releases where both have to work.
keep = fix
