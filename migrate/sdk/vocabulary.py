"""The names by which uses of the SDK are looked for: the type of an expression is asked for only where one of these stands.

`tests/test_catalog.py` proves that the rules of the SDK packs ask for no others. Without this, `check` would cost ten times as much.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

FIELDS = frozenset(
    {
        "clientInfo", "costPriority", "createMessage", "createdAt", "destructiveHint", "elicitationId", "hasMore", "idempotentHint",
        "includeContext", "inputSchema", "intelligencePriority", "isError", "lastUpdatedAt", "listChanged", "maxTokens", "mimeType",
        "modelPreferences", "nextCursor", "openWorldHint", "outputSchema", "pollInterval", "progressToken", "protocolVersion",
        "readOnlyHint", "requestId", "requestedSchema", "resourceTemplates", "serverInfo", "speedPriority", "statusMessage",
        "stopReason", "stopSequences", "structuredContent", "systemPrompt", "taskId", "taskSupport", "toolChoice", "toolUseId",
        "uriTemplate", "websiteUrl",
    }
)  # fmt: skip
"""Fields of protocol types that the newer release spells in snake case; `tests/test_sdk_api.py` holds them against it."""

ONLY = frozenset(
    {
        "destructiveHint", "idempotentHint", "inputSchema", "isError", "nextCursor", "openWorldHint", "outputSchema", "progressToken",
        "readOnlyHint", "requestedSchema", "resourceTemplates", "serverInfo", "structuredContent", "uriTemplate",
    }
)  # fmt: skip
"""Those of them that hardly anything but MCP has."""

STANDS_IN = re.compile(rb"(?m)^[ \t]+(?:self\.)?(?:%s)[ \t]*[:=]" % b"|".join(name.encode() for name in sorted(ONLY)))
"""One of these as a field of a class."""

USES = (
    *(name.encode() for name in sorted(FIELDS)),
    b"model_dump", b"McpError", b"FastMCP", b"RequestContext", b"streamablehttp_client",
    # What is done with a server, a session or a result that another module makes.
    b"_app(", b".settings.", b".run(", b"call_tool", b"get_context", b"request_context", b"request_handlers", b".list_tools",
    b".list_resources", b".list_resource_templates", b".list_prompts", b".get_prompt", b".read_resource", b".root", b".uri.",
    # The same of `fastmcp`.
    b".fn(", b".get_tools(", b".get_resources(", b".mount(", b".import_server(", b"as_proxy(", b".set_state(", b".get_state(",
    b".remove_tool(", b".add_middleware(",
)  # fmt: skip
"""What a file has to hold to do something with values of the SDK, without a word of the SDK."""

CLASSES = frozenset(
    {
        "AnyFunction", "AnyUrl", "AuthSettings", "OAuthMetadata", "ProtectedResourceMetadata",
        "BlobResourceContents", "ClientNotification", "ClientRequest", "ClientResult", "ClientSession",
        "ClientSessionGroup", "ClientCredentialsOAuthProvider", "Content", "Context", "Cursor", "Elicit", "ElicitationResult",
        "EmbeddedResource", "FastMCP", "FastMCPError", "FileResource", "FunctionResource", "HttpResource",
        "DirectoryResource", "JSONRPCMessage", "MCPServer",
        "McpError", "Meta", "OAuthClientProvider", "OAuthClientMetadata", "OAuthClientInformationFull", "PrivateKeyJWTOAuthProvider",
        "RFC7523OAuthClientProvider", "ReadResourceRequestParams", "RequestContext", "RequestParams", "RequestResponder", "Resource",
        "ResourceLink", "ResourceReference", "ResourceTemplate", "ResourceUpdatedNotificationParams", "ResourceContents", "Root", "Server",
        "ServerNotification", "ServerRequest", "ServerResult", "ServerSession", "SessionMessage", "Settings",
        "StreamableHTTPServerTransport", "StreamableHTTPTransport", "StreamableHttpParameters", "SubscribeRequestParams",
        "TextResource", "BinaryResource",
        "TextResourceContents", "Tool", "UnsubscribeRequestParams", "UrlElicitationRequiredError", "MCPError",
    }
)  # fmt: skip
METHODS = frozenset(
    {
        "_mcp_server", "_prompt_manager", "_resource_manager", "_tool_manager", "add_prompt", "add_resource", "add_tool",
        "call_tool", "_validate_elicitation_schema", "client_id", "client_params", "completion",
        "complete", "create_connected_server_and_client_session", "create_message", "create_resource", "custom_route", "debug", "dict",
        "elicit", "elicit_form", "elicit_url", "error", "experimental", "fastmcp", "get_context", "get_prompt", "get_resource",
        "get_server_capabilities", "get_session_id", "incoming_messages", "info", "initialize", "is_binary", "json", "list_prompts",
        "list_resource_templates", "list_resources", "list_roots", "list_tools", "log", "meta", "model_copy", "model_dump",
        "model_dump_json", "model_validate", "model_validate_json", "notification_handlers", "progress_notification", "prompt",
        "read_resource", "render", "render_prompt", "request_context", "request_ctx", "request_handlers", "resource", "root", "run",
        "run_sse_async", "run_stdio_async", "run_streamable_http_async", "send_log_message", "send_notification", "send_ping",
        "send_progress_notification", "send_prompt_list_changed", "send_request", "send_resource_list_changed",
        "send_resource_updated", "send_roots_list_changed", "send_tool_list_changed", "set_logging_level", "settings", "sse_app",
        "sse_client", "stdio_client", "streamable_http_app", "streamable_http_client", "streamablehttp_client",
        "subscribe_resource", "tool", "unsubscribe_resource", "uri", "validate_redirect_uri", "validate_scope", "warning",
        "code", "__init__", "stdio_server", "BaseSession", "ClientSessionParameters",
        "parse_obj", "parse_raw", "model_construct", "model_json_schema", "copy",
        "CancelledNotification", "_handle_message", "_handle_notification", "_handle_request", "_tool_cache",
        "_get_cached_tool_definition", "_make_error_result", "_initialization_state", "InitializationState",
        "websocket_client", "SendRequestT", "SendResultT", "SendNotificationT", "ReceiveRequestT", "ReceiveResultT", "ReceiveNotificationT",
        "_event_store", "_retry_interval", "_session_manager", "_setup_handlers",
    }
)  # fmt: skip
NEAR: Mapping[str, bytes] = {
    "session": b".session",
    **dict.fromkeys(("dump_json", "dump_python"), b"TypeAdapter"),
    **dict.fromkeys(
        (
            "_url",
            "fragment",
            "host",
            "password",
            "path",
            "port",
            "query",
            "query_params",
            "scheme",
            "unicode_host",
            "unicode_string",
            "username",
        ),
        b".uri",
    ),
    "id": b"JSONRPCError",
    "__dict__": b"__dict__",
    "__name__": b"McpError",
    "message": b"Timed out while waiting",
}
"""Names that are too common to be looked for everywhere, each with a word that has to stand in the file as well."""

STANDALONE = "fastmcp"
"""The package of that name, which is no part of the SDK."""
WANTED_OF_STANDALONE = frozenset(
    {
        "AWSCognitoProvider", "Auth0Provider", "AuthKitProvider", "AzureProvider", "Client", "DescopeProvider", "DiscordProvider",
        "FastMCP", "FastMCPProxy", "MessageHandler", "MultiAuth", "OAuthProxy", "OIDCProxy",
        "GitHubProvider", "GoogleProvider", "Middleware", "OAuth", "OCIProvider", "OpenAPIProvider",
        "SSETransport", "ScalekitProvider", "StreamableHttpTransport", "SupabaseProvider", "WorkOSProvider",
        "_call_tool_mcp", "_get_prompt_mcp", "_list_prompts_mcp", "_list_resource_templates_mcp", "_list_resources_mcp", "_list_tools_mcp",
        "_mcp_call_tool", "_mcp_get_prompt", "_mcp_list_prompts", "_mcp_list_resources", "_mcp_list_tools", "_mcp_read_resource",
        "_mounted_servers", "_read_resource_mcp", "_call_tool", "_deprecated_settings",
        "_read_resource", "add_tool_transformation", "as_proxy", "call_tool_mcp", "cancel_task",
        "disable", "enable", "enabled", "fn", "from_fastapi", "from_function", "from_openapi", "from_tool", "get_prompts",
        "get_resource_template", "get_resource_templates", "get_resources", "get_state", "get_task_result", "get_task_status", "get_tool",
        "get_tools", "http_app", "import_server", "initialize_result", "list_tasks", "mount", "ping", "remove_tool",
        "remove_tool_transformation", "run_async", "run_http_async", "sample", "sample_step", "serializer", "session", "session_id",
        "set_state", "to_mcp_tool",
    }
)  # fmt: skip
"""Names by which uses of it are looked for, in projects that import it."""
OF_COMPONENTS = frozenset({"description", "name", "parameters", "read", "render", "tags", "uri"})
"""Names that are asked for only where they are read of a function that has a decorator, or of what is imported."""

WANTED = FIELDS | CLASSES | METHODS | NEAR.keys()
