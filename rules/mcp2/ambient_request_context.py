"""The context of a request is read from the low-level server, or from the variable that held it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite import adapters
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import, NewFile

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_UNSET = "nothing keeps the context of a request while this server answers it, and code of this project asks for it"


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if adapters.middleware(fact, ctx):
        reason = adapters.obstacle(ctx)
        hint = reason or ctx.entry.hints["middleware"]
        yield ctx.finding(fact, Applicability.MANUAL if reason else Applicability.SAFE, message=_UNSET, hint=hint)
        return
    message = "version 2 of the SDK has no `{}`".format(str(fact.key).removeprefix("mcp.server.lowlevel.server."))
    if fact.key == adapters.REQUEST_CTX:
        if fact.use in (SymbolUse.IMPORT, SymbolUse.NAME):
            reason = "" if adapters.holds_context(ctx.project) else ctx.entry.hints["manual"]
            reason = reason or adapters.obstacle(ctx)
            applicability = Applicability.MANUAL if reason else Applicability.SAFE
            yield ctx.finding(fact, applicability, message=message, hint=reason)
            alias = ctx.module.at(fact.span)
            for name in ctx.sdk.inference.uses(alias, ctx.module) if isinstance(alias, ast.alias) else ():
                yield ctx.finding(fact, applicability, message=message, hint=reason, span=ctx.module.span(name))
        elif fact.use is SymbolUse.TEXT:
            yield ctx.finding(fact, Applicability.MANUAL, message=message)
    elif fact.use in (SymbolUse.READ, SymbolUse.GETATTR):
        use = adapters.use(fact, ctx)
        reason = adapters.obstacle(ctx) if use is not None else ""
        if use is None or reason:
            yield ctx.finding(fact, Applicability.MANUAL, message=message, hint=reason)
        else:
            yield ctx.finding(fact, use.applicability, message=message, hint=use.hint)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import | NewFile]:
    if fact.key == adapters.REQUEST_CTX:
        yield from _moved(fact, tree, ctx)
        return
    if text := adapters.middleware(fact, ctx):
        from ...rewrite import calls

        call = calls.at(tree, fact.span)
        if call is not None:
            yield from calls.add(tree, call, [text])
            yield from adapters.needs(ctx, fact.span)
        return
    use = adapters.use(fact, ctx)
    if use is not None:
        yield from use.edits
        yield from adapters.needs(ctx, fact.span)


def _moved(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import | NewFile]:
    from ...rewrite import renames

    node = ctx.module.at(fact.span)
    if fact.use is SymbolUse.NAME:
        yield Edit(fact.span, f"{adapters.NAME}.request_ctx")
        yield from adapters.needs(ctx, fact.span)
        return
    statement = ctx.module.parents.get(node) if node is not None else None
    if not isinstance(node, ast.alias) or not isinstance(statement, ast.ImportFrom):
        return
    move = renames.Move(node, adapters.place(ctx), "request_ctx")
    yield from renames.moved(statement, [move], tree, ctx.module, ctx.sdk.inference, ctx.project.texts)
    yield from (need for need in adapters.needs(ctx, fact.span) if isinstance(need, NewFile))


# The module is written for both releases where both have to work.
keep = fix
