"""The migration guide: its sections, and which of them a project needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import yaml

from .catalog import PACKAGE, CatalogError, Loader
from .facts.model import FileFacts
from .project import Project

_FOLDER = "guide"
_FENCE = "---\n"
_FIELDS = frozenset({"title", "rules", "imports", "facts", "words", "tests", "beside", "otherwise"})

Wanted = Mapping[str, tuple[str, ...]]  # kinds of facts, and their keys; `*` for all


@dataclass(frozen=True, slots=True)
class Section:
    """One section: Markdown, and what has to be found in a project for it to apply. `rules` are ids or prefixes of them.

    A file is one that the section is about if it imports one of `imports`, or has one of `facts`, or, in a project that has the facts
    `beside`, holds one of `words`. Where a section `otherwise` is about no file, those with the facts `beside` are taken.
    A section about `tests` is about all of them where any file imports one of `imports`.
    """

    id: str
    title: str
    text: str
    rules: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    facts: Wanted | None = None
    words: tuple[str, ...] = ()
    beside: Wanted | None = None
    otherwise: str = ""
    tests: bool = False

    @property
    def always(self) -> bool:
        """Whether it is for everybody."""
        return not (self.imports or self.facts or self.words or self.tests)

    def covers(self, rule: str) -> bool:
        return any(rule.startswith(prefix) for prefix in self.rules)


@cache
def load() -> tuple[Section, ...]:
    """All sections in their order. Raises CatalogError for one that is not written as they are."""
    found = [file for file in files(PACKAGE).joinpath(_FOLDER).iterdir() if file.name.endswith(".md")]
    return tuple(_parse(file.name, file.read_text(encoding="utf-8")) for file in sorted(found, key=lambda file: file.name))


def choose(project: Project) -> list[tuple[Section, tuple[str, ...]]]:
    """The sections that a project needs, each with the files that it is about; none for what is for everybody.

    None is for a project without code that speaks MCP, or with no other than such that is written for 2026-07-28.
    """
    sections = load()
    about = {section.id: tuple(_files(section, project)) for section in sections}
    for section in sections:
        if section.otherwise and not about[section.id] and not about[section.otherwise]:
            if section.tests:
                about[section.id] = tuple(_tests(project))
            elif section.beside:
                about[section.id] = tuple(path for path, file in _read(project) if _has(file, section.beside))
    # Tests alone, which import no more than version 2 has, are of code that is moved already.
    if not any(about[section.id] for section in sections if not section.tests):
        return []
    return [(section, about[section.id]) for section in sections if section.always or about[section.id]]


def _files(section: Section, project: Project) -> Iterator[str]:
    if section.always or (section.beside and not any(_has(file, section.beside) for _, file in _read(project))):
        return
    if section.tests:
        if not section.imports or any(_imports(file, section.imports) for _, file in _read(project)):
            yield from _tests(project)
        return
    for path, file in _read(project):
        if _imports(file, section.imports) or _has(file, section.facts or {}) or _says(file, section.words):
            yield path


def _tests(project: Project) -> Iterator[str]:
    """The tests of a project that are about MCP."""
    return (path for path, file in _read(project) if project.is_test(path) and (file.facts or _imports(file, ("mcp", "fastmcp"))))


def _read(project: Project) -> Iterator[tuple[str, FileFacts]]:
    """What was read of the given paths: code, then the files beside it."""
    both: Iterable[tuple[str, FileFacts]] = (*project.files.items(), *project.manifests.items())
    return ((path, file) for path, file in both if path not in project.outside)


def _imports(file: FileFacts, wanted: tuple[str, ...]) -> bool:
    targets = (*file.imports.values(), *file.stars, *file.hidden) if wanted else ()
    return any(target == name or target.startswith(f"{name}.") for target in targets for name in wanted)


def _has(file: FileFacts, wanted: Wanted) -> bool:
    return any("*" in keys or fact.key in keys for fact in file.facts if (keys := wanted.get(type(fact).__name__)))


def _says(file: FileFacts, words: tuple[str, ...]) -> bool:
    return any(word.encode() in file.source.utf8 for word in words)


def _parse(name: str, text: str) -> Section:
    head, fence, body = text.removeprefix(_FENCE).partition(f"\n{_FENCE}")
    raw = yaml.load(head, Loader=Loader) if fence else None
    if not isinstance(raw, dict) or raw.keys() - _FIELDS or not isinstance(raw.get("title"), str):
        raise CatalogError(f"{_FOLDER}/{name}: does not begin with the fields of a section")
    return Section(
        id=name.removesuffix(".md").partition("-")[2],
        title=raw["title"],
        text=body.strip() + "\n",
        rules=tuple(raw.get("rules", ())),
        imports=tuple(raw.get("imports", ())),
        facts=_wanted(raw.get("facts")),
        words=tuple(raw.get("words", ())),
        beside=_wanted(raw.get("beside")),
        otherwise=raw.get("otherwise", ""),
        tests=raw.get("tests") == "yes",
    )


def _wanted(raw: Mapping[str, list[str]] | None) -> Wanted | None:
    return None if raw is None else {kind: tuple(keys) for kind, keys in raw.items()}
