"""The text of the modules that `fix` writes; of the boundary module and of that for handlers, with the parts that are needed."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import Enum

from .. import __version__
from ..facts.gates import COMPAT_MODULE, CONNECTION_MODULE, HANDLER_MODULE, QUESTION_MODULE, ROUND_MODULE, SESSION_MODULE, SOCKET_MODULE
from . import written
from .joined import joined

FILE_NAME = "mcp_stateless.py"
CLIENT_FILE_NAME = "mcp_stateless_client.py"
_STEM = FILE_NAME.removesuffix(".py")


class Part(str, Enum):
    """What a server can use beside `begin`, `finish` and `modern`, which are always there."""

    BOUNDARY = "boundary"  # @MCP.boundary on a dispatcher
    SEND = "send"  # @MCP.boundary(send=...) on a dispatcher that writes its replies
    RETURNS = "returns"  # @MCP.boundary(returns=...) on a dispatcher that returns its replies in tuples
    OUTGOING = "outgoing"  # MCP.outgoing in a writer that replies and notifications share
    LOGGING = "logging"  # MCP.log_level, and log messages only for requests that want them
    LISTEN = "listen"  # subscriptions/listen on stdio, and MCP.subscribed
    CAPABILITIES = "capabilities"  # MCP.client_capabilities
    ASK = "ask"  # MCP.ask and InputRequired
    APART = "apart"  # is_modern() in modules that the server imports
    HANDSHAKE = "handshake"  # MCP.handshake in the answer to initialize
    HTTP = "http"  # headers for begin, and http_status
    CHANGES = "changes"  # subscriptions/listen on any channel
    EXCHANGE = "exchange"  # what all HTTP hosts share
    STREAMS = "streams"  # subscriptions/listen over HTTP, and MCP.publish
    ENDPOINT = "endpoint"  # what the decorators of endpoints share
    ASGI = "asgi"  # MCP.asgi around FastAPI, Starlette and other applications
    FASTAPI_ROUTE = "fastapi_route"  # MCP.fastapi_route as the route class of a router
    STARLETTE = "starlette"  # @MCP.starlette on an endpoint
    WSGI = "wsgi"  # MCP.wsgi around Flask and other applications
    FLASK = "flask"  # @MCP.flask on a view
    DJANGO = "django"  # @MCP.django on a view
    AIOHTTP = "aiohttp"  # @MCP.aiohttp on a handler
    TORNADO = "tornado"  # @MCP.tornado on a method of a request handler
    HTTP_SERVER = "http_server"  # @MCP.http_server(path) on do_POST, do_GET, do_DELETE
    AWS_LAMBDA = "aws_lambda"  # @MCP.aws_lambda(path) on a handler


_NEEDS = {
    Part.SEND: {Part.BOUNDARY},
    Part.RETURNS: {Part.BOUNDARY},
    # Log messages and change notifications can only be held back or tagged where they leave.
    Part.LOGGING: {Part.OUTGOING},
    Part.LISTEN: {Part.OUTGOING, Part.CHANGES},
    Part.EXCHANGE: {Part.HTTP},
    Part.STREAMS: {Part.HTTP, Part.CHANGES},
    Part.ENDPOINT: {Part.EXCHANGE},
    Part.ASGI: {Part.EXCHANGE},
    Part.FASTAPI_ROUTE: {Part.ASGI},
    Part.STARLETTE: {Part.ASGI},
    Part.WSGI: {Part.EXCHANGE},
    Part.FLASK: {Part.ENDPOINT},
    Part.DJANGO: {Part.ENDPOINT},
    Part.AIOHTTP: {Part.ENDPOINT},
    Part.TORNADO: {Part.ENDPOINT},
    Part.HTTP_SERVER: {Part.ENDPOINT},
    Part.AWS_LAMBDA: {Part.ENDPOINT},
}
# A claim that is made on one channel is made on all: these can keep it.
_STREAMING = frozenset(
    {Part.ASGI, Part.FASTAPI_ROUTE, Part.STARLETTE, Part.WSGI, Part.FLASK, Part.DJANGO, Part.AIOHTTP, Part.TORNADO, Part.HTTP_SERVER}
)
HOSTS = _STREAMING | {Part.AWS_LAMBDA}
_IN_FOLDER = (Part.EXCHANGE, Part.STREAMS, Part.ENDPOINT, *(part for part in Part if part in HOSTS))
_ATTRIBUTES = {
    "boundary": Part.BOUNDARY,
    "outgoing": Part.OUTGOING,
    "log_level": Part.LOGGING,
    "subscribed": Part.LISTEN,
    "client_capabilities": Part.CAPABILITIES,
    "ask": Part.ASK,
    "handshake": Part.HANDSHAKE,
    "publish": Part.STREAMS,
    **{part.value: part for part in HOSTS},
}
_NAMES = {"InputRequired": Part.ASK, "http_status": Part.HTTP, "is_modern": Part.APART}
_ORIGIN = """\
Written by mcp-migrate {version} for this server, which owns it. As long as nobody has changed it, `mcp-migrate fix`
may add parts to it; to get it anew, delete it and run `mcp-migrate fix`."""
_CLIENT_ORIGIN = """\
Written by mcp-migrate {version} for this client, which owns it. To get it anew, delete it and run `mcp-migrate fix`."""


_HANDLER_ORIGIN = """\
Written by mcp-migrate {version} when this project moved to version 2 of the SDK, where a server has no decorators for
handlers. The project owns it. As long as nobody has changed it, `mcp-migrate fix` may add parts to it."""
_HANDLER_ORIGIN_OF_BOTH = """\
Written by mcp-migrate {version} for this project, which owns it: mcp 1 has such decorators itself, mcp 2 has none. As long as
nobody has changed it, `mcp-migrate fix` may add parts to it."""
_CONNECTION_ORIGINS = {
    CONNECTION_MODULE: """\
Written by mcp-migrate {version} when this project moved to version 2 of the SDK, which opens connections with a client that has
all this already. The project owns it.""",
    SOCKET_MODULE: """\
Written by mcp-migrate {version} when this project moved to version 2 of the SDK, which has no such transport. The project owns it.""",
    SESSION_MODULE: """\
Written by mcp-migrate {version} when this project moved to version 2 of the SDK, whose sessions have no base class. The project
owns it.""",
}
_COMPAT_ORIGIN = """\
Written by mcp-migrate {version} for this project, which owns it, so that its code runs with both releases of the SDK. As long as
nobody has changed it, `mcp-migrate fix --keep-v1` may add parts to it."""
# The parts of the module for code that runs with both releases of the SDK.
COMPAT_PARTS = ("fields", "meta", "errors", "timeouts", "unions", "capabilities", "memory", "http", "server")
_QUESTION_ORIGIN = """\
Written by mcp-migrate {version} for this server, which owns it. To get it anew, delete it and run `mcp-migrate fix`."""
_NEEDS_OF_HANDLERS: Mapping[str, frozenset[str]] = {
    "tools": frozenset({"lists"}),
    "prompts": frozenset({"lists"}),
    "resources": frozenset({"lists", "urls"}),
    "subscriptions": frozenset({"urls"}),
    "request_handler": frozenset({"classes"}),
    "notification_handler": frozenset({"classes"}),
    "answering": frozenset({"classes"}),
    "listening": frozenset({"subscriptions", "urls"}),
}
# The parts of the module for handlers.
HANDLER_PARTS = (
    "both",
    "ambient",
    "tools",
    "prompts",
    "resources",
    "completion",
    "logging",
    "subscriptions",
    "progress",
    "request_handler",
    "notification_handler",
    "answering",
    "listening",
)


def complete(parts: Iterable[Part]) -> frozenset[Part]:
    """The parts with all that they need."""
    closed = frozenset(parts)
    more = closed.union(*(_NEEDS.get(part, set()) for part in closed))
    if Part.LISTEN in closed and closed & _STREAMING:
        more |= {Part.STREAMS}
    return closed if more == closed else complete(more)


def render(parts: frozenset[Part], newline: str = "\n") -> str:
    """The text of the module with these parts and what they need."""
    chosen = complete(parts)
    texts = [_text(name, chosen) for name in (FILE_NAME, *(f"hosts/{part.value}.py" for part in _IN_FOLDER if part in chosen))]
    body = written.without_unused_imports(joined(texts[0], texts[1:]) if len(texts) > 1 else texts[0])
    names = (part.value for part in Part if part in chosen and part not in complete(chosen - {part}))
    return written.seal(body, _ORIGIN.format(version=__version__), names, newline)


def client(newline: str = "\n") -> str:
    """The text of the module that `fix` writes beside a hand-written client; it has no parts that could be missing."""
    return written.seal(written.source(CLIENT_FILE_NAME), _CLIENT_ORIGIN.format(version=__version__), (), newline)


def handlers(parts: Collection[str], newline: str = "\n") -> str:
    """The text of the module beside low-level servers of the SDK with these parts, and what they need."""
    chosen = frozenset(parts).union(*(_NEEDS_OF_HANDLERS.get(part, ()) for part in parts))
    chosen |= set() if "both" in chosen else {"alone"}
    text = "\n".join(written.lines(written.source(HANDLER_MODULE), chosen))
    names = [part for part in HANDLER_PARTS if part in parts]
    origin = _HANDLER_ORIGIN_OF_BOTH if "both" in chosen else _HANDLER_ORIGIN
    return written.seal(written.without_unused_imports(text), origin.format(version=__version__), names, newline)


def compat(parts: Collection[str], newline: str = "\n") -> str:
    """The text of the module beside code that has to run with both releases of the SDK, with these parts."""
    text = "\n".join(written.lines(written.source(COMPAT_MODULE), parts))
    names = [part for part in COMPAT_PARTS if part in parts]
    text = re.sub(r"(?<!\n)\n{3,}(?=MCP_1)", "\n\n", written.without_unused_imports(text))
    return written.seal(text, _COMPAT_ORIGIN.format(version=__version__), names, newline)


def questions(newline: str = "\n") -> str:
    """The text of the module that asks clients; it has no parts that could be missing."""
    return written.seal(written.source(QUESTION_MODULE), _QUESTION_ORIGIN.format(version=__version__), (), newline)


def rounds(newline: str = "\n") -> str:
    """The same of what asks the clients of the standalone `fastmcp`."""
    return written.seal(written.source(ROUND_MODULE), _QUESTION_ORIGIN.format(version=__version__), (), newline)


def connections(newline: str = "\n", name: str = CONNECTION_MODULE) -> str:
    """The text of a module that opens connections, or is a session over one; it has no parts that could be missing."""
    return written.seal(written.source(name), _CONNECTION_ORIGINS[name].format(version=__version__), (), newline)


def again(name: str, parts: Collection[str], newline: str = "\n") -> str | None:
    """The text of a module of this file name with these parts; None for parts that this version does not know."""
    if name == FILE_NAME:
        known = {part.value for part in Part}
        return render(complete(map(Part, parts)), newline) if {*parts} <= known else None
    if name == HANDLER_MODULE:
        return handlers(parts, newline) if {*parts} <= {*HANDLER_PARTS} else None
    if name == COMPAT_MODULE:
        return compat(parts, newline) if {*parts} <= {*COMPAT_PARTS} else None
    if name in _CONNECTION_ORIGINS:
        return connections(newline, name)
    return {CLIENT_FILE_NAME: client, QUESTION_MODULE: questions, ROUND_MODULE: rounds}[name](newline)


def parts_of(text: str) -> frozenset[Part] | None:
    """The parts of a module that `render` wrote and nobody has changed since; None for any other text."""
    names = written.parts(text)
    if names is None:
        return None
    # A later version may know parts that this one does not.
    return complete(map(Part, names)) if {*names} <= {part.value for part in Part} else None


def used(tree: ast.Module, handles: Collection[str]) -> Iterator[Part]:
    """The parts that code uses, with boundary objects of these names."""
    found = set(_named(tree, handles))
    yield from found
    texts = set(notified(node for node in ast.walk(tree) if isinstance(node, ast.Constant)))
    # Over HTTP no channel is shared: what has changed reaches only whom it is published to.
    yield from texts - {Part.LISTEN} if found & HOSTS and not found & {Part.BOUNDARY, Part.OUTGOING} else texts


def _named(tree: ast.Module, handles: Collection[str]) -> Iterator[Part]:
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name in handles and attr in _ATTRIBUTES:
                yield _ATTRIBUTES[attr]
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="boundary"), keywords=keywords) if name in handles:
                named = {keyword.arg for keyword in keywords}
                yield from (part for part in (Part.SEND, Part.RETURNS) if part.value in named)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="begin"), args=args, keywords=keywords) if name in handles:
                if len(args) + len(keywords) > 1:
                    yield Part.HTTP
            case ast.ImportFrom(module=str() as origin, names=names) if origin.endswith(_STEM):
                yield from (_NAMES[alias.name] for alias in names if alias.name in _NAMES)


def notified(constants: Iterable[ast.Constant]) -> Iterator[Part]:
    """The parts that the notifications of a server need, which are among its texts."""
    for node in constants:
        if isinstance(node.value, str) and node.value.startswith("notifications/"):
            if node.value == "notifications/message":
                yield Part.LOGGING
            elif node.value.endswith(("/list_changed", "/updated")) and "roots" not in node.value:
                yield Part.LISTEN


def _text(name: str, chosen: frozenset[Part]) -> str:
    return "\n".join(written.lines(written.source(name), {part.value for part in chosen}))
