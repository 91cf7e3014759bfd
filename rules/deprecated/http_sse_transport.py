"""The deprecated HTTP+SSE transport is used."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.functions import targets
from ...facts.model import Fact, Stream
from ...facts.syntax import descend
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Need
from .. import hosted

if TYPE_CHECKING:
    from ...facts.endpoints import Endpoint
    from ...rewrite.tree import Tree


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    if _pair(fact, ctx):
        yield ctx.finding(fact, Applicability.SAFE, hint=ctx.entry.hints["removed"])
    else:
        yield ctx.finding(fact)


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit | Need]:
    """Takes both endpoints away where only 2026-07-28 is served, with what counts their connections."""
    from ...rewrite import sessions, stores

    endpoints = _pair(fact, ctx)
    edits = [list(sessions.unserved(one, one.place.unit.module, tree)) for one in endpoints]
    if not endpoints or not all(edits):
        return
    yield from (edit for some in edits for edit in some)
    module = endpoints[0].place.unit.module
    functions = [one.place.function.node for one in endpoints if one.place.function is not None]
    inside = [node for function in functions for node in descend(function)]
    kept = {ast.unparse(goal.value) for node in inside for goal in targets(node) if isinstance(goal, ast.Subscript)}
    for name in sorted(name for name in kept if name.isidentifier() or name.startswith("self.")):
        yield from stores.emptied(name, module, tree, inside, [module.span(function) for function in functions])


def _pair(fact: Fact, ctx: Context) -> list[Endpoint]:
    """The endpoints of the transport, where no older client is served beside those of 2026-07-28."""
    if not isinstance(fact, Stream) or not hosted.is_removable(fact, ctx):
        return []
    from ...rewrite import servers, sessions

    found = servers.unit(ctx.project, ctx.file.source.path)
    return sessions.pair(*found, fact.span) if found is not None else []
