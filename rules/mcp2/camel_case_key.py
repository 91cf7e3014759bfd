"""`tool.model_copy(update={"inputSchema": ...})`, `include=` and `exclude=` with camelCase names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding
from ...sdk.modules import How
from ...sdk.types import Instance, Known, members
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_TELLING = frozenset({"update", "include", "exclude"})


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.use is not SymbolUse.CALL or [*_edits(fact, ctx)]:
        if fact.use is SymbolUse.CALL:
            yield ctx.finding(fact, Applicability.SAFE if fact.sure else Applicability.UNSAFE)
        return
    owner = str(fact.key).rpartition(".")[0]
    if any(ctx.sdk.api.renamed(owner, name) for name in _old_fields(owner, ctx)):
        for word in _told(fact, ctx):
            if (
                _literal(word.value, ctx) is None
                and not isinstance(word.value, ast.Constant)
                and not ctx.sdk.is_moved(ctx.file.source.path)
            ):
                yield ctx.finding(fact)
                return


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    yield from _edits(fact, ctx)


def _old_fields(owner: str, ctx: Context) -> Iterator[str]:
    yield from ctx.sdk.api.old["classes"].get(owner, {}).get("fields", ())


def _told(fact: Symbol, ctx: Context) -> Iterator[ast.keyword]:
    node = ctx.module.at(fact.span)
    if isinstance(node, ast.Call):
        yield from (word for word in node.keywords if word.arg in _TELLING)


def _edits(fact: Symbol, ctx: Context) -> Iterator[Edit]:
    owner = str(fact.key).rpartition(".")[0]
    for word in _told(fact, ctx):
        literal = _literal(word.value, ctx)
        if literal is not None:
            yield from _renamed(literal, {owner}, ctx, deep=word.arg != "update")


def _literal(node: ast.expr, ctx: Context) -> ast.expr | None:
    """The names as they are written, here or in a variable that serves nothing else."""
    if isinstance(node, ast.Dict | ast.Set | ast.List | ast.Tuple):
        return node
    if isinstance(node, ast.Name):
        bindings = ctx.sdk.inference.bindings(node.id, node, ctx.module)
        used = ctx.module.loads.get(node.id, [])
        if len(bindings) == 1 and bindings[0].how is How.VALUE and not bindings[0].path and used == [node]:
            return _literal(bindings[0].value, ctx) if isinstance(bindings[0].value, ast.Dict | ast.Set | ast.List | ast.Tuple) else None
    return None


def _renamed(node: ast.expr, owners: set[str], ctx: Context, *, deep: bool) -> Iterator[Edit]:
    """The keys of a dict or the items of a set that are old names; with `deep`, what a dict says of inner models too."""
    keys = node.keys if isinstance(node, ast.Dict) else node.elts if isinstance(node, ast.Set | ast.List | ast.Tuple) else []
    for number, key in enumerate(keys):
        if not isinstance(key, ast.Constant):
            continue
        new = next((new for owner in owners if isinstance(key.value, str) and (new := ctx.sdk.api.renamed(owner, key.value))), None)
        if new is not None and ctx.module.text(key)[1:-1] == key.value:
            span = ctx.module.span(key)
            yield Edit(Span(span.start + 1, span.end - 1), new)
        if deep and isinstance(node, ast.Dict):
            inner = owners if key.value == "__all__" or isinstance(key.value, int) else {
                name for owner in owners for name in _held(ctx.sdk.api.field(owner, str(key.value)))
            }  # fmt: skip
            yield from _renamed(node.values[number], inner, ctx, deep=True)


def _held(known: Known | None) -> Iterator[str]:
    for one in members(known):
        if isinstance(one, Instance):
            yield one.name
            for inner in one.args:
                yield from _held(inner)
