"""Endpoint functions of frameworks that let their requests be changed: the boundary as a decorator."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ..mcp_stateless import Ending
from .exchange import Host as _Exchanging
from .exchange import Pairs, Paths, _Answer, _Exchange, _is_at


class Host(_Exchanging):
    def _endpoint(self, kind: Callable[..., _Call], function: Any, path: Paths = "", is_async: bool = False) -> Any:
        """Wraps an endpoint, sync or async."""
        waits = inspect.iscoroutinefunction(function)

        async def run(args: Any, kwargs: Any) -> Any:
            returned = function(*args, **kwargs)
            return await returned if waits or (is_async and inspect.isawaitable(returned)) else returned

        async def answer(call: _Call, exchange: _Exchange, args: Any, kwargs: Any) -> _Answer:
            with exchange.running():
                call.give(exchange.body)
                try:
                    returned = await run(args, kwargs)
                except Exception as error:
                    try:
                        returned = await _sent(call.failed(error))
                    except Exception:
                        # What the harmless request in place of this one brings about is not its client's.
                        if exchange.early is None:
                            raise
                        return exchange.answer(500, [], b"")
            found: _Answer = await _sent(call.take(exchange, returned))
            return found

        async def serve(args: Any, kwargs: Any) -> Any:
            call = kind(*args, **kwargs)
            if not _is_at(call.path, path):
                return await run(args, kwargs)
            body = call.read() if call.verb == "POST" else b""
            body = await body if inspect.isawaitable(body) else body
            met = self._meet(call.verb, call.headers, body, call.peer)
            if isinstance(met, _Answer):
                return await _sent(call.make(met))
            try:
                if met is None:
                    call.put_back(body)
                    return await run(args, kwargs)
                answered = await answer(call, met, args, kwargs)
            except Ending as ending:
                if met is None:
                    raise
                answered = met.ended(ending)
            finally:
                call.close()
            # [streams]
            if met.stream is not None and met.listens(answered.status):
                return await _sent(call.listen(met))
            # [/streams]
            return await _sent(call.make(answered))

        @functools.wraps(function)
        async def wrapper(*args: Any, **kwargs: Any) -> Any:
            return await serve(args, kwargs)

        @functools.wraps(function)
        def sync_wrapper(*args: Any, **kwargs: Any) -> Any:
            try:
                # A coroutine that never waits runs to its end at the first step.
                serve(args, kwargs).send(None)
            except StopIteration as end:
                return end.value

        return wrapper if waits or is_async else sync_wrapper


class _Call:
    """One call of an endpoint: the request in it, and how it is answered."""

    verb: str
    path: str = ""
    peer: str = ""
    headers: Mapping[str, str]

    def read(self) -> Any:
        """The body, at once or to be awaited."""
        raise NotImplementedError

    def put_back(self, body: bytes) -> None:
        """Lets the endpoint read the same body."""

    def give(self, body: bytes) -> None:
        """Lets the endpoint read another body, without headers that it should not see."""
        raise NotImplementedError

    def failed(self, error: Exception) -> Any:
        """What the framework would make of an exception, at once or to be awaited; the same one if nothing."""
        raise error

    def take(self, exchange: _Exchange, returned: Any) -> Any:
        """The `_Answer` to send in place of what the endpoint has answered, at once or to be awaited."""
        raise NotImplementedError

    def close(self) -> None:
        """The endpoint has run."""

    def make(self, answer: _Answer) -> Any:
        """The answer as the framework wants it, at once or to be awaited."""
        raise NotImplementedError

    # [streams]
    def listen(self, exchange: _Exchange) -> Any:
        """The event stream as the framework wants it, at once or to be awaited."""
        raise NotImplementedError

    # [/streams]


async def _sent(made: Any) -> Any:
    return await made if inspect.isawaitable(made) else made


def _pairs(headers: Any) -> Pairs:
    return [(str(name), str(value)) for name, value in headers.items()]
