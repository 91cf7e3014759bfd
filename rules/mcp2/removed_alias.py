"""`Cursor`, `AnyFunction`, `TASK_STATUS_WORKING`: names for a plain type or word, which version 2 does not have."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.use in (SymbolUse.IMPORT, SymbolUse.NAME) and _plain(fact, ctx):
        yield ctx.finding(fact, Applicability.SAFE)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    from ...rewrite import renames

    module, text = ctx.module, _plain(fact, ctx)
    needs = [Import(home, name) for name, home in _pairs(ctx, "imports") if re.search(rf"\b{name}\b", text)]
    if fact.use is SymbolUse.NAME:
        yield Edit(fact.span, text)
        yield from needs
        return
    alias = module.at(fact.span)
    statement = module.parents.get(alias) if alias is not None else None
    if not isinstance(alias, ast.alias) or not isinstance(statement, ast.ImportFrom):
        return
    name = alias.asname or alias.name
    if not renames.is_shared(name, [alias], module, ctx.sdk.inference, ctx.project.texts):
        yield from renames.replaced(statement, alias, lambda node: (_quoted(text, node), needs), tree, module, ctx.sdk.inference)
        return
    # Somebody else may ask for the name.
    yield from renames.replaced(statement, alias, lambda node: (name, []), tree, module, ctx.sdk.inference)
    yield from needs
    end = module.span(statement).end
    column = statement.col_offset
    yield Edit(Span(end, end), f"{module.source.newline}{' ' * column}{name} = {text}")


def _quoted(text: str, node: ast.AST) -> str:
    """As it stands in an annotation that is a text itself."""
    return text if isinstance(node, ast.Name) else text.replace('"', "'")


def _plain(fact: Symbol, ctx: Context) -> str:
    """What a name stood for. Modules hand each other's names on: it is the place of its definition that counts."""
    where, _, name = str(fact.key).rpartition(".")
    if not name.startswith("TASK_") and name not in ("Cursor", "AnyFunction", "TaskExecutionMode"):
        return ""
    if not ctx.sdk.api.was(where, name) or ctx.sdk.api.stays(where, name):
        return ""
    return dict(_pairs(ctx, "plain")).get(f"mcp.types.{name}", "")


def _pairs(ctx: Context, word: str) -> Iterator[tuple[str, str]]:
    for pair in ctx.entry.data[word]:
        old, _, new = pair.partition(" -> ")
        yield old, new
