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

COMMON_WORDS = frozenset({"initialize", "ping", "initialized", "tasks/list", "tasks/get", "tasks/cancel", "tasks/result"})
"""Methods whose names other protocols and plain English share: they count only beside better evidence."""

HEADERS = frozenset({"mcp-session-id", "last-event-id", "mcp-protocol-version", "mcp-method", "mcp-name"})
META_KEYS = frozenset({"io.modelcontextprotocol/related-task", "io.modelcontextprotocol/model-immediate-response"})
CURRENT = "2026-07-28"
LEGACY_VERSIONS = frozenset({"2024-10-07", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"})
UNRELEASED_VERSIONS = frozenset({"2026-06-30", "DRAFT-2025-v1", "DRAFT-2025-v2", "DRAFT-2025-v3", "DRAFT-2026-v1"})
VERSIONS = LEGACY_VERSIONS | UNRELEASED_VERSIONS | {CURRENT}
DATE = re.compile(r"20\d\d-\d\d-\d\d")

RETIRED_CODES = frozenset({-32002, -32042})
DRAFT_CODES = frozenset({-32001, -32003, -32004})
DEFINED_CODES = frozenset({-32020, -32021, -32022})
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

_GATE = (
    b"tools/",
    b"protocolVersion",
    b"protocol_version",
    b"PROTOCOL_VERSION",
    b"cp-session-id",
    b"CP-Session-I",
    b"cp-Session-I",
    b"CP_SESSION_ID",
    b"mcp_session_id",
    b"jsonrpc",
    b"JSONRPC",
    b'"initialize"',
    b"'initialize'",
    b"notifications/",
    b"modelcontextprotocol",
    b"resources/",
    b"prompts/",
    b"rotocol-Version",
    b"server/discover",
    b"completion/complete",
    b"logging/setLevel",
    b"sampling/",
    b"elicitation/",
    b"roots/list",
    b"-32002",
    b"-32042",
    b"import mcp",
    b"from mcp",
    b"fastmcp",
    b"event-id",
    b"vent-ID",
    b"EventStore",
    b"McpMethod",
    b"MCPMethod",
)


def may_speak(data: bytes) -> bool:
    """Whether a file may hold protocol code at all; most files are refused here, unparsed.

    A loop of plain `in` tests is three times faster than one alternation of a regular expression.
    """
    return any(word in data for word in _GATE)
