"""The text of modules that `fix` writes: cut to the parts that are needed, and sealed, so that a later run sees what was changed."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from importlib import resources

from .. import runtime

_BLOCK = re.compile(r"\s*# \[(?P<end>/?)(?P<part>\w+)\]")
_INLINE = re.compile(r"  # -(?P<part>\w+): (?P<text>.+?)(?=  # -\w+: |$)")
_WIDTH = 120
_SEAL = re.compile(r"^# parts: (?P<parts>[a-z_ ]*); digest: (?P<digest>[0-9a-f]{16})\n", re.MULTILINE)


@cache
def source(name: str) -> str:
    """A file of `migrate/runtime` as it stands there, with all parts and their marks."""
    return resources.files(runtime).joinpath(name).read_text(encoding="utf-8")


def lines(text: str, chosen: Collection[str]) -> Iterator[str]:
    """The lines of the chosen parts. A block may lie in another one; an inline mark names what to cut without the part."""
    open_blocks: list[bool] = []
    for line in text.splitlines():
        if block := _BLOCK.fullmatch(line):
            if block["end"]:
                open_blocks.pop()
            else:
                open_blocks.append(block["part"] in chosen)
        elif all(open_blocks):
            marks = [*_INLINE.finditer(line)]
            line = line[: marks[0].start()] if marks else line
            for mark in marks:
                line = line if mark["part"] in chosen else line.replace(mark["text"], "")
            yield line


def seal(text: str, origin: str, names: Iterable[str], newline: str) -> str:
    """The text with a line that names its parts; `origin` goes into its docstring."""
    summary, rest = text.rstrip("\n").split('\n"""\n', 1)
    head, tail, spelled = f'{summary}\n\n{origin}\n"""\n', f"{rest}\n", " ".join(names)
    sealed = f"{head}# parts: {spelled}; digest: {_digest(spelled, head + tail)}\n{tail}"
    return sealed.replace("\n", newline)


def parts(text: str) -> tuple[str, ...] | None:
    """The parts that a sealed text names; None for a text that is not sealed, or was changed since."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    found = _SEAL.search(plain)
    if found is None or _digest(found["parts"], plain[: found.start()] + plain[found.end() :]) != found["digest"]:
        return None
    return tuple(found["parts"].split())


def without_unused_imports(text: str) -> str:
    """The text without the imports that what was cut has left, and without the gaps."""
    tree = ast.parse(text)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | {"annotations"}
    kept = text.split("\n")
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [alias.name for alias in node.names if alias.name in used]
            lead = f"from {node.module} import" if isinstance(node, ast.ImportFrom) else "import"
            line = f"{lead} {', '.join(names)}" if names else "\0"
            several = "\n    ".join([f"{lead} (", *(f"{name}," for name in names)]) + "\n)"
            kept[node.lineno - 1] = line if len(line) <= _WIDTH else several
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(line for line in kept if line != "\0"))


def _digest(names: str, text: str) -> str:
    return hashlib.sha256(f"{names}\n{text}".encode()).hexdigest()[:16]
