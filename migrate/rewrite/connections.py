"""The module that `fix` writes beside clients that hand a Streamable HTTP connection on: it opens one as version 1 of the SDK did."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from weakref import WeakKeyDictionary

from ..facts.gates import CONNECTION_MODULE
from ..facts.model import Symbol, SymbolUse
from ..project import Project
from ..rule import Context, Import, NewFile
from ..source import Span
from . import homes
from . import module as modules
from .edits import Edit

FUNCTION = "mcp.client.streamable_http.streamablehttp_client"
FILE_NAME = CONNECTION_MODULE
NAME = FILE_NAME.removesuffix(".py")
_HOMES: WeakKeyDictionary[Project, dict[str, str]] = WeakKeyDictionary()


def obstacle(ctx: Context) -> str:
    """Why the module cannot be written, or cannot be used in this file."""
    return homes.obstacle(ctx.project, _path(ctx)) or (f"`{NAME}` means something else here" if homes.is_taken(ctx.module, NAME) else "")


def edits(ctx: Context, name: Span) -> Iterator[Edit | Import | NewFile]:
    """Takes the function at these bytes from the module, which is written and imported where it is not."""
    yield Edit(name, f"{NAME}.{FUNCTION.rpartition('.')[2]}")
    yield from homes.imported(ctx, _home(ctx), NAME, name)
    yield from files(ctx)


def place(ctx: Context) -> str:
    """The module as a `from` import spells it; for a move of an imported name."""
    return homes.spelled(ctx, _home(ctx), NAME)


def files(ctx: Context) -> Iterator[NewFile]:
    """The module itself, where it is not there yet."""
    path = _path(ctx)
    if path not in ctx.project.files:
        yield NewFile(path, modules.connections(ctx.file.source.newline))


def _path(ctx: Context) -> str:
    return str(PurePosixPath(_home(ctx)) / FILE_NAME)


def _home(ctx: Context) -> str:
    if ctx.project not in _HOMES:
        users = [path for path in ctx.project.files if any(_is_use(fact) for fact in ctx.project.of(path, Symbol))]
        _HOMES[ctx.project] = homes.find(ctx.project, users, FILE_NAME)
    return _HOMES[ctx.project].get(ctx.file.source.path) or str(PurePosixPath(ctx.file.source.path).parent)


def _is_use(fact: Symbol) -> bool:
    return fact.key == FUNCTION and fact.use in (SymbolUse.CALL, SymbolUse.IMPORT)
