"""Compares what two sessions were answered, and what a rewrite left of a project's files."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from starting import CHANGING

# What only one of the eras has, and no client of the other is shown.
OF_ONE_ERA = frozenset({"_meta", "resultType", "ttlMs", "cacheScope"})
# Files that may say which SDK a project needs.
TELLING = frozenset({".py", ".pyi", ".toml", ".txt", ".cfg", ".in", ".md", ".rst", ".json", ".yaml", ".yml", ".lock", ""})
MISSING = object()
_SCRIPT = re.compile(rb"(?m)^# /// script$(?s:.*?)^# ///$")


def masked(value: Any, hide: Callable[[str], str]) -> Any:
    """The answer without what changes from run to run, and without what only one era has."""
    match value:
        case dict():
            return {key: masked(inner, hide) for key, inner in value.items() if key not in OF_ONE_ERA}
        case list():
            return [masked(inner, hide) for inner in value]
        case str():
            return hide(value)
        case int() | float() if not isinstance(value, bool) and CHANGING.fullmatch(str(value)):
            return "*"
    return value


def differences(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """Each place where two answers differ."""
    match before, after:
        case dict(), dict():
            for key in [*before, *(key for key in after if key not in before)]:
                yield from differences(before.get(key, MISSING), after.get(key, MISSING), f"{path}.{key}" if path else str(key))
        case list(), list() if _is_named(before) and _is_named(after):
            one, two = ({item["name"]: item for item in items} for items in (before, after))
            for name in [*one, *(name for name in two if name not in one)]:
                yield from differences(one.get(name, MISSING), two.get(name, MISSING), f"{path}[{name}]")
            if [*one] != [*two] and set(one) == set(two):
                yield f"{path}: in another order"
        case list(), list() if len(before) == len(after):
            for number, (one, two) in enumerate(zip(before, after, strict=True)):
                yield from differences(one, two, f"{path}[{number}]")
        case _ if before != after or type(before) is not type(after):
            yield f"{path}: {_short(before)} -> {_short(after)}"


def _is_named(items: list[Any]) -> bool:
    names = [item.get("name") if isinstance(item, dict) else None for item in items]
    return bool(names) and None not in names and len(set(names)) == len(names)


def _short(value: Any) -> str:
    if value is MISSING:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 160 else f"{text[:100]} ... {text[-50:]}"


def files(folder: Path) -> dict[str, bytes]:
    """Every file of a project."""
    found = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def faults(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> Iterator[str]:
    """What no rewrite may do to files: lose comments, marks of encoding, line endings, or whatever does not speak of the SDK."""
    for name, old in before.items():
        new = after.get(name)
        if new is None:
            yield f"{name} is gone"
        elif new != old:
            if Path(name).suffix not in TELLING or (b"mcp" not in old.lower() and not name.endswith(".py")):
                yield f"{name} does not speak of MCP, and was changed"
            if old.startswith(b"\xef\xbb\xbf") != new.startswith(b"\xef\xbb\xbf"):
                yield f"{name}: byte order mark"
            whole = old.count(b"\n") == old.count(b"\r\n") and new.count(b"\n") != new.count(b"\r\n")
            if (b"\r\n" in old) != (b"\r\n" in new) or (b"\r\n" in old and whole):
                yield f"{name}: line endings"
            if old.endswith(b"\n") != new.endswith(b"\n"):
                yield f"{name}: end of the file"
            if name.endswith(".py"):
                lost = _comments(old) - _comments(new)
                yield from (f"{name}: comment lost: {comment}" for comment in lost)


def _comments(source: bytes) -> Counter[str]:
    source = _SCRIPT.sub(b"", source)  # what a script asks for is no comment, though it looks like one
    try:
        return Counter(token.string for token in tokenize.tokenize(io.BytesIO(source).readline) if token.type == tokenize.COMMENT)
    except (tokenize.TokenError, SyntaxError, ValueError):
        return Counter()


def undefined(folder: Path) -> Counter[str]:
    """Names that are used and never bound (F821 of ruff), by file."""
    ruff = Path(sys.executable).with_name("ruff")
    argv = [str(ruff) if ruff.exists() else "ruff", "check", "--isolated", "--no-cache", "--select", "F821", "--output-format", "json", "."]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True)
    root = folder.resolve()
    return Counter(
        f"{Path(row['filename']).resolve().relative_to(root).as_posix()}: {row['message']}" for row in json.loads(done.stdout or "[]")
    )
