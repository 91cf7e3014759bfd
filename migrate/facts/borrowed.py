"""Packages that a release of the SDK brings along: code imports them without anybody having asked for them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping

from ..source import Source, Span
from .mask import parse

# By the name of the module, the distribution that has it. Which ones a later release has no more, the catalog says.
BORROWED: Mapping[str, str] = {
    "certifi": "certifi",
    "dotenv": "python-dotenv",
    "httpcore": "httpcore",
    "httpx": "httpx",
    "httpx_sse": "httpx-sse",
    "pydantic_settings": "pydantic-settings",
    "websockets": "websockets",
}


def may_borrow(data: bytes, modules: Iterable[str] = BORROWED) -> bool:
    """Whether a file may import one of these modules."""
    names = b"|".join(module.encode() for module in modules)
    return names != b"" and re.search(rb"(?m)^[ \t]*(?:import|from)[ \t]+(?:%s)\b" % names, data) is not None


def needed(source: Source) -> frozenset[Span]:
    """The imports of a file that nothing guards: what may be absent is no need."""
    found = set()
    todo: list[ast.AST] = [parse(source)[0]]
    while todo:
        node = todo.pop()
        match node:
            case ast.Try():
                todo += [*node.handlers, *node.orelse, *node.finalbody]
                continue
            case ast.If() if "TYPE_CHECKING" in ast.unparse(node.test):
                todo += node.orelse
                continue
            case ast.Import() | ast.ImportFrom() if node.end_lineno is not None and node.end_col_offset is not None:
                found.add(Span(source.offset(node.lineno, node.col_offset), source.offset(node.end_lineno, node.end_col_offset)))
        todo += ast.iter_child_nodes(node)
    return frozenset(found)
