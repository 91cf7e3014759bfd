"""What rules about clients have in common: a hand-written client that can be made to ask `server/discover` first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..facts.clients import Blocker, Client
from ..facts.model import Fact, Send
from ..rewrite import clients
from ..rewrite.edits import Edit
from ..rule import Applicability, Context, Era, Finding, Need

if TYPE_CHECKING:
    from ..rewrite.tree import Tree


def knows(fact: Fact, ctx: Context) -> bool:
    """Whether a fact is part of a client that asks `server/discover` first, or that `fix` can make do so."""
    return isinstance(clients.client_of(ctx.project, ctx.file.source.path, fact), Client)


def sends_otherwise(fact: Fact, ctx: Context) -> bool:
    """Whether a removed request goes to older servers only, and others get something in its place."""
    return ctx.era is Era.DUAL and isinstance(fact, Send) and knows(fact, ctx)


def is_done(fact: Fact, ctx: Context) -> bool:
    """Whether a fact is part of a client that asks `server/discover` first."""
    found = clients.client_of(ctx.project, ctx.file.source.path, fact)
    return isinstance(found, Client) and found.done


def is_at_home(ctx: Context) -> bool:
    """Whether a file holds a client that asks `server/discover` first: what names a revision there is for older servers."""
    found = clients.find(ctx.project, ctx.file.source.path).found
    return any(isinstance(one, Client) and one.done for one in found)


def check(fact: Fact, ctx: Context, *, removable: bool = False) -> Iterator[Finding]:
    """A finding at what a client does, unless it asks `server/discover` first: then only older servers see it.

    What is `removable` goes where no older server is spoken to.
    """
    found = clients.client_of(ctx.project, ctx.file.source.path, fact)
    if is_done(fact, ctx):
        if removable and ctx.era is Era.MODERN:
            yield ctx.finding(fact, Applicability.SAFE, hint=ctx.entry.hints["removed"])
        return
    obstacle = clients.obstacle(ctx.project, found) if isinstance(found, Client) else ""
    if obstacle:
        yield ctx.finding(fact, hint=obstacle)
    elif isinstance(found, Client):
        # What a test checks may be the handshake itself, which the server goes on to serve.
        at_test = clients.is_tested_with(found)
        trust = Applicability.UNSAFE if at_test else Applicability.SAFE
        yield ctx.finding(fact, trust, hint=ctx.entry.hints["tested" if at_test else "probed"])
    elif isinstance(found, Blocker):
        line = ctx.file.source.position(found.span.start).line
        hint = ctx.entry.hints["unprobed"].format(reason=found.reason, line=line)
        yield ctx.finding(fact, hint=f"{hint}; {found.way_out}" if found.way_out else hint)
    else:
        yield ctx.finding(fact)


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit | Need]:
    """Wraps what sends the client's requests."""
    found = clients.client_of(ctx.project, ctx.file.source.path, fact)
    if isinstance(found, Client) and not found.done and not clients.obstacle(ctx.project, found):
        yield from clients.edits(ctx.project, found, tree, ctx.era)
