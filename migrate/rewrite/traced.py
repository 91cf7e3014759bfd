"""A project that remembers what a proof has asked it, so that nobody makes the proof again while a later project gives the same answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Protocol

from ..facts.model import FileFacts

Question = tuple[str, ...]
Answer = FileFacts | tuple[str, ...] | frozenset[str] | None


class Asked(Protocol):
    """What proofs about hand-written code ask of a project."""

    @property
    def files(self) -> Mapping[str, FileFacts]: ...
    @property
    def packages(self) -> frozenset[str]: ...
    def module(self, name: str, importer: str = "") -> FileFacts | None: ...
    def imports(self, path: str) -> tuple[str, ...]: ...
    def importers(self, path: str) -> tuple[str, ...]: ...


class Traced:
    """A project as a proof sees it. `asked` grows with each question."""

    def __init__(self, project: Asked, asked: Mapping[Question, Answer] | None = None) -> None:
        self._project = project
        self.asked: dict[Question, Answer] = dict(asked or {})
        self.files: Mapping[str, FileFacts] = _Files(self)

    @property
    def packages(self) -> frozenset[str]:
        return self.ask("packages")  # type: ignore[return-value]

    def module(self, name: str, importer: str = "") -> FileFacts | None:
        return self.ask("module", name, importer)  # type: ignore[return-value]

    def imports(self, path: str) -> tuple[str, ...]:
        return self.ask("imports", path)  # type: ignore[return-value]

    def importers(self, path: str) -> tuple[str, ...]:
        return self.ask("importers", path)  # type: ignore[return-value]

    def ask(self, *question: str) -> Answer:
        """The answer of the project, which is remembered."""
        if question not in self.asked:
            self.asked[question] = _answer(self._project, question)
        return self.asked[question]


def holds(asked: Mapping[Question, Answer], project: Asked) -> bool:
    """Whether a project gives the same answers, as far as proofs look at them: the facts that rules are told are none of their matter."""
    return all(_is_same(answer, _answer(project, question)) for question, answer in asked.items())


def _answer(project: Asked, question: Question) -> Answer:
    match question:
        case ("file", path):
            return project.files.get(path)
        case ("module", name, importer):
            return project.module(name, importer)
        case ("imports", path):
            return project.imports(path)
        case ("importers", path):
            return project.importers(path)
    return project.packages


def _is_same(one: Answer, other: Answer) -> bool:
    if one is other or not isinstance(one, FileFacts) or not isinstance(other, FileFacts):
        return one == other
    # Most texts are the same object; what is read of a text depends on nothing else, but for the boundaries that a forecast adds or takes.
    return one.source is other.source and replace(one, facts=()) == replace(other, facts=())


class _Files(Mapping[str, FileFacts]):
    """The files, which a proof asks for by their paths alone."""

    def __init__(self, traced: Traced) -> None:
        self._traced = traced

    def __getitem__(self, path: str) -> FileFacts:
        found = self._traced.ask("file", path)
        if not isinstance(found, FileFacts):
            raise KeyError(path)
        return found

    def __iter__(self) -> Iterator[str]:
        raise TypeError("a proof that goes through all files depends on all of them")

    def __len__(self) -> int:
        raise TypeError("a proof that counts all files depends on all of them")
