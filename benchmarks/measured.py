"""What `autonomy.py` finds out about each project."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from judging import Verdict

ERAS = ("dual", "modern")
UNWIRED = "MCP301"


class Left(NamedTuple):
    """A finding that is still there after `fix`."""

    rule: str
    name: str
    severity: str
    path: str
    line: int
    function: str  # in which it is
    hint: str

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}" + (f" in `{self.function}`" if self.function else "")

    def __str__(self) -> str:
        return f"{self.place}: {self.hint.removeprefix('not wired: ')}"


@dataclass(frozen=True, slots=True)
class Fixed:
    """What `fix` made of one project in one era."""

    wired: tuple[str, ...]
    left: tuple[Left, ...]
    aside: tuple[tuple[Left, str], ...] = ()  # looks like a dispatcher, serves nobody, and why
    added: int = 0
    removed: int = 0
    trouble: str = ""

    @property
    def unwired(self) -> list[Left]:
        return [left for left in self.left if left.rule == UNWIRED]

    @property
    def whole(self) -> bool:
        return bool(self.wired) and not self.unwired and not self.trouble


@dataclass(slots=True)
class Start:
    """One way to start one project."""

    how: str
    judged: dict[str, Verdict] = field(default_factory=dict)
    session: dict[str, str] | None = None  # what an older client sent, and what it gets that differs; None: not started
    trouble: str = ""  # why it does not start

    @property
    def differs(self) -> list[str]:
        return list(self.session or ())


@dataclass(slots=True)
class Row:
    """One project."""

    name: str
    fixed: dict[str, Fixed] = field(default_factory=dict)
    starts: list[Start] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        return all(fixed.whole for fixed in self.fixed.values())

    @property
    def started(self) -> bool:
        """A way that does not start is told of, and does not hide the others."""
        return any(start.session is not None for start in self.starts)

    @property
    def same(self) -> bool:
        return not any(start.session for start in self.starts)

    @property
    def passes(self) -> bool:
        return self.same and all(verdict.passes for start in self.starts for verdict in start.judged.values())

    @property
    def clean(self) -> bool:
        return self.same and all(verdict.clean for start in self.starts for verdict in start.judged.values())

    @property
    def verdict(self) -> str:
        parts = ["wired" if self.whole else "not wired"]
        if self.started:
            parts.append("passes" if self.clean else "passes as before" if self.passes else "FAILS")
        return ", ".join(parts)
