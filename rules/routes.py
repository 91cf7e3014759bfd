"""What rules about routes that only sessions need have in common: what answers GET or DELETE beside a boundary."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

from ..facts.model import Fact
from ..rewrite.edits import Edit
from ..rule import Applicability, Context, Finding, Need
from . import hosted

if TYPE_CHECKING:
    from ..facts.code import Code, Unit
    from ..facts.endpoints import Endpoint
    from ..rewrite.tree import Tree


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    """A finding at a route, unless older clients are gone and it has nothing to do with the endpoint's."""
    if not hosted.is_removable(fact, ctx) or _endpoint(fact, ctx) is not None:
        yield from hosted.check(fact, ctx)
    # Another route of an application whose endpoint has a boundary is no business of the endpoint's clients.
    elif _is_unclear(fact, ctx):
        yield ctx.finding(fact, Applicability.MANUAL)


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit | Need]:
    """Takes the route away where nobody opens it any more: the boundary answers 405 in its place."""
    from ..rewrite import sessions

    if (endpoint := _endpoint(fact, ctx)) is not None:
        yield from sessions.unrouted(endpoint, endpoint.place.unit.module, tree)


def _is_unclear(fact: Fact, ctx: Context) -> bool:
    """Whether something under the endpoint's path speaks of streams or sessions, but may answer more than those."""
    from ..rewrite import sessions

    return any(sessions.is_mixed(one) for one in _around(fact, ctx, sessions.apart))


def _endpoint(fact: Fact, ctx: Context) -> Endpoint | None:
    """The endpoint that a route belongs to, where requests of its verb never get to it."""
    from ..rewrite import sessions

    for one in _around(fact, ctx, sessions.removed):
        function, module = one.place.function, one.place.unit.module
        if "POST" not in one.verbs or (function is not None and fact.key in sessions.unserved_verbs(function, module)):
            return one
    return None


def _around(fact: Fact, ctx: Context, find: Callable[[Code, Unit, Collection[str]], Iterator[Endpoint]]) -> Iterator[Endpoint]:
    """The endpoints for the verb of a route that it stands in."""
    # A check imports this module as well, and whole servers take longer to read than most checks take.
    from ..rewrite import servers

    found = servers.unit(ctx.project, ctx.file.source.path)
    for one in find(*found, hosted.wraps(ctx)) if found is not None else ():
        module, function = one.place.unit.module, one.place.function
        if function is None or str(fact.key) not in one.verbs:
            continue
        if module.span(function.node).contains(fact.span) or (one.route is not None and module.span(one.route).contains(fact.span)):
            yield one
