"""Routers of FastAPI whose application is made elsewhere."""

from __future__ import annotations

import functools
from importlib import import_module
from typing import Any

from ..mcp_stateless import Message
from .asgi import Host as _Serving
from .asgi import Receive, Send
from .exchange import Paths, _is_at


class Host(_Serving):
    def fastapi_route(self, path: Paths) -> Any:
        """The class for the routes of a router: `APIRouter(prefix="/mcp", route_class=MCP.fastapi_route("/mcp"))`.

        The boundary is put around those whose path, as the router knows it, ends with this one;
        "" is the path of the router itself.
        """
        base = import_module("fastapi.routing").APIRoute
        roots: set[Any] = set()

        # Where the router is included, its routes are made anew, with the prefix that it gets there.
        def made(route: Any, whole: str, endpoint: Any, **options: Any) -> None:
            roots.update([endpoint] if whole == path == "" else [])
            base.__init__(route, whole, endpoint, **options)

        # Not around `route.app`, which FastAPI makes anew where the router is included.
        async def handle(route: Any, scope: Message, receive: Receive, send: Send) -> None:
            app = functools.partial(base.handle, route)
            ours = _ends_at(route.path, path) if path else route.endpoint in roots
            await (self.asgi(app, "") if ours else app)(scope, receive, send)

        return type("Route", (base,), {"__init__": made, "handle": handle})


def _ends_at(path: str, paths: Paths) -> bool:
    """Whether the last segments of a path are one of these."""
    segments = path.strip("/").split("/")
    several = [paths] if isinstance(paths, str) else paths
    return any(_is_at("/".join(segments[-len(one.strip("/").split("/")) :]), one) for one in several)
