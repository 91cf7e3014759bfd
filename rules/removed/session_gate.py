"""Requests without a session are refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.functions import Module, read
from ...facts.mask import parse
from ...facts.model import Fact
from ...facts.sessionless import Way
from ...facts.sessions import conditions
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Era, Finding, Need
from .. import hosted

if TYPE_CHECKING:
    from ...rewrite.sessions import Revision
    from ...rewrite.tree import Tree


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    if not ctx.wired(fact) or not hosted.is_hosted(ctx):
        if not ctx.settled(fact):
            yield ctx.finding(fact)
        return
    if ctx.era is Era.DUAL and hosted.is_apart(fact, ctx):
        return  # only clients with a session get here
    if _is_access(fact, ctx):
        yield ctx.finding(fact, hint=ctx.entry.hints["access"])
    elif ctx.era is Era.DUAL:
        module = read(ctx.file.source, parse(ctx.file.source)[0])
        asked = _question(fact, module, ctx)
        if asked is not None and any(use.way is Way.LEAVE and use.place.name == fact.scope for use in hosted.spared(ctx)):
            return  # requests of this revision leave the function before they get here
        if asked is not None:
            yield ctx.finding(fact, Applicability.SAFE, hint=ctx.entry.hints["opened"])
        else:
            yield ctx.finding(fact, hint=ctx.entry.hints["far" if not hosted.handle(ctx) else "around"])
    elif hosted.is_apart(fact, ctx) and not hosted.is_apart(fact, ctx, going=True) and not ctx.settled(fact):
        yield ctx.finding(fact)  # without its gate, what else is answered there would be open to everyone
    else:
        yield from hosted.check(fact, ctx)


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit | Need]:
    """Opens the gate for requests of this revision, or takes it away where there are no others."""
    from ...rewrite import sessions

    module = read(tree.source, parse(tree.source)[0])
    if ctx.era is Era.DUAL:
        if (asked := _question(fact, module, ctx)) is not None:
            yield from sessions.opened(fact.span, module, asked[0])
            yield from asked[1]
    elif hosted.is_removable(fact, ctx) and (hosted.is_apart(fact, ctx, going=True) or not hosted.is_apart(fact, ctx)):
        yield from sessions.ungated(fact.span, module, tree)


def _question(fact: Fact, module: Module, ctx: Context) -> tuple[Revision, tuple[Need, ...]] | None:
    function = module.functions.get(fact.scope)
    return hosted.question(function, module, ctx) if function is not None else None


def _is_access(fact: Fact, ctx: Context) -> bool:
    """Whether the refusal is about who may come in: nobody gets in by a revision of the protocol."""
    module = read(ctx.file.source, parse(ctx.file.source)[0])
    return any(condition.is_access for condition in conditions(module) if module.span(condition.node) == fact.span)
