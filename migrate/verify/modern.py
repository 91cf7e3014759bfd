"""A client of 2026-07-28: every duty of a server of that revision that can be seen from outside."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from . import features, headers, subscriptions
from .ledger import DEFINED, RETIRED
from .messages import MODERN, OLDER, SERVER, Message, envelope, handshake
from .schema import schema
from .talk import LISTS, Talk
from .wire import Http, Stdio

_REMOVED: Mapping[str, Message] = {
    "initialize": handshake(MODERN),
    "ping": {},
    "logging/setLevel": {"level": "info"},
    "resources/subscribe": {"uri": "test://x"},
    "resources/unsubscribe": {"uri": "test://x"},
}


class Modern(Talk):
    """One walk through a server."""

    def run(self) -> None:
        """Checks all that can be seen from outside."""
        self._first()
        if not self._discover():
            self.wire.close()
            return
        self._envelope()
        self._removed()
        features.tools(self)
        features.resources(self)
        features.prompts(self)
        self._together()
        subscriptions.listen(self)
        subscriptions.notices(self)
        if isinstance(self.wire, Http):
            headers.check(self, self.wire)
        if not self.dual:
            self._refuses_the_handshake()
        self._last()

    def look(self) -> None:
        """Lists what there is, and calls nothing."""
        if self._discover():
            for kind in LISTS:
                features.all_of(self, kind)
        self.wire.close()

    # -- the walk ---------------------------------------------------------------
    def _first(self) -> None:
        wire = self.server.connect()
        exchange = self.ask("tools/list", wire=wire)
        if exchange.code == -32601:
            exchange = self.ask("resources/list", wire=wire)
        if exchange.code == -32601:
            exchange = self.ask("prompts/list", wire=wire)
        self.is_answered("a list is answered as the first message", exchange, "basic/index")
        if not isinstance(wire, Stdio):
            return
        took = wire.close()
        problem = "" if took is not None else "it had to be killed"
        self.check("the process leaves when its input ends", problem, "basic/transports/stdio", should=True)
        if self.plan.calls:
            wire = self.server.connect()
            given = self.plan.calls[0]
            exchange = self.ask("tools/call", {"name": given.name, "arguments": given.arguments}, wire=wire)
            self.is_answered(f"a call of {given.name} is answered as the first message", exchange, "basic/index")
            wire.close()

    def _discover(self) -> bool:
        exchange = self.ask("server/discover", number="discover")
        if not self.is_answered("server/discover is answered", exchange, "server/discover"):
            return False
        result = exchange.result or {}
        versions = result.get("supportedVersions")
        problem = "" if isinstance(versions, list) and MODERN in versions else f"supportedVersions is {versions!r}"
        self.check("server/discover offers 2026-07-28", problem, "server/discover")
        self.check("server/discover is what the schema says", "; ".join(schema().against("DiscoverResult", result)), "server/discover")
        meta = result.get("_meta")
        info = (meta if isinstance(meta, dict) else {}).get(SERVER)
        named = isinstance(info, dict) and bool(info.get("name") and info.get("version"))
        self.check("results name the server in _meta", "" if named else f"serverInfo is {info!r}", "basic/index", should=True)
        capabilities = result.get("capabilities")
        self.capabilities = capabilities if isinstance(capabilities, dict) else {}
        exchange = self.ask("server/discover", meta=envelope(client=False))
        self.is_answered("a request without clientInfo is served", exchange, "basic/index")
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
            self.is_refused(f"a request without {what} is refused with -32602", exchange, -32602, 400, "basic/index")
        for method in ("server/discover", "tools/list"):
            unknown = "1999-01-01"
            exchange = self.ask(method, meta=envelope(version=unknown))
            if self.is_refused(f"{method} of an unknown version is refused with -32022", exchange, -32022, 400, "basic/versioning"):
                data = (exchange.error or {}).get("data")
                told = isinstance(data, dict) and _names(data.get("supported"), MODERN) and data.get("requested") == unknown
                self.check(f"that error of {method} names the versions", "" if told else f"its data is {data!r}", "basic/versioning")
        if not self.dual:
            exchange = self.ask("tools/list", {}, meta={})
            problem = "" if exchange.error is not None else f"there was {exchange.brief}"
            self.check("tools/list without an envelope is refused", problem, "basic/index")

    def _removed(self) -> None:
        page = "basic/transports/streamable-http"
        self.is_refused("an unknown method is refused with -32601", self.ask("no/such/method"), -32601, 404, page)
        for method, params in _REMOVED.items():
            exchange = self.ask(method, params)
            if method == "initialize" and exchange.status is None:
                # Over standard streams the specification leaves the code to the server.
                problem = "" if exchange.error is not None else f"there was {exchange.brief}"
                self.check("initialize in a 2026-07-28 request is refused", problem, "basic/versioning")
            else:
                self.is_refused(f"{method}, which is removed, is refused with -32601", exchange, -32601, 404, page)

    def _together(self) -> None:
        messages = [self.message(method, number=f"both-{number}") for number, method in enumerate(("server/discover", "server/discover"))]
        exchanges = self.wire.together(messages)
        lost = [exchange.brief for exchange in exchanges if exchange.result is None]
        self.check("two requests at once are both answered", "; ".join(lost), "basic/index")

    # -- the end ------------------------------------------------------------------
    def _refuses_the_handshake(self) -> None:
        wire = self.server.connect()
        message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": handshake(OLDER[1])}
        exchange = wire.ask(message, headers={"MCP-Protocol-Version": None, "Mcp-Method": None})
        self.check("initialize is refused", "" if exchange.error is not None else f"there was {exchange.brief}", "basic/versioning")
        named = MODERN in json.dumps(exchange.error)
        self.check("the refusal names 2026-07-28", "" if named else f"it is {exchange.brief}", "basic/versioning", should=True)
        wire.close()

    def _last(self) -> None:
        ledger = self.ledger
        faults = list(ledger.faults)
        more = f" (and {len(faults) - 4} more)" if len(faults) > 4 else ""
        self.check(
            "every message is what the schema says", "; ".join(faults[:4]) + more if faults else "", detail=f"{ledger.heard} messages"
        )
        self.check("no retired error code is sent", ledger.said_with(RETIRED), "basic/index")
        undefined = ledger.said_with(range(-32099, -32019), but=DEFINED | RETIRED)
        self.check("no error code is sent that the specification keeps for itself", undefined, "basic/index")
        self.check(
            "no error code of the older range is sent", ledger.said_with(range(-32019, -31999), but=RETIRED), "basic/index", should=True
        )
        self.check("the server sends no request", ", ".join(ledger.asked), "basic/patterns/index")
        self.check("no log message is sent that was not asked for", ", ".join(ledger.logged), "server/utilities/logging")
        if isinstance(self.wire, Stdio):
            page, strange = "basic/transports/stdio", "; ".join([*self.strange, *self.wire.strange][:3])
            self.check("the process stays until its input ends", ", ".join(self.deaths), page)
            self.check("nothing but messages is written to standard output", strange, page)
        else:
            problem = "; ".join(self.wire.strange[:3])
            self.check("what is called JSON is JSON", problem, "basic/transports/streamable-http")
            self.check("no session id is sent", ", ".join(ledger.sessions), "basic/transports/streamable-http", should=True)
        self.wire.close()


def _names(listed: Any, one: str) -> bool:
    return isinstance(listed, list) and one in listed
