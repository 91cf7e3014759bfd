"""How messages reach a function: from standard input, over HTTP, or in a way that the project does not show."""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass

from .callers import by_name, climb
from .code import Code, Place, Unit, last
from .functions import dotted

_ROUTES = frozenset({"post", "get", "put", "delete", "route", "api_route", "websocket", "api_view", "csrf_exempt", "endpoint", "app.route"})
_REQUESTS = frozenset({"Request", "HttpRequest", "HTTPConnection", "WebSocket"})
_BASES = ("HTTPRequestHandler", "APIView", "RequestHandler", "HTTPEndpoint", "View", "ViewSet", "Resource")
_SOCKETS = ("Consumer", "WebSocketHandler", "WebSocketEndpoint")
_RESPONSES = frozenset(
    {
        "JSONResponse",
        "JsonResponse",
        "json_response",
        "StreamingResponse",
        "EventSourceResponse",
        "HttpResponse",
        "jsonify",
        "HTTPException",
    }
)
# What reads from a connection, and what a framework calls with what it has read.
_READS = frozenset(
    {"accept", "connect", "get", "input", "iter_lines", "next", "poll", "read", "readexactly", "readline", "readuntil", "receive", "recv"}
    | {"receive_json", "receive_text", "recvfrom", "serve", "serve_forever", "start_server", "wait_for_message"}
)
_HANDED = ("on_", "receive", "websocket", "data_received", "handle_client", "handle_connection", "lambda", "do_")


@dataclass(frozen=True)
class Way:
    """`http` is a function over which HTTP requests come in, if there is one."""

    stdio: bool
    http: Place | None


def of(code: Code, place: Place) -> Way:
    """The transports of everything that calls a function, and of what calls that."""
    seen = [place]
    for one in seen:
        if one.function is None:
            continue
        for call in code.callers(one):
            if call.place not in seen:
                seen.append(call.place)
        for other in by_name(code, one):
            if other not in seen and is_http(other):
                seen.append(other)
    read = any(reads_stdin(one.unit) or reads_lines(one) or _is_consumer(one) for one in seen)
    # A loop may read through a helper of another module.
    read = read or any(_names_stdin(other) for one in seen if one != place for other in code.reachable(one) if other.unit is not one.unit)
    return Way(read, next((one for one in seen if is_http(one)), None))


def _is_consumer(place: Place) -> bool:
    """A method that a framework for sockets calls with each message: each is whole, as a line of standard input is."""
    if place.function is None or place.function.short not in {"receive", "receive_json", "on_message", "on_receive"}:
        return False
    owner = place.unit.classes.get(place.owner)
    return owner is not None and any(dotted(base).endswith(_SOCKETS) for base in owner.bases)


def is_idle(code: Code, place: Place) -> bool:
    """Whether a function is only called by code of the project that reads nothing: a demonstration, or what only looks like a server."""
    callers = [one for one in climb(code, place) if one != place]
    return bool(callers) and not any(is_http(one) or _reads(one) or reads_stdin(one.unit) for one in (place, *callers))


def is_http(place: Place) -> bool:
    """Whether a function answers an HTTP request."""
    if place.function is None:
        return False
    node = place.function.node
    for decorator in node.decorator_list:
        name = dotted(decorator.func if isinstance(decorator, ast.Call) else decorator)
        if name.rpartition(".")[2] in _ROUTES and (isinstance(decorator, ast.Call) or name in _ROUTES):
            return True
    for arg in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]:
        if arg.annotation is not None and dotted(arg.annotation).rpartition(".")[2] in _REQUESTS:
            return True
    if place.function.short.startswith("do_") and place.function.short[3:].isupper():
        return True
    owner = place.unit.classes.get(place.owner)
    if owner is not None and any(dotted(base).endswith(_BASES) for base in owner.bases):
        return True
    return any(isinstance(n, ast.Call) and dotted(n.func).rpartition(".")[2] in _RESPONSES for n in place.nodes)


def is_reader(code: Code, place: Place, inside: Collection[Place]) -> bool:
    """Whether a function takes messages from standard input, by itself or through helpers that are not behind the dispatcher."""
    if reads_lines(place) or _is_consumer(place):
        return True
    behind = {*inside}
    for one in (place, *(other for other in code.reachable(place) if other not in behind)):
        calls = [node.func for node in one.nodes if isinstance(node, ast.Call)]
        if _names_stdin(one) or any(last(f) == ("input" if isinstance(f, ast.Name) else "connect_read_pipe") for f in calls):
            return True
    return False


def _names_stdin(place: Place) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == "stdin" for node in place.nodes)


def reads_stdin(unit: Unit) -> bool:
    """Whether a module reads standard input at all."""
    module = unit.module
    if any(node.attr == "stdin" for node in module.nodes(ast.Attribute)) or any(node.id == "stdin" for node in module.nodes(ast.Name)):
        return True
    functions = [call.func for call in module.nodes(ast.Call)]
    return any(last(function) == ("input" if isinstance(function, ast.Name) else "connect_read_pipe") for function in functions)


def _reads(place: Place) -> bool:
    """Whether a function takes anything from outside of the process, or is named as what a framework hands it to."""
    if place.function is not None and place.function.short.lstrip("_").startswith(_HANDED):
        return True
    return any(isinstance(n, ast.Call) and dotted(n.func).rpartition(".")[2] in _READS for n in place.nodes)


def reads_lines(place: Place) -> bool:
    """Whether a function parses each line of a stream that it is given."""
    parses = any(isinstance(n, ast.Call) and dotted(n.func).rpartition(".")[2] in {"loads", "load"} for n in place.nodes)
    loops = any(
        isinstance(n, ast.For | ast.AsyncFor) or (isinstance(n, ast.Call) and dotted(n.func).endswith("readline")) for n in place.nodes
    )
    return parses and loops
