"""Lets tools of a server of `fastmcp` 4 ask their client, before and after 2026-07-28.

    @mcp.tool
    @mcp_rounds.asks
    async def book(date: str, ctx: Context) -> str:
        reply = await mcp_rounds.asker(ctx).elicit(f"Book {date}?", response_type=bool)

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

from fastmcp.exceptions import ToolError
from fastmcp.server.elicitation import (
    AcceptedElicitation,
    CancelledElicitation,
    DeclinedElicitation,
    handle_elicit_accept,
    parse_elicit_response_type,
)
from mcp.types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult
from pydantic import BaseModel

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")


class _Asked(BaseException):
    """Leaves a function whose client has to answer first; no handler for errors may hold it back."""

    def __init__(self, result: InputRequiredResult) -> None:
        super().__init__("the client has to answer first")
        self.result = result


class _Round:
    """One run of a function: what its client has answered so far, with what was asked."""

    def __init__(self) -> None:
        self.answers: list[list[Any]] | None = None
        self.asked = 0


_round: ContextVar[_Round | None] = ContextVar("mcp_rounds", default=None)


def asks(function: Callable[Parameters, Awaitable[Returned]]) -> Callable[Parameters, Awaitable[Returned]]:
    """A decorator for tools that use `asker`; it stands directly under the one that registers the tool."""

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
    """What asks the client of this call; `ctx` is its `Context`."""
    return Asker(ctx)


class Asker:
    """Has the method of `Context` that asks."""

    def __init__(self, ctx: Any) -> None:
        self.ctx = ctx

    async def elicit(
        self, message: str, response_type: Any, **options: Any
    ) -> AcceptedElicitation[Any] | DeclinedElicitation | CancelledElicitation:
        """As `Context.elicit`."""
        if not self._answers_later():
            return cast("AcceptedElicitation[Any]", await self.ctx.elicit(message, response_type=response_type, **options))
        config = parse_elicit_response_type(response_type, **options)
        answer = self._ask(ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=config.schema)))
        match answer.get("action"):
            case "accept":
                return handle_elicit_accept(config, answer.get("content"))
            case "decline":
                return DeclinedElicitation()
            case "cancel":
                return CancelledElicitation()
        raise ValueError(f"Unexpected elicitation action: {answer.get('action')}")

    def _answers_later(self) -> bool:
        version = getattr(self.ctx.request_context, "protocol_version", None)
        return isinstance(version, str) and version >= "2026-07-28" and _round.get() is not None

    def _ask(self, request: ElicitRequest) -> dict[str, Any]:
        run = _round.get()
        assert run is not None
        if run.answers is None:
            run.answers = self._answered()
        number, question = run.asked, _digest(request)
        run.asked += 1
        if number < len(run.answers) and run.answers[number][0] != question:
            del run.answers[number:]  # another question than before: from here on, nothing has been answered
        if number < len(run.answers):
            return dict(run.answers[number][1])
        able = getattr(self.ctx.session.client_capabilities, "elicitation", None)
        if able is None or (able.form is None and able.url is not None):
            raise ToolError("The client cannot be asked: it has not declared that it takes forms")
        state = json.dumps({"answers": run.answers[:number], "asked": question})
        raise _Asked(InputRequiredResult(input_requests={f"q{number}": request}, request_state=state))

    def _answered(self) -> list[list[Any]]:
        """The questions of earlier runs, each with its answer; that to the last one has come with this call."""
        try:
            state = json.loads(self.ctx.request_state or "{}")
            answers = [[question, dict(answer)] for question, answer in state.get("answers", [])]
            last = (self.ctx.input_responses or {}).get(f"q{len(answers)}")
            asked = state.get("asked")
        except (ValueError, TypeError, AttributeError):  # state of something else
            return []
        if isinstance(last, BaseModel):
            last = last.model_dump(mode="json", by_alias=True, exclude_none=True)
        return [*answers, [asked, last]] if isinstance(last, dict) else answers


def _digest(request: ElicitRequest) -> str:
    """Tells questions apart: what a user has agreed to is pinned to its text."""
    return hashlib.sha256(request.model_dump_json(by_alias=True, exclude_none=True).encode()).hexdigest()[:16]
