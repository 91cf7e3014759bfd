"""The tables of handlers of a low-level server are used."""

from __future__ import annotations

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


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import | NewFile]:
    use = adapters.use(fact, ctx)
    if use is not None:
        yield from use.edits
        if use.part:
            yield from adapters.needs(ctx, fact.span)
