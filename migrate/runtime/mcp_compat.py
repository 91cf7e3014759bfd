"""What code needs that runs with mcp 1 and with mcp 2: their names, types and calls differ, and these functions work with either.

    if mcp_compat.field(result, "isError"): ...
    raise mcp_compat.error(ErrorData(code=INVALID_PARAMS, message="no such note"))
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from mcp import ClientSession
from mcp.types import ErrorData

MCP_1 = find_spec("mcp.server.mcpserver") is None
"""Whether mcp 1 is installed."""


# [fields]
def field(thing: Any, name: str, *default: Any) -> Any:
    """A field of a protocol type by its name in the protocol, such as `inputSchema`, for which mcp 2 says `input_schema`.

    With a third argument, that is the value of a field which is not there.
    """
    return getattr(thing, _spelled(thing, name), *default)


def set_field(thing: Any, name: str, value: Any) -> None:
    """Gives a field of a protocol type another value."""
    setattr(thing, _spelled(thing, name), value)


def has_field(thing: Any, name: str) -> bool:
    """Whether something has a field of this name."""
    return hasattr(thing, _spelled(thing, name))


def _spelled(thing: Any, name: str) -> str:
    snake = re.sub(r"(?<=[a-z])([A-Z])", lambda found: f"_{found[1].lower()}", name)
    return snake if snake in getattr(type(thing), "model_fields", ()) else name


# [/fields]
# [meta]
def meta(held: Any, name: str, default: Any = None) -> Any:
    """A value of the metadata of a request, which are an object to mcp 1 and a dict to mcp 2."""
    if isinstance(held, dict):
        return held.get("progress_token" if name == "progressToken" else name, default)
    return getattr(held, name, default)


# [/meta]
# [errors]
_errors: Any = import_module("mcp.shared.exceptions")
_ERROR: type[Exception] = _errors.McpError if MCP_1 else _errors.MCPError


def error(data: ErrorData, kind: Callable[..., Exception] = _ERROR) -> Exception:
    """The exception, of this class, that answers a request with this error."""
    return kind(*error_arguments(data))


def error_arguments(data: ErrorData) -> tuple[Any, ...]:
    """What the class of such exceptions is to be called with."""
    return (data,) if MCP_1 else (data.code, data.message, data.data)


# [/errors]
# [timeouts]
def timeout(time: timedelta | float | None) -> Any:
    """A time as the SDK wants it: mcp 1 takes a `timedelta`, mcp 2 seconds."""
    if time is None:
        return None
    if MCP_1:
        return time if isinstance(time, timedelta) else timedelta(seconds=time)
    return time.total_seconds() if isinstance(time, timedelta) else time


# [/timeouts]
# [unions]
def unwrapped(message: Any) -> Any:
    """The message itself, which mcp 1 has inside of a wrapper, as its `root`."""
    return getattr(message, "root", message) if MCP_1 else message


def wrapped(kind: Any, message: Any) -> Any:
    """A message of one of several classes: mcp 1 wants it wrapped in the class of them all, mcp 2 has no such class."""
    return kind(message) if MCP_1 else message


# [/unions]
# [capabilities]
def server_capabilities(session: Any) -> Any:
    """What a server has said in its handshake that it can do."""
    return session.get_server_capabilities() if MCP_1 else session.server_capabilities


# [/capabilities]
# [memory]
@asynccontextmanager
async def create_connected_server_and_client_session(
    server: Any,
    read_timeout_seconds: timedelta | float | None = None,
    sampling_callback: Any = None,
    list_roots_callback: Any = None,
    logging_callback: Any = None,
    message_handler: Any = None,
    client_info: Any = None,
    raise_exceptions: bool = False,
    elicitation_callback: Any = None,
) -> AsyncIterator[ClientSession]:
    """A session in memory with a server; its handshake is made."""
    callbacks: dict[str, Any] = {
        "sampling_callback": sampling_callback,
        "list_roots_callback": list_roots_callback,
        "logging_callback": logging_callback,
        "message_handler": message_handler,
        "client_info": client_info,
        "raise_exceptions": raise_exceptions,
        "elicitation_callback": elicitation_callback,
    }
    if MCP_1:
        connect: Any = import_module("mcp.shared.memory").create_connected_server_and_client_session
        if isinstance(read_timeout_seconds, float | int):
            read_timeout_seconds = timedelta(seconds=read_timeout_seconds)
        async with connect(server, read_timeout_seconds, **callbacks) as session:
            yield session
    else:
        if isinstance(read_timeout_seconds, timedelta):
            read_timeout_seconds = read_timeout_seconds.total_seconds()
        client: Any = import_module("mcp.client").Client
        async with client(server, mode="legacy", read_timeout_seconds=read_timeout_seconds, **callbacks) as connected:
            yield connected.session


# [/memory]
# [http]
@asynccontextmanager
async def streamable_http_client(url: str, **options: Any) -> AsyncIterator[tuple[Any, Any, Callable[[], str | None]]]:
    """Two streams, and a function that tells the session's identity, as far as it is known: mcp 2 keeps it to itself."""
    http: Any = import_module("mcp.client.streamable_http")
    async with http.streamable_http_client(url, **options) as streams:
        yield streams if MCP_1 else (*streams, lambda: None)


@asynccontextmanager
async def streamablehttp_client(
    url: str,
    headers: dict[str, str] | None = None,
    timeout: float | timedelta = 30,
    sse_read_timeout: float | timedelta = 300,
    terminate_on_close: bool = True,
    httpx_client_factory: Callable[..., Any] | None = None,
    auth: Any = None,
) -> AsyncIterator[tuple[Any, Any, Callable[[], str | None]]]:
    """Two streams, and a function that tells the session's identity; None before the handshake and on servers that keep no session."""
    http: Any = import_module("mcp.client.streamable_http")
    make = httpx_client_factory or http.create_mcp_http_client
    if MCP_1:
        opened = http.streamablehttp_client(url, headers, timeout, sse_read_timeout, terminate_on_close, make, auth)
        async with opened as streams:
            yield streams
        return
    times = [time.total_seconds() if isinstance(time, timedelta) else time for time in (timeout, sse_read_timeout)]
    client = make(headers=headers, timeout=http.httpx2.Timeout(times[0], read=times[1]), auth=auth)
    identity: str | None = None

    async def remember(response: Any) -> None:
        nonlocal identity
        identity = response.headers.get("mcp-session-id", identity)

    client.event_hooks["response"].append(remember)
    async with client, http.streamable_http_client(url, http_client=client, terminate_on_close=terminate_on_close) as (read, write):
        yield read, write, lambda: identity


# [/http]
# [server]
# Where each option of a transport goes that mcp 1 takes with the server, and what it is there without.
_HTTP_OPTIONS: dict[str, Any] = {
    "streamable_http_path": "/mcp",
    "json_response": False,
    "stateless_http": False,
    "event_store": None,
    "retry_interval": None,
    "session_idle_timeout": None,
    "max_sessions": None,
}
_SSE_OPTIONS: dict[str, Any] = {"sse_path": "/sse", "message_path": "/messages/"}
_OPTIONS: dict[str, Any] = {
    "host": "127.0.0.1",
    "port": 8000,
    "mount_path": "/",
    "max_request_body_size": None,
    "transport_security": None,
    **_HTTP_OPTIONS,
    **_SSE_OPTIONS,
}

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer as FastMCP
elif MCP_1:
    from mcp.server.fastmcp import FastMCP
else:
    from mcp.server.mcpserver import MCPServer
    from mcp.server.transport_security import TransportSecuritySettings

    class FastMCP(MCPServer):
        """A server that takes the options of its transports when it is made, and has them in its settings, as with mcp 1."""

        def __init__(
            self,
            name: str | None = None,
            instructions: str | None = None,
            website_url: str | None = None,
            icons: Any = None,
            auth_server_provider: Any = None,
            token_verifier: Any = None,
            event_store: Any = None,
            retry_interval: int | None = None,
            **options: Any,
        ) -> None:
            transport = {**_OPTIONS, "event_store": event_store, "retry_interval": retry_interval}
            transport.update({word: options.pop(word) for word in [*options] if word in _OPTIONS})
            if transport["transport_security"] is None and transport["host"] in ("127.0.0.1", "localhost", "::1"):
                # Whatever address is bound later, only local names are let in.
                transport["transport_security"] = TransportSecuritySettings(
                    enable_dns_rebinding_protection=True,
                    allowed_hosts=["127.0.0.1:*", "localhost:*", "[::1]:*"],
                    allowed_origins=["http://127.0.0.1:*", "http://localhost:*", "http://[::1]:*"],
                )
            super().__init__(
                name or "FastMCP",
                instructions=instructions,
                website_url=website_url,
                icons=icons,
                auth_server_provider=auth_server_provider,
                token_verifier=token_verifier,
                **options,
            )
            self.settings: Any = _Settings(self.settings, transport)

        @property
        def _mcp_server(self) -> Any:
            return self._lowlevel_server

        def run(self, transport: Any = "stdio", mount_path: str | None = None, **options: Any) -> None:
            super().run(transport, **options)

        async def run_sse_async(self, mount_path: str | None = None, **options: Any) -> None:
            await super().run_sse_async(**self._chosen(options, "port", *_SSE_OPTIONS))

        async def run_streamable_http_async(self, **options: Any) -> None:
            await super().run_streamable_http_async(**self._chosen(options, "port", *_HTTP_OPTIONS))

        def sse_app(self, mount_path: str | None = None, **options: Any) -> Any:
            return super().sse_app(**self._chosen(options, *_SSE_OPTIONS))

        def streamable_http_app(self, **options: Any) -> Any:
            return super().streamable_http_app(**self._chosen(options, *_HTTP_OPTIONS))

        def _chosen(self, given: dict[str, Any], *names: str) -> dict[str, Any]:
            """The options that a transport takes: those that it is given, else those of the settings."""
            words = ("host", "max_request_body_size", "transport_security", *names)
            held = {word: getattr(self.settings, word) for word in words}
            return {**{word: value for word, value in held.items() if value is not None}, **given}

    class _Settings:
        """The settings of a server, with the options of its transports."""

        def __init__(self, inner: Any, transport: dict[str, Any]) -> None:
            self.__dict__.update(transport, _inner=inner)

        def __getattr__(self, name: str) -> Any:
            return getattr(self.__dict__["_inner"], name)

        def __setattr__(self, name: str, value: Any) -> None:
            if name in self.__dict__:
                self.__dict__[name] = value
            else:
                setattr(self.__dict__["_inner"], name, value)


# [/server]
