"""Tools, resources and prompts of a server of 2026-07-28: what it lists, and what comes when it is asked for one."""

from __future__ import annotations

from typing import Any

from .messages import (
    PAGES,
    UNCALLED,
    Call,
    Message,
    answer,
    envelope,
    listed,
    said,
    table,
    wanted,
)
from .schema import conforms, is_schema
from .talk import GROUP, LISTS, NO_TOOL, Talk
from .wire import Exchange

_NO_RESOURCE = "test://no-such-resource"
_ROUNDS = 8  # of questions before one call is given up
# What `MCPServer` of the official SDK says by itself.
_OF_THE_SDK = "; servers on the official SDK 2.3 answer so by themselves: nothing to mend in your code"


def tools(talk: Talk) -> None:
    """Lists the tools, and calls those that the plan names."""
    tools = all_of(talk, "tools")
    if tools is None:
        return
    again = (talk.ask("tools/list").result or {}).get("tools")
    first = tools[: len(again)] if isinstance(again, list) else None
    problem = "" if again == first else "the tools came in two orders"
    talk.check("tools/list is the same twice", problem, "server/tools", should=True)
    names = [str(tool.get("name")) for tool in tools]
    double = sorted({name for name in names if names.count(name) > 1})
    talk.check("the names of tools are unique", f"twice: {', '.join(double)}" if double else "", "server/tools", should=True)
    bad = [
        f"{tool.get('name')}: {why}"
        for tool in tools
        for key in ("inputSchema", "outputSchema")
        if key in tool and (why := is_schema(tool[key]))
    ]
    talk.check("the schemas of tools are JSON schemas", "; ".join(bad[:3]), "basic/index")
    exchange = talk.ask("tools/call", {"name": NO_TOOL, "arguments": {}})
    name = "an unknown tool is refused with -32602"
    if (exchange.result or {}).get("isError"):
        by_sdk = said(exchange.result or {}) == f"Unknown tool: {NO_TOOL}"
        talk.check(name, f"there was a result with isError{_OF_THE_SDK if by_sdk else ''}", "server/tools", should=True)
    else:
        talk.is_refused(name, exchange, -32602, None, "server/tools")
    by_name = {str(tool.get("name")): tool for tool in tools}
    made = talk.plan.of(tools)
    if tools and not made:
        talk.ledger.skipped(GROUP, "a call of a tool", UNCALLED)
    for given in made:
        _call(talk, given, by_name.get(given.name, {}))


def resources(talk: Talk) -> None:
    """Lists the resources and reads the first one."""
    resources = all_of(talk, "resources")
    if resources is None:
        return
    exchange = talk.ask("resources/templates/list")
    if exchange.code == -32601:
        talk.ledger.skipped(GROUP, "resource templates", "the server has none")
    elif talk.is_answered("resources/templates/list is answered", exchange, "server/resources"):
        talk.cached("resources/templates/list", exchange)
    if resources:
        exchange, _, _ = _answered(talk, "resources/read", {"uri": resources[0].get("uri")})
        if talk.is_answered("the first resource can be read", exchange, "server/resources"):
            talk.cached("resources/read", exchange)
    exchange = talk.ask("resources/read", {"uri": _NO_RESOURCE})
    if talk.is_refused("an unknown resource is refused with -32602", exchange, -32602, None, "server/resources"):
        data = (exchange.error or {}).get("data")
        named = isinstance(data, dict) and data.get("uri") == _NO_RESOURCE
        talk.check("that error names the resource", "" if named else f"its data is {data!r}", "server/resources", should=True)


def prompts(talk: Talk) -> None:
    """Lists the prompts and gets the first one."""
    prompts = all_of(talk, "prompts")
    if prompts is None:
        return
    if prompts:
        first = prompts[0]
        exchange, _, _ = _answered(talk, "prompts/get", {"name": first.get("name"), "arguments": wanted(first)})
        talk.is_answered("the first prompt can be got", exchange, "server/prompts")
    exchange = talk.ask("prompts/get", {"name": "no_such_prompt"})
    by_sdk = exchange.code == -32603 and (exchange.error or {}).get("message") == "Internal server error"
    name = "an unknown prompt is refused with -32602"
    talk.is_refused(name, exchange, -32602, None, "server/prompts", should=True, more=_OF_THE_SDK if by_sdk else "")


def all_of(talk: Talk, kind: str) -> list[Message] | None:
    """Everything of a kind, page by page; None where it is not served."""
    method = LISTS[kind]
    exchange = talk.ask(method)
    if exchange.code == -32601 and kind not in talk.capabilities:
        talk.ledger.skipped(GROUP, kind, f"the server has no {kind}")
        return None
    if not talk.is_answered(f"{method} is answered", exchange, f"server/{kind}"):
        return None
    talk.cached(method, exchange)
    found, scopes = [], []
    for _ in range(PAGES):
        result = exchange.result or {}
        found += listed(result, kind)
        scopes.append(result.get("cacheScope"))
        if not (cursor := result.get("nextCursor")):
            break
        exchange = talk.ask(method, {"cursor": cursor})
        if not talk.is_answered(f"the next page of {method} is answered", exchange, "server/utilities/pagination"):
            break
    if len(scopes) > 1:
        problem = "" if all(scope == scopes[0] for scope in scopes) else f"cacheScope is {scopes!r}"
        talk.check(f"all pages of {method} may be kept by the same", problem, "server/utilities/caching")
    talk.listed[kind] = found
    return found


def _call(talk: Talk, given: Call, tool: Message) -> None:
    params = {"name": given.name, "arguments": given.arguments}
    exchange, rounds, faults = _answered(talk, "tools/call", params)
    result = exchange.result
    problem = ""
    if result is None:
        problem = f"a result was wanted; there was {exchange.brief}"
    elif result.get("resultType") != "complete":
        problem = f"resultType is {result.get('resultType')!r} after {rounds} questions"
    elif given.text and given.text not in said(result):
        problem = f"{given.text!r} is not in {said(result)[:120]!r}"
    elif result.get("isError") and not given.guessed and not given.text:
        problem = f"the tool failed: {said(result)[:120]}"
    questions = f"after {rounds} question{'' if rounds == 1 else 's'}" if rounds else ""
    talk.check(f"a call of {given.name} is answered", problem, "server/tools", detail=questions)
    if result is not None and not result.get("isError") and "outputSchema" in tool and result.get("resultType") == "complete":
        lacking = "structuredContent" not in result
        bad = "there is no structuredContent" if lacking else conforms(result["structuredContent"], tool["outputSchema"])
        talk.check(f"the result of {given.name} is what its outputSchema says", bad, "server/tools")
    if rounds:
        talk.check(f"the questions of {given.name} are well formed", "; ".join(faults), "basic/patterns/mrtr")
        _cannot_be_asked(talk, given, params)


def _answered(talk: Talk, method: str, params: Message) -> tuple[Exchange, int, list[str]]:
    """The last answer to a request whose questions were all answered, how often it asked, and what was wrong with that."""
    exchange, rounds, faults = talk.ask(method, params), 0, list[str]()
    while (exchange.result or {}).get("resultType") == "input_required" and rounds < _ROUNDS:
        result = exchange.result or {}
        rounds += 1
        asked = table(result.get("inputRequests"))
        if not asked and "requestState" not in result:
            faults.append("there is neither inputRequests nor requestState")
        faults += [f"{key} asks for {table(one).get('method')!r}" for key, one in asked.items() if not _may_ask(one)]
        faults += [f"an input_required result has {key}" for key in ("ttlMs", "cacheScope") if key in result]
        more = {"inputResponses": {key: answer(table(one)) for key, one in asked.items()}} if asked else {}
        if "requestState" in result:
            more["requestState"] = result["requestState"]
        exchange = talk.ask(method, {**params, **more})
    return exchange, rounds, list(dict.fromkeys(faults))


def _cannot_be_asked(talk: Talk, given: Call, params: Message) -> None:
    """The same call for a client that can answer nothing: it may not be asked, and nothing may be done as if it had been."""
    exchange = talk.ask("tools/call", params, meta=envelope(capabilities={}))
    name = f"{given.name} asks no client that cannot answer"
    if (exchange.result or {}).get("resultType") == "input_required":
        asked = table((exchange.result or {}).get("inputRequests")).values()
        talk.check(name, f"it asks for {', '.join(sorted({str(table(one).get('method')) for one in asked}))}", "basic/patterns/mrtr")
    elif exchange.error is not None and exchange.code == -32021:
        data = exchange.error.get("data")
        told = isinstance(data, dict) and isinstance(data.get("requiredCapabilities"), dict)
        problem = "" if told else f"the data of error -32021 is {data!r}"
        if not problem and exchange.status not in (None, 400):
            problem = f"error -32021 comes with HTTP 400; there was {exchange.status}"
        talk.check(name, problem, "basic/index")
    else:
        talk.ledger.passed(GROUP, name, exchange.brief, "basic/index")


def _may_ask(one: Any) -> bool:
    kinds = {"elicitation/create", "sampling/createMessage", "roots/list"}
    return isinstance(one, dict) and str(one.get("method")) in kinds and not one.keys() & {"jsonrpc", "id"}
