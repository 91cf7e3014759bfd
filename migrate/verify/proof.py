"""Verifies one server, or compares it with what it was at another revision of its repository."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .ledger import Check, Ledger, Outcome
from .messages import NOTHING, Call, Plan
from .modern import Modern
from .older import Older, walk
from .process import CannotStart
from .server import Server, Target, up

COMPARED = "compared"

# The codes that the handshake era wants for a refusal. A server that refused with another one, and has the right one now, as
# servers on version 2 of the SDK do, was put right: that is worth a look, and breaks no client.
_REFUSALS = {"an unknown method": frozenset({-32601}), "an unknown resource": frozenset({-32002, -32602})}


@dataclass(frozen=True, slots=True)
class Proof:
    """All checks, and the last lines of the server's log where something failed."""

    server: str  # how it was reached
    dual: bool
    checks: tuple[Check, ...]
    log: str = ""

    def holds(self, *, strict: bool = False) -> bool:
        """Whether nothing failed; `strict` counts what a server only should do."""
        bad = {Outcome.FAILED, Outcome.WARNED} if strict else {Outcome.FAILED}
        return not any(check.outcome in bad for check in self.checks)


@dataclass(frozen=True, slots=True)
class Wishes:
    """What is asked of a server beside its duties. A notice is a call, the notification that it has to bring, and its URI."""

    dual: bool = True
    plan: Plan = NOTHING
    notices: Sequence[tuple[Call, str, str]] = ()


def verify(target: Target, wishes: Wishes, *, before: Target | None = None, name: str = "") -> Proof:
    """Talks to a server as clients of the eras do that it is to serve. Raises CannotStart when a command is not there.

    With `before`, older clients have to be told the same by that server, which is called `name`, and clients of 2026-07-28 have
    to find the same tools, resources and prompts.
    """
    ledger = Ledger()
    with up(target) as server:
        try:
            modern = Modern(server, ledger, dual=wishes.dual, plan=wishes.plan, notices=wishes.notices)
            modern.run()
            if wishes.dual:
                walk(server, ledger, wishes.plan)
        finally:
            log = server.log
    if before is not None:
        # Calls may have changed what there is: both servers are compared as they are when they have just been started.
        with up(target) as fresh:
            found = Modern(fresh, Ledger(), dual=wishes.dual)
            found.look()
            after = _older(fresh, wishes.plan) if wishes.dual else None
        was = _before(before, wishes.plan, name)
        _compare(was, after, found, ledger, name)
    proof = Proof(target.stdio or target.start or target.url, wishes.dual, tuple(ledger.checks))
    return proof if proof.holds() else Proof(proof.server, proof.dual, proof.checks, log)


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


def _message(said: str) -> dict[str, Any]:
    try:
        message = json.loads(said)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def _older(server: Server, plan: Plan) -> Older:
    older = Older(server, Ledger(), "2025-06-18", plan)
    older.run()
    return older


def _before(target: Target, plan: Plan, name: str) -> Older:
    """What the server of a revision tells older clients. Raises CannotStart, with the log of that server."""
    try:
        with up(target) as server:
            was = _older(server, plan)
            if "initialize" not in was.transcript or not was.listed.keys() | was.capabilities.keys():
                said = was.transcript.get("initialize", "no answer")[:200]
                raise CannotStart(f"it serves no older client: {said}\n{server.log}".strip())
    except CannotStart as error:
        reason, *log = str(error).split("\n", 1)
        way_out = "if it needs other packages, --against-command says how to run it"
        raise CannotStart("\n".join([f"the server of {name}: {reason}; {way_out}", *log])) from None
    return was


def _compare(was: Older, now: Older | None, modern: Modern, ledger: Ledger, name: str) -> None:
    from .masking import same

    if now is not None:
        for asked, said in was.transcript.items():
            answered = now.transcript.get(asked, "")
            is_same = same(_promised(said), _promised(answered)) if asked == "initialize" else same(said, answered)
            problem = "" if is_same else f"there was {said[:160]!r}, and now there is {answered[:160]!r}"
            right = _REFUSALS.get(asked, frozenset())
            put_right = _code(said) not in {None, *right} and _code(answered) in right
            ledger.check(COMPARED, f"older clients are told the same by {asked} as at {name}", problem, should=put_right)
            if asked == "initialize" and (_version(said) != _version(answered)):
                changed = f"there was {_version(said)!r}, and now there is {_version(answered)!r}"
                ledger.check(COMPARED, f"the server names the version that it named at {name}", changed, should=True)
    for kind, listed in was.listed.items():
        key = "uri" if kind == "resources" else "name"
        before, after = ([str(one.get(key)) for one in listed], [str(one.get(key)) for one in modern.listed.get(kind, ())])
        gone, new = sorted(set(before) - set(after)), sorted(set(after) - set(before))
        problem = "; ".join([*([f"gone: {', '.join(gone)}"] if gone else []), *([f"new: {', '.join(new)}"] if new else [])])
        ledger.check(COMPARED, f"2026-07-28 clients find the {kind} that {name} has", problem, detail=f"{len(before)} {kind}")
