"""Joins the parts of the boundary module that lie in files of their own to its text."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import pairwise

_CLASS, _INTO = "Host", "Stateless"


def joined(core: str, hosts: Iterable[str]) -> str:
    """The core with the methods of each host in its class, and with what stands beside them at its end."""
    lines, methods, rest, imports = core.split("\n"), list[str](), list[str](), list[ast.stmt]()
    for text in hosts:
        own, body = text.split("\n"), ast.parse(text).body
        # The first statement is the docstring; every other one owns the comments above it.
        for before, node in pairwise(body):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                imports.append(node)
            elif isinstance(node, ast.ClassDef) and node.name == _CLASS:
                methods += [*own[node.lineno : node.end_lineno], ""]
            else:
                rest += own[before.end_lineno : node.end_lineno]
    body = ast.parse(core).body
    into = next(node for node in body if isinstance(node, ast.ClassDef) and node.name == _INTO)
    # Before the first of the private methods.
    at = next(node.lineno for node in into.body if isinstance(node, ast.FunctionDef) and node.name == "_admit") - 1
    old = [node for node in body if isinstance(node, (ast.Import, ast.ImportFrom))]
    first, last = old[0].lineno - 1, old[-1].end_lineno
    new = _imports([*old, *imports])
    return "\n".join([*lines[:first], *new, *lines[last:at], *methods, *lines[at:], *rest])


def _imports(nodes: Iterable[ast.stmt]) -> Iterator[str]:
    """One sorted block of all imports but those of our own package."""
    names = {name for node in nodes for name in _names(node)}
    yield "from __future__ import annotations"
    yield ""
    yield from (f"import {module}" for module, name in sorted(names) if not name)
    for module in sorted({module for module, name in names if name}):
        wanted = sorted((name for origin, name in names if name and origin == module), key=_order)
        yield f"from {module} import {', '.join(wanted)}"


def _names(node: ast.stmt) -> Iterator[tuple[str, str]]:
    match node:
        case ast.Import(names=aliases):
            yield from ((alias.name, "") for alias in aliases)
        case ast.ImportFrom(module=str() as module, names=aliases, level=0) if module != "__future__":
            yield from ((module, alias.name) for alias in aliases)


def _order(name: str) -> tuple[bool, str]:
    """Classes before functions, as import sorters have it."""
    return name[:1].islower(), name
