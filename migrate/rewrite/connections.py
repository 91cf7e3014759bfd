"""The modules that `fix` writes beside clients: they have what version 1 of the SDK had, where version 2 has another way or none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from weakref import WeakKeyDictionary

from ..facts.gates import CONNECTION_MODULE, SESSION_MODULE, SOCKET_MODULE
from ..facts.model import Symbol, SymbolUse
from ..project import Project
from ..rule import Context, Import, NewFile
from ..source import Span
from . import homes
from . import module as modules
from .edits import Edit

FUNCTION = "mcp.client.streamable_http.streamablehttp_client"
SOCKET = "mcp.client.websocket.websocket_client"
SESSION = "mcp.shared.session.BaseSession"
_FILES = {FUNCTION: CONNECTION_MODULE, SOCKET: SOCKET_MODULE, SESSION: SESSION_MODULE}
_HOMES: WeakKeyDictionary[Project, dict[str, dict[str, str]]] = WeakKeyDictionary()


def obstacle(ctx: Context, function: str = FUNCTION) -> str:
    """Why the module cannot be written, or cannot be used in this file."""
    name = _name(function)
    return homes.obstacle(ctx.project, _path(ctx, function)) or (
        f"`{name}` means something else here" if homes.is_taken(ctx.module, name) else ""
    )


def edits(ctx: Context, name: Span, function: str = FUNCTION, part: str = "") -> Iterator[Edit | Import | NewFile]:
    """Takes what stands at these bytes from the module, which is written and imported where it is not; `part` is another name of it."""
    yield Edit(name, f"{_name(function)}.{part or function.rpartition('.')[2]}")
    yield from homes.imported(ctx, _home(ctx, function), _name(function), name)
    yield from files(ctx, function)


def place(ctx: Context, function: str = FUNCTION) -> str:
    """The module as a `from` import spells it; for a move of an imported name."""
    return homes.spelled(ctx, _home(ctx, function), _name(function))


def files(ctx: Context, function: str = FUNCTION) -> Iterator[NewFile]:
    """The module itself, where it is not there yet."""
    path = _path(ctx, function)
    if path not in ctx.project.files:
        yield NewFile(path, modules.connections(ctx.file.source.newline, _FILES[function]))


def _name(function: str) -> str:
    return _FILES[function].removesuffix(".py")


def _path(ctx: Context, function: str) -> str:
    return str(PurePosixPath(_home(ctx, function)) / _FILES[function])


def _home(ctx: Context, function: str) -> str:
    known = _HOMES.setdefault(ctx.project, {})
    if function not in known:
        users = [path for path in ctx.project.files if any(_is_use(fact, function) for fact in ctx.project.of(path, Symbol))]
        known[function] = homes.find(ctx.project, users, _FILES[function])
    return known[function].get(ctx.file.source.path) or str(PurePosixPath(ctx.file.source.path).parent)


def _is_use(fact: Symbol, function: str) -> bool:
    return fact.key == function and fact.use in (SymbolUse.CALL, SymbolUse.IMPORT)
