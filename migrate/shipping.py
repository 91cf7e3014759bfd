"""Whether a new file goes where the program goes: into the image, the distribution and the repository.

Only lists that name the file beside it are told; what takes a whole folder takes the new file along.
"""

from __future__ import annotations

import ast
import configparser
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from . import discover, disk, dockerfile, tables, worktree

# Lists of paths or patterns, by the tables that hold them.
_PATHS: Mapping[str, tuple[str, ...]] = {
    "tool.hatch.build": ("include", "only-include"),
    "tool.hatch.build.targets.wheel": ("include", "only-include"),
    "tool.hatch.build.targets.sdist": ("include", "only-include"),
    "tool.pdm.build": ("includes",),
    "tool.poetry": ("packages", "include"),
}
# Where projects keep what builds their images, beside the root itself.
_BESIDE = ("docker", ".docker", "deploy")
_DOCKERFILE = re.compile(r"(?:.+\.)?(?:dockerfile|containerfile)(?:[.-](?!md$|txt$|dockerignore$).+)?", re.IGNORECASE)


class Gap(NamedTuple):
    """A place that has to name a new file, too: what to do there."""

    file: str
    line: int
    what: str


def gaps(new: str, users: Iterable[str], top: str) -> Iterator[Gap]:
    """The places, from the folder of a new file up to `top`, that leave it out though they take a file that imports it.

    All paths are absolute; nothing but small files of settings is read. Git is asked which files it ignores.
    """
    users = sorted(users)
    for above in _upwards(os.path.dirname(new), top):
        for folder in (above, *(os.path.join(above, name) for name in _BESIDE)):
            for name in sorted(_names(folder)):
                found = (_gaps_in(os.path.join(folder, name), name, new, user, top) for user in users)
                yield from [*chain.from_iterable(found)][:1]
    if (ignored := worktree.ignored(new)) is not None:
        yield Gap(ignored.file, ignored.line, f"git would ignore {os.path.basename(new)}")


def _gaps_in(file: str, name: str, new: str, user: str, top: str) -> Iterator[Gap]:
    find = _READERS.get(name) or (_copied if _DOCKERFILE.fullmatch(name) else None)
    if find is None or discover.leads_out(file, top):
        return
    try:
        text = disk.text(file)
    except (OSError, UnicodeDecodeError):
        return
    base = os.path.basename(new)
    if find is _copied:
        yield from (Gap(file, line, f"also copy {base}") for line in _copied(text, file, new, user, top))
    else:
        yield from (Gap(file, line, f"also list {base.removesuffix('.py')}") for line in find(text, file, new, user, top))


def _copied(text: str, file: str, new: str, user: str, top: str) -> Iterator[int]:
    found = list(dockerfile.copies(text))
    # The build context is the folder of the Dockerfile or one above it; only the build knows.
    for context in _upwards(os.path.dirname(file), top):
        if (copy := dockerfile.missing(found, _posix(user, context), _posix(new, context))) is not None:
            yield copy.line


def _in_pyproject(text: str, file: str, new: str, user: str, top: str) -> Iterator[int]:
    try:
        document = tables.loads(text)
    except ValueError:
        return
    folder = os.path.dirname(file)
    modules = _table(document, "tool.setuptools").get("py-modules")
    if _leaves_out(modules, user, new):
        yield _line(text, "tool.setuptools", "py-modules")
    for name, keys in _PATHS.items():
        for key in keys:
            paths = _table(document, name).get(key)
            if isinstance(paths, list) and _names_only([*_spelled(paths)], _posix(user, folder), _posix(new, folder)):
                yield _line(text, name, key)
    if (module := _table(document, "tool.flit.module").get("name")) and os.path.basename(user) == f"{module}.py":
        yield _line(text, "tool.flit.module", "name")


def _in_setup_cfg(text: str, file: str, new: str, user: str, top: str) -> Iterator[int]:
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(text)
    except configparser.Error:
        return
    if _leaves_out(re.split(r"[,\s]+", parser.get("options", "py_modules", fallback="").strip()), user, new):
        yield _line(text, "options", "py_modules")


def _in_setup_py(text: str, file: str, new: str, user: str, top: str) -> Iterator[int]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        match node:
            case ast.keyword(arg="py_modules", value=ast.List(elts=items) | ast.Tuple(elts=items)):
                if _leaves_out([item.value for item in items if isinstance(item, ast.Constant)], user, new):
                    yield node.value.lineno


_READERS: Mapping[str, Callable[[str, str, str, str, str], Iterator[int]]] = {
    "pyproject.toml": _in_pyproject,
    "setup.cfg": _in_setup_cfg,
    "setup.py": _in_setup_py,
}


def _leaves_out(modules: object, user: str, new: str) -> bool:
    """Whether a list of modules has the one beside the new one, and not that."""
    stem = os.path.basename(new).removesuffix(".py")
    beside = os.path.dirname(user) == os.path.dirname(new)
    return isinstance(modules, list) and beside and os.path.basename(user).removesuffix(".py") in modules and stem not in modules


def _names_only(patterns: list[str], user: str, new: str) -> bool:
    """Whether one of these names a file by itself, and none takes the new one along."""
    patterns = [pattern.strip("/").removeprefix("./") for pattern in patterns]
    return user in patterns and not any(
        pattern in ("", ".") or fnmatchcase(new, pattern) or fnmatchcase(PurePosixPath(new).name, pattern) or new.startswith(f"{pattern}/")
        for pattern in patterns
    )


def _spelled(paths: Iterable[object]) -> Iterator[str]:
    for path in paths:
        match path:
            case str(text) | {"include": str(text)}:
                yield text


def _table(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found: Any = document
    for part in name.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def _line(text: str, table: str, key: str) -> int:
    """The line of a key in its table; where it is spelled in another way, the first line that names the key."""
    lines = text.splitlines()
    heading = next((number for number, line in enumerate(lines) if line.strip() == f"[{table}]"), 0)
    named = (number for number in (*range(heading, len(lines)), *range(heading)) if re.search(rf"\b{re.escape(key)}\b\s*=", lines[number]))
    return next(named, heading) + 1


def _upwards(folder: str, top: str) -> Iterator[str]:
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if folder == top or parent == folder or not f"{folder}{os.sep}".startswith(top.rstrip(os.sep) + os.sep):
            return
        folder = parent


def _names(folder: str) -> list[str]:
    try:
        return disk.names(folder)
    except OSError:
        return []


def _posix(path: str, folder: str) -> str:
    return os.path.relpath(path, folder).replace(os.sep, "/")
