"""Lets tools and prompts of an MCP server ask their client, before and after 2026-07-28.

    @mcp.tool()
    @mcp_questions.asks
    async def book(date: str, ctx: Context) -> str:
        reply = await mcp_questions.asker(ctx).elicit(f"Book {date}?", Confirmation)

Clients of earlier revisions are asked in the middle of a call. Those of 2026-07-28 are told what is asked, and call again with
their answer: the function then runs from its start, and what was asked before is answered from what the client has sent along.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar, cast

from mcp import MCPError, types
from mcp.server.elicitation import (
    AcceptedElicitation,
    AcceptedUrlElicitation,
    CancelledElicitation,
    DeclinedElicitation,
    ElicitationResult,
    UrlElicitationResult,
    render_elicitation_schema,
)
from mcp.types.version import is_version_at_least
from pydantic import BaseModel, ValidationError

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")
Model = TypeVar("Model", bound=BaseModel)
Result = TypeVar("Result", bound=BaseModel)


class _Asked(BaseException):
    """Leaves a function whose client has to answer first; no handler for errors may hold it back."""

    def __init__(self, result: types.InputRequiredResult) -> None:
        super().__init__("the client has to answer first")
        self.result = result


class _Round:
    """One run of a function: what its client has answered so far, with what was asked."""

    def __init__(self) -> None:
        self.answers: list[list[Any]] | None = None
        self.asked = 0


_round: ContextVar[_Round | None] = ContextVar("mcp_questions", default=None)


def asks(function: Callable[Parameters, Awaitable[Returned]]) -> Callable[Parameters, Awaitable[Returned]]:
    """A decorator for functions that use `asker`; it stands directly under the one that registers the function."""

    @functools.wraps(function)
    async def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Returned:
        if _round.get() is not None:  # another tool has called this one
            return await function(*args, **kwargs)
        token = _round.set(_Round())
        try:
            return await function(*args, **kwargs)
        except _Asked as asked:
            return cast(Returned, asked.result)
        finally:
            _round.reset(token)

    return run


def asker(ctx: Any) -> Asker:
    """What asks the client of this request; `ctx` is a `Context`, or the request context of a low-level server."""
    return Asker(ctx)


class Asker:
    """Has the methods of `Context` and `ServerSession` that ask."""

    def __init__(self, ctx: Any) -> None:
        self.ctx = ctx

    async def elicit(self, message: str, schema: type[Model]) -> ElicitationResult[Model]:
        """As `Context.elicit`."""
        if not self._answers_later():
            return cast(ElicitationResult[Model], await self.ctx.elicit(message, schema))
        params = types.ElicitRequestFormParams(message=message, requested_schema=render_elicitation_schema(schema))
        result = await self._ask(types.ElicitRequest(params=params), types.ElicitResult)
        if result.action == "decline":
            return DeclinedElicitation()
        if result.action == "cancel":
            return CancelledElicitation()
        if result.content is None:
            raise ValueError("Received an accepted elicitation with no content")
        try:
            return AcceptedElicitation(data=schema.model_validate(result.content))
        except ValidationError as error:
            raise ValueError("Received an accepted elicitation whose content does not match the requested schema") from error

    async def elicit_form(self, message: str, requested_schema: dict[str, Any], related_request_id: Any = None) -> types.ElicitResult:
        """As `ServerSession.elicit_form`."""
        if not self._answers_later():
            return cast(types.ElicitResult, await self.ctx.session.elicit_form(message, requested_schema, related_request_id))
        params = types.ElicitRequestFormParams(message=message, requested_schema=requested_schema)
        return await self._ask(types.ElicitRequest(params=params), types.ElicitResult)

    async def elicit_url(self, message: str, url: str, elicitation_id: str) -> UrlElicitationResult:
        """As `Context.elicit_url`."""
        if not self._answers_later():
            return cast(UrlElicitationResult, await self.ctx.elicit_url(message, url, elicitation_id))
        params = types.ElicitRequestURLParams(message=message, url=url)
        result = await self._ask(types.ElicitRequest(params=params), types.ElicitResult)
        if result.action == "accept":
            return AcceptedUrlElicitation()
        return DeclinedElicitation() if result.action == "decline" else CancelledElicitation()

    async def create_message(self, messages: list[types.SamplingMessage], *, max_tokens: int, **options: Any) -> Any:
        """As `ServerSession.create_message`."""
        if not self._answers_later():
            return await self.ctx.session.create_message(messages, max_tokens=max_tokens, **options)
        options.pop("related_request_id", None)
        params = types.CreateMessageRequestParams(messages=messages, max_tokens=max_tokens, **options)
        with_tools = params.tools is not None or params.tool_choice is not None
        result = types.CreateMessageResultWithTools if with_tools else types.CreateMessageResult
        return await self._ask(types.CreateMessageRequest(params=params), result)

    async def list_roots(self) -> types.ListRootsResult:
        """As `ServerSession.list_roots`."""
        if not self._answers_later():
            return cast(types.ListRootsResult, await self.ctx.session.list_roots())
        return await self._ask(types.ListRootsRequest(), types.ListRootsResult)

    def _answers_later(self) -> bool:
        version = getattr(self.ctx, "protocol_version", None)
        return isinstance(version, str) and is_version_at_least(version, "2026-07-28") and _round.get() is not None

    async def _ask(self, request: types.InputRequest, kind: type[Result]) -> Result:
        run = _round.get()
        assert run is not None
        if run.answers is None:
            run.answers = self._answered()
        number, question = run.asked, _digest(request)
        run.asked += 1
        if number < len(run.answers) and run.answers[number][0] != question:
            del run.answers[number:]  # another question than before: from here on, nothing has been answered
        if number < len(run.answers):
            try:
                return kind.model_validate(run.answers[number][1])
            except ValidationError as error:
                raise ValueError(f"Received no {kind.__name__} where one was asked for") from error
        self._require(request)
        state = json.dumps({"answers": run.answers[:number], "asked": question})
        raise _Asked(types.InputRequiredResult(input_requests={f"q{number}": request}, request_state=state))

    def _answered(self) -> list[list[Any]]:
        """The questions of earlier runs, each with its answer; that to the last one has come with this request."""
        if hasattr(self.ctx, "input_responses"):
            text, responses = self.ctx.request_state, self.ctx.input_responses or {}
        else:
            params = self.ctx.params or {}
            text, responses = params.get("requestState"), params.get("inputResponses") or {}
        try:
            state = json.loads(text or "{}")
            answers = [[question, answer] for question, answer in state.get("answers", [])]
            last = responses.get(f"q{len(answers)}")
            asked = state.get("asked")
        except (ValueError, TypeError, AttributeError):  # state of something else
            return []
        if isinstance(last, BaseModel):
            last = last.model_dump(mode="json", by_alias=True, exclude_none=True)
        return [*answers, [asked, last]] if last is not None else answers

    def _require(self, request: types.InputRequest) -> None:
        """Raises what a client is told that cannot be asked this."""
        has = self.ctx.session.client_capabilities or types.ClientCapabilities()
        if isinstance(request, types.ListRootsRequest):
            able, needed = has.roots is not None, types.ClientCapabilities(roots=types.RootsCapability())
        elif isinstance(request, types.CreateMessageRequest):
            with_tools = request.params.tools is not None or request.params.tool_choice is not None
            able = has.sampling is not None and (not with_tools or has.sampling.tools is not None)
            tools = types.SamplingToolsCapability() if with_tools else None
            needed = types.ClientCapabilities(sampling=types.SamplingCapability(tools=tools))
        elif isinstance(request.params, types.ElicitRequestURLParams):
            able = has.elicitation is not None and has.elicitation.url is not None
            needed = types.ClientCapabilities(elicitation=types.ElicitationCapability(url=types.UrlElicitationCapability()))
        else:
            able = has.elicitation is not None and (has.elicitation.form is not None or has.elicitation.url is None)
            needed = types.ClientCapabilities(elicitation=types.ElicitationCapability(form=types.FormElicitationCapability()))
        if not able:
            data = types.MissingRequiredClientCapabilityErrorData(required_capabilities=needed)
            raise MCPError(
                types.MISSING_REQUIRED_CLIENT_CAPABILITY,
                f"The client cannot be asked: it has not declared what `{request.method}` needs",
                data.model_dump(mode="json", by_alias=True, exclude_none=True),
            )


def _digest(request: types.InputRequest) -> str:
    """Tells questions apart. What a user has agreed to is pinned to its text; of other requests only the kind has to be the same."""
    text = request.model_dump_json(by_alias=True, exclude_none=True) if isinstance(request, types.ElicitRequest) else request.method
    return hashlib.sha256(text.encode()).hexdigest()[:16]
