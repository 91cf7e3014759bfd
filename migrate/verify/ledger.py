"""What has been checked, and everything that the server said meanwhile."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from .schema import schema
from .wire import Exchange

RETIRED = frozenset({-32002, -32042})
DEFINED = frozenset({-32020, -32021, -32022})


class Outcome(str, Enum):
    """How a check ended. A warning is a SHOULD that does not hold."""

    PASSED = "passed"
    FAILED = "failed"
    WARNED = "warned"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at; `page` is where the specification says it."""

    group: str
    name: str
    outcome: Outcome
    detail: str = ""
    page: str = ""


@dataclass
class Ledger:
    """The checks of one run, in order."""

    checks: list[Check] = field(default_factory=list)
    heard: int = 0  # messages of the current revision
    faults: dict[str, None] = field(default_factory=dict)  # of messages that are not as the schema says
    codes: dict[tuple[int, str], None] = field(default_factory=dict)
    asked: dict[str, None] = field(default_factory=dict)  # requests that came from the server
    logged: dict[str, None] = field(default_factory=dict)  # log messages that nobody asked for
    sessions: dict[str, None] = field(default_factory=dict)  # methods that were answered with a session

    def passed(self, group: str, name: str, detail: str = "", page: str = "") -> None:
        """Notes a check that holds."""
        self.checks.append(Check(group, name, Outcome.PASSED, _line(detail), page))

    def skipped(self, group: str, name: str, detail: str) -> None:
        """Notes a check that could not be made, and why."""
        self.checks.append(Check(group, name, Outcome.SKIPPED, _line(detail)))

    def check(self, group: str, name: str, problem: str, *, page: str = "", should: bool = False, detail: str = "") -> bool:
        """Notes a check, which fails for a problem; `should` makes a warning of that. Whether it holds."""
        outcome = Outcome.PASSED if not problem else Outcome.WARNED if should else Outcome.FAILED
        self.checks.append(Check(group, name, outcome, _line(problem or detail), page))
        return not problem

    def hear(self, exchange: Exchange, method: str) -> None:
        """Takes in all that came for a request of the current revision."""
        for message in exchange.messages:
            self.heard += 1
            self.faults.update(dict.fromkeys(f"{method}: {fault}" for fault in schema().faults(message, method)))
            if not isinstance(message, dict):
                continue
            if "method" in message and "id" in message:
                self.asked[f"{message['method']} during {method}"] = None
            elif message.get("method") == "notifications/message":
                self.logged[f"during {method}"] = None
            error = message.get("error")
            if isinstance(error, dict) and isinstance(error.get("code"), int):
                self.codes[error["code"], method] = None
        if exchange.headers.get("mcp-session-id"):
            self.sessions[method] = None

    def said_with(self, codes: range | frozenset[int], *, but: frozenset[int] = frozenset()) -> str:
        """Where error codes of these were sent, as `code on method`; "" if nowhere."""
        return ", ".join(f"{code} on {method}" for code, method in self.codes if code in codes and code not in but)


def _line(text: Any) -> str:
    return " ".join(str(text).split())[:400]
