"""Arguments of a low-level server that version 2 takes by their name only, or not at all."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite import adapters
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_STATELESS = 4  # its place among the arguments of `run`


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call):
        return
    sure = Applicability.SAFE if fact.sure else Applicability.UNSAFE
    hints = ctx.entry.hints
    if str(fact.key).endswith(".run"):
        given = _stateless(node)
        if given is not None:
            message = "version 2 of the SDK has no `stateless` in `Server.run`"
            off = isinstance(given, ast.Constant) and given.value is False
            how = sure if off else Applicability.UNSAFE
            yield ctx.finding(fact, how, message=message, hint=hints["dropped" if off else "stateless"])
    elif len(node.args) > 1:
        message = "version 2 of the SDK takes only the name of a `Server` by its place"
        starred = any(isinstance(argument, ast.Starred) for argument in node.args) or len(node.args) > len(_names(ctx))
        yield ctx.finding(fact, Applicability.MANUAL if starred else sure, message=message, hint=hints["starred" if starred else "named"])


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    from ...rewrite import calls

    call = calls.at(tree, fact.span)
    if call is None:
        return
    if str(fact.key).endswith(".run"):
        named = calls.keyword(call, "stateless")
        places = calls.positional(call)
        gone = [named] if named is not None else list(places[_STATELESS : _STATELESS + 1])
        yield from calls.drop(tree, call, gone)
        return
    for argument, name in zip(calls.positional(call)[1:], _names(ctx)[1:], strict=False):
        yield calls.named(tree, argument, name)


def _names(ctx: Context) -> tuple[str, ...]:
    """The parameters of version 1, in their order."""
    return tuple(name.lstrip("*") for name in ctx.sdk.api.parameters(adapters.SERVER) or ())


def _stateless(node: ast.Call) -> ast.expr | None:
    named = next((keyword.value for keyword in node.keywords if keyword.arg == "stateless"), None)
    if named is not None or len(node.args) <= _STATELESS or any(isinstance(one, ast.Starred) for one in node.args):
        return named
    return node.args[_STATELESS]
