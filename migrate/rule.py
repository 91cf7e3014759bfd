"""What rules are made of: findings, applicability, and the context in which a rule looks at a fact."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

from .facts.model import Fact, FileFacts
from .source import Span

if TYPE_CHECKING:
    from .project import Project
    from .rewrite.edits import Edit
    from .rewrite.tree import Tree
    from .sdk.modules import Module
    from .sdk.program import Program


class Era(str, Enum):
    """Which clients a fixed server is for: both, or those of 2026-07-28 only."""

    DUAL = "dual"
    MODERN = "modern"


class Aim(str, Enum):
    """What a run is for: to move code to the new release of the SDK, to have it run with both, or to hold its needs at the older one."""

    MOVE = "move"
    BOTH = "both"
    HOLD = "hold"


class Both(str, Enum):
    """What becomes of a rule where code has to run with both releases of the SDK."""

    SAME = "same"  # what its fix writes means the same to both
    OWN = "own"  # it has another fix for that: `keep`
    NONE = "none"  # nothing that it could write would run with both: its findings are for a human
    SILENT = "silent"  # what it finds is right for code that runs with both


class Applicability(IntEnum):
    """How far a fix can be trusted. `fix` applies SAFE ones, `--unsafe-fixes` also UNSAFE ones; MANUAL has no edit."""

    MANUAL = 0
    UNSAFE = 1
    SAFE = 2

    @property
    def word(self) -> str:
        return self.name.lower()


class Severity(IntEnum):
    """NOTE: advice. WARNING: deprecated or unstamped. ERROR: does not work, or silently works differently."""

    NOTE = 0
    WARNING = 1
    ERROR = 2

    @property
    def word(self) -> str:
        return self.name.lower()


class Import(NamedTuple):
    """A need: the name must be importable where the edit stands."""

    module: str
    name: str


class Either(NamedTuple):
    """A need: a name of the SDK that its releases have in different places, or under different names, under one name for the file.

    `exported` is whether others may take it from here, so that it stays though the file itself does not use it.
    """

    new: Import
    old: Import
    local: str
    exported: bool = False


class NewFile(NamedTuple):
    """A need: this file must exist beside the project's own, with this text. `path` is relative to the run's root.

    It takes the place of a file only if that one has the text `replaces`.
    """

    path: str
    text: str
    replaces: str | None = None


Need = Import | Either | NewFile


@dataclass(frozen=True, slots=True)
class Finding:
    """A fact that a rule objects to, at a place."""

    rule: str  # the id, such as MCP103
    name: str  # the rule's name, such as ping
    path: str
    span: Span
    message: str
    severity: Severity
    applicability: Applicability
    fact: Fact | None = None
    hint: str = ""  # what the fix does, why there is none, or what is left to decide
    document: bool = False  # whether it is about an example in a document


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the catalog: what and why. `match` maps a fact kind to the keys that the rule wants ("*" for all)."""

    id: str
    name: str
    pack: str
    title: str
    message: str
    messages: Mapping[str, str]  # fact kind -> message, where one sentence does not fit all
    match: Mapping[str, tuple[str, ...]]
    severity: Severity
    fix: str  # always, sometimes or never
    why: str
    instead: str
    spec: str
    covers: tuple[str, ...] = ()  # items of rules/spec.yaml, as "section/name"
    data: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # the numbers and words that the rule works with
    # What is said beside the message, by case: `safe`, `unsafe` and `manual` go with every finding of that applicability.
    hints: Mapping[str, str] = field(default_factory=dict)
    # It goes by names that other rules move: its fixes go first, and what stays is followed through the rewritten text.
    early: bool = False
    # It goes by what the code is like in the end: its fixes come when all others have had their turn.
    last: bool = False
    # Its fix may write a module beside the file, for which a document has no place.
    module: bool = False
    both: Both = Both.SAME  # what becomes of it where code has to run with both releases of the SDK
    group: str = ""  # the commit of a series that its fixes go with; "" for that of its pack

    @property
    def is_of_sdk(self) -> bool:
        """Whether it is about code that uses the SDK, or `fastmcp`."""
        return not self.match.keys().isdisjoint(("Symbol", "Standalone"))


@dataclass(frozen=True, slots=True)
class Group:
    """What one commit of a series holds: the fixes of rules that a reader wants to see together."""

    name: str
    title: str  # the subject of the commit
    why: str
    packs: tuple[str, ...]


class Rule(Protocol):
    """The module beside a catalog entry. `fix` is optional; so is `keep`, its other self where both releases of the SDK have to work."""

    def check(self, fact: Fact, ctx: Context) -> Iterator[Finding]: ...
    def fix(self, fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit | Need]: ...


@dataclass(frozen=True, slots=True)
class Context:
    """What a rule may ask beside the fact in its hand."""

    entry: Entry
    file: FileFacts
    project: Project
    era: Era = Era.DUAL
    aim: Aim = Aim.MOVE

    @property
    def keeps(self) -> bool:
        """Whether the code has to run with both releases of the SDK."""
        return self.aim is Aim.BOTH

    @property
    def sdk(self) -> Program:
        """The types of the project's expressions; there is one wherever there is a `Symbol`."""
        assert self.project.sdk is not None
        return self.project.sdk

    @property
    def module(self) -> Module:
        """The file as the typed wing reads it: its syntax tree, its scopes, the nodes at spans."""
        return self.sdk.module_at(self.file.source.path)

    def settled(self, fact: Fact) -> bool:
        """Whether this is legacy code that nothing has to change: in the dual era, behind a boundary."""
        return self.project.settled(self.file, fact, self.era)

    def wired(self, fact: Fact) -> bool:
        """Whether a boundary stands before this code, in either era."""
        return self.project.settled(self.file, fact, Era.DUAL)

    def says(self, words: Iterable[str]) -> bool:
        """Whether the file holds one of these words as a string of its own; comments and prose do not quote."""
        return any(self.project.says(self.file.source.path, f"{quote}{word}{quote}".encode()) for word in words for quote in "\"'")

    def finding(
        self,
        fact: Fact,
        applicability: Applicability = Applicability.MANUAL,
        *,
        message: str | None = None,
        severity: Severity | None = None,
        span: Span | None = None,
        hint: str = "",
    ) -> Finding:
        """A finding at the fact. `{fact.…}` in the catalog's message is filled from the fact."""
        text = message or self.entry.messages.get(type(fact).__name__, self.entry.message)
        return Finding(
            rule=self.entry.id,
            name=self.entry.name,
            path=self.file.source.path,
            span=span or fact.span,
            message=text.format(fact=fact),
            severity=self.entry.severity if severity is None else severity,
            applicability=applicability,
            fact=fact,
            hint=hint or self.entry.hints.get(applicability.word, ""),
        )
