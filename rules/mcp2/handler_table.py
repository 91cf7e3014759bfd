"""The tables of handlers of a low-level server are used."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol
from ...rewrite import adapters
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import, NewFile

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    use = adapters.use(fact, ctx)
    message = "version 2 of the SDK has no `Server.{}`".format(str(fact.key).rpartition(".")[2])
    if use is None:
        yield ctx.finding(fact, Applicability.MANUAL, message=message)
    elif use.part and (reason := adapters.obstacle(ctx)):
        yield ctx.finding(fact, Applicability.MANUAL, message=message, hint=reason)
    else:
        yield ctx.finding(fact, use.applicability, message=message, hint=use.hint)
        function = _registered(fact, ctx) if use.part else None
        if function is not None:
            message = f"version 2 of the SDK calls handlers with a context and parameters, and `{function.name}` takes the whole message"
            yield ctx.finding(fact, use.applicability, message=message, hint=use.hint, span=ctx.module.name_span(function))


def _registered(fact: Symbol, ctx: Context) -> ast.AsyncFunctionDef | None:
    """The function of this file that is put into the table."""
    node = ctx.module.at(fact.span)
    entry = ctx.module.parents.get(node) if node is not None else None
    statement = ctx.module.parents.get(entry) if entry is not None else None
    if not isinstance(statement, ast.Assign) or entry not in statement.targets or not isinstance(statement.value, ast.Name):
        return None
    found = ctx.sdk.inference.bindings(statement.value.id, statement.value, ctx.module)
    return found[0].node if len(found) == 1 and isinstance(found[0].node, ast.AsyncFunctionDef) else None


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import | NewFile]:
    use = adapters.use(fact, ctx)
    if use is not None:
        yield from use.edits
        if use.part:
            yield from adapters.needs(ctx, fact.span)


# The module is written for both releases where both have to work.
keep = fix
