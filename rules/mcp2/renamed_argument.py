"""A keyword that version 2 knows by another name, or not at all."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite import calls
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding

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


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    call = calls.at(tree, fact.span)
    for old, new in _changes(fact, ctx):
        argument = calls.keyword(call, old) if call is not None else None
        if call is not None and argument is not None:
            if new:
                yield calls.renamed(tree, argument, new)
            else:
                yield from calls.drop(tree, call, [argument])


def _changes(fact: Symbol, ctx: Context) -> Iterator[tuple[str, str]]:
    for change in ctx.entry.data.get(str(fact.key), ()):
        old, _, new = change.partition("->")
        yield old.strip(), new.strip()
