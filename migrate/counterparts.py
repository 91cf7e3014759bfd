"""Where the older release of the SDK has what a fix takes from the newer one, for code that has to run with both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from .rule import Context, Either, Import
from .sdk.vocabulary import STANDALONE

if TYPE_CHECKING:
    from .sdk.api import Api

_ROOTS = ("mcp", "mcp_types", "httpx2", STANDALONE)


def adapted(wishes: Iterable[object], ctx: Context) -> list[object] | str:
    """The wishes of a fix with the imports that both releases can make; a text says which one the older release cannot."""
    made: list[object] = []
    for wish in wishes:
        if not isinstance(wish, Import) or wish.module.partition(".")[0] not in _ROOTS or _is_same(wish, ctx.sdk.api):
            made.append(wish)
            continue
        spelled, _, local = wish.name.partition(" as ")
        old = older(Import(wish.module, spelled), ctx.entry.data["counterparts"], ctx.sdk.api)
        if old is None:
            release = "fastmcp 3" if wish.module.partition(".")[0] == STANDALONE else "mcp 1"
            return f"{release} has no `{wish.module}{f'.{spelled}' if spelled else ''}`"
        made.append(Either(Import(wish.module, spelled), old, local or spelled or wish.module))
    return made


def older(new: Import, pairs: Sequence[str], api: Api) -> Import | None:
    """Where the older release has a name of the newer one."""
    dotted = f"{new.module}.{new.name}" if new.name else new.module
    for newer, known in _pairs(pairs):
        if newer == dotted and new.name:
            module, _, name = known.rpartition(".")
            return Import(module, name)
        if newer == dotted:
            return Import(known, "")
        if dotted.startswith(f"{newer}.") and new.name:
            module = f"{known}{new.module[len(newer) :]}"
            if api.was(module, new.name):
                return Import(module, new.name)
    return None


def _is_same(need: Import, api: Api) -> bool:
    name = need.name.partition(" as ")[0]
    if need.module.partition(".")[0] == STANDALONE:  # the fix is for 4, so it is there; not all of it is in the table
        return api.kept(need.module, name)
    stays = api.stays(need.module, name) if name else need.module in api.new["modules"]
    return stays and api.kept(need.module, name)


def _pairs(pairs: Sequence[str]) -> Iterator[tuple[str, str]]:
    for pair in pairs:
        new, _, old = pair.partition(" -> ")
        yield new, old
