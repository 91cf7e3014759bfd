"""What a class of the project overrides of a class that it derives from."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..facts.model import Defined, SymbolUse
from ..rule import Context


def methods(fact: Defined, ctx: Context) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The methods of the class whose base a fact is; nothing where it is no base."""
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.BASE or node is None:
        return
    owner = next((above for above in ctx.module.around(node) if isinstance(above, ast.ClassDef)), None)
    for statement in owner.body if owner is not None else ():
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            yield statement
