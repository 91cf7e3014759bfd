"""The catalog: every rule's entry, read from the YAML beside its module."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import TypeGuard, cast

import yaml

from .facts.model import Defined, Fact
from .rule import Context, Entry, Group, Rule, Severity

PACKAGE = f"{__package__}.rules"
ANY = "*"
_SHARED = "shared.yaml"  # what the findings of several rules say, and what several rules go by
FIX_WORDS = ("always", "sometimes", "never")

_REQUIRED = frozenset({"id", "title", "message", "severity", "fix", "why", "instead", "spec"})
_OPTIONAL = frozenset({"match", "messages", "covers", "data", "hints", "early", "last", "group"})

# Every scalar stays text: a revision is no date, and -32002 no number. With libyaml 45 entries cost some 20 ms of CPU, in pure Python 200.
Loader: type[yaml.BaseLoader] = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class CatalogError(ValueError):
    """An entry that is not written as entries are; the text names its file."""


@dataclass(frozen=True, slots=True)
class Catalog:
    """All entries by id, which of them want which facts, and the groups that their fixes are committed in."""

    entries: tuple[Entry, ...]
    table: Mapping[tuple[str, str], tuple[Entry, ...]]
    _named: Mapping[str, Entry] = field(repr=False)
    groups: tuple[Group, ...] = field(default=(), kw_only=True)

    def group_of(self, rule: str) -> int:
        """The place among the groups of the one that the fixes of a rule go with."""
        entry = self._named[rule]
        return next(
            number
            for number, group in enumerate(self.groups)
            if group.name == entry.group or (not entry.group and entry.pack in group.packs)
        )

    def rule(self, id_or_name: str) -> Entry | None:
        """The entry called so; ids in any case."""
        return self._named.get(id_or_name) or self._named.get(id_or_name.upper())

    def entries_for(self, fact: Fact) -> tuple[Entry, ...]:
        """The entries that match this fact by its kind and key; `*.name` matches dotted keys by their last part."""
        kind = type(fact).__name__
        named = self.table.get((kind, fact.key), ()) if isinstance(fact.key, str) else ()
        if isinstance(fact, Defined):
            named += self.table.get((kind, f"*.{str(fact.key).rpartition('.')[2]}"), ())
        return named + self.table.get((kind, ANY), ())

    def module(self, entry: Entry) -> Rule:
        """The module beside an entry, imported when it is first wanted."""
        return cast(Rule, importlib.import_module(f"{PACKAGE}.{entry.pack}.{entry.name}"))

    def obstacle(self, entry: Entry, ctx: Context) -> str:
        """Why nothing that the rules of an entry's pack want may be done to a file; a pack that knows of such reasons has `obstacle`."""
        try:
            pack = importlib.import_module(f"{PACKAGE}.{entry.pack}")
        except ModuleNotFoundError:  # an entry that no folder holds
            return ""
        find = getattr(pack, "obstacle", None)
        return cast(str, find(ctx)) if find is not None else ""


@cache
def load() -> Catalog:
    """Reads every entry of every pack. Raises CatalogError for what is not an entry."""
    shared = yaml.load(files(PACKAGE).joinpath(_SHARED).read_text(encoding="utf-8"), Loader=Loader)
    return build(_read_all(shared), tuple(_groups(shared)))


def build(found: Iterator[Entry], groups: tuple[Group, ...] = ()) -> Catalog:
    """The catalog of these entries. Raises CatalogError when two share an id or a name, or an entry names a group that is none."""
    entries = tuple(sorted(found, key=lambda entry: entry.id))
    named: dict[str, Entry] = {}
    table: dict[tuple[str, str], tuple[Entry, ...]] = {}
    for entry in entries:
        for word in (entry.id, entry.name):
            if word in named:
                raise CatalogError(f"{entry.pack}/{entry.name}: `{word}` is taken by {named[word].pack}/{named[word].name}")
            named[word] = entry
        if entry.group and entry.group not in {group.name for group in groups}:
            raise CatalogError(f"{entry.pack}/{entry.name}: no group is called `{entry.group}`")
        for kind, keys in entry.match.items():
            for key in keys:
                table[kind, key] = (*table.get((kind, key), ()), entry)
    return Catalog(entries, MappingProxyType(table), MappingProxyType(named), groups=groups)


def parse(pack: str, name: str, text: str) -> Entry:
    """One entry from the text of its file."""
    where = f"{pack}/{name}.yaml"
    raw = yaml.load(text, Loader=Loader)
    if not isinstance(raw, dict):
        raise CatalogError(f"{where}: is no mapping")
    if unknown := raw.keys() - _REQUIRED - _OPTIONAL:
        raise CatalogError(f"{where}: unknown field {', '.join(sorted(unknown))}")
    if missing := _REQUIRED - raw.keys():
        raise CatalogError(f"{where}: lacks {', '.join(sorted(missing))}")
    for word in _REQUIRED:
        if not isinstance(raw[word], str) or not raw[word].strip():
            raise CatalogError(f"{where}: `{word}` must be text")
    if raw["fix"] not in FIX_WORDS:
        raise CatalogError(f"{where}: `fix` must be one of {', '.join(FIX_WORDS)}")
    if raw["severity"].upper() not in Severity.__members__:
        raise CatalogError(f"{where}: `severity` must be error, warning or note")
    return Entry(
        id=raw["id"],
        name=name,
        pack=pack,
        title=_line(raw["title"]),
        message=_line(raw["message"]),
        messages=_texts(where, "messages", raw),
        match=_lists(where, "match", raw),
        severity=Severity[raw["severity"].upper()],
        fix=raw["fix"],
        why=_line(raw["why"]),
        instead=_line(raw["instead"]),
        spec=_line(raw["spec"]),
        covers=_list(where, "covers", raw.get("covers", [])),
        data=_lists(where, "data", raw),
        hints=_texts(where, "hints", raw),
        early=raw.get("early") == "yes",
        last=raw.get("last") == "yes",
        group=str(raw.get("group", "")),
    )


def _groups(shared: Mapping[str, object]) -> Iterator[Group]:
    groups = shared.get("groups", {})
    if not isinstance(groups, dict):
        raise CatalogError(f"{_SHARED}: `groups` must map names to groups")
    for name in groups:
        texts = _texts(_SHARED, name, groups)
        if texts.keys() != {"title", "why", "packs"}:
            raise CatalogError(f"{_SHARED}: the group `{name}` needs a title, a why and packs")
        yield Group(name, texts["title"], texts["why"], tuple(texts["packs"].split()))


def _read_all(shared: Mapping[str, object]) -> Iterator[Entry]:
    hints, data = _texts(_SHARED, "hints", shared), _lists(_SHARED, "data", shared)
    for pack in files(PACKAGE).iterdir():
        if pack.is_dir() and pack.name.isidentifier():
            for file in pack.iterdir():
                if file.name.endswith(".yaml"):
                    entry = parse(pack.name, file.name.removesuffix(".yaml"), file.read_text(encoding="utf-8"))
                    hints_of, data_of = MappingProxyType({**hints, **entry.hints}), MappingProxyType({**data, **entry.data})
                    yield replace(entry, hints=hints_of, data=data_of)


def _line(text: str) -> str:
    return " ".join(text.split())


def _texts(where: str, word: str, raw: Mapping[str, object]) -> Mapping[str, str]:
    value = raw.get(word, {})
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise CatalogError(f"{where}: `{word}` must map words to text")
    return MappingProxyType({key: _line(text) for key, text in value.items()})


def _lists(where: str, word: str, raw: Mapping[str, object]) -> Mapping[str, tuple[str, ...]]:
    value = raw.get(word, {})
    if not isinstance(value, dict):
        raise CatalogError(f"{where}: `{word}` must map words to lists")
    return MappingProxyType({key: _list(where, f"{word}.{key}", items) for key, items in value.items()})


def _list(where: str, word: str, value: object) -> tuple[str, ...]:
    if not _is_texts(value):
        raise CatalogError(f"{where}: `{word}` must be a list of text")
    return tuple(value)


def _is_texts(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
