"""Compares a server with what it was: are older clients told the same, and do those of 2026-07-28 find what there was?"""

from __future__ import annotations

import json

from . import fastmcp, logs
from .ledger import Ledger
from .masking import same
from .messages import Message, Plan
from .modern import Modern
from .older import Older
from .process import CannotStart
from .server import Server, Target, up

GROUP = "compared"
_VERSION = "2025-06-18"

# The codes that the handshake era wants for a refusal. A server that refused with another one, and has the right one now, as
# servers on version 2 of the SDK do, was put right: that is worth a look, and breaks no client.
_REFUSALS = {"an unknown method": frozenset({-32601}), "an unknown resource": frozenset({-32002, -32602})}


def compare(before: Target, after: Target, ledger: Ledger, *, plan: Plan, dual: bool, name: str) -> None:
    """Starts both servers and notes how they differ; `name` is what the former one is called. Raises CannotStart.

    Older clients are looked at where they are to be served (`dual`). Calls may change what there is, so `after` is started anew.
    """
    with up(after) as server:
        modern = Modern(server, Ledger(), dual=dual)
        modern.look()
        now = _session(server, plan) if dual else None
    was = _former(before, plan, name)
    if now is not None:
        _same_answers(was, now, ledger, name)
    _same_lists(was, modern, ledger, name)


def _session(server: Server, plan: Plan) -> Older:
    older = Older(server, Ledger(), _VERSION, plan)
    older.run()
    return older


def _former(target: Target, plan: Plan, name: str) -> Older:
    """What the server of a revision tells older clients. Raises CannotStart, with the log of that server."""
    try:
        with up(target) as server:
            was = _session(server, plan)
            if "initialize" not in was.transcript or not was.listed.keys() | was.capabilities.keys():
                said = was.transcript.get("initialize", "no answer")[:200]
                raise CannotStart(f"it serves no older client: {said}\n{logs.last(server.log)}".strip())
    except CannotStart as error:
        reason, *log = str(error).split("\n", 1)
        way_out = "if it needs other packages, --against-command says how to run it"
        raise CannotStart("\n".join([f"the server of {name}: {reason}; {way_out}", *log])) from None
    return was


def _same_answers(was: Older, now: Older, ledger: Ledger, name: str) -> None:
    for asked, said in was.transcript.items():
        answered = now.transcript.get(asked, "")
        plain = _promised if asked == "initialize" else _unnumbered
        is_same = same(plain(said), plain(answered))
        problem = "" if is_same else f"there was {said[:160]!r}, and now there is {answered[:160]!r}"
        right = _REFUSALS.get(asked, frozenset())
        put_right = _code(said) not in {None, *right} and _code(answered) in right
        # What the release of the library makes of a server that is moved as it should be is worth a look, and no fault of the move.
        by_itself = ""
        if not is_same and fastmcp.speaks(now.listed):
            by_itself = fastmcp.own(asked, _message(said), _message(answered), tasks=fastmcp.has_tasks(was.listed))
        if by_itself:
            problem = f"fastmcp 4 says this otherwise by itself: {by_itself}"
        ledger.check(GROUP, f"older clients are told the same by {asked} as at {name}", problem, should=put_right or bool(by_itself))
        if asked == "initialize" and (_version(said) != _version(answered)):
            changed = f"there was {_version(said)!r}, and now there is {_version(answered)!r}"
            ledger.check(GROUP, f"the server names the version that it named at {name}", changed, should=True)


def _same_lists(was: Older, modern: Modern, ledger: Ledger, name: str) -> None:
    for kind, listed in was.listed.items():
        key = "uri" if kind == "resources" else "name"
        before, after = ([str(one.get(key)) for one in listed], [str(one.get(key)) for one in modern.listed.get(kind, ())])
        gone, new = sorted(set(before) - set(after)), sorted(set(after) - set(before))
        problem = "; ".join([*([f"gone: {', '.join(gone)}"] if gone else []), *([f"new: {', '.join(new)}"] if new else [])])
        ledger.check(GROUP, f"2026-07-28 clients find the {kind} that {name} has", problem, detail=f"{len(before)} {kind}")


def _promised(said: str) -> str:
    """The answer to `initialize` without the version of the server, and without an empty `experimental`, which promises nothing."""
    message = _message(said)
    match message:
        case {"result": {"capabilities": {"experimental": {**rest}} as capabilities}} if not rest:
            del capabilities["experimental"]
    match message:
        case {"result": {"serverInfo": {"version": _} as info}}:
            del info["version"]
    return json.dumps(message, sort_keys=True, ensure_ascii=False) if message else said


def _unnumbered(said: str) -> str:
    """Messages without the numbers of the requests that they answer, of which a server that promises more is sent more."""
    lines = said.splitlines()
    for number, message in enumerate(map(_message, lines)):
        if message.pop("id", None) is not None:
            lines[number] = json.dumps(message, sort_keys=True, ensure_ascii=False)
    return "\n".join(lines)


def _version(said: str) -> str | None:
    match _message(said):
        case {"result": {"serverInfo": {"version": str(version)}}}:
            return version
    return None


def _code(said: str) -> int | None:
    """The code of the error that was the whole answer."""
    error = _message(said).get("error")
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) else None


def _message(said: str) -> Message:
    try:
        message = json.loads(said)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}
