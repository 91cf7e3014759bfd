"""How messages reach a function: from standard input, over HTTP, or in a way that the project does not show."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from .code import Code, Place, Unit
from .functions import dotted
from .syntax import descend

_ROUTES = frozenset({"post", "get", "put", "delete", "route", "api_route", "websocket", "api_view", "csrf_exempt", "endpoint", "app.route"})
_REQUESTS = frozenset({"Request", "HttpRequest", "HTTPConnection", "WebSocket"})
_BASES = ("HTTPRequestHandler", "APIView", "RequestHandler", "HTTPEndpoint", "View", "ViewSet", "Resource")
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
        for other in _by_name(code, one):
            if other not in seen and is_http(other):
                seen.append(other)
    return Way(any(reads_stdin(one.unit) or reads_lines(one) for one in seen), next((one for one in seen if is_http(one)), None))


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


def reads_stdin(unit: Unit) -> bool:
    """Whether a module reads standard input at all."""
    for node in descend(unit.module.tree):
        match node:
            case ast.Attribute(attr="stdin") | ast.Name(id="stdin"):
                return True
            case ast.Call(func=ast.Name(id="input") | ast.Attribute(attr="connect_read_pipe")):
                return True
    return False


def reads_lines(place: Place) -> bool:
    """Whether a function parses each line of a stream that it is given."""
    parses = any(isinstance(n, ast.Call) and dotted(n.func).rpartition(".")[2] in {"loads", "load"} for n in place.nodes)
    loops = any(
        isinstance(n, ast.For | ast.AsyncFor) or (isinstance(n, ast.Call) and dotted(n.func).endswith("readline")) for n in place.nodes
    )
    return parses and loops


def _by_name(code: Code, target: Place) -> list[Place]:
    """Functions that call a method of this name on an object whose class is not known."""
    assert target.function
    if not target.function.owner:
        return []
    return [
        place
        for unit in code.around(target.unit)
        for place, node in unit.mentions.get(target.function.short, ())
        if isinstance(node.func, ast.Attribute) and node.func.attr == target.function.short and code.target(node.func, place) is None
    ]
