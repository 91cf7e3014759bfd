"""The boundary module: what it does to messages, and what is written of it."""

from __future__ import annotations

import asyncio
import contextvars
import copy
import importlib.util
import inspect
import itertools
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_migrate.rewrite import module
from mcp_migrate.rewrite.module import HOSTS, Part, complete, parts_of, render
from mcp_migrate.runtime import mcp_stateless
from mcp_migrate.runtime.mcp_stateless import InputRequired, Refused, Stateless

OURS = "io.modelcontextprotocol/"
INFO = {"name": "shed", "version": "1.2"}
METHODS = ("initialize", "ping", "tools/list", "tools/call", "resources/list", "resources/read", "prompts/get")
CAPABILITIES = {"tools": {"listChanged": True}, "resources": {"subscribe": True, "listChanged": True}, "prompts": {}, "logging": {}}
STAMP = {"_meta": {OURS + "serverInfo": INFO}}
ALL = frozenset(Part)


def envelope(**client: Any) -> dict[str, Any]:
    return {OURS + "protocolVersion": "2026-07-28", OURS + "clientCapabilities": client}


def modern(method: str, params: Any = None, *, id: Any = 1, meta: Any = None, **client: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": {**(params or {}), "_meta": {**envelope(**client), **(meta or {})}}}


def legacy(method: str, params: Any = None, *, id: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, **({} if params is None else {"params": params})}


def note(method: str, params: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})}


def server(capabilities: Any = None, **options: Any) -> Stateless:
    return Stateless(INFO, CAPABILITIES if capabilities is None else capabilities, methods=METHODS, **options)


def code(reply: Any) -> Any:
    return reply["error"]["code"]


def answering(mcp: Stateless, result: Any = None, **boundary: Any) -> tuple[Callable[[Any], Any], list[Any]]:
    """A wrapped dispatcher that notes what it gets and answers with the result."""
    seen: list[Any] = []

    def handle(message: Any) -> Any:
        seen.append(message)
        return {"jsonrpc": "2.0", "id": message.get("id"), "result": {"tools": []} if result is None else result}

    return (mcp.boundary(**boundary)(handle) if boundary else mcp.boundary(handle)), seen


@pytest.fixture(autouse=True)
def _outside_of_any_request() -> None:
    mcp_stateless._current.set(None)


def test_exceptions_of_a_dispatcher_reach_its_caller_as_they_are() -> None:
    @server().boundary
    def handle(message: Any) -> Any:
        return next(tool for tool in [] if tool)

    @server().boundary
    async def slow(message: Any) -> Any:
        raise LookupError(message["method"])

    for message in (legacy("tools/call"), modern("tools/call", {"name": "gone"})):
        with pytest.raises(StopIteration):
            handle(message)
        with pytest.raises(LookupError, match="tools/call"):
            asyncio.run(slow(message))


def test_the_writer_of_a_class_method_is_found_on_the_class() -> None:
    mcp, sent = server(), []

    class Server:
        @classmethod
        @mcp.boundary(send="send")
        def handle(cls, message: Any) -> None:
            raise AssertionError("the early reply ends the request")

        @classmethod
        def send(cls, message: Any) -> None:
            sent.append(message)

    Server.handle(modern("no/such"))
    assert [code(reply) for reply in sent] == [-32601]


# -- which messages are of this revision, and what is refused -------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [[], [{"id": 1}], "text", "", None, 7, True, {}, {"id": 1}, {"method": ["tools/list"], "id": 1}, {"method": None, "id": None}]
    + [{"method": "tools/list", "id": value} for value in (None, True, 1.5, [])]
    + [{"method": "tools/list", "id": 1, "params": value} for value in (None, [], "x", {"_meta": None}, {"_meta": []})]
    + [{"jsonrpc": "2.0", "id": 1, "result": {}}, {"jsonrpc": "2.0", "id": 1, "error": None}],
    ids=repr,
)
def test_what_has_no_envelope_reaches_the_dispatcher_as_the_same_object(message: Any) -> None:
    mcp, seen = server(), []
    reply: dict[str, Any] = {"jsonrpc": "2.0", "id": None, "result": {}}
    handle = mcp.boundary(lambda message: seen.append(message) or reply)
    assert mcp.begin(message) is None
    assert not mcp.modern
    assert handle(message) is reply
    assert seen[0] is message


def test_a_version_that_is_not_served_is_refused_and_both_are_named() -> None:
    message = modern("tools/list", meta={OURS + "protocolVersion": "2031-01-01"})
    assert server().begin(message) == {
        "jsonrpc": "2.0",
        "id": 1,
        "error": {
            "code": -32022,
            "message": "This server speaks MCP 2026-07-28",
            "data": {"supported": ["2026-07-28"], "requested": "2031-01-01"},
        },
    }


@pytest.mark.parametrize("gone", ["protocolVersion", "clientCapabilities"])
@pytest.mark.parametrize("value", [None, [], 1, "leave out"])
def test_half_an_envelope_is_refused(gone: str, value: Any) -> None:
    message = modern("tools/list")
    message["params"]["_meta"][OURS + gone] = value
    if value == "leave out":
        del message["params"]["_meta"][OURS + gone]
    elif gone == "protocolVersion" or value is not None:
        assert code(server().begin(message)) == -32602
    assert code(server().begin(message)) == -32602


def test_client_info_may_be_missing_and_the_version_is_checked_before_the_method() -> None:
    assert server().begin(modern("tools/list")) is None
    assert code(server().begin(modern("ping", meta={OURS + "protocolVersion": "1999-01-01"}))) == -32022


@pytest.mark.parametrize(
    "method", ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "no/such", ""]
)
def test_removed_and_unknown_methods_are_not_found(method: str) -> None:
    assert code(server().begin(modern(method))) == -32601


def test_a_method_of_an_undeclared_capability_is_not_found() -> None:
    assert code(server({"tools": {}}).begin(modern("resources/list"))) == -32601
    assert code(server({"tools": {}, "resources": None}).begin(modern("resources/list"))) == -32601
    assert server({"tools": {}}).begin(modern("tools/list")) is None


def test_without_a_list_of_methods_the_dispatcher_decides_what_is_unknown() -> None:
    mcp = Stateless(INFO, {"tools": {}})
    assert mcp.begin(modern("own/method")) is None
    assert code(mcp.begin(modern("ping"))) == -32601
    assert code(mcp.begin(modern("prompts/list"))) == -32601


@pytest.mark.parametrize("id", [None, True, 1.5, [], {}], ids=repr)
def test_a_request_whose_id_is_none_is_refused_without_an_id(id: Any) -> None:
    reply = server().begin(modern("tools/list", id=id))
    assert code(reply) == -32600
    assert "id" not in (reply or {})


@pytest.mark.parametrize("id", [0, "", "7", 7, 2**60], ids=repr)
def test_ids_come_back_as_they_are(id: Any) -> None:
    handle, _ = answering(server())
    for message in (modern("tools/list", id=id), modern("ping", id=id), modern("server/discover", id=id)):
        reply = handle(message)
        assert reply["id"] == id
        assert type(reply["id"]) is type(id)


def test_a_dispatcher_that_loses_or_changes_the_id_is_corrected() -> None:
    handle = server().boundary(lambda message: {"jsonrpc": "2.0", "id": None, "error": {"code": -32603, "message": "no"}})
    assert handle(modern("tools/list", id=9))["id"] == 9


def test_initialize_is_the_legacy_branch_unless_it_carries_an_envelope() -> None:
    handle, seen = answering(server())
    plain = legacy("initialize", {"protocolVersion": "2025-06-18"})
    assert handle(plain)["result"] == {"tools": []}
    assert seen == [plain]
    assert code(handle(modern("initialize", {"protocolVersion": "2025-06-18"}))) == -32601


@pytest.mark.parametrize("method", ["server/discover", "subscriptions/listen"])
def test_the_new_methods_without_an_envelope_are_broken_requests_of_this_revision(method: str) -> None:
    assert code(server().begin(legacy(method, {}))) == -32602
    assert code(server(legacy=False).begin(legacy(method))) == -32602


def test_modern_only_names_the_revision_in_every_refusal_of_older_clients() -> None:
    mcp = server(legacy=False)
    refused = mcp.begin(legacy("initialize", {"protocolVersion": "2025-11-25"}))
    assert refused["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2025-11-25"}
    assert code(refused) == -32022
    assert code(mcp.begin(legacy("initialize"))) == -32022
    for message in (legacy("ping"), legacy("tools/list", {}), legacy("resources/subscribe"), modern("initialize")):
        reply = mcp.begin(message)
        assert code(reply) == (-32601 if message["method"] == "initialize" else -32602)
        assert "2026-07-28" in reply["error"]["message"]


@pytest.mark.parametrize("message", [[], "text", None, 3, [{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}]], ids=repr)
def test_modern_only_refuses_batches_and_what_is_no_object(message: Any) -> None:
    handle, seen = answering(server(legacy=False))
    reply = handle(message)
    assert code(reply) == -32600
    assert "id" not in reply
    assert seen == []


def test_modern_only_refuses_a_message_without_a_usable_method() -> None:
    assert code(server(legacy=False).begin({"jsonrpc": "2.0", "id": 4, "method": ["x"]})) == -32600
    assert code(server(legacy=False).begin({})) == -32600
    assert server(legacy=False).begin({"jsonrpc": "2.0", "id": 4, "result": {}}) is None


# -- server/discover ------------------------------------------------------------------------------------------


def test_discover_says_what_the_server_is() -> None:
    mcp = Stateless(INFO, {"tools": {}}, "Sweep first.", methods=["tools/list"])
    assert mcp.begin(modern("server/discover", id="d")) == {
        "jsonrpc": "2.0",
        "id": "d",
        "result": {
            "resultType": "complete",
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}},
            "instructions": "Sweep first.",
            "ttlMs": 0,
            "cacheScope": "private",
            "_meta": {OURS + "serverInfo": INFO},
        },
    }


@pytest.mark.parametrize(
    ("declared", "claimed"),
    [
        ({"tools": {"listChanged": None}, "prompts": None, "resources": False}, {"tools": {}}),
        ({"tools": True}, {"tools": {}}),
        ({"tools": {}, "tasks": {"list": {}}, "experimental": {"x": {}}}, {"tools": {}, "experimental": {"x": {}}}),
        ({"tools": {}, "completions": {}}, {"tools": {}}),
        ({"tools": {}, "logging": {}}, {"tools": {}, "logging": {}}),
        ({}, {"tools": {}, "prompts": {}, "resources": {}}),
    ],
    ids=["empty fields", "true", "tasks", "not served", "logging", "nothing declared"],
)
def test_only_what_is_served_is_claimed(declared: Any, claimed: Any) -> None:
    reply = server(declared).begin(modern("server/discover"))
    assert reply["result"]["capabilities"] == claimed


def test_claims_follow_the_parts_of_the_module() -> None:
    declared = {"tools": {"listChanged": True}, "resources": {"subscribe": True}, "logging": {}}
    for parts, claimed in (
        ({Part.BOUNDARY}, {"tools": {}, "resources": {}}),
        ({Part.LOGGING}, {"tools": {}, "resources": {}, "logging": {}}),
        ({Part.LISTEN}, {"tools": {"listChanged": True}, "resources": {"subscribe": True}}),
    ):
        mcp = load(render(frozenset(parts))).Stateless(INFO, declared, methods=METHODS)
        assert mcp.begin(modern("server/discover"))["result"]["capabilities"] == claimed
        listening = mcp.begin(modern("subscriptions/listen", {"notifications": {}}))
        assert ("error" in listening) is (Part.LISTEN not in parts)


def test_identity_and_capabilities_are_asked_for_when_they_are_needed() -> None:
    tools: dict[str, Any] = {}
    mcp = Stateless(lambda: {"name": "late", "version": "2"}, lambda: {"tools": tools}, lambda: "Now.")
    tools["x"] = {}
    result = mcp.begin(modern("server/discover"))["result"]
    assert result["capabilities"] == {"tools": {"x": {}}}
    assert result["instructions"] == "Now."
    assert result["_meta"][OURS + "serverInfo"]["name"] == "late"


def test_an_identity_without_a_version_is_not_valid_and_left_out() -> None:
    assert "_meta" in Stateless({"name": "x"}, {}).begin(modern("server/discover"))["result"]
    assert Stateless({"name": "x"}, {}).begin(modern("server/discover"))["result"]["_meta"] == {}


def test_a_server_that_has_discover_keeps_its_own() -> None:
    mcp = Stateless(INFO, {"tools": {}}, methods=["server/discover", "tools/list"])
    handle, seen = answering(mcp, {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "ttlMs": 9})
    assert handle(modern("server/discover"))["result"]["ttlMs"] == 9
    assert len(seen) == 1


# -- replies --------------------------------------------------------------------------------------------------


def finished(method: str, reply: Any, params: Any = None) -> Any:
    mcp = server()
    assert mcp.begin(modern(method, params)) is None
    return mcp.finish(reply)


def reply_with(**body: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, **body}


def test_results_are_stamped_and_only_cacheable_ones_get_hints() -> None:
    assert finished("tools/list", reply_with(result={"tools": []})) == reply_with(
        result={"ttlMs": 0, "cacheScope": "private", "tools": [], "resultType": "complete", **STAMP}
    )
    assert finished("tools/call", reply_with(result={"content": []})) == reply_with(
        result={"content": [], "resultType": "complete", **STAMP}
    )


def test_values_of_its_own_win_and_nothing_is_done_twice() -> None:
    own = {
        "resultType": "complete",
        "ttlMs": 5,
        "cacheScope": "public",
        "tools": [],
        "_meta": {OURS + "serverInfo": {"name": "me"}, "x": 1},
    }
    done = finished("tools/list", reply_with(result=own))
    assert done == reply_with(result=own)
    assert finished("tools/list", done) == done


def test_a_question_carries_no_hints_and_is_only_sent_where_it_may_be() -> None:
    question = {"resultType": "input_required", "requestState": "s"}
    assert finished("resources/read", reply_with(result=question))["result"] == {**question, **STAMP}
    refused = finished("tools/list", reply_with(result=question))
    assert code(refused) == -32603
    assert "result" not in refused


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ({"result": None}, {"result": {"resultType": "complete", **STAMP}}),
        ({"result": {"content": []}, "error": None}, {"result": {"content": [], "resultType": "complete", **STAMP}}),
        ({"result": None, "error": {"code": -5, "message": "m"}}, {"error": {"code": -5, "message": "m"}}),
        ({"error": "boom"}, {"error": {"code": -32603, "message": "boom"}}),
        ({"error": {"code": "E1"}}, {"error": {"code": -32603, "message": "Internal error"}}),
        ({"error": {"code": True, "message": "m", "data": 1}}, {"error": {"code": -32603, "message": "m", "data": 1}}),
        ({"result": {"content": [], "nextCursor": None, "structuredContent": None}},
         {"result": {"content": [], "structuredContent": None, "resultType": "complete", **STAMP}}),
        ({"result": []}, {"result": []}),
        ({"result": {"_meta": "odd"}}, {"result": {"resultType": "complete", **STAMP}}),
    ],
    ids=["none", "both, error none", "both, result none", "text", "odd code", "bool code", "empty fields", "list", "odd meta"],
)  # fmt: skip
def test_odd_replies_become_valid_ones(reply: Any, expected: Any) -> None:
    assert finished("tools/call", reply_with(**reply)) == reply_with(**expected)


@pytest.mark.parametrize(
    ("method", "sent", "received"),
    [
        ("tools/call", -32601, -32602),
        ("prompts/get", -32601, -32602),
        ("resources/read", -32002, -32602),
        ("tools/list", -32002, -32602),
        ("tools/list", -32601, -32601),
        ("tools/list", -32042, -32603),
        ("tools/call", -32000, -32000),
    ],
)
def test_codes_that_are_gone_are_replaced(method: str, sent: int, received: int) -> None:
    assert code(finished(method, reply_with(error={"code": sent, "message": "m"}))) == received


def test_a_missing_resource_is_named_and_data_of_its_own_kept() -> None:
    error = {"code": -32002, "message": "gone"}
    assert finished("resources/read", reply_with(error=error), {"uri": "a:b"})["error"]["data"] == {"uri": "a:b"}
    assert finished("resources/read", reply_with(error={**error, "data": 1}), {"uri": "a:b"})["error"]["data"] == 1


@pytest.mark.parametrize("value", [None, (1, 2), "{}", [], {"ok": True}, {"id": 1, "result": {}}, note("x")], ids=repr)
def test_what_is_no_reply_is_returned_unchanged(value: Any) -> None:
    mcp = server()
    handle = mcp.boundary(lambda message: value)
    assert handle(modern("tools/list")) is value
    assert finished("tools/list", value) is value


def test_replies_to_legacy_requests_are_the_same_object() -> None:
    mcp = server()
    for reply in (reply_with(error={"code": -32002, "message": "m"}), reply_with(result=None), reply_with(error="x", result=None)):
        mcp.begin(legacy("resources/read"))
        assert mcp.finish(reply) is reply


# -- notifications --------------------------------------------------------------------------------------------


def test_a_reply_to_a_notification_is_dropped_once_the_client_is_modern() -> None:
    handle, seen = answering(server())
    assert handle(note("notifications/initialized"))["result"]
    handle(modern("tools/list"))
    assert handle(note("notifications/initialized")) is None
    handle(legacy("initialize", {}))
    assert handle(note("notifications/initialized"))["result"]
    assert len(seen) == 5


def test_modern_only_never_answers_a_notification_but_passes_other_values_on() -> None:
    handle, _ = answering(server(legacy=False))
    assert handle(note("notifications/cancelled", {"requestId": [1]})) is None
    assert server(legacy=False).boundary(lambda message: {"ok": True})(note("notifications/x")) == {"ok": True}


def test_nothing_is_answered_to_a_notification_that_ends_early() -> None:
    mcp = server(legacy=False)

    def handle(message: Any) -> Any:
        raise Refused(-32602, "no")

    assert mcp.boundary(handle)(note("notifications/x")) is None


# -- what the dispatcher sees ---------------------------------------------------------------------------------


def test_strict_servers_see_no_keys_of_ours_but_the_progress_token() -> None:
    handle, seen = answering(server())
    message = modern("tools/call", {"name": "x", "inputResponses": {}}, meta={"progressToken": 5, OURS + "clientInfo": {}})
    kept = copy.deepcopy(message)
    handle(message)
    handle(modern("tools/list"))
    assert [item["params"] for item in seen] == [{"name": "x", "_meta": {"progressToken": 5}}, {}]
    assert message == kept


def test_a_split_server_finds_its_own_parameters_in_the_message_and_legacy_ones_untouched() -> None:
    mcp = server()
    message = modern("tools/call", {"name": "x"}, meta={"progressToken": 5})
    params = message["params"]
    kept = copy.deepcopy(params)
    assert mcp.begin(message) is None
    assert message == {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x", "_meta": {"progressToken": 5}}}
    assert params == kept
    refused = modern("ping")
    old = legacy("tools/call", {"_meta": {"progressToken": 1}})
    for untouched in (refused, old, note("notifications/x")):
        before = copy.deepcopy(untouched)
        mcp.begin(untouched)
        assert untouched == before


def test_a_tool_that_calls_its_dispatcher_belongs_to_the_request_in_progress() -> None:
    mcp = server(legacy=False)
    inner: list[Any] = []

    @mcp.boundary
    def handle(message: Any) -> Any:
        assert mcp.modern
        if message["method"] == "tools/call":
            inner.append(handle(legacy("tools/list", {}, id="inner")))
            inner.append(handle(modern("tools/list", id="other")))
            inner.append(handle(modern("ping", id="gone")))
        return reply_with(id=message["id"], result={"tools": []})

    reply = handle(modern("tools/call", id="outer"))
    assert reply == {**reply_with(result={"tools": [], "resultType": "complete", **STAMP}), "id": "outer"}
    assert inner[0] == {"jsonrpc": "2.0", "id": "inner", "result": {"tools": []}}
    assert inner[1]["result"]["resultType"] == "complete"
    assert code(inner[2]) == -32601
    assert not mcp.modern


def test_a_request_inside_a_legacy_one_does_not_change_the_outer_reply() -> None:
    mcp = server()

    @mcp.boundary
    def handle(message: Any) -> Any:
        if message["method"] == "tools/call":
            assert handle(modern("tools/list"))["result"]["resultType"] == "complete"
            assert not mcp.modern
        return reply_with(result={"tools": []})

    assert handle(legacy("tools/call")) == reply_with(result={"tools": []})


def test_the_context_is_restored_when_the_dispatcher_raises() -> None:
    mcp = server()

    @mcp.boundary
    def handle(message: Any) -> Any:
        raise LookupError("own")

    with pytest.raises(LookupError, match="own"):
        handle(modern("tools/list"))
    assert not mcp.modern


def test_interleaved_tasks_each_get_the_shape_of_their_own_request() -> None:
    mcp = server()

    @mcp.boundary
    async def handle(message: Any) -> Any:
        for _ in range(message["id"] % 5):
            await asyncio.sleep(0)
        return reply_with(id=message["id"], result={"modern": mcp.modern})

    async def run() -> list[Any]:
        return await asyncio.gather(*(handle((modern if i % 2 else legacy)("tools/call", id=i)) for i in range(30)))

    for i, reply in enumerate(asyncio.run(run())):
        assert reply["id"] == i
        assert reply["result"]["modern"] is bool(i % 2)
        assert ("resultType" in reply["result"]) is bool(i % 2)


def test_threads_do_not_see_each_others_request() -> None:
    mcp, meet = server(), threading.Barrier(4)

    @mcp.boundary
    def handle(message: Any) -> Any:
        meet.wait(5)
        return reply_with(id=message["id"], result={"modern": mcp.modern})

    with ThreadPoolExecutor(4) as pool:
        replies = list(pool.map(handle, [(modern if i % 2 else legacy)("tools/call", id=i) for i in range(4)]))
    assert [reply["result"]["modern"] for reply in replies] == [False, True, False, True]


def test_an_ending_from_a_task_or_a_thread_with_the_context_still_ends_the_request() -> None:
    mcp = server()

    def tool() -> Any:
        return mcp.ask("roots/list") if mcp.modern else {}

    @mcp.boundary
    async def handle(message: Any) -> Any:
        if message["id"] == 1:
            await asyncio.wait_for(asyncio.to_thread(tool), 5)
        await asyncio.create_task(asyncio.wait_for(asyncio.sleep(0, tool()), 5))
        return reply_with(result={})

    for id in (1, 2):
        reply = asyncio.run(handle(modern("tools/call", id=id, roots={})))
        assert reply["result"]["resultType"] == "input_required"
        assert reply["id"] == id


# -- the decorator --------------------------------------------------------------------------------------------


def test_names_signatures_and_kinds_of_functions_are_kept() -> None:
    mcp = server()

    @mcp.boundary
    def plain(message: Any, *, trace: bool = False) -> Any:
        """Doc."""
        return reply_with(result={"trace": trace})

    @mcp.boundary
    async def waiting(message: Any) -> Any:
        return reply_with(result={})

    assert (plain.__name__, plain.__doc__) == ("plain", "Doc.")
    assert list(inspect.signature(plain).parameters) == ["message", "trace"]
    assert inspect.iscoroutinefunction(waiting)
    assert not inspect.iscoroutinefunction(plain)
    assert plain(modern("tools/call"), trace=True)["result"]["trace"] is True
    assert plain(message=modern("tools/call"))["result"]["resultType"] == "complete"


def test_methods_and_bound_methods_can_be_wrapped() -> None:
    mcp = server()

    class Server:
        @mcp.boundary
        def handle(self, message: Any) -> Any:
            return reply_with(result={"me": self.__class__.__name__})

        async def other(self, session: str, message: Any) -> Any:
            return reply_with(result={"session": session})

    one = Server()
    assert one.handle(modern("tools/call"))["result"]["resultType"] == "complete"
    wrapped = mcp.boundary(message="message")(one.other)
    assert asyncio.run(wrapped("s", modern("tools/call")))["result"] == {"session": "s", "resultType": "complete", **STAMP}
    assert asyncio.run(wrapped("s", message=modern("ping")))["error"]["code"] == -32601


def test_what_cannot_be_wrapped_is_refused_at_once() -> None:
    mcp = server()

    def generator(message: Any) -> Any:
        yield message

    async def async_generator(message: Any) -> Any:
        yield message

    for function in (generator, async_generator, 3, type):
        with pytest.raises((TypeError, ValueError)):
            mcp.boundary(function)  # type: ignore[type-var]
    with pytest.raises(TypeError, match="generator"):
        mcp.boundary(generator)
    with pytest.raises(TypeError, match="no parameter 'msg'"):
        mcp.boundary(message="msg")(lambda message: None)
    with pytest.raises(TypeError, match="no parameter"):
        mcp.boundary(lambda: None)


def test_a_call_without_the_message_fails_as_it_did_before() -> None:
    with pytest.raises(TypeError, match="message"):
        server().boundary(lambda message: None)()  # type: ignore[call-arg]


def written(mcp: Stateless) -> tuple[list[Any], Callable[[Any], None]]:
    out: list[Any] = []
    return out, lambda message: out.extend(mcp.outgoing(message))


def test_send_writes_what_the_dispatcher_does_not() -> None:
    mcp = server()
    out, write = written(mcp)

    @mcp.boundary(send=write)
    def handle(message: Any) -> None:
        if message["method"] == "tools/call":
            mcp.ask("roots/list")
        write(reply_with(id=message["id"], result={"tools": []}))

    for message in (modern("server/discover", id=1), modern("ping", id=2), modern("tools/list", id=3), legacy("tools/list", id=4)):
        assert handle(message) is None
    assert handle(modern("tools/call", id=5, roots={})) is None
    assert [reply["id"] for reply in out] == [1, 2, 3, 4, 5]
    assert out[0]["result"]["ttlMs"] == 0
    assert code(out[1]) == -32601
    assert out[2]["result"]["resultType"] == "complete"
    assert out[3]["result"] == {"tools": []}
    assert out[4]["result"]["resultType"] == "input_required"


late: list[Any] = []


def late_write(message: Any) -> None:
    late.append(message)


def test_send_may_name_an_attribute_a_parameter_or_a_global() -> None:
    mcp, sent = server(), []

    class Server:
        async def send(self, message: Any) -> None:
            await asyncio.sleep(0)
            sent.append(("attribute", message))

        @mcp.boundary(send="send")
        async def handle(self, message: Any) -> None: ...

    asyncio.run(Server().handle(modern("ping")))
    wrapped = mcp.boundary(send="write")
    wrapped(lambda message, write: None)(modern("ping"), lambda message: sent.append(("parameter", message)))
    wrapped(lambda message, *, write: None)(modern("ping"), write=lambda message: sent.append(("keyword", message)))
    mcp.boundary(send="late_write")(lambda message: None)(modern("ping"))
    assert [(place, code(message)) for place, message in sent] == [("attribute", -32601), ("parameter", -32601), ("keyword", -32601)]
    assert code(late.pop()) == -32601


def tuples(mcp: Stateless, returns: tuple[str | None, ...], value: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    @mcp.boundary(returns=returns)
    def handle(message: Any, session: Any = "first") -> Any:
        return value(message, session)

    return handle


def test_the_reply_in_a_tuple_is_finished_and_the_rest_stays() -> None:
    given = reply_with(result={"tools": []})
    handle = tuples(server(), ("reply", "session"), lambda message, session: (given, f"{session}+"))
    reply, session = handle(modern("tools/list"), "a")
    assert (reply["result"]["resultType"], session) == ("complete", "a+")
    whole = (given, "b+")
    assert tuples(server(), ("reply", None), lambda *_: whole)(legacy("tools/list"), "b") is whole


def test_an_early_reply_comes_in_the_tuple_of_the_dispatcher() -> None:
    def fails(message: Any, session: Any) -> Any:
        raise AssertionError("the dispatcher has no part in it")

    handle = tuples(server(), (None, "session", "reply"), fails)
    status, session, reply = handle(modern("server/discover"), "a")
    assert (status, session, reply["result"]["supportedVersions"]) == (None, "a", ["2026-07-28"])
    assert [handle(modern("ping"), session="b")[1], handle(modern("ping"))[1]] == ["b", "first"]
    assert code(tuples(server(legacy=False), ("reply", None), fails)(legacy("initialize"))[0]) == -32022


def test_a_notification_gets_no_reply_in_a_tuple_either() -> None:
    handle = tuples(server(), ("reply", None), lambda message, session: (reply_with(id=None, error={"code": -32601, "message": "?"}), 5))
    handle(modern("tools/list"))
    assert handle({**note("notifications/cancelled"), "params": {"_meta": envelope()}}) == (None, 5)


def test_a_question_and_a_coroutine_give_tuples() -> None:
    mcp = server()

    @mcp.boundary(returns=("reply", None))
    async def handle(message: Any) -> Any:
        if message["method"] == "tools/call":
            mcp.ask("roots/list")
        return reply_with(result={"tools": []}), 1

    asked = asyncio.run(handle(modern("tools/call", roots={})))
    listed = asyncio.run(handle(modern("tools/list")))
    assert (asked[0]["result"]["resultType"], asked[1]) == ("input_required", None)
    assert (listed[0]["result"]["resultType"], listed[1]) == ("complete", 1)


# -- the shared writer ----------------------------------------------------------------------------------------


def test_replies_leave_finished_and_legacy_ones_as_they_are() -> None:
    mcp = server()
    reply = reply_with(result={"tools": []})
    mcp.begin(legacy("tools/list"))
    assert mcp.outgoing(reply)[0] is reply
    mcp.begin(modern("tools/list"))
    assert mcp.outgoing(reply)[0]["result"]["ttlMs"] == 0


def test_what_could_not_be_read_is_answered_without_an_id_and_notifications_not_at_all() -> None:
    mcp = server()
    broken = {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}}
    mcp.begin(legacy("tools/list"))
    assert mcp.outgoing(broken)[0] is broken
    for message in (modern("tools/list"), note("notifications/x")):
        mcp.begin(message)
        assert mcp.outgoing(broken) == [{"jsonrpc": "2.0", "error": broken["error"]}]
    assert mcp.outgoing({"jsonrpc": "2.0", "id": None, "error": {"code": -32601, "message": "no"}}) == []
    assert server(legacy=False).outgoing(broken) == [{"jsonrpc": "2.0", "error": broken["error"]}]


def log(level: str) -> dict[str, Any]:
    return note("notifications/message", {"level": level, "data": "x"})


@pytest.mark.parametrize(
    ("wanted", "heard"),
    [(None, []), ("warning", ["warning", "error"]), ("debug", ["debug", "warning", "error"])],
    ids=["none", "warning", "debug"],
)
def test_log_messages_go_to_requests_that_want_them(wanted: Any, heard: list[str]) -> None:
    mcp = server()
    mcp.begin(modern("tools/call", meta={} if wanted is None else {OURS + "logLevel": wanted}))
    assert [level for level in ("debug", "warning", "error", "odd") if mcp.outgoing(log(level))] == heard
    assert mcp.log_level("info") == (wanted or "emergency")


def test_log_messages_of_legacy_requests_leave_as_they_are() -> None:
    mcp = server()
    assert mcp.outgoing(log("error")) == []
    mcp.begin(legacy("tools/call"))
    assert mcp.outgoing(log("debug")) == [log("debug")]
    assert mcp.log_level("info") == "info"


def test_an_unknown_log_level_is_refused() -> None:
    for level in ("loud", 3, None, []):
        assert code(server().begin(modern("tools/list", meta={OURS + "logLevel": level}))) == -32602


def test_progress_passes_and_requests_to_the_client_do_not() -> None:
    mcp = server()
    progress = note("notifications/progress", {"progressToken": 1, "progress": 1})
    asking = {"jsonrpc": "2.0", "id": "s1", "method": "roots/list"}
    mcp.begin(modern("tools/call"))
    assert mcp.outgoing(progress) == [progress]
    assert mcp.outgoing({"ok": True}) == [{"ok": True}]
    with pytest.raises(Refused) as refusal:
        mcp.outgoing(asking)
    assert code(refusal.value.body) == -32603
    mcp.begin(legacy("tools/call"))
    assert mcp.outgoing(asking) == [asking]


def test_without_their_parts_logs_and_changes_only_reach_older_clients() -> None:
    mcp = load(render(frozenset({Part.OUTGOING}))).Stateless(INFO, CAPABILITIES)
    changes = [log("error"), note("notifications/tools/list_changed"), note("notifications/resources/updated", {"uri": "a:b"})]
    mcp.begin(modern("tools/call", meta={OURS + "logLevel": "debug"}))
    assert [mcp.outgoing(change) for change in changes] == [[], [], []]
    mcp.begin(legacy("tools/call"))
    assert [mcp.outgoing(change) for change in changes] == [[change] for change in changes]


# -- subscriptions/listen -------------------------------------------------------------------------------------


def listen(mcp: Stateless, id: Any = "L", **filters: Any) -> Any:
    return mcp.begin(modern("subscriptions/listen", {"notifications": filters}, id=id))


def updated(uri: str = "a:b") -> dict[str, Any]:
    return note("notifications/resources/updated", {"uri": uri})


def test_listening_begins_with_what_is_granted() -> None:
    mcp = server()
    acknowledged = listen(mcp, 7, toolsListChanged=True, promptsListChanged=True, resourceSubscriptions=["a:b", 3], odd=True)
    assert acknowledged == note(
        "notifications/subscriptions/acknowledged",
        {"notifications": {"toolsListChanged": True, "resourceSubscriptions": ["a:b"]}, "_meta": {OURS + "subscriptionId": 7}},
    )
    assert mcp.outgoing(acknowledged) == [acknowledged]
    assert "a:b" in mcp.subscribed


@pytest.mark.parametrize("params", [{}, {"notifications": None}, {"notifications": []}, {"notifications": "x"}], ids=repr)
def test_listening_to_nothing_that_can_be_read_is_refused(params: Any) -> None:
    assert code(server().begin(modern("subscriptions/listen", params))) == -32602
    assert code(server({"tools": {}}).begin(modern("subscriptions/listen", params))) == -32601


def test_changes_reach_the_streams_that_want_them_and_carry_their_id() -> None:
    mcp = server()
    listen(mcp, "one", resourceSubscriptions=["a:b"])
    listen(mcp, 2, toolsListChanged=True, resourceSubscriptions=["a:b", "c:d"])
    change = updated()
    sent = mcp.outgoing(change)
    assert [message["params"]["_meta"][OURS + "subscriptionId"] for message in sent] == ["one", 2]
    assert change == updated()
    assert [message["params"]["_meta"] for message in mcp.outgoing(note("notifications/tools/list_changed"))] == [
        {OURS + "subscriptionId": 2}
    ]
    assert mcp.outgoing(note("notifications/resources/list_changed")) == []
    assert mcp.outgoing(updated("e:f")) == []


def test_older_clients_get_changes_as_before() -> None:
    mcp = server()
    mcp.begin(legacy("resources/subscribe", {"uri": "a:b"}))
    mcp.subscribed.add("a:b")
    assert mcp.outgoing(updated()) == [updated()]
    listen(mcp, toolsListChanged=True)
    change = note("notifications/tools/list_changed")
    tagged, plain = mcp.outgoing(change)
    assert plain is change
    assert tagged["params"]["_meta"] == {OURS + "subscriptionId": "L"}


def test_cancelling_ends_a_stream_and_is_not_forwarded() -> None:
    mcp = server()
    handle, seen = answering(mcp)
    watched = mcp.subscribed
    handle(modern("subscriptions/listen", {"notifications": {"resourceSubscriptions": ["a:b", "c:d"]}}, id=1))
    handle(modern("subscriptions/listen", {"notifications": {"resourceSubscriptions": ["a:b"]}}, id="1"))
    assert handle(note("notifications/cancelled", {"requestId": 1})) is None
    assert watched == {"a:b"}
    assert len(mcp.outgoing(updated())) == 1
    assert seen == []
    for request_id in (1, True, None, [], "other"):
        handle(note("notifications/cancelled", {"requestId": request_id}))
    assert len(seen) == 5


# -- asking the client ----------------------------------------------------------------------------------------

FORM = {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {"ok": {"type": "boolean"}}}}
SAMPLING = {"messages": [], "maxTokens": 5}


def knowing(answer: Any, *, tools: Any = ("a", "b"), cursor: str | None = None) -> Any:
    """What becomes of an answer to a call of `c`, after the server has listed its tools."""
    mcp = server()

    @mcp.boundary
    def handle(message: Any) -> Any:
        if message["method"] == "tools/list":
            return reply_with(result={"tools": [{"name": name} for name in tools], "nextCursor": cursor})
        return reply_with(**answer)

    handle(modern("tools/list"))
    return handle(modern("tools/call", {"name": "get_c"}))


def result(text: str, **more: Any) -> Any:
    return {"result": {"content": [{"type": "text", "text": text}], **more}}


@pytest.mark.parametrize(
    "answer",
    [
        result("Unknown tool: get_c", isError=True),
        result("'get_c'", isError=True),
        result("No such tool", isError=True),
        result("Tool get_c not found"),
        {"error": {"code": -32603, "message": "Unknown tool: get_c"}},
        {"error": {"code": -32000, "message": "tool doesn't exist"}},
        {"error": {"code": -32601, "message": "Tool not found"}},
        {"error": "get_c does not exist"},
    ],
    ids=["failed", "key error", "without name", "plain text", "internal", "own code", "method", "no object"],
)
def test_an_unknown_tool_is_a_wrong_parameter_however_the_server_says_it(answer: Any) -> None:
    assert code(knowing(answer)) == -32602
    if "result" in answer:
        assert "result" in knowing(answer, tools=("a", "get_c"))


@pytest.mark.parametrize(
    ("answer", "more"),
    [
        (result("File not found", isError=True), {"tools": ("get_c",)}),
        (result("Unknown tool: get_c", isError=True), {"cursor": "next"}),
        (result("division by zero", isError=True), {}),
        (result("it is not available today"), {}),
        ({"result": {"content": [], "isError": True}}, {}),
        ({"result": {"content": None}}, {}),
    ],
    ids=["known", "list in pages", "another failure", "a result", "empty", "null"],
)
def test_other_failures_stay_results(answer: Any, more: Any) -> None:
    assert "result" in knowing(answer, **more)


@pytest.mark.parametrize(
    ("method", "before", "after"),
    [
        (
            "tools/list",
            {
                "tools": [{"name": "a", "title": None, "icons": None, "inputSchema": {"properties": {"b": {"default": None}}}}],
                "nextCursor": None,
            },
            {"tools": [{"name": "a", "inputSchema": {"type": "object", "properties": {"b": {"default": None}}}}]},
        ),
        ("tools/list", {"tools": [{"name": "a"}]}, {"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}),
        ("tools/list", {"tools": [{"name": "a", "inputSchema": None}]}, {"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}),
        (
            "tools/list",
            {"tools": [{"name": "a", "inputSchema": {"type": "object", "required": []}}, "b"]},
            {"tools": [{"name": "a", "inputSchema": {"type": "object", "required": []}}, "b"]},
        ),
        ("tools/list", {"tools": None}, {}),
        (
            "tools/call",
            {"content": [{"type": "text", "text": "a", "annotations": None}], "structuredContent": {"b": None}, "isError": None},
            {"content": [{"type": "text", "text": "a"}], "structuredContent": {"b": None}},
        ),
        ("tools/call", {"content": "a"}, {"content": [{"type": "text", "text": "a"}]}),
        ("tools/call", {"content": [], "structuredContent": None}, {"content": [], "structuredContent": None}),
        ("more/stats", {"load": None, "of": [{"day": None}]}, {"of": [{"day": None}]}),
    ],
    ids=["empty", "no schema", "empty schema", "schema", "no list", "blocks", "text", "nothing", "own method"],
)
def test_what_typed_and_careless_servers_answer_fits_the_schema(method: str, before: Any, after: Any) -> None:
    handle, _ = answering(Stateless(INFO, CAPABILITIES, methods={"tools/list", "tools/call", "more/stats"}), before)
    params = {"name": "a", "arguments": {}} if method == "tools/call" else {}
    assert {key: part for key, part in handle(modern(method, params))["result"].items() if key in before} == after
    assert handle(legacy(method, params))["result"] is before


def test_a_server_that_only_lists_knows_no_name() -> None:
    handle, seen = answering(Stateless(INFO, {"resources": {}}, methods={"resources/list"}))
    assert code(handle(modern("resources/read", {"uri": "a://b"}))) == -32602
    assert code(handle(modern("resources/read"))) == -32601
    mcp = Stateless(INFO, {"tools": {}}, methods={"tools/list"})
    handle_tools, _ = answering(mcp, {"tools": [{"name": "listed"}]})
    handle_tools(modern("tools/list"))
    assert [code(handle_tools(modern("tools/call", {"name": name}))) for name in ("listed", "b")] == [-32601, -32602]
    assert code(handle(modern("tools/call", {"name": "a"}))) == -32601
    assert seen == []


def test_no_list_is_asked_for_to_know_a_name() -> None:
    mcp, seen = server(), []

    @mcp.boundary
    def handle(message: Any) -> Any:
        seen.append(message["method"])
        return reply_with(**result("Unknown tool: get_c", isError=True))

    assert handle(modern("tools/call", {"name": "get_c"}))["result"]["isError"] is True
    assert seen == ["tools/call"]


def test_an_unknown_resource_is_a_wrong_parameter_with_any_code() -> None:
    mcp = server()

    @mcp.boundary
    def handle(message: Any) -> Any:
        return reply_with(error={"code": -32603, "message": message["params"]["text"]})

    found = handle(modern("resources/read", {"uri": "a:b", "text": "Resource not found: a:b"}))
    assert (code(found), found["error"].get("data")) == (-32602, {"uri": "a:b"})
    assert code(handle(modern("resources/read", {"uri": "a:b", "text": "database not found"}))) == -32603


def asker(*questions: tuple[str, Any], mcp: Stateless | None = None) -> Callable[..., Any]:
    """A wrapped tool that asks these questions in turn and returns the answers."""
    mcp = mcp or server()

    @mcp.boundary
    def handle(message: Any) -> Any:
        try:
            answers = [mcp.ask(method, params) for method, params in questions]
        except Exception as exc:  # as tools do
            answers = [repr(exc)]
        return reply_with(id=message["id"], result={"answers": answers})

    def call(arguments: Any = None, **params: Any) -> Any:
        return handle(modern("tools/call", {"name": "t", "arguments": arguments or {}, **params}, elicitation={}, sampling={}, roots={}))

    return call


def test_a_question_ends_the_request_and_its_answer_comes_back() -> None:
    call = asker(("elicitation/create", {**FORM, "elicitationId": "e", "task": {}}))
    asked = call()["result"]
    assert set(asked) == {"resultType", "inputRequests", "requestState", "_meta"}
    ((key, question),) = asked["inputRequests"].items()
    assert question == {"method": "elicitation/create", "params": FORM}
    answer = {"action": "accept", "content": {"ok": True}}
    done = call(inputResponses={key: answer, "other": 5}, requestState=asked["requestState"])
    assert done["result"] == {"answers": [answer], "resultType": "complete", **STAMP}


def test_answers_of_earlier_rounds_travel_in_the_state() -> None:
    call = asker(("roots/list", None), ("sampling/createMessage", SAMPLING), ("sampling/createMessage", SAMPLING))
    answers: list[Any] = [{"roots": []}, {"role": "assistant", "content": {"type": "text", "text": "a"}, "model": "m"}]
    answers.append({**answers[1], "model": "n"})
    extra: dict[str, Any] = {}
    for answer in answers:
        asked = call(**extra)["result"]
        (key,) = asked["inputRequests"]
        extra = {"inputResponses": {key: answer}, "requestState": asked["requestState"]}
    assert call(**extra)["result"]["answers"] == answers


def test_a_missing_answer_is_asked_for_again() -> None:
    call = asker(("roots/list", None))
    asked = call()["result"]
    assert call(requestState=asked["requestState"])["result"]["inputRequests"] == asked["inputRequests"]
    assert call(inputResponses={}, requestState=asked["requestState"])["result"]["resultType"] == "input_required"


def test_consent_is_for_the_exact_question() -> None:
    mcp, text = server(), ["Delete A?"]

    @mcp.boundary
    def handle(message: Any) -> Any:
        return reply_with(result=mcp.ask("elicitation/create", {**FORM, "message": text[0]}))

    first = handle(modern("tools/call", elicitation={}))["result"]
    text[0] = "Delete B?"
    extra = {"inputResponses": {key: {"action": "accept"} for key in first["inputRequests"]}, "requestState": first["requestState"]}
    again = handle(modern("tools/call", extra, elicitation={}))["result"]
    assert [question["params"]["message"] for question in again["inputRequests"].values()] == ["Delete B?"]


def test_a_form_with_one_field_to_fill_in_is_asked_under_its_name() -> None:
    def form(message: str, kind: str) -> Any:
        return {"message": message, "requestedSchema": {"type": "object", "properties": {"user_name": {"type": kind}}}}

    call = asker(("elicitation/create", form("Your name?", "string")), ("elicitation/create", form("And before?", "string")))
    answers: list[Any] = [{"action": "accept", "content": {"user_name": name}} for name in ("Ada", "Byron")]
    asked = call()["result"]
    assert list(asked["inputRequests"]) == ["user_name"]
    again = call(inputResponses={"user_name": answers[0]}, requestState=asked["requestState"])["result"]
    assert again["inputRequests"]["user_name"]["params"]["message"] == "And before?"
    done = call(inputResponses={"user_name": answers[1]}, requestState=again["requestState"])
    assert done["result"]["answers"] == answers
    # Who knows the name can answer before it is asked, but only the first question.
    early = call(inputResponses={"user_name": answers[0], "other": {}})["result"]
    assert early["inputRequests"] == again["inputRequests"]
    agreed = asker(("elicitation/create", form("Delete all?", "boolean")))
    assert agreed(inputResponses={"user_name": {"action": "accept"}})["result"]["resultType"] == "input_required"


def test_the_answer_to_a_field_counts_for_the_exact_question() -> None:
    mcp, text = server(), ["The name of A?"]

    @mcp.boundary
    def handle(message: Any) -> Any:
        form = {"message": text[0], "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}}
        return reply_with(result=mcp.ask("elicitation/create", form))

    first = handle(modern("tools/call", elicitation={}))["result"]
    text[0] = "The name of B?"
    extra = {"inputResponses": {"name": {"action": "accept"}}, "requestState": first["requestState"]}
    again = handle(modern("tools/call", extra, elicitation={}))["result"]
    assert again["inputRequests"]["name"]["params"]["message"] == "The name of B?"


def state(call: Callable[..., Any]) -> str:
    text: str = call()["result"]["requestState"]
    return text


@pytest.mark.parametrize(
    "forge",
    [
        lambda text: text + "-TAMPERED",
        lambda text: text + "=",
        lambda text: text + "\n",
        lambda text: text[:-4],
        lambda text: "A" + text[1:] if text[0] != "A" else "B" + text[1:],
        lambda text: text.replace(text[60], "é"),
        lambda text: "",
        lambda text: 5,
        lambda text: None,
        lambda text: [text],
    ],
    ids=["appended", "padding", "newline", "cut", "flipped", "letters", "empty", "number", "null", "list"],
)
def test_a_state_that_is_not_ours_is_refused_before_the_tool_runs(forge: Callable[[str], Any]) -> None:
    call = asker(("roots/list", None))
    assert code(call(requestState=forge(state(call)))) == -32602


def test_a_state_is_for_one_request_and_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    call = asker(("roots/list", None))
    sealed = state(call)
    assert code(call({"other": "arguments"}, requestState=sealed)) == -32602
    assert call(requestState=sealed)["result"]["resultType"] == "input_required"
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 3700)
    assert code(call(requestState=sealed)) == -32602


def test_a_state_signed_with_another_key_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    call = asker(("roots/list", None))
    sealed = state(call)
    monkeypatch.setattr(mcp_stateless, "_STATE_KEY", b"other")
    assert code(call(requestState=sealed)) == -32602


def test_the_key_can_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    text = render(ALL)
    assert load(text)._STATE_KEY != load(text)._STATE_KEY
    monkeypatch.setenv("MCP_STATE_KEY", "shared")
    assert load(text)._STATE_KEY == b"shared"


@pytest.mark.parametrize("answer", [12345, None, [], {}, {"action": "maybe"}, {"action": "accept", "content": "x"}], ids=repr)
def test_an_answer_that_fits_no_question_is_an_error(answer: Any) -> None:
    call = asker(("elicitation/create", FORM))
    (key,) = call()["result"]["inputRequests"]
    assert code(call(inputResponses={key: answer})) == -32602


@pytest.mark.parametrize("responses", [None, [], "x", 1], ids=repr)
def test_answers_that_are_no_object_are_an_error(responses: Any) -> None:
    assert code(asker(("roots/list", None))(inputResponses=responses)) == -32602


@pytest.mark.parametrize(
    ("method", "params", "client", "missing"),
    [
        ("elicitation/create", FORM, {}, {"elicitation": {"form": {}}}),
        ("elicitation/create", FORM, {"elicitation": {"url": {}}}, {"elicitation": {"form": {}}}),
        ("elicitation/create", {**FORM, "mode": "form"}, {"elicitation": {}}, None),
        ("elicitation/create", {"mode": "url", "url": "https://x"}, {"elicitation": {}}, {"elicitation": {"url": {}}}),
        ("elicitation/create", {"mode": "url", "url": "https://x"}, {"elicitation": {"url": {}}}, None),
        ("sampling/createMessage", SAMPLING, {"elicitation": {}}, {"sampling": {}}),
        ("sampling/createMessage", {**SAMPLING, "tools": []}, {"sampling": {}}, None),
        ("sampling/createMessage", {**SAMPLING, "tools": [{}]}, {"sampling": {}}, {"sampling": {"tools": {}}}),
        ("sampling/createMessage", {**SAMPLING, "includeContext": "none"}, {"sampling": {}}, None),
        (
            "sampling/createMessage",
            {**SAMPLING, "includeContext": "thisServer"},
            {"sampling": {"tools": {}}},
            {"sampling": {"context": {}}},
        ),
        ("roots/list", None, {"sampling": {}}, {"roots": {}}),
        ("roots/list", {}, {"roots": None}, {"roots": {}}),
    ],
)
def test_a_client_is_only_asked_what_it_can_answer(method: str, params: Any, client: Any, missing: Any) -> None:
    mcp = server()
    handle = mcp.boundary(lambda message: mcp.ask(method, params))
    reply = handle(modern("tools/call", **client))
    if missing is None:
        assert reply["result"]["resultType"] == "input_required"
    else:
        assert code(reply) == -32021
        assert reply["error"]["data"] == {"requiredCapabilities": missing}


def test_only_named_things_may_ask() -> None:
    mcp = server()
    handle = mcp.boundary(lambda message: mcp.ask("roots/list"))
    assert code(handle(modern("tools/list", roots={}))) == -32603
    assert handle(modern("prompts/get", roots={}))["result"]["resultType"] == "input_required"
    with pytest.raises(RuntimeError, match="roots/list"):
        mcp.ask("roots/list")


def test_the_old_error_that_wanted_a_url_becomes_a_question() -> None:
    mcp = server()
    wanted = [{"mode": "url", "elicitationId": "e", "url": "https://x", "message": "Connect."}]
    error = {"code": -32042, "message": "URL elicitation required", "data": {"elicitations": wanted}}
    handle = mcp.boundary(lambda message: reply_with(error=error))
    asked = handle(modern("tools/call", elicitation={"url": {}}))["result"]
    question = {"method": "elicitation/create", "params": {"mode": "url", "url": "https://x", "message": "Connect."}}
    assert list(asked["inputRequests"].values()) == [question]
    answers = {"inputResponses": {key: {"action": "accept"} for key in asked["inputRequests"]}, "requestState": asked["requestState"]}
    assert code(handle(modern("tools/call", answers, elicitation={"url": {}}))) == -32603
    assert code(handle(modern("tools/call", elicitation={}))) == -32021
    assert code(handle(legacy("tools/call"))) == -32042


def test_endings_pass_a_tools_own_handlers_and_tell_a_split_server_what_to_answer() -> None:
    mcp = server()
    assert not issubclass(InputRequired, Exception)
    assert not issubclass(Refused, Exception)
    mcp.begin(modern("tools/call", roots={}))
    with pytest.raises(InputRequired) as asked:
        mcp.ask("roots/list")
    reply = mcp.finish(reply_with(**asked.value.body))
    assert reply["result"]["resultType"] == "input_required"


def test_capabilities_are_those_of_the_request_in_progress() -> None:
    mcp = server()
    mcp.begin(legacy("tools/call"))
    assert mcp.client_capabilities({"roots": {}}) == {"roots": {}}
    mcp.begin(modern("tools/call", sampling={}))
    assert mcp.client_capabilities({"roots": {}}) == {"sampling": {}}


# -- HTTP -----------------------------------------------------------------------------------------------------


def headers(method: str, name: str | None = None) -> dict[str, str]:
    named = {} if name is None else {"mcp-name": name}
    return {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, **named}


def test_headers_must_match_the_body() -> None:
    call = modern("tools/call", {"name": "grüße"})
    mcp = server()
    assert mcp.begin({**call}, headers("tools/call", "=?base64?Z3LDvMOfZQ==?=")) is None
    assert mcp.begin(modern("tools/list"), headers("tools/list")) is None
    for given_headers in (
        headers("tools/call", "other"),
        headers("tools/call", "=?base64?!?="),
        headers("tools/call"),
        headers("tools/list", "=?base64?Z3LDvMOfZQ==?="),
        {**headers("tools/call", "grüße"), "MCP-Protocol-Version": "2025-06-18"},
        {},
    ):
        reply = mcp.begin({**call}, given_headers)
        assert code(reply) == -32020
        assert mcp_stateless.http_status(reply) == 400


def test_headers_are_checked_after_the_envelope_and_before_the_version() -> None:
    mcp = server()
    assert code(mcp.begin(legacy("tools/list", {}), headers("tools/list"))) == -32602
    old = modern("tools/list", meta={OURS + "protocolVersion": "1999-01-01"})
    assert code(mcp.begin(old, headers("tools/list"))) == -32020
    assert code(mcp.begin(old, {**headers("tools/list"), "MCP-Protocol-Version": "1999-01-01"})) == -32022


def test_legacy_requests_over_http_pass_and_listening_is_left_to_the_endpoint() -> None:
    mcp = server()
    assert mcp.begin(legacy("initialize"), {}) is None
    assert mcp.begin(legacy("tools/list"), {"MCP-Protocol-Version": "2025-06-18"}) is None
    assert not mcp.modern
    assert mcp.begin(modern("subscriptions/listen", {"notifications": {}}), headers("subscriptions/listen")) is None
    assert mcp.modern


@pytest.mark.parametrize(("error", "status"), [(None, 200), (-32601, 404), (-32022, 400), (-32602, 400), (-32603, 200), (7, 200)])
def test_statuses_follow_the_code(error: int | None, status: int) -> None:
    reply = reply_with(result={}) if error is None else reply_with(error={"code": error, "message": "m"})
    assert mcp_stateless.http_status(reply) == status


# -- any input ------------------------------------------------------------------------------------------------

WORDS = st.sampled_from(
    ["tools/call", "tools/list", "server/discover", "subscriptions/listen", "notifications/cancelled", "2026-07-28", "accept", "initialize"]
)
KEYS = st.sampled_from(
    ["jsonrpc", "id", "method", "params", "result", "error", "_meta", "code", "message", "notifications", "requestId", "inputResponses"]
    + ["requestState", "resourceSubscriptions", "uri", "resultType", "data", "elicitations"]
    + [OURS + name for name in ("protocolVersion", "clientCapabilities", "logLevel", "clientInfo")]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | WORDS | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.text(max_size=3), inner, max_size=5),
    max_leaves=12,
)
ENVELOPES = st.just(envelope(elicitation={"url": {}})) | st.dictionaries(KEYS, JSON, max_size=3)
PARAMS = st.builds(lambda params, meta: {**params, "_meta": meta}, st.dictionaries(KEYS, JSON, max_size=3), ENVELOPES)
MESSAGES = JSON | st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0")}, optional={"id": JSON, "method": WORDS | JSON, "params": PARAMS | JSON, "result": JSON, "error": JSON}
)


@given(message=MESSAGES, reply=MESSAGES, legacy_too=st.booleans())
def test_no_message_and_no_reply_ever_raises(message: Any, reply: Any, legacy_too: bool) -> None:
    mcp = server(legacy=legacy_too)
    before = json.dumps([message, reply])

    async def waiting(message: Any) -> Any:
        return reply

    split = {**message} if isinstance(message, dict) else message
    for text in (
        mcp.begin(split),
        mcp.finish(reply),
        mcp.boundary(lambda message: reply)(message),
        asyncio.run(mcp.boundary(waiting)(message)),
    ):
        json.dumps(text)
    assert json.dumps([message, reply]) == before
    mcp_stateless._current.set(None)


@given(message=MESSAGES, reply=MESSAGES)
def test_whatever_is_not_of_this_revision_passes_as_the_same_object(message: Any, reply: Any) -> None:
    mcp, seen = server(), []
    replied = mcp.boundary(lambda message: seen.append(message) or reply)(message)
    text = json.dumps(message)
    if OURS not in text and "server/discover" not in text and "subscriptions/listen" not in text:
        assert seen[0] is message
        assert replied is reply


@given(message=st.builds(modern, st.sampled_from(METHODS), PARAMS, id=st.integers() | st.text()), reply=MESSAGES)
def test_no_reply_of_this_revision_carries_a_retired_code_or_lacks_a_type(message: Any, reply: Any) -> None:
    answer = server().boundary(lambda message: {"jsonrpc": "2.0", "result": {}, **(reply if isinstance(reply, dict) else {})})(message)
    if isinstance(answer, dict) and "method" not in answer:
        assert ("error" in answer) != ("result" in answer)
        assert answer["id"] == message["id"]
        if "error" in answer:
            assert type(answer["error"]["code"]) is int
            assert answer["error"]["code"] not in (-32002, -32042)
        elif isinstance(answer["result"], dict):
            assert answer["result"]["resultType"] is not None


# -- what is written ------------------------------------------------------------------------------------------


def load(text: str) -> ModuleType:
    """The rendered module, imported from memory."""
    loaded = ModuleType("rendered")
    sys.modules["rendered"] = loaded  # dataclasses look their module up
    exec(compile(text, "mcp_stateless.py", "exec"), loaded.__dict__)
    return loaded


OVER_HTTP = HOSTS | {Part.EXCHANGE, Part.ENDPOINT, Part.STREAMS, Part.CHANGES}


def every() -> list[frozenset[Part]]:
    """All combinations of the parts for messages; each HTTP host alone and with all of them, and one host with each of them."""
    plain = [part for part in Part if part not in OVER_HTTP]
    choices = [frozenset(choice) for size in range(len(plain) + 1) for choice in itertools.combinations(plain, size)]
    for host in HOSTS:
        choices += [frozenset({host}), frozenset({host, Part.STREAMS}), ALL - HOSTS | {host}]
    choices += [frozenset({Part.DJANGO, part}) for part in plain]
    return sorted({*map(complete, choices), complete({Part.STREAMS}), complete({Part.ENDPOINT})}, key=sorted)


def name_of(parts: frozenset[Part]) -> str:
    return "_".join(["parts", *sorted(part.value for part in parts)])


@cache
def rendered(parts: frozenset[Part]) -> str:
    return render(parts)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rendered")
    for parts in every():
        (path / f"{name_of(parts)}.py").write_text(rendered(parts), encoding="utf-8")
    return path


def run(*command: str) -> str:
    done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_every_combination_passes_the_linter(folder: Path) -> None:
    assert run("ruff", "check", "--isolated", "--no-cache", "--select", "E,F,I", "--line-length", "120", str(folder)) == ""


def test_every_part_passes_the_type_checker(folder: Path, tmp_path: Path) -> None:
    whole = ALL - OVER_HTTP
    chosen = {complete({part}) for part in whole} | {complete(whole - {part}) for part in whole} | {frozenset(), complete(whole)}
    chosen |= {parts for parts in every() if parts & HOSTS}
    files = [str(folder / f"{name_of(parts)}.py") for parts in chosen]
    assert run("mypy", "--strict", "--python-version", "3.10", "--cache-dir", str(tmp_path), *files) == ""


@pytest.mark.parametrize("parts", every(), ids=name_of)
def test_every_combination_answers(parts: frozenset[Part]) -> None:
    text = rendered(parts)
    assert not any(mark in text for mark in ("# [", "  # -"))
    loaded = load(text)
    mcp = loaded.Stateless(INFO, {"tools": {}}, methods=METHODS)
    assert mcp.begin(modern("server/discover"))["result"]["capabilities"] == {"tools": {}}
    assert mcp.begin(modern("tools/list")) is None
    assert mcp.finish(reply_with(result={"tools": []}))["result"]["ttlMs"] == 0
    assert code(mcp.begin(modern("ping"))) == -32601
    offered = {
        Part.BOUNDARY: "boundary", Part.OUTGOING: "outgoing", Part.LOGGING: "log_level", Part.LISTEN: "subscribed",
        Part.CAPABILITIES: "client_capabilities", Part.ASK: "ask",
    }  # fmt: skip
    assert {part for part, name in offered.items() if hasattr(mcp, name)} == parts & offered.keys()
    assert hasattr(loaded, "InputRequired") is (Part.ASK in parts)
    assert hasattr(loaded, "http_status") is (Part.HTTP in parts)
    if Part.BOUNDARY in parts:
        handle = mcp.boundary(lambda message: reply_with(result={}))
        assert handle(modern("tools/call"))["result"]["resultType"] == "complete"
        assert ("send" in inspect.signature(mcp.boundary).parameters) is (Part.SEND in parts)
    if Part.OUTGOING in parts:
        mcp.begin(modern("tools/list"))
        assert mcp.outgoing(reply_with(result={}))[0]["result"]["resultType"] == "complete"


def test_needs_are_added() -> None:
    assert complete({Part.SEND}) == {Part.SEND, Part.BOUNDARY}
    assert render(frozenset({Part.LISTEN})) == render(frozenset({Part.LISTEN, Part.OUTGOING}))


def test_the_file_says_where_it_comes_from_and_uses_the_line_ends_it_is_given() -> None:
    text = render(ALL)
    assert "Written by mcp-migrate" in text
    assert render(ALL, "\r\n") == text.replace("\n", "\r\n")
    assert "\n\n\n\n" not in text
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=repr)
def test_a_file_that_nobody_changed_is_recognised(newline: str, folder: Path) -> None:
    for parts in every():
        assert parts_of((folder / f"{name_of(parts)}.py").read_text(encoding="utf-8").replace("\n", newline)) == parts


@pytest.mark.parametrize(
    "change",
    [lambda text: text + "# mine\n", lambda text: text.replace("3600", "60"), lambda text: text.replace("# parts: ", "# parts: http "),
     lambda text: text.replace("digest: ", "digest: 0"), lambda text: text[1:], lambda text: "", lambda text: "import os\n"],
    ids=["appended", "edited", "parts", "digest", "cut", "empty", "another"],
)  # fmt: skip
def test_a_file_that_was_changed_is_left_alone(change: Callable[[str], str]) -> None:
    assert parts_of(change(render(ALL - {Part.HTTP}))) is None


def test_the_source_is_the_module_with_all_parts() -> None:
    spec = importlib.util.find_spec("mcp_migrate.runtime.mcp_stateless")
    assert spec is not None
    assert spec.origin is not None
    assert Path(spec.origin).name == module.FILE_NAME
    public = {name for name in vars(load(render(ALL - OVER_HTTP))) if not name.startswith("_")}
    assert public == {name for name in vars(mcp_stateless) if not name.startswith("_")}


def test_the_context_variable_is_the_only_state_of_a_request() -> None:
    mcp = server()
    outside = contextvars.copy_context()
    mcp.begin(modern("tools/list"))
    assert mcp.modern
    assert outside.run(lambda: mcp.modern) is False
