"""What the command line wishes of a run. Apart from the run itself, which is not loaded where a kept one is told again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .rule import Era


@dataclass(frozen=True)
class Flags:
    """What the command line says; None and () where it is silent."""

    paths: tuple[str, ...] = (".",)
    stdin: bytes | None = None  # the text of the one file to read, whose name `paths` has
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    era: Era | None = None
    fail_on: str | None = None
    config: Path | None = None
    baseline: Path | None = None
    respect_gitignore: bool = True
    tracked: bool = False  # of folders, only what git tracks
    inline: bool | None = None
    keep_v1: bool = False  # have the code run with both releases of the SDK; the settings may say so as well
    hold: bool = False  # only bound what the code needs to the release that it is written for
    docs: bool = False  # whether `fix` rewrites the examples of documents
    write: tuple[str, ...] = ()  # the files and folders that `fix` may write; all if there is none
