"""A conversation with a server as a client of 2026-07-28: what is asked, and what is noted of the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from .ledger import Ledger
from .messages import NOTHING, Message, Notice, Plan, envelope, listed, repeated
from .server import Server
from .wire import Exchange, Stdio, Wire

GROUP = "2026-07-28"
NO_TOOL = "no_such_tool"
LISTS = {"tools": "tools/list", "resources": "resources/list", "prompts": "prompts/list"}


class Talk:
    """One connection after the other to a server. `ledger` gets everything that was seen."""

    def __init__(self, server: Server, ledger: Ledger, *, dual: bool, plan: Plan = NOTHING, notices: Sequence[Notice] = ()) -> None:
        self.server, self.ledger, self.dual, self.plan, self.notices = server, ledger, dual, plan, notices
        self.capabilities: Message = {}
        self.listed: dict[str, list[Message]] = {}  # tools, resources and prompts, as they were listed
        self.strange: list[str] = []  # what processes wrote that have ended meanwhile
        self.deaths: dict[str, None] = {}  # the methods at which they ended
        self.schemas: dict[str, Any] = {}  # of the tools that were listed
        self._ids = count(1)
        self.wire: Wire = server.connect()

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
            headers = {**repeated(self.schemas.get(str(params.get("name"))), params.get("arguments")), **(headers or {})}
        exchange = (wire or self.wire).ask(self.message(method, params, meta, number), headers=headers, hold=hold)
        if exchange.trouble and wire is None and isinstance(self.wire, Stdio):
            # What comes next is asked of a new process, or one fault would be told many times.
            self.strange += self.wire.strange
            self.deaths[method] = None
            self.wire.close()
            self.wire = self.server.connect()
        if method == "tools/list":
            self.schemas.update((str(tool.get("name")), tool.get("inputSchema")) for tool in listed(exchange.result, "tools"))
        if heard:
            self.ledger.hear(exchange, method)
        return exchange

    # -- noting ---------------------------------------------------------------
    def check(self, name: str, problem: str, page: str = "", *, should: bool = False, detail: str = "") -> bool:
        """Notes a check, which fails for a problem; whether it holds."""
        return self.ledger.check(GROUP, name, problem, page=page, should=should, detail=detail)

    def is_answered(self, name: str, exchange: Exchange, page: str = "") -> bool:
        """Whether a result came, as HTTP wants it."""
        problem = "" if exchange.result is not None else f"a result was wanted; there was {exchange.brief}"
        if not problem and exchange.status not in (None, 200):
            problem = f"a result comes with HTTP 200; there was {exchange.status}"
        return self.check(name, problem, page)

    def is_refused(
        self, name: str, exchange: Exchange, code: int, status: int | None, page: str = "", *, should: bool = False, more: str = ""
    ) -> bool:
        """Whether this error came, with the id of its request and as HTTP wants it; `more` is said of another one."""
        problem = ""
        if exchange.code != code:
            problem = f"error {code} was wanted; there was {exchange.brief}{more}"
        elif (exchange.response or {}).get("id") != exchange.request.get("id"):
            problem = f"the error answers {(exchange.response or {}).get('id')!r}, and not {exchange.request.get('id')!r}"
        elif status is not None and exchange.status not in (None, status):
            problem = f"error {code} comes with HTTP {status}; there was {exchange.status}"
        return self.check(name, problem, page, should=should)

    def cached(self, what: str, exchange: Exchange) -> None:
        """Notes whether a result carries its cache hints."""
        result = exchange.result or {}
        ttl, scope = result.get("ttlMs"), result.get("cacheScope")
        fits = isinstance(ttl, int) and not isinstance(ttl, bool) and ttl >= 0 and scope in ("public", "private")
        problem = "" if fits else f"ttlMs is {ttl!r}, and cacheScope is {scope!r}"
        self.check(f"{what} says how long it may be kept", problem, "server/utilities/caching")
