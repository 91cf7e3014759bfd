"""Endpoints of Starlette whose application is made elsewhere."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

from ..mcp_stateless import Message
from .asgi import App, Receive, Send, _replay
from .asgi import Host as _Serving

Respond = TypeVar("Respond", bound=Callable[..., Any])


class Host(_Serving):
    def starlette(self, endpoint: Respond) -> Respond:
        """Puts the boundary around an endpoint, sync or async: a function, or a method of a class."""
        waits = inspect.iscoroutinefunction(endpoint)

        @functools.wraps(endpoint)
        async def wrapper(*args: Any, **kwargs: Any) -> Any:
            own = next(value for value in (*args, *kwargs.values()) if hasattr(value, "query_params"))

            def call(request: Any) -> Any:
                swapped = [request if value is own else value for value in args]
                return endpoint(*swapped, **{name: request if kwargs[name] is own else kwargs[name] for name in kwargs})

            async def wait(request: Any) -> Any:
                return await call(request)

            app = import_module("starlette.routing").request_response(wait if waits else call)
            return _Respond(self.asgi(app, ""), own)

        return wrapper  # type: ignore[return-value]


class _Respond:
    """A response that is not made before it is sent, when the whole request is at hand."""

    def __init__(self, app: App, request: Any) -> None:
        self.app, self.request = app, request

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        body = vars(self.request).get("_body")
        # What has been read by now cannot be received again.
        await self.app(scope, receive if body is None else _replay(body, receive), send)
