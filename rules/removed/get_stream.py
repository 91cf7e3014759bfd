"""The endpoint answers GET with a stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Fact
from ...rewrite.edits import Edit
from ...rule import Context, Finding, Need
from .. import hosted

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    # Another route of an application whose endpoint has a boundary is no business of the endpoint's clients.
    if not hosted.is_removable(fact, ctx) or hosted.endpoint(fact, ctx) is not None:
        yield from hosted.check(fact, ctx)


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit | Need]:
    """Takes the route away where nobody opens it any more: the boundary answers 405 in its place."""
    from ...rewrite import sessions

    if (endpoint := hosted.endpoint(fact, ctx)) is not None:
        yield from sessions.unrouted(endpoint, endpoint.place.unit.module, tree)
