"""A server session is made, derived from, or changed by hand."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rule import Applicability, Context, Finding

_OLD = frozenset({"read_stream", "write_stream", "init_options", "stateless"})


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    name = str(fact.key).rpartition(".")[2]
    if name in ("ServerSession", "__init__"):
        if fact.use is SymbolUse.BASE or (fact.use is SymbolUse.CALL and _is_old(ctx.module.at(fact.span))):
            yield ctx.finding(fact, Applicability.MANUAL)
    else:
        yield ctx.finding(
            fact,
            Applicability.MANUAL,
            message=f"a server session of version 2 of the SDK has no `{name}`",
            hint=ctx.entry.hints["state" if name.startswith("_") else "manual"],
        )


def _is_old(node: ast.AST | None) -> bool:
    """Whether a session is made from streams, as version 1 did."""
    return isinstance(node, ast.Call) and (len(node.args) > 2 or bool({word.arg for word in node.keywords} & _OLD))
