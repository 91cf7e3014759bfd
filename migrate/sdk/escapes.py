"""Whether an exception that a function raises leaves it, and whether other code counts on its class."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from .handlers import callers
from .modules import TRY, Def, Module
from .types import MAX_BASES, OWN, ClassOf, members

if TYPE_CHECKING:
    from .program import Program

_RAISES = frozenset({"raises", "assertRaises", "assertRaisesRegex", "suppress", "assertRaisesRegexp"})
_ALL = frozenset({"Exception", "BaseException"})
_OWN = frozenset({"ToolError", "ResourceError", "MCPError", "McpError", "MCPServerError", "FastMCPError"})
_MAX_CALLERS = 4


def builtin(node: ast.expr, module: Module, program: Program) -> str:
    """The name of the builtin exception that an expression is; nothing for all else."""
    if isinstance(node, ast.Name) and not program.inference.bindings(node.id, node, module):
        known = getattr(builtins, node.id, None)
        if isinstance(known, type) and issubclass(known, BaseException):
            return node.id
    return ""


def expected_class(node: ast.expr, module: Module, program: Program, seen: set[str] | None = None) -> tuple[str, ...]:
    """The names by which an exception class can be caught, nearest first: its own and those of its bases.

    `seen` are the classes that it was asked of on the way: bases may go round in a circle, or meet again and again.
    """
    seen = set() if seen is None else seen
    name = builtin(node, module, program)
    if name:
        return tuple(base.__name__ for base in getattr(builtins, name).__mro__ if base is not object)
    found: list[str] = []
    for one in members(program.type(node, module)):
        if isinstance(one, ClassOf):
            found.append(one.name.rpartition(".")[2].rpartition(OWN)[2])
            if OWN in one.name and one.name not in seen and len(seen) < MAX_BASES:
                seen.add(one.name)
                path, _, qualified = one.name.partition(OWN)
                inner = program.module_at(path)
                defined = inner.defined.get(qualified)
                for base in defined.bases if isinstance(defined, ast.ClassDef) else ():
                    found += expected_class(base, inner, program, seen)
            elif one.name.startswith("mcp."):
                found += ["Exception", "BaseException"]
    return tuple(found) or (ast.unparse(node).rpartition(".")[2],)


def is_caught(statement: ast.Raise, function: Def, module: Module, program: Program) -> bool:
    """Whether the function may catch it itself, in whatever way it goes on then."""
    assert isinstance(statement.exc, ast.Call)
    names = expected_class(statement.exc.func, module, program)
    # What the new class would be caught by counts as well.
    return _is_held(statement, function, {*names, *_OWN}, module)


def _is_held(node: ast.AST, function: ast.AST, names: set[str], module: Module) -> bool:
    child = node
    for above in module.around(node):
        if isinstance(above, TRY) and child in above.body and any(_catches(handler, names) for handler in above.handlers):
            return True
        if isinstance(above, TRY) and any(isinstance(inside, ast.Return) for last in above.finalbody for inside in ast.walk(last)):
            return True
        if (
            isinstance(above, ast.With | ast.AsyncWith)
            and child in above.body
            and any(_swallows(item.context_expr, names) for item in above.items)
        ):
            return True
        if above is function:
            return False
        child = above
    return False


def is_expected(names: tuple[str, ...], function: Def, module: Module, program: Program, seen: frozenset[ast.AST] = frozenset()) -> bool:
    """Whether something that calls the function looks for this class by name; `except Exception` takes another one as well."""
    if function in seen or len(seen) > _MAX_CALLERS:
        return False
    wanted = {name for name in names if name not in _ALL}
    if not wanted:
        return False
    for other, call, sure in callers(function, module, program):
        around = other.function(call)
        if _is_held(call, other.tree, wanted, other) or _is_tested(call, wanted, other):
            return True
        if around is not None and sure and is_expected(names, around, other, program, seen | {function}):
            return True
    return False


def _is_tested(call: ast.Call, names: set[str], module: Module) -> bool:
    """`pytest.raises(ValueError, function, ...)` and the like."""
    return any(isinstance(above, ast.Call) and _swallows(above, names) for above in module.around(call))


def _catches(handler: ast.ExceptHandler, names: set[str]) -> bool:
    if handler.type is None:
        return True
    items = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    for item in items:
        if not isinstance(item, ast.Name | ast.Attribute):
            return True
        if (item.id if isinstance(item, ast.Name) else item.attr) in names:
            return True
    return False


def _swallows(node: ast.expr, names: set[str]) -> bool:
    if not isinstance(node, ast.Call):
        return False
    called = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""
    if called not in _RAISES:
        return False
    for argument in node.args[:1] if called != "suppress" else node.args:
        items = argument.elts if isinstance(argument, ast.Tuple) else [argument]
        if any((item.id if isinstance(item, ast.Name) else getattr(item, "attr", "")) in names for item in items):
            return True
    return False
