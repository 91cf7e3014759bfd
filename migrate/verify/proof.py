"""Verifies one server, or compares it with what it was at another revision of its repository."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .compare import compare
from .ledger import Check, Ledger, Outcome
from .messages import NOTHING, Notice, Plan
from .modern import Modern
from .older import walk
from .server import Target, up


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
    """What is asked of a server beside its duties."""

    dual: bool = True
    plan: Plan = NOTHING
    notices: Sequence[Notice] = ()


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
        compare(before, target, ledger, plan=wishes.plan, dual=wishes.dual, name=name)
    proof = Proof(target.stdio or target.start or target.url, wishes.dual, tuple(ledger.checks))
    return proof if proof.holds() else Proof(proof.server, proof.dual, proof.checks, log)
