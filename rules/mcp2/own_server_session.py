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
        node = ctx.module.at(fact.span)
        if fact.use is SymbolUse.BASE:
            yield ctx.finding(fact, Applicability.MANUAL)
        elif fact.use is SymbolUse.CALL and isinstance(node, ast.Call) and _is_old(node):
            # What version 2 does not take: the third argument, or the first of these names.
            old = node.args[2] if len(node.args) > 2 else next(word for word in node.keywords if word.arg in _OLD)
            yield ctx.finding(fact, Applicability.MANUAL, span=ctx.module.span(old))
    else:
        yield ctx.finding(
            fact,
            Applicability.MANUAL,
            message=f"a server session of version 2 of the SDK has no `{name}`",
            hint=ctx.entry.hints["state" if name.startswith("_") else "manual"],
        )


def _is_old(node: ast.Call) -> bool:
    """Whether a session is made from streams, as version 1 did."""
    return len(node.args) > 2 or bool({word.arg for word in node.keywords} & _OLD)
