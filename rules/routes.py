"""What rules about routes that only sessions need have in common: what answers GET or DELETE beside a boundary."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..facts.model import Fact
from ..rewrite.edits import Edit
from ..rule import Context, Finding, Need
from . import hosted

if TYPE_CHECKING:
    from ..facts.endpoints import Endpoint
    from ..rewrite.tree import Tree


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    """A finding at a route, unless older clients are gone and it has nothing to do with the endpoint's."""
    # Another route of an application whose endpoint has a boundary is no business of the endpoint's clients.
    if not hosted.is_removable(fact, ctx) or _endpoint(fact, ctx) is not None:
        yield from hosted.check(fact, ctx)


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit | Need]:
    """Takes the route away where nobody opens it any more: the boundary answers 405 in its place."""
    from ..rewrite import sessions

    if (endpoint := _endpoint(fact, ctx)) is not None:
        yield from sessions.unrouted(endpoint, endpoint.place.unit.module, tree)


def _endpoint(fact: Fact, ctx: Context) -> Endpoint | None:
    """The endpoint that a route belongs to, where requests of its verb never get to it."""
    # A check imports this module as well, and whole servers take longer to read than most checks take.
    from ..rewrite import servers, sessions

    found = servers.unit(ctx.project, ctx.file.source.path)
    if found is None:
        return None
    for one in sessions.removed(*found, hosted.wraps(ctx)):
        module, function = one.place.unit.module, one.place.function
        if function is None or str(fact.key) not in one.verbs:
            continue
        if module.span(function.node).contains(fact.span) or (one.route is not None and module.span(one.route).contains(fact.span)):
            return one
    return None
