"""Where a class is named only to say of what class a value is: annotations, `isinstance`, and what type checkers alone read."""

from __future__ import annotations

import ast

from ..facts.code import last
from .modules import Module

_CHECKS = frozenset({"isinstance", "issubclass"})


def is_for_types(name: ast.expr, module: Module) -> bool:
    """Whether a union can stand in place of this class: nothing is made from it, derived from it, caught by it or asked of it."""
    child: ast.AST = name
    for above in module.around(name):
        match above:
            case ast.arg() | ast.AnnAssign():
                return child is above.annotation
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return child is above.returns
            case ast.Call(func=ast.Name(id=checks), args=[_, classes]) if checks in _CHECKS:
                return child is classes
            case ast.Call(func=func, args=[given, _]) if last(func) == "cast":
                return child is given
            case ast.keyword(arg="bound"):
                call = module.parents.get(above)
                return isinstance(call, ast.Call) and last(call.func) == "TypeVar"
            case ast.Subscript(value=value) if child is value and child is not name:
                return False  # `Own[...]` of something that is built of it
            case ast.Subscript() | ast.Tuple() | ast.List() | ast.BinOp(op=ast.BitOr()):
                child = above
            case _:
                return False
    return False
