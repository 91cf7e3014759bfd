"""What a server of 2026-07-28 owes to HTTP: headers that repeat the message, verbs, sessions of another time, foreign hosts."""

from __future__ import annotations

from .messages import MODERN, OLDER, envelope, in_base64, repeated, usual_headers
from .talk import NO_TOOL, Talk
from .wire import Http


def check(talk: Talk, wire: Http) -> None:
    """Sends requests whose headers are right, missing and wrong, and verbs that the revision does not have."""
    page = "basic/transports/streamable-http"
    params = {"name": NO_TOOL, "arguments": {}}
    exchange = talk.ask("tools/call", params, headers={"Mcp-Name": in_base64(NO_TOOL)})
    problem = "" if exchange.response is not None and exchange.code != -32020 else f"there was {exchange.brief}"
    talk.check("a Mcp-Name in Base64 is decoded", problem, page)
    lower = {name.lower(): value for name, value in usual_headers(talk.message("server/discover")).items()}
    exchange = talk.ask("server/discover", headers={**dict.fromkeys(("Mcp-Method", "MCP-Protocol-Version"), None), **lower})
    talk.is_answered("the names of headers may be in any case", exchange, page)
    for what, value in (("is missing", None), ("is another one", "tools/list")):
        exchange = talk.ask("server/discover", headers={"Mcp-Method": value})
        talk.is_refused(f"a request whose Mcp-Method {what} is refused with -32020", exchange, -32020, 400, page)
    if "tools" in talk.listed:
        for what, value in (("is missing", None), ("is another one", "another_tool")):
            exchange = talk.ask("tools/call", params, headers={"Mcp-Name": value})
            talk.is_refused(f"a call whose Mcp-Name {what} is refused with -32020", exchange, -32020, 400, page)
    for what, value in (("is missing", None), ("is another one", OLDER[0])):
        name = f"a request whose MCP-Protocol-Version {what} is refused"
        exchange = talk.ask("server/discover", headers={"MCP-Protocol-Version": value}, heard=not talk.dual)
        if talk.dual:
            # A server of both eras may go by the header, and answer as it does to older clients.
            refused = (exchange.status or 0) // 100 == 4 or exchange.code is not None
            problem = "" if refused else f"there was {exchange.brief}"
            talk.check(name, problem, page)
        else:
            talk.is_refused(f"{name} with -32020", exchange, -32020, 400, page)
    _parameters(talk)
    exchange = talk.ask("server/discover", headers={"Mcp-Session-Id": "of-another-time", "Last-Event-ID": "7"})
    talk.is_answered("a session id that is left over is ignored", exchange, page)
    notice = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1, "_meta": envelope()}}
    status = wire.tell(notice).status or 0
    talk.check(
        "a notification is accepted with 202, or refused",
        "" if status == 202 or status // 100 == 4 else f"HTTP {status}",
        page,
        should=True,
    )
    for verb in ("GET", "DELETE"):
        exchange = wire.send(verb, None, {**wire.headers, "Accept": "text/event-stream", "MCP-Protocol-Version": MODERN}, hold=0.8)
        fits = (exchange.status or 0) // 100 == 4 if talk.dual else exchange.status == 405
        talk.check(f"a {verb} is refused{'' if talk.dual else ' with 405'}", "" if fits else f"HTTP {exchange.status}", page, should=True)
    # What a page sends whose name was made to lead to this machine.
    exchange = talk.ask(
        "server/discover", headers={"Host": f"rebound.example:{wire.url.port}", "Origin": f"http://rebound.example:{wire.url.port}"}
    )
    problem = "" if (exchange.status or 0) // 100 == 4 else f"HTTP {exchange.status}"
    talk.check("a request for a foreign Host is refused", problem, page, should=True)


def _parameters(talk: Talk) -> None:
    """Arguments that headers repeat, of the tools that are called at all."""
    page = "basic/transports/streamable-http"
    for given in talk.plan.of(talk.listed.get("tools", ())):
        right = repeated(talk.schemas.get(given.name), given.arguments)
        if not right:
            continue
        params = {"name": given.name, "arguments": given.arguments}
        exchange = talk.ask("tools/call", params)
        problem = "" if exchange.response is not None and exchange.code != -32020 else f"there was {exchange.brief}"
        talk.check(f"{given.name} takes the headers of its arguments", problem, page)
        for what, value in (("is missing", None), ("is another one", "something else")):
            exchange = talk.ask("tools/call", params, headers={next(iter(right)): value})
            name = f"a call of {given.name} with a header that {what} is refused with -32020"
            talk.is_refused(name, exchange, -32020, 400, page)
