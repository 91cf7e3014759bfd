"""A keyword that version 2 knows by another name, or not at all."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite import calls
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding
from ...sdk.types import Instance

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call):
        return
    given = {keyword.arg for keyword in node.keywords}
    for old, new in _changes(fact, ctx):
        # An object that may be something else as well may want the old name.
        if old in given and new not in given:
            what = f"is `{new}` now" if new else "is not taken any more"
            yield ctx.finding(
                fact,
                Applicability.SAFE if fact.sure else Applicability.UNSAFE,
                message=f"`{old}` of `{fact.key}` {what}",
            )
    place = _place(fact, node, ctx)
    if place is not None:
        message = f"`{place[1]}` of `{fact.key}` is not taken any more"
        yield ctx.finding(fact, Applicability.SAFE if fact.sure else Applicability.UNSAFE, message=message)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    call = calls.at(tree, fact.span)
    for old, new in _changes(fact, ctx):
        argument = calls.keyword(call, old) if call is not None else None
        if call is not None and argument is not None:
            if new:
                yield calls.renamed(tree, argument, new)
            else:
                yield from calls.drop(tree, call, [argument])
    node = ctx.module.at(fact.span)
    place = _place(fact, node, ctx) if isinstance(node, ast.Call) else None
    if place is not None and call is not None:
        yield from calls.drop(tree, call, calls.positional(call)[place[0] : place[0] + 1])


def _place(fact: Symbol, node: ast.Call, ctx: Context) -> tuple[int, str] | None:
    """The place of an argument that has gone, where a number stands there, and its name; version 2 takes another thing at that place."""
    for entry in ctx.entry.data["places"]:
        key, number, name = entry.split()
        if key == fact.key and len(node.args) > int(number) and not any(isinstance(one, ast.Starred) for one in node.args):
            known = ctx.sdk.type(node.args[int(number)], ctx.module)
            if isinstance(known, Instance) and known.name in ("int", "float"):
                return int(number), name
    return None


def _changes(fact: Symbol, ctx: Context) -> Iterator[tuple[str, str]]:
    for change in ctx.entry.data.get(str(fact.key), ()):
        old, _, new = change.partition("->")
        yield old.strip(), new.strip()
