"""Which files beside the code are read, by their names, and by whom. Others than these are never opened.

The names of 5,178 files cost 1 ms of CPU, the gate of the 128 that are read by theirs 1 ms, and what 88 of them say of the SDK 160 ms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from enum import Enum

from .. import documents
from ..facts.borrowed import BORROWED
from ..facts.model import Fact, FileFacts, Remark, Requirement
from ..source import Source

MAX_SIZE = 1_000_000  # what is longer holds data
TOPS = frozenset({"pyproject.toml", "setup.py", "setup.cfg", "Pipfile", ".git"})
"""What shows where a project begins: what lies further up belongs to another one."""

# What the text of a file has to hold, or nobody reads it: the names of the SDK and of its settings.
_WORDS = (b"mcp", b"FASTMCP_", b"filterwarnings")
# Files that say what is installed are asked for other packages, too.
_BORROWED = tuple(sorted({name.encode() for name in BORROWED.values()} - {b"certifi", b"httpcore"}))
_YAML = (".yml", ".yaml")
_CI = ("/.github/", "/.circleci/", "/.gitlab/", "/.forgejo/", "/.gitea/")


class Kind(Enum):
    """What reads a file."""

    PYPROJECT = "pyproject"
    REQUIREMENTS = "requirements"
    CFG = "cfg"
    SETUP = "setup"
    ENVIRONMENT = "environment"
    HOOKS = "hooks"
    UPDATES = "updates"
    COMMANDS = "commands"
    DOCUMENT = "document"
    PAGE = "page"  # a document of which only the settings of clients are read
    VARIABLES = "variables"


_NAMES = {
    "pyproject.toml": Kind.PYPROJECT,
    "Pipfile": Kind.PYPROJECT,
    "pixi.toml": Kind.PYPROJECT,
    "setup.cfg": Kind.CFG,
    "tox.ini": Kind.CFG,
    "pytest.ini": Kind.CFG,
    ".pytest.ini": Kind.CFG,
    "setup.py": Kind.SETUP,
    ".pre-commit-config.yaml": Kind.HOOKS,
    "dependabot.yml": Kind.UPDATES,
    "dependabot.yaml": Kind.UPDATES,
    "Makefile": Kind.COMMANDS,
    "makefile": Kind.COMMANDS,
    "GNUmakefile": Kind.COMMANDS,
    "justfile": Kind.COMMANDS,
    "Justfile": Kind.COMMANDS,
    "Procfile": Kind.COMMANDS,
    "Jenkinsfile": Kind.COMMANDS,
    "server.json": Kind.COMMANDS,
    "manifest.json": Kind.COMMANDS,
    "devcontainer.json": Kind.COMMANDS,
    ".mcp.json": Kind.COMMANDS,
    "mcp.json": Kind.COMMANDS,
    ".gitlab-ci.yml": Kind.COMMANDS,
    ".travis.yml": Kind.COMMANDS,
    "azure-pipelines.yml": Kind.COMMANDS,
    "bitbucket-pipelines.yml": Kind.COMMANDS,
    "smithery.yaml": Kind.COMMANDS,
    "render.yaml": Kind.COMMANDS,
}
_REQUIREMENTS = re.compile(r"(?:.*[-_.])?(?:requirements?|constraints?|overrides?|deps)(?:[-_.].*)?\.(?:txt|in|pip)", re.IGNORECASE)
_DOCKERFILE = re.compile(r"(?:.+\.)?(?:dockerfile|containerfile)(?:[.-](?!md$|txt$|dockerignore$).+)?", re.IGNORECASE)
_DOCUMENT = re.compile(
    r"(?:readme|install|installation|contributing|quickstart|getting[-_]started|usage)\b.*\.(?:md|rst|txt|mdx)", re.IGNORECASE
)
_ENVIRONMENT = re.compile(r"(?:.*[-_.])?(?:environment|conda)(?:[-_.].*)?\.ya?ml", re.IGNORECASE)
_COMPOSE = re.compile(r"(?:docker-)?compose(?:[.-].*)?\.ya?ml", re.IGNORECASE)
_CLIENT = re.compile(r".*(?:mcp|claude|cursor|cline).*\.json", re.IGNORECASE)
_VARIABLES = re.compile(r"\.env(?:\..+)?|.+\.env", re.IGNORECASE)


def kind_of(path: str) -> Kind | None:
    """What a file is, by its path; None for one that is not read."""
    name = path.rpartition("/")[2]
    if (kind := _NAMES.get(name)) is not None:
        return kind
    # Most files of a tree end here.
    if name.endswith((".txt", ".in", ".pip", ".md", ".rst", ".mdx")):
        if _REQUIREMENTS.fullmatch(name) or (f"/{path}".endswith(f"/requirements/{name}") and name.endswith((".txt", ".in"))):
            return Kind.REQUIREMENTS
        if _DOCUMENT.fullmatch(name):
            return Kind.DOCUMENT
        return Kind.PAGE if documents.is_document(name) and not documents.tells_of_past(name) else None
    if name.endswith(_YAML):
        if any(folder in f"/{path}" for folder in _CI) or _COMPOSE.fullmatch(name):
            return Kind.COMMANDS
        return Kind.ENVIRONMENT if _ENVIRONMENT.fullmatch(name) else None
    if name.endswith(".json"):
        return Kind.COMMANDS if _CLIENT.fullmatch(name) else None
    if name.endswith(".sh"):
        return Kind.COMMANDS
    if _DOCKERFILE.fullmatch(name):
        return Kind.COMMANDS
    return Kind.VARIABLES if _VARIABLES.fullmatch(name) else None


def installs(path: str) -> bool:
    """Whether a file says what is installed with the code; the others tell people and programs how to."""
    return kind_of(path) in (Kind.PYPROJECT, Kind.REQUIREMENTS, Kind.CFG, Kind.SETUP, Kind.ENVIRONMENT)


def may_ask(path: str, data: bytes) -> bool:
    """Whether a file may say something about the SDK, or what an installation of it brings along."""
    if len(data) > MAX_SIZE:
        return False
    if kind_of(path) is Kind.PAGE:
        return b'"sse"' in data and b'"mcpServers"' in data
    if any(word in data for word in _WORDS):
        return True
    return installs(path) and any(word in data for word in _BORROWED)


def read(source: Source) -> FileFacts:
    """What one file says. A file that its reader cannot follow says nothing."""
    found = sorted(dict.fromkeys(_facts(source)), key=lambda fact: fact.span)
    return FileFacts(source, "", tuple(found))


def _facts(source: Source) -> Iterator[Fact]:
    name = source.path.rpartition("/")[2]
    for reader in _readers(kind_of(source.path), name):
        try:
            yield from list(reader(source))
        except (ValueError, SyntaxError, RecursionError, MemoryError):  # Unread is a ValueError
            continue


def _readers(kind: Kind | None, name: str) -> Iterable[Callable[[Source], Iterable[Fact]]]:
    # A library is loaded for the first file that needs it.
    match kind:
        case Kind.PYPROJECT:
            from . import pyproject

            yield lambda source: pyproject.read(source.text, name)
        case Kind.REQUIREMENTS:
            from . import lines

            yield lambda source: lines.read_requirements(source.text, name)
        case Kind.CFG:
            from . import lines

            yield lambda source: lines.read_cfg(source.text, name)
            if name == "tox.ini":
                yield from _commands()
        case Kind.SETUP:
            from . import script

            yield script.setup
        case Kind.ENVIRONMENT:
            from . import settings

            yield lambda source: settings.read_environment(source.text)
        case Kind.HOOKS:
            from . import settings

            yield lambda source: settings.read_hooks(source.text)
        case Kind.UPDATES:
            from . import settings

            yield lambda source: settings.read_updates(source.text)
        case Kind.DOCUMENT:
            from . import pages

            yield pages.examples
            yield from _commands()
            yield from _entries()
        case Kind.PAGE:
            yield from _entries()
        case Kind.COMMANDS:
            yield from _commands()
            if name.endswith(".json"):
                yield from _entries()
        case Kind.VARIABLES:
            from . import commands

            yield lambda source: commands.variables(source.text)


def _commands() -> Iterable[Callable[[Source], Iterable[Fact]]]:
    from . import commands

    yield lambda source: commands.read(source.text, source.path)


def _entries() -> Iterable[Callable[[Source], Iterable[Fact]]]:
    from . import pages

    yield lambda source: pages.entries(source.text)


def objection(before: FileFacts, after: FileFacts, edited: frozenset[int]) -> str | None:
    """Why an edited file must not be written: it says something else than before, beside what was edited.

    `edited` are the numbers of the facts that were meant to change; new ones may come besides.
    """
    kept = [_said(fact) for number, fact in enumerate(before.facts) if number not in edited]
    left = iter([_said(fact) for fact in after.facts])
    if not all(any(one == other for other in left) for one in kept):
        return "the file would say something else as well"
    # What a remark is about may be gone, and the remark with it.
    remarks = sum(isinstance(before.facts[number], Remark) for number in edited)
    if len(after.facts) < len(before.facts) - remarks:
        return "the file would say less than before"
    return None


def _said(fact: Fact) -> tuple[object, ...]:
    match fact:
        case Requirement():
            return fact.key, fact.specifier, fact.extras, fact.place, fact.scope
        case Remark():
            return (fact.key,)
    return (type(fact).__name__, fact.key)
