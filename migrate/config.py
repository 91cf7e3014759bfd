"""The settings of a project: `[tool.mcp-migrate]` in pyproject.toml, or `.mcp-migrate.toml`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import disk, tables
from .rule import Era, Severity

OWN_FILE = ".mcp-migrate.toml"
SHARED_FILE = "pyproject.toml"
_TABLE = "tool.mcp-migrate."

FailOn = Severity | None
FAIL_ON: Mapping[str, FailOn] = {**{severity.word: severity for severity in reversed(Severity)}, "never": None}


class ConfigError(Exception):
    """A setting that cannot be used; the text names the file and the key."""


@dataclass(frozen=True)
class Config:
    """What a project has decided. `base` is the folder of its file: patterns and the baseline are relative to it."""

    base: Path
    era: Era = Era.DUAL
    exclude: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fail_on: FailOn = Severity.ERROR
    baseline: Path | None = None
    inline: bool = False
    keep_v1: bool = False
    require_reasons: bool = False
    file: Path | None = None

    def spelled(self, key: str) -> str:
        """A setting as errors name it: by its file and by the table that it stands in there."""
        return f"{self.file}: {_TABLE if self.file is not None and self.file.name == SHARED_FILE else ''}{key}"


def load(start: Path) -> Config:
    """The configuration that holds for `start`: the nearest file upwards from it, or the defaults.

    In one folder the file of our own goes first; a pyproject.toml without our table is passed over.
    Raises ConfigError.
    """
    start = Path(disk.real(str(start)))
    found = (config for folder in (start, *start.parents) if (config := of_folder(folder)) is not None)
    return next(found, Config(base=start))


def of_folder(folder: Path) -> Config | None:
    """The configuration that a folder itself holds. Raises ConfigError."""
    for name in (OWN_FILE, SHARED_FILE):
        file = folder / name
        if disk.is_file(str(file)) and (config := _config(file)) is not None:
            return config
    return None


def load_file(file: Path) -> Config:
    """The configuration of a file that was named. Raises ConfigError."""
    if not disk.is_file(str(file)):
        raise ConfigError(f"{file}: no such file")
    place = Path(disk.real(str(file)))
    return _config(place) or Config(base=place.parent, file=file)


def _config(file: Path) -> Config | None:
    """None for a pyproject.toml that says nothing about us."""
    try:
        data = disk.read(str(file))
        # Most pyproject.toml files on the way up are not ours, and reading TOML costs more than looking for our name.
        if file.name == SHARED_FILE and b"mcp-migrate" not in data:
            return None
        document = tables.loads(data.decode("utf-8"))
    except OSError as error:
        raise ConfigError(f"{file}: {(error.strerror or str(error)).lower()}") from error
    except ValueError as error:  # a UnicodeDecodeError is one
        raise ConfigError(f"{file}: {error}") from error
    prefix = ""
    if file.name == SHARED_FILE:
        tools = document.get("tool", {})
        if not isinstance(tools, dict) or "mcp-migrate" not in tools:
            return None
        document, prefix = tools["mcp-migrate"], _TABLE
        if not isinstance(document, dict):
            raise ConfigError(f"{file}: tool.mcp-migrate: expected a table")
    return Config(base=file.parent, file=file, **dict(_settings(document, file, prefix)))


def _settings(table: Mapping[str, Any], file: Path, prefix: str) -> list[tuple[str, Any]]:
    settings = []
    for key, value in table.items():
        if key not in _READERS:
            raise ConfigError(f"{file}: unknown key {prefix}{key}; known are {', '.join(_READERS)}")
        try:
            read = _READERS[key](value)
        except ConfigError as error:
            raise ConfigError(f"{file}: {prefix}{key}: {error}") from None
        settings.append((key.replace("-", "_"), file.parent / read if key == "baseline" else read))
    return settings


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ConfigError(f"expected text, not {_shown(value)}")
    return value


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise ConfigError(f"expected a list of texts, not {_shown(value)}")
    return tuple(value)


def _table_of_texts(value: object) -> Mapping[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise ConfigError(f"expected a table from patterns to rules, not {_shown(value)}")
    table = {}
    for pattern, rules in value.items():
        try:
            table[pattern] = _texts(rules)
        except ConfigError as error:
            raise ConfigError(f"{pattern!r}: {error}") from None
    return table


def _switch(value: object) -> bool:
    if not isinstance(value, bool):
        raise ConfigError(f"expected true or false, not {_shown(value)}")
    return value


def _one_of(words: Mapping[str, Any]) -> Callable[[object], Any]:
    def read(value: object) -> Any:
        if not isinstance(value, str) or value not in words:
            raise ConfigError(f"expected one of {', '.join(words)}, not {_shown(value)}")
        return words[value]

    return read


def _shown(value: object) -> str:
    return repr(value) if isinstance(value, str | int | float) else f"a {'table' if isinstance(value, dict) else type(value).__name__}"


_READERS: Mapping[str, Callable[[object], Any]] = {
    "era": _one_of({era.value: era for era in Era}),
    "exclude": _texts,
    "select": _texts,
    "ignore": _texts,
    "per-file-ignores": _table_of_texts,
    "fail-on": _one_of(FAIL_ON),
    "baseline": _text,
    "inline": _switch,
    "keep-v1": _switch,
    "require-reasons": _switch,
}
