"""The imports that edits need, and those that they have made useless."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from .facts.mask import parsed
from .project import Project
from .rewrite import edits
from .rewrite.tree import Tree
from .rule import Either, Import
from .scope import Names
from .source import Source

# One statement can lose at most all its names; every pass removes at least one.
_MAX_PASSES = 20


def with_needs(source: Source, needs: Collection[Import | Either], project: Project, beside: Iterable[str]) -> Source:
    """The text with what it has to import. `beside` are the paths of files, besides those of the project, that it may import from."""
    from .rewrite import imports

    if not needs or not parses(source):
        return source
    folder = source.path.rpartition("/")[0]
    around = folder and f"{folder}/"
    paths = (*project.files, *beside)
    local = {path[len(around) :].partition("/")[0].removesuffix(".py") for path in paths if path.startswith(around)}
    local |= {file.module.partition(".")[0] for file in project.files.values()}
    plain = [need for need in needs if isinstance(need, Import)]
    if plain:
        source = replace(source, text=edits.apply(source.utf8, imports.add(Tree(source), plain, local=local)).decode("utf-8"))
    if either := [need for need in needs if isinstance(need, Either)]:
        guarded = [(need.new, need.old, need.local) for need in either if need.exported or _is_named(need.local, source)]
        source = replace(source, text=edits.apply(source.utf8, imports.guard(Tree(source), guarded)).decode("utf-8"))
    return source


def _is_named(name: str, source: Source) -> bool:
    """Whether a text uses a name, also in the quotes of an annotation."""
    word = re.compile(rf"(?<![\w.]){re.escape(name)}\b")
    for node in ast.walk(parsed(source)[0]):
        if isinstance(node, ast.Name) and node.id == name:
            return True
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and word.search(node.value):
            return True
    return False


def without_unused(before: Source, source: Source, names: Callable[[Source], Names]) -> Source:
    """The text without the imports that nothing uses any more, though the text before did."""
    from .rewrite import imports

    for _ in range(_MAX_PASSES):
        if not parses(source):
            break
        now, formerly = names(source), names(before)
        unused = now.unused_imports - formerly.unused_imports
        new = {(scope, name) for scope, name in unused if not scope and name not in formerly.bound}
        # What a star import brought others may ask for, and it has a name of its own now. An import that nothing used stays.
        if formerly.has_star or 0 < len(new) <= sum(not scope and name not in now.bound for scope, name in formerly.unused_imports):
            unused -= new
        removals = list(imports.remove(Tree(source), unused)) if unused else []
        if not removals:
            break
        source = replace(source, text=edits.apply(source.utf8, removals).decode("utf-8"))
    return source


def parses(source: Source) -> bool:
    """Whether Python, or what masks newer syntax for it, can read a text."""
    try:
        parsed(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
