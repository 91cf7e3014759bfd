"""The protocol's words, as the reading wing needs them before any catalog is loaded.

`tests/test_catalog.py` proves that these sets and `rules/spec.yaml` agree; reading them from there would cost every run
the YAML parse, also in a repository without a line of MCP.
"""

from __future__ import annotations

import re

KEPT_REQUESTS = frozenset(
    {
        "completion/complete",
        "prompts/get",
        "prompts/list",
        "resources/list",
        "resources/read",
        "resources/templates/list",
        "tools/call",
        "tools/list",
    }
)
REMOVED_REQUESTS = frozenset(
    {
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "tasks/list",
        "tasks/result",
        "tasks/get",
        "tasks/cancel",
    }
)
CLIENT_REQUESTS = frozenset({"elicitation/create", "sampling/createMessage", "roots/list"})
ADDED_REQUESTS = frozenset({"server/discover", "subscriptions/listen"})
NOTIFICATIONS = frozenset(
    {
        "notifications/cancelled",
        "notifications/progress",
        "notifications/message",
        "notifications/resources/updated",
        "notifications/resources/list_changed",
        "notifications/tools/list_changed",
        "notifications/prompts/list_changed",
        "notifications/subscriptions/acknowledged",
        "notifications/initialized",
        "notifications/roots/list_changed",
        "notifications/elicitation/complete",
        "notifications/tasks/status",
    }
)
METHODS = KEPT_REQUESTS | REMOVED_REQUESTS | CLIENT_REQUESTS | ADDED_REQUESTS | NOTIFICATIONS
SERVER_REQUESTS = KEPT_REQUESTS | ADDED_REQUESTS | (REMOVED_REQUESTS - {"ping"})
"""Requests that only a server answers."""

SPELLINGS = {"initialized": "notifications/initialized"}
"""Short spellings that hand-written servers use for a method."""
BEGINNINGS = frozenset({"init", "initial"})
"""What servers search a method for that mean `initialize`."""

COMMON_WORDS = frozenset({"initialize", "ping", "initialized", "tasks/list", "tasks/get", "tasks/cancel", "tasks/result"})
"""Methods whose names other protocols and plain English share: they count only beside better evidence."""

HEADERS = frozenset({"mcp-session-id", "last-event-id", "mcp-protocol-version", "mcp-method", "mcp-name"})
META_KEYS = frozenset({"io.modelcontextprotocol/related-task", "io.modelcontextprotocol/model-immediate-response"})
CURRENT = "2026-07-28"
LEGACY_VERSIONS = frozenset({"2024-10-07", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"})
UNRELEASED_VERSIONS = frozenset({"2026-06-30", "DRAFT-2025-v1", "DRAFT-2025-v2", "DRAFT-2025-v3", "DRAFT-2026-v1"})
VERSIONS = LEGACY_VERSIONS | UNRELEASED_VERSIONS | {CURRENT}
WHOLE = METHODS | META_KEYS | {"HTTP_MCP_SESSION_ID"}
"""Texts that mean something wherever they stand."""
TEXTS = WHOLE | SPELLINGS.keys() | VERSIONS
LONGEST = max(map(len, TEXTS | HEADERS))
"""What is longer is none of the words, and need not be turned to small letters to see that."""
DATE = re.compile(r"20\d\d-\d\d-\d\d")

RETIRED_CODES = frozenset({-32002, -32042})
DRAFT_CODES = frozenset({-32001, -32003, -32004})
RESERVED_CODES = range(-32099, -32019)

RESULTS = {
    "tools": "tools/list",
    "resources": "resources/list",
    "resourceTemplates": "resources/templates/list",
    "prompts": "prompts/list",
    "contents": "resources/read",
    "content": "tools/call",
    "messages": "prompts/get",
    "completion": "completion/complete",
    "supportedVersions": "server/discover",
}
"""The field by which a result is known -> the method that it answers."""

SESSION_CALLS = frozenset(
    {
        "initialize",
        "send_ping",
        "set_logging_level",
        "subscribe_resource",
        "unsubscribe_resource",
        "send_roots_list_changed",
        "list_roots",
        "create_message",
        "elicit",
        "elicit_form",
        "elicit_url",
        "send_elicit_complete",
        "send_log_message",
        "send_resource_updated",
        "send_resource_list_changed",
        "send_tool_list_changed",
        "send_prompt_list_changed",
    }
)

OTHER_PROTOCOLS = (
    "textDocument/",
    "workspace/",
    "window/showMessage",
    "session/new",
    "session/prompt",
    "session/update",
    "message/send",
    "message/stream",
    "configurationDone",
    "setBreakpoints",
    "eth_",
    "agentCapabilities",
    "hoverProvider",
    "textDocumentSync",
)
"""Words of LSP, DAP, ACP, A2A and Ethereum: JSON-RPC speakers that share envelopes, methods and codes with MCP."""

# A file with the word on the left, whatever its capitals, may hold protocol code if it also has one of those on the right.
_GATE: tuple[tuple[bytes, tuple[bytes, ...]], ...] = (
    (b"rotocol", (b"protocolVersion", b"modelcontextprotocol")),
    (b"jsonrpc", (b"jsonrpc", b"JSONRPC")),
    (b"initialize", (b'"initialize"', b"'initialize'")),
    (b"-320", (b"-32002", b"-32042")),
    (b"event", (b"event-id", b"vent-ID")),
    (b"send_", tuple(sorted(call.encode() for call in SESSION_CALLS if call.startswith("send_")))),
    (b"session.", tuple(sorted(f"session.{call}(".encode() for call in SESSION_CALLS if not call.startswith("send_")))),
)
# These name the protocol itself, which most files do not.
_NAMED: tuple[tuple[bytes, tuple[bytes, ...]], ...] = (
    (b"mcp-session-i", (b"mcp-session-id", b"mcp-Session-I", b"Mcp-session-id", b"Mcp-Session-I", b"MCP-Session-I")),
    (b"mcp_session_id", (b"mcp_session_id", b"MCP_SESSION_ID")),
    (b"mcpmethod", (b"McpMethod", b"MCPMethod")),
    (b"rotocol_version", (b"protocol_version", b"PROTOCOL_VERSION")),
    (b"eventstore", (b"EventStore",)),
    # Targets of `patch`, names in `sys.modules`.
    (b"mcp.", tuple(quote + b"mcp." + name for quote in (b'"', b"'") for name in (b"client.", b"server.", b"shared.", b"types."))),
)
# The SDK, or a module beside this one that bears the protocol's name; of a package of that name, most modules speak of other things.
_IMPORT = re.compile(rb"\b(?:from|import)[ \t]+(?:(?:fast)?mcp\b|mcp_\w+[ \t]*(?:import|as|,|#|\r?$))", re.MULTILINE)
# Before the whole expression above, what it needs: one that begins with a literal is searched for four times as fast.
_IMPORTED = re.compile(
    rb"mcp(?:%s)"
    % b"|".join(b"(?<=%s%smcp)" % (before, fast) for before in (b"from[ \t]", b"import[ \t]", b"[ \t][ \t]") for fast in (b"", b"fast"))
)
# A whole method, or the first half of one that is put together; a path that goes through a folder called tools is neither.
# It begins with the slash for the same reason.
_METHOD = re.compile(
    b"/(?:(?<=roots/)list|(?<=logging/)setLevel|(?:%s)(?:[\"'{%%]|%s))"
    % (
        b"|".join(b"(?<=%s/)" % head for head in (b"tools", b"notifications", b"resources", b"prompts", b"sampling", b"elicitation")),
        b"|".join(sorted({method.partition("/")[2].partition("/")[0].encode() for method in METHODS} - {b""}, reverse=True)),
    )
)
_DATED = re.compile(rb"20\d\d-\d\d-\d\d")
# What follows the word decides first: a search that begins with a literal skips most lines unread.
_SDK = re.compile(
    rb"mcp(?:(?<=[ \t]mcp)(?:_types)?\b|(?<=[\"']mcp)\.(?:client|server|shared|types)\b|(?<=[ \t]fastmcp)\b|(?<=[\"']fastmcp)\.[a-zA-Z])"
)
_MARGIN = 500  # bytes that an import may be indented by
_STANDALONE = re.compile(rb"mcp(?:(?<=[ \t]fastmcp)\b|(?<=[\"']fastmcp)\.[a-zA-Z])")


def imports_sdk(data: bytes) -> bool:
    """Whether a file imports the official SDK or `fastmcp`, or names one of their modules in a text, as far as its own text tells."""
    return _imports(data, _SDK)


def imports_standalone(data: bytes) -> bool:
    """Whether a file imports the standalone package `fastmcp`, or names one of its modules in a text."""
    return b"fastmcp" in data and _imports(data, _STANDALONE)


def _imports(data: bytes, names: re.Pattern[bytes]) -> bool:
    for found in names.finditer(data):
        start = found.start() - 4 if data[found.start() - 4 : found.start()] == b"fast" else found.start()
        if data[start - 1 : start] in (b'"', b"'"):
            return True
        # Of a line without end, only what may be its beginning.
        head = data[max(0, start - _MARGIN) : start].rpartition(b"\n")[2]
        if len(head) < _MARGIN and head.split() in ([b"from"], [b"import"]):
            return True
    return False


def may_speak(data: bytes) -> bool:
    """Whether a file may hold protocol code at all; most files are refused here, unparsed.

    A loop of plain `in` tests is three times faster than one alternation of a regular expression.
    """
    small = data.lower()  # one search for a word instead of one for each of its spellings
    named = b"mcp" in small
    for word, spellings in (*_NAMED, *_GATE) if named else _GATE:
        if word in small and any(spelling in data for spelling in spellings):
            return True
    if b"rotocol_version" in small and _DATED.search(data):  # any protocol has a version; those of this one are dates
        return True
    return _METHOD.search(data) is not None or (named and _IMPORTED.search(data) is not None and _IMPORT.search(data) is not None)
