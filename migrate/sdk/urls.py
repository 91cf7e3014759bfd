"""How a file spells the class that pydantic has for URLs."""

from __future__ import annotations

import ast

from .infer import Inference
from .modules import How, Module, dotted
from .types import URL, ClassOf


def spelled(module: Module, inference: Inference) -> str:
    """The name under which the file has `AnyUrl` already; nothing where it does not."""
    for name, bindings in module.scopes[module.tree].bindings.items():
        binding = bindings[0]
        if len(bindings) > 1 or binding.how is not How.IMPORTED or not binding.target.endswith(".AnyUrl"):
            continue
        if inference.dotted_name(binding.target, module) == ClassOf(URL):
            return name
    return ""


def made(node: ast.expr, name: str, module: Module, inference: Inference) -> tuple[str, str]:
    """The texts before and after a URI that make a URL of it; nothing is made of one that may be absent, and is not asked for."""
    if _may_be_absent(node, module, inference):
        return f"{name}(", f") if {module.text(node)} else None"
    return f"{name}(", ")"


def _may_be_absent(node: ast.expr, module: Module, inference: Inference) -> bool:
    """Whether a name was given `getattr(x, "uri", None)`, and nothing around asks whether it has a value."""
    if not isinstance(node, ast.Name):
        return _is_default(node)
    if not any(binding.value is not None and _is_default(binding.value) for binding in inference.bindings(node.id, node, module)):
        return False
    child: ast.AST = node
    for above in module.around(node):
        match above:
            case ast.IfExp(test=test, body=body) if child is body and _asks(test, node.id):
                return False
            case ast.If(test=test, body=body) if child in body and _asks(test, node.id):
                return False
            case ast.BoolOp(op=ast.And(), values=values) if child in values and any(
                _asks(test, node.id) for test in values[: values.index(child)]
            ):
                return False
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                return True
        child = above
    return True


def _is_default(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="getattr"), args=[_, _, ast.Constant(value=None)]):
            return True
    return False


def _asks(test: ast.expr, name: str) -> bool:
    """Whether a test holds only where a name has a value."""
    match test:
        case ast.Compare(left=left, ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return dotted(left) == name
        case ast.BoolOp(op=ast.And(), values=values):
            return any(_asks(value, name) for value in values)
    return dotted(test) == name
