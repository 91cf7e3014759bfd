"""State is kept per session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.functions import read
from ...facts.gates import handshake
from ...facts.mask import parse
from ...facts.model import Fact, Store
from ...rewrite.edits import Edit
from ...rule import Context, Finding, Need
from .. import hosted

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    yield from hosted.check(fact, ctx, follows=True)


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit | Need]:
    """Takes away what only looks at sessions that nobody opens any more; the store goes with its last use."""
    from ...rewrite import stores

    if isinstance(fact, Store) and hosted.is_removable(fact, ctx):
        module = read(tree.source, parse(tree.source)[0])
        yield from stores.emptied(fact.name, module, tree, handshake(module), hosted.apart(ctx, going=True))
