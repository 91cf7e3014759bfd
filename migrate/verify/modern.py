"""A client of 2026-07-28: every duty of a server of that revision that can be seen from outside."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from .ledger import DEFINED, RETIRED, Ledger
from .messages import (
    MODERN,
    NOTHING,
    OLDER,
    PAGES,
    SERVER,
    SUBSCRIPTION,
    UNCALLED,
    Call,
    Message,
    Notice,
    Plan,
    answer,
    envelope,
    handshake,
    in_base64,
    listed,
    repeated,
    said,
    table,
    usual_headers,
    wanted,
)
from .schema import conforms, is_schema, schema
from .server import Server
from .wire import Exchange, Http, Stdio, Wire

GROUP = "2026-07-28"
_NO_TOOL = "no_such_tool"
_NO_RESOURCE = "test://no-such-resource"
# What `MCPServer` of the official SDK says by itself.
_OF_THE_SDK = "; servers on the official SDK 2.3 answer so by themselves: nothing to mend in your code"
_ROUNDS = 8  # of questions before one call is given up
_REMOVED: Mapping[str, Message] = {
    "initialize": handshake(MODERN),
    "ping": {},
    "logging/setLevel": {"level": "info"},
    "resources/subscribe": {"uri": "test://x"},
    "resources/unsubscribe": {"uri": "test://x"},
}
_LISTS = {"tools": "tools/list", "resources": "resources/list", "prompts": "prompts/list"}


class Modern:
    """One walk through a server. `ledger` gets everything that was seen."""

    def __init__(self, server: Server, ledger: Ledger, *, dual: bool, plan: Plan = NOTHING, notices: Sequence[Notice] = ()) -> None:
        self.server, self.ledger, self.dual, self.plan, self.notices = server, ledger, dual, plan, notices
        self.capabilities: Message = {}
        self.listed: dict[str, list[Message]] = {}  # tools, resources and prompts, as they were listed
        self.strange: list[str] = []  # what processes wrote that have ended meanwhile
        self.deaths: dict[str, None] = {}  # the methods at which they ended
        self._schemas: dict[str, Any] = {}  # of the tools that were listed
        self._ids = count(1)
        self.wire: Wire = server.connect()

    def run(self) -> None:
        self._first()
        if not self._discover():
            self.wire.close()
            return
        self._envelope()
        self._removed()
        self._tools()
        self._resources()
        self._prompts()
        self._together()
        self._listen()
        self._notices()
        if isinstance(self.wire, Http):
            self._http(self.wire)
        if not self.dual:
            self._refuses_the_handshake()
        self._last()

    def look(self) -> None:
        """Lists what there is, and calls nothing."""
        if self._discover():
            for kind in _LISTS:
                self._all(kind)
        self.wire.close()

    # -- asking ---------------------------------------------------------------
    def message(self, method: str, params: Message | None = None, meta: Message | None = None, number: str | int | None = None) -> Message:
        """A request with the whole envelope, or with this one; an empty one is left out."""
        meta = envelope() if meta is None else meta
        whole = {**(params or {}), **({"_meta": meta} if meta else {})}
        number = next(self._ids) if number is None else number
        return {"jsonrpc": "2.0", "id": number, "method": method, **({"params": whole} if whole or params is not None else {})}

    def ask(
        self,
        method: str,
        params: Message | None = None,
        *,
        meta: Message | None = None,
        number: str | int | None = None,
        headers: Mapping[str, str | None] | None = None,
        hold: float | None = None,
        wire: Wire | None = None,
        heard: bool = True,
    ) -> Exchange:
        """What comes back. It counts as said to a client of 2026-07-28, unless the server may take this for an older one (`heard`)."""
        if method == "tools/call" and params is not None:
            headers = {**repeated(self._schemas.get(str(params.get("name"))), params.get("arguments")), **(headers or {})}
        exchange = (wire or self.wire).ask(self.message(method, params, meta, number), headers=headers, hold=hold)
        if exchange.trouble and wire is None and isinstance(self.wire, Stdio):
            # What comes next is asked of a new process, or one fault would be told many times.
            self.strange += self.wire.strange
            self.deaths[method] = None
            self.wire.close()
            self.wire = self.server.connect()
        if method == "tools/list":
            self._schemas.update((str(tool.get("name")), tool.get("inputSchema")) for tool in listed(exchange.result, "tools"))
        if heard:
            self.ledger.hear(exchange, method)
        return exchange

    def _check(self, name: str, problem: str, page: str = "", *, should: bool = False, detail: str = "") -> bool:
        return self.ledger.check(GROUP, name, problem, page=page, should=should, detail=detail)

    def _is_answered(self, name: str, exchange: Exchange, page: str = "") -> bool:
        problem = "" if exchange.result is not None else f"a result was wanted; there was {exchange.brief}"
        if not problem and exchange.status not in (None, 200):
            problem = f"a result comes with HTTP 200; there was {exchange.status}"
        return self._check(name, problem, page)

    def _is_refused(
        self, name: str, exchange: Exchange, code: int, status: int | None, page: str = "", *, should: bool = False, more: str = ""
    ) -> bool:
        problem = ""
        if exchange.code != code:
            problem = f"error {code} was wanted; there was {exchange.brief}{more}"
        elif (exchange.response or {}).get("id") != exchange.request.get("id"):
            problem = f"the error answers {(exchange.response or {}).get('id')!r}, and not {exchange.request.get('id')!r}"
        elif status is not None and exchange.status not in (None, status):
            problem = f"error {code} comes with HTTP {status}; there was {exchange.status}"
        return self._check(name, problem, page, should=should)

    def _cached(self, what: str, exchange: Exchange) -> None:
        result = exchange.result or {}
        ttl, scope = result.get("ttlMs"), result.get("cacheScope")
        fits = isinstance(ttl, int) and not isinstance(ttl, bool) and ttl >= 0 and scope in ("public", "private")
        problem = "" if fits else f"ttlMs is {ttl!r}, and cacheScope is {scope!r}"
        self._check(f"{what} says how long it may be kept", problem, "server/utilities/caching")

    # -- the walk ---------------------------------------------------------------
    def _first(self) -> None:
        wire = self.server.connect()
        exchange = self.ask("tools/list", wire=wire)
        if exchange.code == -32601:
            exchange = self.ask("resources/list", wire=wire)
        if exchange.code == -32601:
            exchange = self.ask("prompts/list", wire=wire)
        self._is_answered("a list is answered as the first message", exchange, "basic/index")
        if not isinstance(wire, Stdio):
            return
        took = wire.close()
        problem = "" if took is not None else "it had to be killed"
        self._check("the process leaves when its input ends", problem, "basic/transports/stdio", should=True)
        if self.plan.calls:
            wire = self.server.connect()
            given = self.plan.calls[0]
            exchange = self.ask("tools/call", {"name": given.name, "arguments": given.arguments}, wire=wire)
            self._is_answered(f"a call of {given.name} is answered as the first message", exchange, "basic/index")
            wire.close()

    def _discover(self) -> bool:
        exchange = self.ask("server/discover", number="discover")
        if not self._is_answered("server/discover is answered", exchange, "server/discover"):
            return False
        result = exchange.result or {}
        versions = result.get("supportedVersions")
        problem = "" if isinstance(versions, list) and MODERN in versions else f"supportedVersions is {versions!r}"
        self._check("server/discover offers 2026-07-28", problem, "server/discover")
        self._check("server/discover is what the schema says", "; ".join(schema().against("DiscoverResult", result)), "server/discover")
        meta = result.get("_meta")
        info = (meta if isinstance(meta, dict) else {}).get(SERVER)
        named = isinstance(info, dict) and bool(info.get("name") and info.get("version"))
        self._check("results name the server in _meta", "" if named else f"serverInfo is {info!r}", "basic/index", should=True)
        capabilities = result.get("capabilities")
        self.capabilities = capabilities if isinstance(capabilities, dict) else {}
        exchange = self.ask("server/discover", meta=envelope(client=False))
        self._is_answered("a request without clientInfo is served", exchange, "basic/index")
        # A server of both eras may settle only now in which of them a connection speaks.
        self.ask("tools/list")
        return True

    def _envelope(self) -> None:
        for what, meta in (
            ("_meta", {}),
            ("a protocol version", envelope(version=None)),
            ("client capabilities", envelope(capabilities=None)),
        ):
            exchange = self.ask("server/discover", {}, meta=meta)
            self._is_refused(f"a request without {what} is refused with -32602", exchange, -32602, 400, "basic/index")
        for method in ("server/discover", "tools/list"):
            unknown = "1999-01-01"
            exchange = self.ask(method, meta=envelope(version=unknown))
            if self._is_refused(f"{method} of an unknown version is refused with -32022", exchange, -32022, 400, "basic/versioning"):
                data = (exchange.error or {}).get("data")
                told = isinstance(data, dict) and _names(data.get("supported"), MODERN) and data.get("requested") == unknown
                self._check(f"that error of {method} names the versions", "" if told else f"its data is {data!r}", "basic/versioning")
        if not self.dual:
            exchange = self.ask("tools/list", {}, meta={})
            problem = "" if exchange.error is not None else f"there was {exchange.brief}"
            self._check("tools/list without an envelope is refused", problem, "basic/index")

    def _removed(self) -> None:
        page = "basic/transports/streamable-http"
        self._is_refused("an unknown method is refused with -32601", self.ask("no/such/method"), -32601, 404, page)
        for method, params in _REMOVED.items():
            exchange = self.ask(method, params)
            if method == "initialize" and exchange.status is None:
                # Over standard streams the specification leaves the code to the server.
                problem = "" if exchange.error is not None else f"there was {exchange.brief}"
                self._check("initialize in a 2026-07-28 request is refused", problem, "basic/versioning")
            else:
                self._is_refused(f"{method}, which is removed, is refused with -32601", exchange, -32601, 404, page)

    def _all(self, kind: str) -> list[Message] | None:
        """Everything of a kind, page by page; None where it is not served."""
        method = _LISTS[kind]
        exchange = self.ask(method)
        if exchange.code == -32601 and kind not in self.capabilities:
            self.ledger.skipped(GROUP, kind, f"the server has no {kind}")
            return None
        if not self._is_answered(f"{method} is answered", exchange, f"server/{kind}"):
            return None
        self._cached(method, exchange)
        found, scopes = [], []
        for _ in range(PAGES):
            result = exchange.result or {}
            found += listed(result, kind)
            scopes.append(result.get("cacheScope"))
            if not (cursor := result.get("nextCursor")):
                break
            exchange = self.ask(method, {"cursor": cursor})
            if not self._is_answered(f"the next page of {method} is answered", exchange, "server/utilities/pagination"):
                break
        if len(scopes) > 1:
            problem = "" if all(scope == scopes[0] for scope in scopes) else f"cacheScope is {scopes!r}"
            self._check(f"all pages of {method} may be kept by the same", problem, "server/utilities/caching")
        self.listed[kind] = found
        return found

    def _tools(self) -> None:
        tools = self._all("tools")
        if tools is None:
            return
        again = (self.ask("tools/list").result or {}).get("tools")
        first = tools[: len(again)] if isinstance(again, list) else None
        problem = "" if again == first else "the tools came in two orders"
        self._check("tools/list is the same twice", problem, "server/tools", should=True)
        names = [str(tool.get("name")) for tool in tools]
        double = sorted({name for name in names if names.count(name) > 1})
        self._check("the names of tools are unique", f"twice: {', '.join(double)}" if double else "", "server/tools", should=True)
        bad = [
            f"{tool.get('name')}: {why}"
            for tool in tools
            for key in ("inputSchema", "outputSchema")
            if key in tool and (why := is_schema(tool[key]))
        ]
        self._check("the schemas of tools are JSON schemas", "; ".join(bad[:3]), "basic/index")
        exchange = self.ask("tools/call", {"name": _NO_TOOL, "arguments": {}})
        name = "an unknown tool is refused with -32602"
        if (exchange.result or {}).get("isError"):
            by_sdk = said(exchange.result or {}) == f"Unknown tool: {_NO_TOOL}"
            self._check(name, f"there was a result with isError{_OF_THE_SDK if by_sdk else ''}", "server/tools", should=True)
        else:
            self._is_refused(name, exchange, -32602, None, "server/tools")
        by_name = {str(tool.get("name")): tool for tool in tools}
        made = self.plan.of(tools)
        if tools and not made:
            self.ledger.skipped(GROUP, "a call of a tool", UNCALLED)
        for given in made:
            self._call(given, by_name.get(given.name, {}))

    def _call(self, given: Call, tool: Message) -> None:
        params = {"name": given.name, "arguments": given.arguments}
        exchange, rounds, faults = self._answered("tools/call", params)
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
        self._check(f"a call of {given.name} is answered", problem, "server/tools", detail=questions)
        if result is not None and not result.get("isError") and "outputSchema" in tool and result.get("resultType") == "complete":
            lacking = "structuredContent" not in result
            bad = "there is no structuredContent" if lacking else conforms(result["structuredContent"], tool["outputSchema"])
            self._check(f"the result of {given.name} is what its outputSchema says", bad, "server/tools")
        if rounds:
            self._check(f"the questions of {given.name} are well formed", "; ".join(faults), "basic/patterns/mrtr")
            self._cannot_be_asked(given, params)

    def _answered(self, method: str, params: Message) -> tuple[Exchange, int, list[str]]:
        """The last answer to a request whose questions were all answered, how often it asked, and what was wrong with that."""
        exchange, rounds, faults = self.ask(method, params), 0, list[str]()
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
            exchange = self.ask(method, {**params, **more})
        return exchange, rounds, list(dict.fromkeys(faults))

    def _cannot_be_asked(self, given: Call, params: Message) -> None:
        """The same call for a client that can answer nothing: it may not be asked, and nothing may be done as if it had been."""
        exchange = self.ask("tools/call", params, meta=envelope(capabilities={}))
        name = f"{given.name} asks no client that cannot answer"
        if (exchange.result or {}).get("resultType") == "input_required":
            asked = table((exchange.result or {}).get("inputRequests")).values()
            self._check(name, f"it asks for {', '.join(sorted({str(table(one).get('method')) for one in asked}))}", "basic/patterns/mrtr")
        elif exchange.error is not None and exchange.code == -32021:
            data = exchange.error.get("data")
            told = isinstance(data, dict) and isinstance(data.get("requiredCapabilities"), dict)
            problem = "" if told else f"the data of error -32021 is {data!r}"
            if not problem and exchange.status not in (None, 400):
                problem = f"error -32021 comes with HTTP 400; there was {exchange.status}"
            self._check(name, problem, "basic/index")
        else:
            self.ledger.passed(GROUP, name, exchange.brief, "basic/index")

    def _resources(self) -> None:
        resources = self._all("resources")
        if resources is None:
            return
        exchange = self.ask("resources/templates/list")
        if exchange.code == -32601:
            self.ledger.skipped(GROUP, "resource templates", "the server has none")
        elif self._is_answered("resources/templates/list is answered", exchange, "server/resources"):
            self._cached("resources/templates/list", exchange)
        if resources:
            exchange, _, _ = self._answered("resources/read", {"uri": resources[0].get("uri")})
            if self._is_answered("the first resource can be read", exchange, "server/resources"):
                self._cached("resources/read", exchange)
        exchange = self.ask("resources/read", {"uri": _NO_RESOURCE})
        if self._is_refused("an unknown resource is refused with -32602", exchange, -32602, None, "server/resources"):
            data = (exchange.error or {}).get("data")
            named = isinstance(data, dict) and data.get("uri") == _NO_RESOURCE
            self._check("that error names the resource", "" if named else f"its data is {data!r}", "server/resources", should=True)

    def _prompts(self) -> None:
        prompts = self._all("prompts")
        if prompts is None:
            return
        if prompts:
            first = prompts[0]
            exchange, _, _ = self._answered("prompts/get", {"name": first.get("name"), "arguments": wanted(first)})
            self._is_answered("the first prompt can be got", exchange, "server/prompts")
        exchange = self.ask("prompts/get", {"name": "no_such_prompt"})
        by_sdk = exchange.code == -32603 and (exchange.error or {}).get("message") == "Internal server error"
        name = "an unknown prompt is refused with -32602"
        self._is_refused(name, exchange, -32602, None, "server/prompts", should=True, more=_OF_THE_SDK if by_sdk else "")

    def _together(self) -> None:
        messages = [self.message(method, number=f"both-{number}") for number, method in enumerate(("server/discover", "server/discover"))]
        exchanges = self.wire.together(messages)
        lost = [exchange.brief for exchange in exchanges if exchange.result is None]
        self._check("two requests at once are both answered", "; ".join(lost), "basic/index")

    # -- subscriptions ------------------------------------------------------------
    def _offered(self) -> frozenset[str]:
        found = {f"{kind}ListChanged" for kind in _LISTS if table(self.capabilities.get(kind)).get("listChanged")}
        return frozenset(found | ({"resourceSubscriptions"} if table(self.capabilities.get("resources")).get("subscribe") else set()))

    def _listen(self) -> None:
        offered = self._offered()
        changes: Message = {**{f"{kind}ListChanged": True for kind in _LISTS}, "resourceSubscriptions": ["test://watched"]}
        wire = self.server.connect()
        # On a connection of its own, so that a first message may be awaited as long as a server takes to start.
        exchange = self.ask("subscriptions/listen", {"notifications": changes}, number="listen", hold=1.2, wire=wire)
        page = "basic/patterns/subscriptions"
        if exchange.code == -32601 and not offered:
            self.ledger.skipped(GROUP, "subscriptions/listen", "the server tells of no changes")
        else:
            first = next((one for one in exchange.messages if isinstance(one, dict)), {})
            is_first = first.get("method") == "notifications/subscriptions/acknowledged"
            problem = "" if is_first else f"the first message is {json.dumps(first)[:160] if first else 'missing'}"
            if self._check("subscriptions/listen is acknowledged first", problem, page):
                params = table(first.get("params"))
                tag = table(params.get("_meta")).get(SUBSCRIPTION)
                self._check("the acknowledgement names its subscription", "" if tag == "listen" else f"subscriptionId is {tag!r}", page)
                agreed = {key for key, value in table(params.get("notifications")).items() if value}
                problem = "" if agreed == offered else f"it agrees to {sorted(agreed)}; server/discover offers {sorted(offered)}"
                self._check("it agrees to what server/discover offers", problem, page, should=True)
                self._check("the subscription stays open", "" if exchange.response is None else f"there was {exchange.brief}", page)
            if isinstance(wire, Stdio):
                wire.tell({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "listen"}})
                exchange = self.ask("server/discover", wire=wire)
                self._is_answered("the server goes on when a subscription is cancelled", exchange, "basic/patterns/cancellation")
        wire.close()

    def _notices(self) -> None:
        page = "basic/patterns/subscriptions"
        for number, (given, method, uri) in enumerate(self.notices):
            kind = method.split("/")[1] if method.endswith("/list_changed") else ""
            changes: Message = {f"{kind}ListChanged": True} if kind else {"resourceSubscriptions": [uri]}
            key, seen = f"notice-{number}", list[Any]()
            wire = self.server.connect()
            call = {"name": given.name, "arguments": given.arguments}
            if isinstance(wire, Stdio):
                seen += self.ask("subscriptions/listen", {"notifications": changes}, number=key, hold=0.3, wire=wire).messages
                seen += self.ask("tools/call", call, wire=wire).messages + wire.more(0.5)
            else:
                listening = threading.Thread(target=self._hear, args=(seen, changes, key, wire))
                listening.start()
                time.sleep(0.6)
                self.ask("tools/call", call)
                listening.join()
            told = [one for one in seen if isinstance(one, dict) and one.get("method") == method]
            own = [one for one in told if table(table(one.get("params")).get("_meta")).get(SUBSCRIPTION) == key]
            own = [one for one in own if not uri or one["params"].get("uri") == uri]
            problem = "" if len(own) == 1 == len(told) else f"{len(own)} of {len(told)} came with the subscription's id"
            self._check(f"a call of {given.name} brings {method}", problem, page)
            wire.close()

    def _hear(self, seen: list[Any], changes: Message, key: str, wire: Wire) -> None:
        seen += self.ask("subscriptions/listen", {"notifications": changes}, number=key, hold=2.0, wire=wire).messages

    # -- HTTP -------------------------------------------------------------------
    def _http(self, wire: Http) -> None:
        page = "basic/transports/streamable-http"
        params = {"name": _NO_TOOL, "arguments": {}}
        exchange = self.ask("tools/call", params, headers={"Mcp-Name": in_base64(_NO_TOOL)})
        problem = "" if exchange.response is not None and exchange.code != -32020 else f"there was {exchange.brief}"
        self._check("a Mcp-Name in Base64 is decoded", problem, page)
        lower = {name.lower(): value for name, value in usual_headers(self.message("server/discover")).items()}
        exchange = self.ask("server/discover", headers={**dict.fromkeys(("Mcp-Method", "MCP-Protocol-Version"), None), **lower})
        self._is_answered("the names of headers may be in any case", exchange, page)
        for what, value in (("is missing", None), ("is another one", "tools/list")):
            exchange = self.ask("server/discover", headers={"Mcp-Method": value})
            self._is_refused(f"a request whose Mcp-Method {what} is refused with -32020", exchange, -32020, 400, page)
        if "tools" in self.listed:
            for what, value in (("is missing", None), ("is another one", "another_tool")):
                exchange = self.ask("tools/call", params, headers={"Mcp-Name": value})
                self._is_refused(f"a call whose Mcp-Name {what} is refused with -32020", exchange, -32020, 400, page)
        for what, value in (("is missing", None), ("is another one", OLDER[0])):
            name = f"a request whose MCP-Protocol-Version {what} is refused"
            exchange = self.ask("server/discover", headers={"MCP-Protocol-Version": value}, heard=not self.dual)
            if self.dual:
                # A server of both eras may go by the header, and answer as it does to older clients.
                refused = (exchange.status or 0) // 100 == 4 or exchange.code is not None
                problem = "" if refused else f"there was {exchange.brief}"
                self._check(name, problem, page)
            else:
                self._is_refused(f"{name} with -32020", exchange, -32020, 400, page)
        self._parameters()
        exchange = self.ask("server/discover", headers={"Mcp-Session-Id": "of-another-time", "Last-Event-ID": "7"})
        self._is_answered("a session id that is left over is ignored", exchange, page)
        notice = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1, "_meta": envelope()}}
        status = wire.tell(notice).status or 0
        self._check(
            "a notification is accepted with 202, or refused",
            "" if status == 202 or status // 100 == 4 else f"HTTP {status}",
            page,
            should=True,
        )
        for verb in ("GET", "DELETE"):
            exchange = wire.send(verb, None, {**wire.headers, "Accept": "text/event-stream", "MCP-Protocol-Version": MODERN}, hold=0.8)
            fits = (exchange.status or 0) // 100 == 4 if self.dual else exchange.status == 405
            self._check(
                f"a {verb} is refused{'' if self.dual else ' with 405'}", "" if fits else f"HTTP {exchange.status}", page, should=True
            )
        # What a page sends whose name was made to lead to this machine.
        exchange = self.ask(
            "server/discover", headers={"Host": f"rebound.example:{wire.url.port}", "Origin": f"http://rebound.example:{wire.url.port}"}
        )
        problem = "" if (exchange.status or 0) // 100 == 4 else f"HTTP {exchange.status}"
        self._check("a request for a foreign Host is refused", problem, page, should=True)

    def _parameters(self) -> None:
        """Arguments that headers repeat, of the tools that are called at all."""
        page = "basic/transports/streamable-http"
        for given in self.plan.of(self.listed.get("tools", ())):
            right = repeated(self._schemas.get(given.name), given.arguments)
            if not right:
                continue
            params = {"name": given.name, "arguments": given.arguments}
            exchange = self.ask("tools/call", params)
            problem = "" if exchange.response is not None and exchange.code != -32020 else f"there was {exchange.brief}"
            self._check(f"{given.name} takes the headers of its arguments", problem, page)
            for what, value in (("is missing", None), ("is another one", "something else")):
                exchange = self.ask("tools/call", params, headers={next(iter(right)): value})
                name = f"a call of {given.name} with a header that {what} is refused with -32020"
                self._is_refused(name, exchange, -32020, 400, page)

    # -- the end ------------------------------------------------------------------
    def _refuses_the_handshake(self) -> None:
        wire = self.server.connect()
        message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": handshake(OLDER[1])}
        exchange = wire.ask(message, headers={"MCP-Protocol-Version": None, "Mcp-Method": None})
        self._check("initialize is refused", "" if exchange.error is not None else f"there was {exchange.brief}", "basic/versioning")
        named = MODERN in json.dumps(exchange.error)
        self._check("the refusal names 2026-07-28", "" if named else f"it is {exchange.brief}", "basic/versioning", should=True)
        wire.close()

    def _last(self) -> None:
        ledger = self.ledger
        faults = list(ledger.faults)
        more = f" (and {len(faults) - 4} more)" if len(faults) > 4 else ""
        self._check(
            "every message is what the schema says", "; ".join(faults[:4]) + more if faults else "", detail=f"{ledger.heard} messages"
        )
        self._check("no retired error code is sent", ledger.said_with(RETIRED), "basic/index")
        undefined = ledger.said_with(range(-32099, -32019), but=DEFINED | RETIRED)
        self._check("no error code is sent that the specification keeps for itself", undefined, "basic/index")
        self._check(
            "no error code of the older range is sent", ledger.said_with(range(-32019, -31999), but=RETIRED), "basic/index", should=True
        )
        self._check("the server sends no request", ", ".join(ledger.asked), "basic/patterns/index")
        self._check("no log message is sent that was not asked for", ", ".join(ledger.logged), "server/utilities/logging")
        if isinstance(self.wire, Stdio):
            page, strange = "basic/transports/stdio", "; ".join([*self.strange, *self.wire.strange][:3])
            self._check("the process stays until its input ends", ", ".join(self.deaths), page)
            self._check("nothing but messages is written to standard output", strange, page)
        else:
            problem = "; ".join(self.wire.strange[:3])
            self._check("what is called JSON is JSON", problem, "basic/transports/streamable-http")
            self._check("no session id is sent", ", ".join(ledger.sessions), "basic/transports/streamable-http", should=True)
        self.wire.close()


def _may_ask(one: Any) -> bool:
    kinds = {"elicitation/create", "sampling/createMessage", "roots/list"}
    return isinstance(one, dict) and str(one.get("method")) in kinds and not one.keys() & {"jsonrpc", "id"}


def _names(listed: Any, one: str) -> bool:
    return isinstance(listed, list) and one in listed
