"""Where a module that `fix` writes lies in a project, and how the files that use it import it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from pathlib import PurePosixPath

from ..project import Project, is_test
from ..rule import Context, Import
from ..sdk.modules import Module
from ..source import Span
from . import lines, written
from .edits import Edit


def find(project: Project, users: Iterable[str], file_name: str) -> dict[str, str]:
    """The folder of the module for each file that uses it: one for each package, or for files that stand together."""
    packages = _packages(project)
    groups: dict[str, list[str]] = {}
    tests = []
    for path in users:
        if is_test(path):
            tests.append(path)
        else:
            groups.setdefault(_top(path, packages), []).append(path)
    if len(groups) == 1:  # tests use what the server has
        next(iter(groups.values())).extend(tests)
    else:
        for path in tests:
            groups.setdefault(str(PurePosixPath(path).parent), []).append(path)
    homes: dict[str, str] = {}
    for paths in groups.values():
        own = [path for path in paths if not is_test(path)] or paths
        held = _held(project, own, file_name)
        homes.update(dict.fromkeys(paths, held if held is not None else _common(own)))
    return homes


def imported(ctx: Context, folder: str, name: str, at: Span) -> Iterator[Edit | Import]:
    """What makes the module's name known in a file, for code at these bytes."""
    module = ctx.module
    if any(name in scope.bindings for scope in module.scopes.values()):
        return
    spelled, either = _spelled(ctx, folder)
    anchor = _anchor(module, at)
    if not either and anchor is None:
        yield Import(spelled, name) if spelled else Import(name, "")
        return
    plain = f"from {spelled} import {name}" if spelled else f"import {name}"
    text = f"try:\n    {plain}\nexcept ImportError:  # run by its path\n    import {name}\n" if either else f"{plain}\n"
    after = anchor or _last_import(module)
    if after is None:
        yield Import(spelled, name) if spelled else Import(name, "")
        return
    gap = "\n" if either and anchor is None else ""
    indent = lines.indent_of(module.source, module.span(after).start)
    at_line = lines.next_line(module.source, module.span(after).end)
    body = "".join(f"{indent}{line}" if line.strip() else line for line in (gap + text).splitlines(keepends=True))
    yield Edit(Span(at_line, at_line), lines.block(module.source, body))


def _held(project: Project, users: Iterable[str], file_name: str) -> str | None:
    """Where the module lies already: beside one of the files, or above it."""
    for path in users:
        for above in PurePosixPath(path).parents:
            held = project.files.get(str(above / file_name))
            if held is not None and written.parts(held.source.text) is not None:
                return str(above)
    return None


def _packages(project: Project) -> frozenset[str]:
    inits = (path for path in project.files if PurePosixPath(path).name == "__init__.py")
    return project.packages | {str(PurePosixPath(path).parent) for path in inits}


def _top(path: str, packages: Collection[str]) -> str:
    """The outermost package that a file is part of; its own folder where it is part of none."""
    top = folder = PurePosixPath(path).parent
    for above in (folder, *folder.parents):
        if str(above) not in packages:
            break
        top = above
    return str(top)


def _common(paths: Iterable[str]) -> str:
    shared = []
    for level in zip(*(PurePosixPath(path).parent.parts for path in paths), strict=False):
        if len({*level}) > 1:
            break
        shared.append(level[0])
    return "/".join(shared) or "."


def _spelled(ctx: Context, home: str) -> tuple[str, bool]:
    """What stands before `import` in a file, and whether the file may be run by its path as well: `.`, `package`, or nothing."""
    module, path = ctx.module, ctx.file.source.path
    folder, packages = PurePosixPath(path).parent, _packages(ctx.project)
    inside = folder == PurePosixPath(home) or PurePosixPath(home) in folder.parents
    depth = len(folder.parts) - len(PurePosixPath(home).parts)
    dots = "." * (depth + 1)
    outer = PurePosixPath(_top(f"{home}/_", packages))
    parts = PurePosixPath(home).parts[len(outer.parent.parts) :] if str(outer) in packages else ()
    dotted = ".".join(parts)
    if not inside:
        return dotted, False
    guarded = {inner for node in module.nodes if isinstance(node, ast.Try) for inner in ast.walk(node)}
    imports = [node for node in module.nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    relative = [node for node in imports if isinstance(node, ast.ImportFrom) and node.level]
    if relative:
        return dots, all(node in guarded for node in relative)
    own = {parts[0]} if parts else set()
    for node in imports:
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
        if any(name.partition(".")[0] in own and ctx.project.module(name, path) is not None for name in names):
            return dotted, False
    if PurePosixPath(path).name == "__init__.py":
        return dots, False
    if str(folder) not in packages:
        return "", False
    return dots, depth == 0 and not _is_part(ctx, path)


def _is_part(ctx: Context, path: str) -> bool:
    """Whether a file is only ever loaded as part of its package: others import it so, and it is no program."""
    if any(isinstance(node, ast.Compare) and isinstance(node.left, ast.Name) and node.left.id == "__name__" for node in ctx.module.nodes):
        return False
    name, package = PurePosixPath(path).stem, PurePosixPath(path).parent.name
    spellings = (f".{name} import".encode(), f"from . import {name}".encode(), f"{package}.{name}".encode())
    return any(one in ctx.project.files[other].source.utf8 for other in ctx.project.importers(path) for one in spellings)


def _anchor(module: Module, at: Span) -> ast.stmt | None:
    """The import of the SDK that the new one has to follow, where the file imports it under a guard or inside of functions only."""
    found = [
        node
        for node in module.nodes
        if (isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").partition(".")[0] == "mcp")
        or (isinstance(node, ast.Import) and any(alias.name.partition(".")[0] == "mcp" for alias in node.names))
    ]
    if not found or any(module.parents.get(node) is module.tree for node in found):
        return None
    outer = [node for node in found if module.function(node) is None]
    if outer:
        return outer[-1]
    here = [node for node in found if (function := module.function(node)) is not None and module.span(function).contains(at)]
    return here[-1] if here else None


def _last_import(module: Module) -> ast.stmt | None:
    found = [node for node in module.tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    return found[-1] if found else None
