"""A session over two streams, for classes that derive from it: requests and their responses, notifications, progress.

    class Session(BaseSession[ClientRequest, ClientNotification, ClientResult, ServerRequest, ServerNotification]):
        def __init__(self, read, write):
            super().__init__(read, write, ServerRequest, ServerNotification)
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from types import TracebackType
from typing import Any, Generic, TypeVar

import anyio
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp.types import (
    CONNECTION_CLOSED,
    INVALID_PARAMS,
    REQUEST_TIMEOUT,
    CancelledNotification,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    ProgressNotification,
)
from pydantic import BaseModel, TypeAdapter

SendRequestT = TypeVar("SendRequestT")
SendNotificationT = TypeVar("SendNotificationT")
SendResultT = TypeVar("SendResultT")
ReceiveRequestT = TypeVar("ReceiveRequestT")
ReceiveNotificationT = TypeVar("ReceiveNotificationT")
ReceiveResultT = TypeVar("ReceiveResultT", bound=BaseModel)

log = logging.getLogger(__name__)


class RequestResponder(Generic[ReceiveRequestT, SendResultT]):
    """A request that waits for an answer; `with responder:` stands around the work, so that the other side can cancel it."""

    def __init__(self, message: SessionMessage, request: ReceiveRequestT, session: BaseSession[Any, Any, Any, Any, Any]) -> None:
        assert isinstance(message.message, JSONRPCRequest)
        self.request_id = message.message.id
        self.request = request
        self.request_meta = getattr(getattr(request, "params", None), "meta", None)
        self.message_metadata = message.metadata
        self._session = session
        self._completed = self._entered = False
        self._cancel_scope = anyio.CancelScope()

    def __enter__(self) -> RequestResponder[ReceiveRequestT, SendResultT]:
        self._entered = True
        self._cancel_scope = anyio.CancelScope()
        self._cancel_scope.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if self._completed:
                self._session._in_flight.pop(self.request_id, None)
        finally:
            self._entered = False
            self._cancel_scope.__exit__(kind, error, trace)

    async def respond(self, response: SendResultT | ErrorData) -> None:
        if not self._entered:
            raise RuntimeError("RequestResponder must be used as a context manager")
        assert not self._completed, "Request already responded to"
        if not self.cancelled:
            self._completed = True
            await self._session._send_response(self.request_id, response)

    async def cancel(self) -> None:
        if not self._entered:
            raise RuntimeError("RequestResponder must be used as a context manager")
        self._cancel_scope.cancel()
        self._completed = True
        await self._session._send_response(self.request_id, ErrorData(code=0, message="Request cancelled"))

    @property
    def in_flight(self) -> bool:
        return not self._completed and not self.cancelled

    @property
    def cancelled(self) -> bool:
        return self._cancel_scope.cancel_called


class BaseSession(Generic[SendRequestT, SendNotificationT, SendResultT, ReceiveRequestT, ReceiveNotificationT]):
    """Methods that begin with an underscore are there to be overridden, but for those of the loop itself."""

    def __init__(
        self,
        read_stream: Any,
        write_stream: Any,
        receive_request_type: Any,
        receive_notification_type: Any,
        read_timeout_seconds: timedelta | float | None = None,
    ) -> None:
        self._read_stream, self._write_stream = read_stream, write_stream
        # Unions of messages, which are no classes.
        self._receive_request_type: TypeAdapter[Any] = TypeAdapter(receive_request_type)
        self._receive_notification_type: TypeAdapter[Any] = TypeAdapter(receive_notification_type)
        self._session_read_timeout_seconds = read_timeout_seconds
        self._request_id = 0
        self._response_streams: dict[Any, Any] = {}
        self._in_flight: dict[Any, RequestResponder[Any, Any]] = {}
        self._progress_callbacks: dict[Any, Callable[..., Any]] = {}
        self._exit_stack = AsyncExitStack()

    async def __aenter__(self) -> Any:
        self._task_group = anyio.create_task_group()
        await self._task_group.__aenter__()
        self._task_group.start_soon(self._receive_loop)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> bool | None:
        await self._exit_stack.aclose()
        self._task_group.cancel_scope.cancel()
        return await self._task_group.__aexit__(kind, error, trace)

    async def send_request(
        self,
        request: SendRequestT,
        result_type: type[ReceiveResultT],
        request_read_timeout_seconds: timedelta | float | None = None,
        metadata: Any = None,
        progress_callback: Callable[..., Any] | None = None,
    ) -> ReceiveResultT:
        """The result; an `MCPError` for an error, and for a time (seconds) that is over."""
        identity, self._request_id = self._request_id, self._request_id + 1
        answer, answers = anyio.create_memory_object_stream[JSONRPCResponse | JSONRPCError](1)
        self._response_streams[identity] = answer
        data = _dumped(request)
        if progress_callback is not None:
            data.setdefault("params", {}).setdefault("_meta", {})["progressToken"] = identity
            self._progress_callbacks[identity] = progress_callback
        given = self._session_read_timeout_seconds if request_read_timeout_seconds is None else request_read_timeout_seconds
        timeout = given.total_seconds() if isinstance(given, timedelta) else given
        try:
            await self._write_stream.send(SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=identity, **data), metadata))
            try:
                with anyio.fail_after(timeout):
                    response = await answers.receive()
            except TimeoutError:
                text = f"Timed out while waiting for response to {request.__class__.__name__}. Waited {timeout} seconds."
                raise MCPError(REQUEST_TIMEOUT, text) from None
            if isinstance(response, JSONRPCError):
                raise MCPError(response.error.code, response.error.message, response.error.data)
            return result_type.model_validate(response.result, by_name=False)
        finally:
            self._response_streams.pop(identity, None)
            self._progress_callbacks.pop(identity, None)
            await answer.aclose()
            await answers.aclose()

    async def send_notification(self, notification: SendNotificationT, related_request_id: str | int | None = None) -> None:
        metadata = ServerMessageMetadata(related_request_id=related_request_id) if related_request_id else None
        await self._write_stream.send(SessionMessage(JSONRPCNotification(jsonrpc="2.0", **_dumped(notification)), metadata))

    async def _send_response(self, request_id: str | int, response: SendResultT | ErrorData) -> None:
        message: JSONRPCError | JSONRPCResponse
        if isinstance(response, ErrorData):
            message = JSONRPCError(jsonrpc="2.0", id=request_id, error=response)
        else:
            message = JSONRPCResponse(jsonrpc="2.0", id=request_id, result=_dumped(response))
        await self._write_stream.send(SessionMessage(message))

    async def _receive_loop(self) -> None:
        async with self._read_stream, self._write_stream:
            try:
                async for message in self._read_stream:
                    if isinstance(message, Exception):
                        await self._handle_incoming(message)
                    elif isinstance(message.message, JSONRPCRequest):
                        await self._request(message)
                    elif isinstance(message.message, JSONRPCNotification):
                        await self._notification(message)
                    else:
                        await self._handle_response(message)
            except anyio.ClosedResourceError:
                log.debug("the other side has closed the stream")
            except Exception:
                log.exception("a message could not be handled")
            finally:
                closed = ErrorData(code=CONNECTION_CLOSED, message="Connection closed")
                for identity, stream in [*self._response_streams.items()]:
                    try:
                        await stream.send(JSONRPCError(jsonrpc="2.0", id=identity, error=closed))
                        await stream.aclose()
                    except Exception:
                        log.debug("nobody waits for %s", identity)
                self._response_streams.clear()

    async def _request(self, message: SessionMessage) -> None:
        assert isinstance(message.message, JSONRPCRequest)
        try:
            request = self._receive_request_type.validate_python(_dumped(message.message), by_name=False)
            responder = self._in_flight[message.message.id] = RequestResponder(message, request, self)
            await self._received_request(responder)
            if not responder._completed:
                await self._handle_incoming(responder)
        except Exception as error:
            log.warning("Failed to validate request: %s", error)
            refusal = ErrorData(code=INVALID_PARAMS, message="Invalid request parameters", data="")
            await self._write_stream.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=message.message.id, error=refusal)))

    async def _notification(self, message: SessionMessage) -> None:
        try:
            notification = self._receive_notification_type.validate_python(_dumped(message.message), by_name=False)
            if isinstance(notification, CancelledNotification):
                if notification.params.request_id in self._in_flight:
                    await self._in_flight[notification.params.request_id].cancel()
                return
            if isinstance(notification, ProgressNotification) and notification.params.progress_token in self._progress_callbacks:
                told = notification.params
                try:
                    await self._progress_callbacks[told.progress_token](told.progress, told.total, told.message)
                except Exception as error:
                    log.error("Progress callback raised an exception: %s", error)
            await self._received_notification(notification)
            await self._handle_incoming(notification)
        except Exception as error:
            log.warning("Failed to validate notification: %s. Message was: %s", error, message.message)

    async def _handle_response(self, message: SessionMessage) -> None:
        response = message.message
        identity = getattr(response, "id", None)
        if isinstance(identity, str) and identity.isdecimal():
            identity = int(identity)  # some servers answer with the text of a number
        stream = self._response_streams.pop(identity, None)
        if stream is not None:
            await stream.send(response)
        else:
            await self._handle_incoming(RuntimeError(f"Received response with an unknown request ID: {message}"))

    async def _received_request(self, responder: RequestResponder[ReceiveRequestT, SendResultT]) -> None:
        """A request, which may be answered here."""

    async def _received_notification(self, notification: ReceiveNotificationT) -> None:
        """A notification."""

    async def send_progress_notification(
        self, progress_token: str | int, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """What a subclass tells of its progress."""

    async def _handle_incoming(self, req: RequestResponder[ReceiveRequestT, SendResultT] | ReceiveNotificationT | Exception) -> None:
        """Everything that nothing else has answered."""


def _dumped(message: Any) -> dict[str, Any]:
    data: dict[str, Any] = message.model_dump(by_alias=True, mode="json", exclude_none=True)
    return data
