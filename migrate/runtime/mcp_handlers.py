"""Calls the handlers of a low-level MCP server with plain arguments, and makes results of what they return.

    @mcp_handlers.call_tool(server)
    async def call_tool(name: str, arguments: dict) -> list[TextContent]: ...
"""

from __future__ import annotations

import base64
import inspect
import json
from collections.abc import Awaitable, Callable, Iterable
from contextvars import ContextVar
from importlib import import_module
from typing import Any, Protocol, TypeVar, cast, get_args, get_type_hints
from weakref import WeakKeyDictionary

import jsonschema
# [alone]
from mcp import MCPError, types
from mcp.server import Server, ServerRequestContext
# [/alone]
# [both]
from mcp import types
from mcp.server import Server
# [/both]
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.session import ServerSession
# [alone]
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
# [/alone]
from pydantic import AnyUrl, BaseModel, ValidationError

# [alone]
Context = ServerRequestContext[Any, Any]
# [/alone]
# [both]
MCP_1 = not hasattr(Server, "add_request_handler")
"""Whether mcp 1 is installed: then these are its own decorators and tables."""
try:
    from mcp import MCPError
    # [answering]
    from mcp.server import ServerRequestContext
    # [/answering]
    # [listening]
    from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
    # [/listening]
except ImportError:  # mcp 1
    from mcp import McpError as MCPError

Context = Any
# [/both]
Handler = Callable[..., Awaitable[Any]]
Function = TypeVar("Function", bound=Handler)


class Register(Protocol):
    """A decorator that registers a function, and gives it back as it is."""

    def __call__(self, function: Function, /) -> Function: ...


# [alone]
request_ctx: ContextVar[Context] = ContextVar("request_ctx")
# [/alone]
# [both]
request_ctx: ContextVar[Context] = import_module("mcp.server.lowlevel.server").request_ctx if MCP_1 else ContextVar("request_ctx")
# [/both]
"""The context of the request that is being answered; `get` raises LookupError where there is none."""


# [ambient]
async def remember(ctx: Context, call_next: Callable[[Context], Awaitable[Any]]) -> Any:
    """Middleware of an `MCPServer`: `request_ctx` holds the context while it answers."""
    token = request_ctx.set(ctx)
    try:
        return await call_next(ctx)
    finally:
        request_ctx.reset(token)


# [/ambient]
# [tools]
def list_tools(server: Server[Any]) -> Register:
    """The function takes nothing, or the request, and returns the tools, or a `ListToolsResult`."""
    # [both]
    if MCP_1:
        return cast(Any, server).list_tools()
    # [/both]

    async def answer(function: Handler, ctx: Context, params: Any) -> types.ListToolsResult:
        result = await _listed(function, types.ListToolsRequest, params)
        cached = _tools.setdefault(server, {})
        if isinstance(result, types.ListToolsResult):  # a page of them
            cached.update((tool.name, tool) for tool in result.tools)
            return result
        cached.clear()
        cached.update((tool.name, tool) for tool in result)
        return types.ListToolsResult(tools=result)

    return _answers(server, "tools/list", types.PaginatedRequestParams, answer)


def call_tool(server: Server[Any], *, validate_input: bool = True) -> Register:
    """The function takes the name and the arguments of a tool, and returns content, a dict, both, or a `CallToolResult`.

    What it raises becomes an error result that the model can read. Arguments and results are held against the schemas of the tool.
    """
    # [both]
    if MCP_1:
        return cast(Any, server).call_tool(validate_input=validate_input)
    # [/both]

    async def answer(function: Handler, ctx: Context, params: types.CallToolRequestParams) -> Any:
        arguments = params.arguments or {}
        try:
            tool = await _tool(server, ctx, params.name)
            if validate_input and tool is not None:
                _validate(arguments, tool.input_schema, "Input")
            return _result(await function(params.name, arguments), tool)
        except Exception as error:
            if isinstance(error, MCPError) and error.error.code in _FOR_CLIENTS:
                raise
            return types.CallToolResult(content=[types.TextContent(type="text", text=str(error))], is_error=True)

    return _answers(server, "tools/call", types.CallToolRequestParams, answer)


# What a client has to act on, and not its model.
# [alone]
_FOR_CLIENTS = (types.URL_ELICITATION_REQUIRED, types.MISSING_REQUIRED_CLIENT_CAPABILITY)
# [/alone]
# [both]
_FOR_CLIENTS = () if MCP_1 else (types.URL_ELICITATION_REQUIRED, types.MISSING_REQUIRED_CLIENT_CAPABILITY)
# [/both]
_tools: WeakKeyDictionary[Server[Any], dict[str, types.Tool]] = WeakKeyDictionary()


async def _tool(server: Server[Any], ctx: Context, name: str) -> types.Tool | None:
    """The tool of this name, as it was last listed; all are listed anew for one that is not known."""
    if name not in _tools.get(server, {}):
        entry = server.get_request_handler("tools/list")
        if entry is not None:
            await entry.handler(ctx, types.PaginatedRequestParams())
    return _tools.get(server, {}).get(name)


def _validate(value: Any, schema: dict[str, Any], what: str) -> None:
    try:
        jsonschema.validate(value, schema)
    except jsonschema.ValidationError as error:
        raise ValueError(f"{what} validation error: {error.message}") from error


def _result(returned: Any, tool: types.Tool | None) -> types.CallToolResult | types.InputRequiredResult:
    structured: dict[str, Any] | None = None
    if isinstance(returned, types.CallToolResult | types.InputRequiredResult):
        return returned
    if isinstance(returned, tuple) and len(returned) == 2:
        content, structured = returned
    elif isinstance(returned, dict):
        content, structured = [types.TextContent(type="text", text=json.dumps(returned, indent=2))], returned
    elif isinstance(returned, Iterable):
        content = returned
    else:
        raise TypeError(f"Unexpected return type from tool: {type(returned).__name__}")
    if tool is not None and tool.output_schema is not None:
        if structured is None:
            raise ValueError("Output validation error: outputSchema defined but no structured output returned")
        _validate(structured, tool.output_schema, "Output")
    return types.CallToolResult(content=list(content), structured_content=structured)


# [/tools]
# [prompts]
def list_prompts(server: Server[Any]) -> Register:
    """The function takes nothing, or the request, and returns the prompts, or a `ListPromptsResult`."""
    # [both]
    if MCP_1:
        return cast(Any, server).list_prompts()
    # [/both]

    async def answer(function: Handler, ctx: Context, params: Any) -> types.ListPromptsResult:
        result = await _listed(function, types.ListPromptsRequest, params)
        return result if isinstance(result, types.ListPromptsResult) else types.ListPromptsResult(prompts=result)

    return _answers(server, "prompts/list", types.PaginatedRequestParams, answer)


def get_prompt(server: Server[Any]) -> Register:
    """The function takes the name of a prompt and its arguments, which may be None, and returns a `GetPromptResult`."""
    # [both]
    if MCP_1:
        return cast(Any, server).get_prompt()
    # [/both]

    async def answer(function: Handler, ctx: Context, params: types.GetPromptRequestParams) -> Any:
        return await function(params.name, params.arguments)

    return _answers(server, "prompts/get", types.GetPromptRequestParams, answer)


# [/prompts]
# [resources]
def list_resources(server: Server[Any]) -> Register:
    """The function takes nothing, or the request, and returns the resources, or a `ListResourcesResult`."""
    # [both]
    if MCP_1:
        return cast(Any, server).list_resources()
    # [/both]

    async def answer(function: Handler, ctx: Context, params: Any) -> types.ListResourcesResult:
        result = await _listed(function, types.ListResourcesRequest, params)
        return result if isinstance(result, types.ListResourcesResult) else types.ListResourcesResult(resources=result)

    return _answers(server, "resources/list", types.PaginatedRequestParams, answer)


def list_resource_templates(server: Server[Any]) -> Register:
    """The function takes nothing, and returns the templates."""
    # [both]
    if MCP_1:
        return cast(Any, server).list_resource_templates()
    # [/both]

    async def answer(function: Handler, ctx: Context, params: Any) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=await function())

    return _answers(server, "resources/templates/list", types.PaginatedRequestParams, answer)


def read_resource(server: Server[Any]) -> Register:
    """The function takes an `AnyUrl`, and returns text, bytes, or several `ReadResourceContents`."""
    # [both]
    if MCP_1:
        return cast(Any, server).read_resource()
    # [/both]

    async def answer(function: Handler, ctx: Context, params: types.ReadResourceRequestParams) -> Any:
        uri = _url(params.uri)
        returned = await function(uri)
        if isinstance(returned, str | bytes):
            returned = [ReadResourceContents(returned)]
        if not isinstance(returned, Iterable):
            raise ValueError(f"Unexpected return type from read_resource: {type(returned)}")
        return types.ReadResourceResult(contents=[_contents(str(uri), item) for item in returned])

    return _answers(server, "resources/read", types.ReadResourceRequestParams, answer)


def _contents(uri: str, item: ReadResourceContents) -> types.TextResourceContents | types.BlobResourceContents:
    data, meta = item.content, getattr(item, "meta", None)
    if isinstance(data, str):
        return types.TextResourceContents(uri=uri, text=data, mime_type=item.mime_type or "text/plain", _meta=meta)
    blob = base64.b64encode(data).decode()
    return types.BlobResourceContents(uri=uri, blob=blob, mime_type=item.mime_type or "application/octet-stream", _meta=meta)


# [/resources]
# [completion]
def completion(server: Server[Any]) -> Register:
    """The function takes what is completed, the argument and its context, and returns a `Completion` or None."""
    # [both]
    if MCP_1:
        return cast(Any, server).completion()
    # [/both]

    async def answer(function: Handler, ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        found = await function(params.ref, params.argument, params.context)
        return types.CompleteResult(completion=found if found is not None else types.Completion(values=[]))

    return _answers(server, "completion/complete", types.CompleteRequestParams, answer)


# [/completion]
# [logging]
def set_logging_level(server: Server[Any]) -> Register:
    """The function takes a level. Clients of 2026-07-28 do not set one: each of their requests says what it wants to be told."""
    # [both]
    if MCP_1:
        return cast(Any, server).set_logging_level()
    # [/both]

    async def answer(function: Handler, ctx: Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
        await function(params.level)
        return types.EmptyResult()

    return _answers(server, "logging/setLevel", types.SetLevelRequestParams, answer)


# [/logging]
# [subscriptions]
def subscribe_resource(server: Server[Any]) -> Register:
    """The function takes the `AnyUrl` of a resource. Clients of 2026-07-28 listen instead: it is called when they begin to."""
    # [both]
    if MCP_1:
        return cast(Any, server).subscribe_resource()
    # [/both]

    async def answer(function: Handler, ctx: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        await function(_url(params.uri))
        return types.EmptyResult()

    # [listening]
    async def listen(function: Handler, ctx: Context, params: types.SubscriptionsListenRequestParams) -> Any:
        for uri in params.notifications.resource_subscriptions or ():
            await function(_url(uri))
        return await _listen(ctx, params)

    # [/listening]
    def register(function: Function) -> Function:
        # [listening]
        _answers(server, "subscriptions/listen", types.SubscriptionsListenRequestParams, listen)(function)
        # [/listening]
        return _answers(server, "resources/subscribe", types.SubscribeRequestParams, answer)(function)

    return register


def unsubscribe_resource(server: Server[Any]) -> Register:
    """The function takes the `AnyUrl` of a resource."""
    # [both]
    if MCP_1:
        return cast(Any, server).unsubscribe_resource()
    # [/both]

    async def answer(function: Handler, ctx: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        await function(_url(params.uri))
        return types.EmptyResult()

    return _answers(server, "resources/unsubscribe", types.UnsubscribeRequestParams, answer)


# [listening]
async def resource_updated(session: ServerSession, uri: AnyUrl | str) -> None:
    """Tells the client of a session, as long as it subscribes as clients did before 2026-07-28, and all clients that listen."""
    # [both]
    if MCP_1:
        await session.send_resource_updated(AnyUrl(str(uri)))  # type: ignore[arg-type]
        return
    # [/both]
    await session.send_resource_updated(str(uri))
    await _updates.publish(ResourceUpdated(str(uri)))


# [alone]
_updates = InMemorySubscriptionBus()
_listen = ListenHandler(_updates)
# [/alone]
# [both]
if not MCP_1:
    _updates = InMemorySubscriptionBus()
    _listen = ListenHandler(_updates)
# [/both]


# [/listening]
# [/subscriptions]
# [progress]
def progress_notification(server: Server[Any]) -> Register:
    """The function takes a token, the progress, the total and a message."""
    # [both]
    if MCP_1:
        return cast(Any, server).progress_notification()
    # [/both]

    def register(function: Function) -> Function:
        async def handler(ctx: Context, params: types.ProgressNotificationParams) -> None:
            await function(params.progress_token, params.progress, params.total, params.message)

        server.add_notification_handler("notifications/progress", types.ProgressNotificationParams, handler)
        return function

    return register


# [/progress]
# [request_handler]
def request_handler(server: Server[Any], request: type[BaseModel]) -> Register:
    """The function takes a whole request of this class, and returns a result."""
    # [both]
    if MCP_1:
        return _entered(cast(Any, server).request_handlers, request)
    # [/both]

    async def answer(function: Handler, ctx: Context, params: Any) -> Any:
        return await function(request(params=params))

    return _answers(server, *_parts(request), answer)


# [/request_handler]
# [notification_handler]
def notification_handler(server: Server[Any], notification: type[BaseModel]) -> Register:
    """The function takes a whole notification of this class."""
    # [both]
    if MCP_1:
        return _entered(cast(Any, server).notification_handlers, notification)
    # [/both]

    def register(function: Function) -> Function:
        async def handler(ctx: Context, params: Any) -> None:
            await function(notification(params=params))

        server.add_notification_handler(*_parts(notification), handler)
        return function

    return register


# [/notification_handler]
# [answering]
def answering(server: Server[Any], request: type[BaseModel]) -> Callable[[Any], Awaitable[Any]]:
    """A function that has a request of this class answered by its handler, without a client. Raises KeyError where there is none."""
    # [both]
    if MCP_1:
        handle = cast(Any, server).request_handlers[request]

        async def direct(asked: Any) -> Any:
            result = await handle(asked)
            return getattr(result, "root", result)

        return direct
    # [/both]
    method, params = _parts(request)
    entry = server.get_request_handler(method)
    if entry is None:
        raise KeyError(request)

    async def answer(asked: Any) -> Any:
        ctx = request_ctx.get(None)
        if ctx is None:
            ctx = ServerRequestContext(session=cast(Any, None), lifespan_context={}, protocol_version="2025-11-25", method=method)
        return await entry.handler(ctx, getattr(asked, "params", None) or params())

    return answer


# [/answering]
# [both]
# [classes]
def _entered(table: Any, message: type[BaseModel]) -> Register:
    """A decorator that puts the function into a table of mcp 1."""

    def register(function: Function) -> Function:
        table[message] = function
        return function

    return register


# [/classes]
# [/both]
# [classes]
def _parts(message: type[BaseModel]) -> tuple[str, type[BaseModel]]:
    """The method of a class of requests or notifications, and the class of its parameters."""
    params = message.model_fields["params"].annotation
    return message.model_fields["method"].default, next(iter(get_args(params)), cast(Any, params))


# [/classes]
# [urls]
def _url(text: str) -> AnyUrl:
    try:
        return AnyUrl(text)
    except ValidationError:
        raise MCPError(types.INVALID_PARAMS, "Invalid request parameters") from None


# [/urls]
# [lists]
async def _listed(function: Handler, request: type[BaseModel], params: Any) -> Any:
    """What the function returns. It is given the request if the annotation of a parameter asks for it."""
    try:
        hints, parameters = get_type_hints(function), inspect.signature(function).parameters.values()
    except (NameError, TypeError, ValueError):
        return await function()
    asked = next((one for one in parameters if hints.get(one.name) == request), None)
    if asked is None or asked.default is not asked.empty:
        return await function()
    whole = request(params=params)
    return await (function(whole) if asked.kind is asked.POSITIONAL_ONLY else function(**{asked.name: whole}))


# [/lists]
def _answers(server: Server[Any], method: str, params: type[BaseModel], answer: Handler) -> Register:
    """A decorator: requests of this method get what `answer` makes of the function."""

    def register(function: Function) -> Function:
        async def handler(ctx: Context, given: Any) -> Any:
            token = request_ctx.set(ctx)
            try:
                return await answer(function, ctx, given)
            except MCPError:
                raise
            except Exception as error:
                if ctx.protocol_version >= "2026-07-28":  # the text of anything else is kept from these clients
                    code = types.INVALID_PARAMS if isinstance(error, ValueError | LookupError) else types.INTERNAL_ERROR
                    raise MCPError(code, str(error)) from error
                if isinstance(error, ValidationError):  # anything else is sent with code 0 and its text
                    raise MCPError(0, str(error)) from error
                raise
            finally:
                request_ctx.reset(token)

        server.add_request_handler(method, params, handler)
        return function

    return register
