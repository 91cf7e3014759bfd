"""Files that name every release of an installation: never written by hand, made again by the tool that wrote them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

_LOCKS = {
    "uv.lock": "uv lock",
    "poetry.lock": "poetry lock",
    "pdm.lock": "pdm lock",
    "Pipfile.lock": "pipenv lock",
    "pixi.lock": "pixi lock",
    "pylock.toml": "uv export -o pylock.toml",
}


def stale(changed: Iterable[str], top: str) -> Iterator[tuple[str, str]]:
    """The locks beside changed files, or above them up to `top`, each with its command. All paths are absolute."""
    seen: set[str] = set()
    for file in sorted(changed):
        folder = os.path.dirname(file)
        while folder not in seen:
            seen.add(folder)
            for name, command in _LOCKS.items():
                if os.path.isfile(os.path.join(folder, name)):
                    yield os.path.join(folder, name), command
            parent = os.path.dirname(folder)
            if folder == top or parent == folder:
                break
            folder = parent
