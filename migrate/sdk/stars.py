"""What a file takes of `from module import *`, which names nothing."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

from ..facts.model import FileFacts
from ..facts.texts import Texts
from .infer import Inference
from .modules import Module

_WORD = re.compile(r"[A-Za-z_]\w*")


def taken(star: str, module: Module, inference: Inference, texts: Texts) -> list[str]:
    """The names that a star import of the older SDK gives this file, or others through it; in order of the alphabet."""
    offered = inference.api.old["modules"].get(star, {})
    used = {name for name in _used(module, inference) if name in offered}
    others = (texts.files[path] for path in texts.importing_of(module.name) if path != module.path)
    asked = {name for other in others for name in _asked(module, other) if name in offered}
    return sorted(name for name in used | asked if _giver(name, module, inference) == star)


def is_clear(module: Module, inference: Inference) -> bool:
    """Whether every star import of the file is of the SDK, so that it is known what each brings."""
    return all(inference.api.is_module(star) for star in module.stars)


def _giver(name: str, module: Module, inference: Inference) -> str:
    """The star import that a name is from: the last one that has it."""
    return next((star for star in reversed(module.stars) if name in inference.api.old["modules"].get(star, ())), "")


def _used(module: Module, inference: Inference) -> Iterator[str]:
    """Names that the file itself gives to nothing, in code and in annotations that are texts."""
    for node in module.of(ast.Name):
        if isinstance(node, ast.Name) and not hasattr(builtins, node.id) and not inference.bindings(node.id, node, module):
            yield node.id
    top = module.scopes[module.tree].bindings
    for node in module.of(ast.Constant):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 200 and _is_listed(node, module):
            yield from (word for word in _WORD.findall(node.value) if word not in top)


def _is_listed(node: ast.Constant, module: Module) -> bool:
    """Whether a text stands in an annotation, or in `__all__`."""
    child: ast.AST = node
    for above in module.around(node):
        match above:
            case ast.arg() | ast.AnnAssign():
                return above.annotation is child
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return above.returns is child
            case ast.Assign(targets=[ast.Name(id="__all__")]):
                return True
            case ast.Subscript() | ast.BinOp() | ast.Tuple() | ast.List():
                child = above
            case _:
                return False
    return False


def _asked(module: Module, other: FileFacts) -> Iterator[str]:
    """Names that another file imports of this one, or may take as its attributes, or by a star import of its own."""
    values = set(other.imports.values())
    for target in values:
        if target.startswith(f"{module.name}."):
            yield target.removeprefix(f"{module.name}.").partition(".")[0]
    if module.name and module.name in values:
        for local, target in other.imports.items():
            if target == module.name:
                yield from re.findall(rf"\b{re.escape(local)}\.(\w+)", other.source.text)
    last = module.name.rpartition(".")[2]
    if last and re.search(rf"^[ \t]*from[ \t]+[.\w]*\b{re.escape(last)}[ \t]+import[ \t]*\*", other.source.text, re.MULTILINE):
        yield from _WORD.findall(other.source.text)
