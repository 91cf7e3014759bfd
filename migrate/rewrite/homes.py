"""Where a module that `fix` writes lies in a project, and how the files that use it import it."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from ..facts.model import Place, Requirement
from ..project import Project
from ..rule import Context, Import
from ..sdk.modules import How, Module
from ..source import Span, is_test
from . import lines, written
from .edits import Edit


def find(project: Project, users: Iterable[str], file_name: str) -> dict[str, str]:
    """The folder of the module for each file that uses it: one for each package, or for files that stand together."""
    packages, there = _packages(project), _written(project, file_name)
    groups: dict[str, list[str]] = {}
    tests = []
    for path in users:
        if is_test(path):
            tests.append(path)
        else:
            groups.setdefault(_top(path, packages), []).append(path)
    # Tests use what the server has.
    asking = _asking(project) if tests else frozenset()
    of_servers = {top: _root(paths[0], asking) for top, paths in groups.items()}
    if not groups:
        of_servers = {_folder(path): _root(path, asking) for path in there if not is_test(path)}
    for path in tests:
        groups.setdefault(_of_server(_root(path, asking), of_servers) or _folder(path), []).append(path)
    homes: dict[str, str] = {}
    for top, paths in groups.items():
        held = [path for path in there if _folder(path) == top or (top in packages and PurePosixPath(top) in PurePosixPath(path).parents)]
        own = [path for path in paths if not is_test(path)] or paths
        homes.update(dict.fromkeys(paths, _folder(held[0]) if len(held) == 1 else _common(own)))
    return homes


def obstacle(project: Project, path: str) -> str:
    """Why the module cannot be written, or used as it lies there."""
    held = project.files.get(path)
    return f"{path} exists, and is not as `fix` writes it" if held is not None and written.parts(held.source.text) is None else ""


def is_taken(module: Module, name: str) -> bool:
    """Whether the module's name is another thing's in a file."""
    bindings = module.bound.get(name, ())
    return not all(binding.how is How.IMPORTED and binding.target.rpartition(".")[2] == name for binding in bindings)


def spelled(ctx: Context, folder: str, name: str) -> str:
    """The module that a file would import from, as a `from` import spells it."""
    before, either = _spelled(ctx, folder)
    if either or not before:
        return name
    return f"{before}{name}" if before.endswith(".") else f"{before}.{name}"


def is_either(ctx: Context, folder: str) -> bool:
    """Whether a file may be run by its path as well as part of its package."""
    return _spelled(ctx, folder)[1]


def imported(ctx: Context, folder: str, name: str, at: Span) -> Iterator[Edit | Import]:
    """What makes the module's name known in a file, for code at these bytes."""
    module = ctx.module
    node = module.at(at)
    if node is not None and ctx.sdk.inference.bindings(name, node, module):
        return
    before, either = _spelled(ctx, folder)
    anchor = _anchor(module, at)
    after = anchor or (_last_import(module) if either else None)
    if after is None:
        yield Import(before, name) if before else Import(name, "")
        return
    plain = f"from {before} import {name}" if before else f"import {name}"
    step = lines.step_of(module)
    text = f"try:\n{step}{plain}\nexcept ImportError:  # run by its path\n{step}import {name}\n" if either else f"{plain}\n"
    gap = "\n" if either and anchor is None else ""
    yield lines.below(module, after, gap + text)


def _of_server(root: str, of_servers: Mapping[str, str]) -> str:
    """The folder of the one server that a test in a folder of dependency files is about; "" where that is not known.

    What another project of the same repository has is not installed with it.
    """
    near = [top for top, other in of_servers.items() if other == root]
    if not near:
        near = [top for top, other in of_servers.items() if _lies_in(other, root) or _lies_in(root, other)]
    return near[0] if len(near) == 1 else ""


def _lies_in(folder: str, above: str) -> bool:
    return above == "." or PurePosixPath(above) in PurePosixPath(folder).parents


def _asking(project: Project) -> frozenset[str]:
    """The folders of files that say what is installed."""
    return frozenset(
        _folder(path)
        for path, file in project.manifests.items()
        if any(isinstance(fact, Requirement) and fact.place is not Place.COMMAND for fact in file.facts)
    )


def _root(path: str, asking: Collection[str]) -> str:
    """The innermost of these folders around a file."""
    return next((str(above) for above in PurePosixPath(path).parents if str(above) in asking), ".")


def _written(project: Project, file_name: str) -> list[str]:
    """The modules of this name that `fix` has written, and nobody has changed since."""
    found = [path for path in project.files if PurePosixPath(path).name == file_name]
    return [path for path in found if written.parts(project.files[path].source.text) is not None]


def _folder(path: str) -> str:
    return str(PurePosixPath(path).parent)


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
    if not inside or (depth and home not in packages):  # no dots lead out of the outermost package
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
        return _namespace(ctx, path, packages), False
    return dots, depth == 0 and not _is_part(ctx, path)


def _namespace(ctx: Context, path: str, packages: Collection[str]) -> str:
    """The dotted name of a folder without `__init__.py` inside of a package, if others import the file by that name."""
    folder = PurePosixPath(path).parent
    above = next((one for one in folder.parents if str(one) in packages), None)
    if above is None:
        return ""
    dotted = ".".join(folder.parts[len(PurePosixPath(_top(f"{above}/_", packages)).parent.parts) :])
    stem = re.escape(PurePosixPath(path).stem)
    name = re.compile(os.fsencode(rf"\b{re.escape(dotted)}(?:\.|\s+import\s+(?:\w+,\s*)*){stem}\b"))
    return dotted if any(name.search(file.source.utf8) for other, file in ctx.project.files.items() if other != path) else ""


def _is_part(ctx: Context, path: str) -> bool:
    """Whether a file is only ever loaded as part of its package: others import it so, and it is no program."""
    if any(isinstance(node, ast.Compare) and isinstance(node.left, ast.Name) and node.left.id == "__name__" for node in ctx.module.nodes):
        return False
    name, package = PurePosixPath(path).stem, PurePosixPath(path).parent.name
    spellings = [os.fsencode(text) for text in (f".{name} import", f"from . import {name}", f"{package}.{name}")]
    return any(one in ctx.project.files[other].source.utf8 for other in ctx.project.importers(path) for one in spellings)


def _anchor(module: Module, at: Span) -> ast.stmt | None:
    """The import of the SDK that the new one has to follow, where the file imports it under a guard or inside of functions only."""
    found = [
        node
        for node in module.nodes
        if (isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").partition(".")[0] == "mcp")
        or (isinstance(node, ast.Import) and any(alias.name.partition(".")[0] == "mcp" for alias in node.names))
    ]
    found = [node for node in found if not _is_for_types(node, module)]
    if not found or any(module.parents.get(node) is module.tree or _is_either(node, found, module) for node in found):
        return None
    outer = [node for node in found if module.function(node) is None]
    if outer:
        return outer[-1]
    here = [node for node in found if (function := module.function(node)) is not None and module.span(function).contains(at)]
    return here[-1] if here else None


def _is_either(node: ast.AST, imports: Collection[ast.AST], module: Module) -> bool:
    """Whether an import stands in a guard of the module that takes the same from one release or the other: then one of them is there."""
    above = module.parents.get(node)
    above = module.parents.get(above) if isinstance(above, ast.ExceptHandler) else above
    if not isinstance(above, ast.Try) or module.parents.get(above) is not module.tree:
        return False
    return all(any(inner in imports for inner in branch) for branch in (above.body, *(handler.body for handler in above.handlers)))


def _is_for_types(node: ast.AST, module: Module) -> bool:
    """Whether an import is made for the type checker only."""
    return any(isinstance(above, ast.If) and module.text(above.test).endswith("TYPE_CHECKING") for above in module.around(node))


def _last_import(module: Module) -> ast.stmt | None:
    """The last import at the top of a file."""
    last: ast.stmt | None = None
    for node in module.tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            break
        if isinstance(node, ast.Import | ast.ImportFrom):
            last = node
    return last
