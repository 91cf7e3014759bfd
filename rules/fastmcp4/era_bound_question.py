"""`ctx.elicit(...)`, which needs a connection of an earlier revision."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Standalone, SymbolUse
from ...rewrite import answers
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import, NewFile

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_VERSION = "protocol_version"


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    if not _is_bound(fact, ctx):
        return
    plan = answers.plan(fact, ctx.project, ctx.file.source.path)
    reason = plan if isinstance(plan, str) else answers.obstacle(ctx)
    if reason:
        yield ctx.finding(fact, hint=f"{reason}; {ctx.entry.hints['manual']}")
    elif isinstance(plan, answers.Plan):
        yield ctx.finding(fact, Applicability.SAFE if plan.quiet else Applicability.UNSAFE)


def fix(fact: Standalone, tree: Tree, ctx: Context) -> Iterator[Edit | Import | NewFile]:
    plan = answers.plan(fact, ctx.project, ctx.file.source.path) if _is_bound(fact, ctx) else ""
    if isinstance(plan, answers.Plan) and not answers.obstacle(ctx):
        yield from answers.edits(plan, ctx)


def _is_bound(fact: Standalone, ctx: Context) -> bool:
    """Whether it asks by itself, and its function does not look at the revision of the connection, by which it may ask otherwise."""
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call) or not fact.sure or answers.is_moved(node):
        return False
    function = ctx.module.function(node)
    return function is None or not any(isinstance(inner, ast.Attribute) and inner.attr == _VERSION for inner in ast.walk(function))
