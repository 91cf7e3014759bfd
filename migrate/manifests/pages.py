"""Documents, and the settings of clients that they show or that are files of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .. import cells, documents
from ..facts.model import Remark
from ..source import Source, Span
from .offsets import Offsets

_EXAMPLE = re.compile(r"[ \t]*(?:from|import)[ \t]+(?P<module>mcp\.server\.fastmcp)\b")
_SERVERS = re.compile(r'"(?:mcpServers|mcp-servers|context_servers|servers)"\s*:\s*\{')
_SSE = re.compile(r'"(?P<key>type|transport|transportType)"\s*:\s*(?P<value>"sse")')


def examples(source: Source) -> Iterator[Remark]:
    """Code that imports what mcp 2 has no more, and that is not read as code: some of it cannot be parsed."""
    for block in documents.blocks(source):
        if documents.is_document(source.path) and cells.readable(block.code) is not None:
            continue
        for line in block.lines:
            if found := _EXAMPLE.match(line.code):
                start = line.at + found.start("module")  # what stands before it is ASCII
                yield Remark(Span(start, start + len(found["module"])), "example", text=found["module"])


def entries(text: str) -> Iterator[Remark]:
    """The servers in the settings of clients, in JSON, that are spoken to over HTTP+SSE."""
    if '"sse"' not in text or not _SERVERS.search(text):
        return
    offset = Offsets(text)
    for found in _SSE.finditer(text):
        around = text[text.rfind("{", 0, found.start()) : text.find("}", found.end()) + 1]
        if '"url"' in around or '"serverUrl"' in around:
            yield Remark(Span(offset(found.start("value")), offset(found.end("value"))), "sse", text=found["key"])
