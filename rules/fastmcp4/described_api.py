"""`FastMCP.from_openapi(...)` in a project that admits a release with the older parser."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Standalone, SymbolUse
from ...rule import Context, Finding
from ..releases import STANDALONE, bounds, near


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    if fact.use is SymbolUse.CALL and isinstance(ctx.module.at(fact.span), ast.Call) and _admits_older(ctx):
        yield ctx.finding(fact)


def _admits_older(ctx: Context) -> bool:
    """Whether the project asked for fastmcp in a way that a release with the older parser meets."""
    from ...facts.versions import Version

    since = Version(ctx.entry.data["since"][0])
    every = [(file, one) for name in STANDALONE for file, one in ctx.project.begun.get(name, ())]
    limits = (bounds(one.specifier) for _, one in near(ctx, every) if one.specifier)
    return any(found is not None and found.begins_before(since) for found in limits)
