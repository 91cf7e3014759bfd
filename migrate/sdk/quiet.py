"""Whether a call by the name of a request sends none: it only runs functions of the project, and what these do is known to the end."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..facts.syntax import descend
from ..facts.vocabulary import SESSION_CALLS
from .modules import How, Module
from .types import MAX_BASES, OWN, ClassOf, Function, Known, is_open, members

if TYPE_CHECKING:
    from .program import Program

_SENDS = SESSION_CALLS | {"send_request", "send_notification"}
# These run, or look for, what only their arguments name.
_PLAIN = frozenset(name for name in dir(builtins) if not name.startswith("_")) - {
    "aiter", "anext", "compile", "delattr", "eval", "exec", "filter", "getattr", "globals", "locals", "map", "setattr", "super", "vars",
}  # fmt: skip
_METHODS = frozenset(name for kind in (str, bytes, list, dict, set, frozenset) for name in dir(kind) if not name.startswith("_"))
_WAITS = frozenset({"get", "join"})
_LOGS = frozenset({"critical", "debug", "error", "exception", "info", "log", "warning"})
_LIBRARY = frozenset(
    {
        "base64", "collections", "copy", "dataclasses", "datetime", "decimal", "hashlib", "html", "itertools", "json", "logging", "math",
        "random", "re", "secrets", "string", "textwrap", "time", "typing", "uuid",
    }
)  # fmt: skip
_DECORATORS = frozenset({"classmethod", "override", "staticmethod"})
_HOOKS = ("__init__", "__new__", "__post_init__")


class Quiet:
    """Follows the functions of a project as far as they are known; what is not known may send anything."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[str, bool] = {}
        self._open: dict[str, bool] = {}  # what is being looked at, and whether something that it calls has asked for it
        self._elsewhere: dict[str, bool] = {}

    def call(self, node: ast.Call, module: Module) -> bool:
        """Whether a call sends nothing. What is waited for may be anything that a function was given."""
        if isinstance(module.parents.get(node), ast.Await):
            return False
        known = self._program.type(node.func, module)
        found = [*members(known)]
        if is_open(known) or not found:
            return False
        return all(isinstance(one, Function) and self._function(one.name) and not self._is_replaced(one.name) for one in found)

    def _function(self, name: str) -> bool:
        if name in self._open:  # functions that call each other do nothing, or all of them may do anything
            self._open[name] = True
            return True
        if name not in self._known:
            before = len(self._known)
            self._open[name] = False
            path, own, qualified = name.partition(OWN)
            module = self._program.module_at(path) if own else None
            node = module.defined.get(qualified) if module is not None else None
            found = module is not None and isinstance(node, ast.FunctionDef) and self._does_nothing(node, module)
            if self._open.pop(name) and not found:
                # What was concluded in between may rest upon this one.
                for other in [*self._known][before:]:
                    if self._known[other]:
                        del self._known[other]
                self._elsewhere.clear()
            self._known[name] = found
        return self._known[name]

    def _does_nothing(self, node: ast.FunctionDef, module: Module) -> bool:
        if any(module.text(one).rpartition(".")[2] not in _DECORATORS for one in node.decorator_list) or _is_left_to_others(node):
            return False
        inner = [one for statement in node.body for one in descend(statement)]
        if any(isinstance(one, ast.Yield | ast.YieldFrom | ast.Await) for one in inner):
            return False
        if any(one.attr in _SENDS for one in inner if isinstance(one, ast.Attribute)):
            return False
        return all(self._is_plain(one, module) for one in inner if isinstance(one, ast.Call))

    def _is_plain(self, node: ast.Call, module: Module) -> bool:
        """Whether what a function calls is known to send nothing."""
        match node.func:
            case ast.Name(id=name) if name in _PLAIN and not module.stars and not [*_given(name, module)]:
                return True
            case ast.Attribute(attr=name) if name in _LOGS and _last(node.func.value).lower().endswith(("log", "logger", "logging")):
                return True
            case ast.Attribute() if self._is_of_library(node.func, module):
                return True
            case ast.Name(id=name) if self._is_of_library(node.func, module):
                return True
        known = self._program.type(node.func, module)
        if known is not None:
            return not is_open(known) and all(self._is_own(one) for one in members(known))
        # Of what holds nothing but values; `get()` without a name waits for what a queue is given.
        return isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS and (bool(node.args) or node.func.attr not in _WAITS)

    def _is_own(self, known: Known) -> bool:
        if isinstance(known, Function):
            if OWN in known.name:
                return self._function(known.name) and not self._is_replaced(known.name)
            return known.name.partition(".")[0] in ("builtins", "str", "list", "dict", "set", "int", "bool", "float")
        if not isinstance(known, ClassOf) or OWN not in known.name:
            return False
        path, _, qualified = known.name.partition(OWN)
        defined = self._program.module_at(path).defined
        return all(self._function(f"{known.name}.{hook}") for hook in _HOOKS if f"{qualified}.{hook}" in defined)

    def _is_of_library(self, node: ast.expr, module: Module) -> bool:
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name):
            return False
        found = [*_given(root.id, module)]
        return bool(found) and all(found) and not self._program.is_shadowed(module, next(iter(found)).partition(".")[0])

    def _is_replaced(self, name: str) -> bool:
        """Whether an object may have something else under the name of a method: a class below has its own, or code puts it there."""
        owner, _, method = name.rpartition(".")
        if OWN not in owner:
            return False
        if name not in self._elsewhere:
            modules = map(self._program.module_at, self._program.texts.naming(method))
            self._elsewhere[name] = any(self._puts(method, owner, module) for module in modules)
        return self._elsewhere[name]

    def _puts(self, method: str, owner: str, module: Module) -> bool:
        if method in module.replaced:
            return True
        puts = (node for name in ("setattr", "object", "patch") for node in module.calls.get(name, ()))
        texts = (one.value for node in puts for one in node.args if isinstance(one, ast.Constant))
        if any(str(text).rpartition(".")[2] == method for text in texts):
            return True
        return any(
            isinstance(node, ast.ClassDef)
            and any(_gives(statement, method) for statement in node.body)
            and not self._function(f"{module.path}{OWN}{module.qualified(node)}.{method}")
            and self._is_below(node, owner, module, MAX_BASES)
            for node in module.of(ast.ClassDef)
        )

    def _is_below(self, node: ast.ClassDef, owner: str, module: Module, depth: int) -> bool:
        """Whether a class may have another as a base. One that is not known may be any of the same name."""
        for base in node.bases:
            base = base.value if isinstance(base, ast.Subscript) else base
            known = [one for one in members(self._program.type(base, module)) if isinstance(one, ClassOf)]
            if any(one.name == owner for one in known) or (not known and _last(base) == owner.rpartition(OWN)[2].rpartition(".")[2]):
                return True
            for place, own, qualified in (one.name.partition(OWN) for one in known if depth):
                home = self._program.module_at(place) if own else None
                above = home.defined.get(qualified) if home is not None else None
                if home is not None and isinstance(above, ast.ClassDef) and self._is_below(above, owner, home, depth - 1):
                    return True
        return False


def _given(name: str, module: Module) -> Iterator[str]:
    """What a name of a module is given: modules of the library as such, "" for anything else."""
    for binding in module.bound.get(name, ()):
        root = binding.target.partition(".")[0] if binding.how is How.IMPORTED else ""
        yield binding.target if root in _LIBRARY else ""


def _gives(statement: ast.stmt, name: str) -> bool:
    """Whether a statement of a class gives a name to it."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        return statement.name == name
    return any(isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Store) for one in ast.walk(statement))


def _is_left_to_others(node: ast.FunctionDef) -> bool:
    """Whether a function is only the shape of others: `...`, or an error."""
    body = [one for one in node.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    return all(isinstance(one, ast.Pass | ast.Raise) for one in body)


def _last(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
