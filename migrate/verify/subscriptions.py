"""Subscriptions to a server of 2026-07-28: what it agrees to, and what it tells of."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

from .messages import SUBSCRIPTION, Message, table
from .talk import GROUP, LISTS, Talk
from .wire import Stdio, Wire


def listen(talk: Talk) -> None:
    """Opens a subscription to all that can change, and cancels it."""
    offered = _offered(talk)
    changes: Message = {**{f"{kind}ListChanged": True for kind in LISTS}, "resourceSubscriptions": ["test://watched"]}
    wire = talk.server.connect()
    # On a connection of its own, so that a first message may be awaited as long as a server takes to start.
    exchange = talk.ask("subscriptions/listen", {"notifications": changes}, number="listen", hold=1.2, wire=wire)
    page = "basic/patterns/subscriptions"
    if exchange.code == -32601 and not offered:
        talk.ledger.skipped(GROUP, "subscriptions/listen", "the server tells of no changes")
    else:
        first = next((one for one in exchange.messages if isinstance(one, dict)), {})
        is_first = first.get("method") == "notifications/subscriptions/acknowledged"
        problem = "" if is_first else f"the first message is {json.dumps(first)[:160] if first else 'missing'}"
        if talk.check("subscriptions/listen is acknowledged first", problem, page):
            params = table(first.get("params"))
            tag = table(params.get("_meta")).get(SUBSCRIPTION)
            talk.check("the acknowledgement names its subscription", "" if tag == "listen" else f"subscriptionId is {tag!r}", page)
            agreed = {key for key, value in table(params.get("notifications")).items() if value}
            problem = "" if agreed == offered else f"it agrees to {sorted(agreed)}; server/discover offers {sorted(offered)}"
            talk.check("it agrees to what server/discover offers", problem, page, should=True)
            talk.check("the subscription stays open", "" if exchange.response is None else f"there was {exchange.brief}", page)
        if isinstance(wire, Stdio):
            wire.tell({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "listen"}})
            exchange = talk.ask("server/discover", wire=wire)
            talk.is_answered("the server goes on when a subscription is cancelled", exchange, "basic/patterns/cancellation")
    wire.close()


def notices(talk: Talk) -> None:
    """Makes the calls of which a subscription has to hear."""
    page = "basic/patterns/subscriptions"
    for number, (given, method, uri) in enumerate(talk.notices):
        kind = method.split("/")[1] if method.endswith("/list_changed") else ""
        changes: Message = {f"{kind}ListChanged": True} if kind else {"resourceSubscriptions": [uri]}
        key, seen = f"notice-{number}", list[Any]()
        wire = talk.server.connect()
        call = {"name": given.name, "arguments": given.arguments}
        if isinstance(wire, Stdio):
            seen += talk.ask("subscriptions/listen", {"notifications": changes}, number=key, hold=0.3, wire=wire).messages
            seen += talk.ask("tools/call", call, wire=wire).messages + wire.more(0.5)
        else:
            listening = threading.Thread(target=_hear, args=(talk, seen, changes, key, wire))
            listening.start()
            time.sleep(0.6)
            talk.ask("tools/call", call)
            listening.join()
        told = [one for one in seen if isinstance(one, dict) and one.get("method") == method]
        own = [one for one in told if table(table(one.get("params")).get("_meta")).get(SUBSCRIPTION) == key]
        own = [one for one in own if not uri or one["params"].get("uri") == uri]
        problem = "" if len(own) == 1 == len(told) else f"{len(own)} of {len(told)} came with the subscription's id"
        talk.check(f"a call of {given.name} brings {method}", problem, page)
        wire.close()


def _offered(talk: Talk) -> frozenset[str]:
    found = {f"{kind}ListChanged" for kind in LISTS if table(talk.capabilities.get(kind)).get("listChanged")}
    return frozenset(found | ({"resourceSubscriptions"} if table(talk.capabilities.get("resources")).get("subscribe") else set()))


def _hear(talk: Talk, seen: list[Any], changes: Message, key: str, wire: Wire) -> None:
    seen += talk.ask("subscriptions/listen", {"notifications": changes}, number=key, hold=2.0, wire=wire).messages
