"""A client of the handshake era: is it served as it always was?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import count

from .ledger import Ledger
from .messages import NOTHING, OLDER, PAGES, Call, Message, Plan, answer, handshake, listed, said, table, wanted
from .schema import schema
from .server import Server
from .wire import Exchange, Http

GROUP = "older clients"
_VERSIONS = OLDER[:2]
_NO_TOOL = "no_such_tool"
_NO_RESOURCE = "test://no-such-resource"


class Older:
    """One session of a client that begins with `initialize`."""

    def __init__(self, server: Server, ledger: Ledger, version: str, plan: Plan = NOTHING) -> None:
        self.server, self.ledger, self.version, self.plan = server, ledger, version, plan
        self.wire = server.connect()
        self.wire.responder = _answered
        self.headers: dict[str, str | None] = {"MCP-Protocol-Version": None, "Mcp-Method": None, "Mcp-Name": None}
        self.capabilities: Message = {}
        self.listed: dict[str, list[Message]] = {}
        self.transcript: dict[str, str] = {}  # what the server said, by what it was asked
        self.faults: dict[str, None] = {}
        self._ids = count(1)

    def run(self) -> None:
        """Checks what a client of this revision sees, from the handshake on."""
        try:
            if self._connect():
                self._walk()
                self._check("every message is what the schema of 2025-11-25 says", "; ".join(list(self.faults)[:4]))
        finally:
            self.wire.close()

    def ask(self, method: str, params: Mapping[str, object] | None = None, *, name: str = "") -> Exchange:
        """Asks, and keeps the answer under the name."""
        message = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, **({} if params is None else {"params": params})}
        exchange = self.wire.ask(message, headers=self.headers)
        for one in exchange.messages:
            self.faults.update(dict.fromkeys(f"{method}: {fault}" for fault in schema("2025-11-25").faults(one, method)))
        self.transcript[name or method] = spoken(exchange)
        return exchange

    def _check(self, name: str, problem: str, *, should: bool = False, detail: str = "") -> bool:
        return self.ledger.check(GROUP, f"{self.version}: {name}", problem, should=should, detail=detail)

    def _is_answered(self, name: str, exchange: Exchange) -> bool:
        return self._check(name, "" if exchange.result is not None else f"a result was wanted; there was {exchange.brief}")

    def _connect(self) -> bool:
        exchange = self.ask("initialize", handshake(self.version))
        if not self._is_answered("initialize is answered", exchange):
            return False
        result = exchange.result or {}
        agreed = result.get("protocolVersion")
        problem = "" if agreed in OLDER else f"protocolVersion is {agreed!r}"
        self._check("initialize agrees to a version of the handshake era", problem)
        capabilities = result.get("capabilities")
        self.capabilities = capabilities if isinstance(capabilities, dict) else {}
        self.headers["MCP-Protocol-Version"] = str(agreed)
        if session := exchange.headers.get("mcp-session-id"):
            self.headers["Mcp-Session-Id"] = session
        told = self.wire.tell({"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=self.headers)
        if isinstance(self.wire, Http):
            status = told.status or 0
            self._check("notifications/initialized is accepted", "" if status // 100 == 2 else f"HTTP {status}")
        return True

    def _walk(self) -> None:
        self._is_answered("ping is answered", self.ask("ping"))
        for kind in ("tools", "resources", "prompts"):
            if kind in self.capabilities:
                self._list(kind)
        if "logging" in self.capabilities:
            # All that is logged is heard, as from a server that knows no levels, with which this one may be compared.
            self._is_answered("logging/setLevel is answered", self.ask("logging/setLevel", {"level": "debug"}))
        if "tools" in self.listed:
            for number, given in enumerate(self.plan.of(self.listed["tools"])):
                self._call(given, number)
            self.ask("tools/call", {"name": _NO_TOOL, "arguments": {}}, name="an unknown tool")
        if resources := self.listed.get("resources"):
            uri = resources[0].get("uri")
            self._is_answered("the first resource can be read", self.ask("resources/read", {"uri": uri}, name=f"resource {uri}"))
            if table(self.capabilities.get("resources")).get("subscribe"):
                self._is_answered("resources/subscribe is answered", self.ask("resources/subscribe", {"uri": uri}))
                self._is_answered("resources/unsubscribe is answered", self.ask("resources/unsubscribe", {"uri": uri}))
        if "resources" in self.capabilities:
            exchange = self.ask("resources/read", {"uri": _NO_RESOURCE}, name="an unknown resource")
            self._check("an unknown resource is refused", "" if exchange.error is not None else f"there was {exchange.brief}")
        if prompts := self.listed.get("prompts"):
            name = prompts[0].get("name")
            exchange = self.ask("prompts/get", {"name": name, "arguments": wanted(prompts[0])}, name=f"prompt {name}")
            self._is_answered("the first prompt can be got", exchange)
        exchange = self.ask("no/such/method", {}, name="an unknown method")
        self._check("an unknown method is refused", "" if exchange.error is not None else f"there was {exchange.brief}")

    def _list(self, kind: str) -> None:
        """Everything of a kind, page by page."""
        method = f"{kind}/list"
        exchange = self.ask(method)
        if not self._is_answered(f"{method} is answered", exchange):
            return
        self.listed[kind] = []
        for number in range(2, PAGES + 2):
            self.listed[kind] += listed(exchange.result, kind)
            if number > PAGES or not (cursor := (exchange.result or {}).get("nextCursor")):
                break
            exchange = self.ask(method, {"cursor": cursor}, name=f"{method}, page {number}")
            if not self._is_answered(f"page {number} of {method} is answered", exchange):
                break

    def _call(self, given: Call, number: int) -> None:
        exchange = self.ask("tools/call", {"name": given.name, "arguments": given.arguments}, name=f"call {number + 1}: {given.name}")
        problem = "" if exchange.result is not None else f"a result was wanted; there was {exchange.brief}"
        if not problem and given.text and given.text not in said(exchange.result):
            problem = f"{given.text!r} is not in {said(exchange.result)[:120]!r}"
        self._check(f"a call of {given.name} is answered", problem)


def _answered(asked: Message) -> Message:
    """What a willing client of the handshake era answers to a request of the server."""
    return {"jsonrpc": "2.0", "id": asked["id"], "result": {} if asked["method"] == "ping" else answer(asked)}


def spoken(exchange: Exchange) -> str:
    """All that came for a request, without what HTTP adds, as one text that can be compared."""
    if exchange.trouble:
        return exchange.trouble
    return "\n".join(json.dumps(message, sort_keys=True, ensure_ascii=False) for message in exchange.messages)


def walk(server: Server, ledger: Ledger, plan: Plan = NOTHING) -> None:
    """A session for each version that older clients ask for most."""
    for version in _VERSIONS:
        Older(server, ledger, version, plan).run()
