"""Which major of the SDK a file is written for: by what it imports, and by how it spells fields.

Much code looks the same for both and means something else: a constant, a dump without aliases. Only beside other signs can be
told what was meant.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..facts.syntax import descend
from .api import Api
from .modules import Module
from .types import Instance, members
from .vocabulary import ONLY

if TYPE_CHECKING:
    from .program import Program

OLD, NEW = 1, 2
_SNAKE = frozenset(re.sub(r"(?<=[a-z])([A-Z])", lambda found: f"_{found[1].lower()}", name) for name in ONLY)
_IMPORTS = re.compile(rb"^[ \t]*(from|import)[ \t]+mcp(_types)?\b", re.MULTILINE)


def supports_both(module: Module, api: Api) -> bool:
    """Whether one branch of a guard imports or does what only the older release has, and another one what only the newer one has."""
    data = module.source.utf8
    found = len(_IMPORTS.findall(data))
    if found < 2 and not (found and _TOLD.search(data)):
        return False
    for node in module.of(ast.Try, ast.If):
        branches: list[list[ast.stmt]] = []
        if isinstance(node, ast.Try):
            branches = [[*node.body, *node.orelse], *(handler.body for handler in node.handlers)]
        elif isinstance(node, ast.If) and node.orelse:
            branches = [node.body, node.orelse]
        signs = [{*_signs(branch, api), *_registers(branch)} for branch in branches]
        if {OLD} in signs and {NEW} in signs:
            return True
    return False


def decide(program: Program) -> dict[str, int]:
    """The major of every file that imports the SDK; files without a sign of their own are as the others are."""
    found = {path: _signs_of(program, path) for path, file in program.files.items() if _IMPORTS.search(file.source.utf8)}
    whole = {sign for signs in found.values() for sign in signs}
    default = NEW if whole == {NEW} else OLD
    decided = {path: NEW if signs == {NEW} else OLD if signs else default for path, signs in found.items()}
    return {path: decided.get(path, default) for path in program.files}


def _signs_of(program: Program, path: str) -> set[int]:
    module = program.module_at(path)
    if program.is_shadowed(module):
        return set()
    signs = {*_signs([*module.of(ast.Import, ast.ImportFrom)], program.api)}
    if signs:
        return signs
    for node in module.nodes:
        match node:
            case ast.Attribute(attr=attr, value=value) if attr in _SNAKE or attr in ONLY:
                known = [*members(program.type(value, module))]
                if known and all(isinstance(one, Instance) and program.api.is_class(one.name) for one in known):
                    signs.add(NEW if attr in _SNAKE else OLD)
            case ast.keyword(arg=str(name)) if name.startswith("on_") and name in _HANDLERS:
                signs.add(NEW)
    return signs


_DECORATORS = frozenset(
    {"list_tools", "call_tool", "list_resources", "list_resource_templates", "read_resource", "list_prompts", "get_prompt"}
)
_HANDLERS = frozenset(f"on_{name}" for name in _DECORATORS)
_TOLD = re.compile(rb"\b(?:" + b"|".join(sorted(name.encode() for name in _HANDLERS)) + rb")\s*=")


def _registers(nodes: Iterable[ast.AST]) -> Iterator[int]:
    """What the ways say in which a low-level server is told its handlers: decorators, or arguments."""
    for top in nodes:
        for node in descend(top):
            match node:
                case ast.keyword(arg=str(name)) if name in _HANDLERS:
                    yield NEW
                case ast.FunctionDef(decorator_list=decorators) | ast.AsyncFunctionDef(decorator_list=decorators):
                    for one in decorators:
                        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in _DECORATORS:
                            yield OLD


def _signs(nodes: Iterable[ast.AST], api: Api) -> Iterator[int]:
    """What the imports below some nodes say."""
    for top in nodes:
        for node in descend(top):
            if isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").partition(".")[0] in ("mcp", "mcp_types"):
                for alias in node.names:
                    yield from _sign(f"{node.module}", alias.name, api)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.partition(".")[0] in ("mcp", "mcp_types"):
                        yield from _sign(alias.name, "", api)


def _sign(module: str, name: str, api: Api) -> Iterator[int]:
    module = f"mcp.types{module.removeprefix('mcp_types')}" if module.startswith("mcp_types") else module
    if module == "mcp.types" and not name:
        return
    old = api.was(module, name) if name and name != "*" else module in api.old["modules"]
    new = api.stays(module, name) if name and name != "*" else module in api.new["modules"]
    if old != new:
        yield OLD if old else NEW
