"""The catalog is complete, names nothing that the revision does not know, and is written as entries are."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from mcp_migrate import catalog, rule
from mcp_migrate.catalog import CatalogError
from mcp_migrate.facts import model, vocabulary
from mcp_migrate.facts.model import Fact, Ref
from mcp_migrate.rule import Entry, Group, Severity
from mcp_migrate.sdk import vocabulary as sdk_vocabulary
from mcp_migrate.source import Span

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
SPEC = yaml.safe_load((ROOT / "rules/spec.yaml").read_text(encoding="utf-8"))
SECTIONS = ("removed", "changed", "added", "deprecated")
ITEMS = {f"{section}/{item['name']}": item for section in SECTIONS for item in SPEC[section]}
SDK = yaml.safe_load((ROOT / "rules/sdk.yaml").read_text(encoding="utf-8"))
FASTMCP = yaml.safe_load((ROOT / "rules/fastmcp.yaml").read_text(encoding="utf-8"))
CHANGES = {
    f"{root}/{item['name']}": item
    for root, data in (("sdk", SDK), ("fastmcp", FASTMCP))
    for items in data.values()
    if isinstance(items, list)
    for item in items
}
ENTRIES = catalog.load().entries
HUNDREDS = {"engine": 0, "removed": 1, "changed": 2, "added": 3, "deprecated": 4, "mcp2": 5, "fastmcp4": 6, "deps": 7}
SDK_PACKS = ("mcp2", "fastmcp4", "deps")
RELEASES = (f"mcp {SDK['from']} to {SDK['to']}", f"fastmcp {FASTMCP['from']} to {FASTMCP['to']}")
BESIDE = ("Requirement", "Remark", "Borrowed")  # what dependency files say, and what code needs of them
KINDS = frozenset(
    [
        "request",
        "notification",
        "code",
        "header",
        "verb",
        "stream",
        "meta",
        "field",
        "capability",
        "version",
        "behaviour",
        "feature",
        "gate",
    ]
)

GOOD = """
id: MCP999
title: A thing is wrong
message: "`{fact.key}` is wrong"
match: {Handler: [ping]}
severity: error
fix: never
why: Because.
instead: Do not.
spec: none
"""

each_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
each_item = pytest.mark.parametrize("name", ITEMS)


@each_item
def test_every_item_of_the_revision_has_a_rule_or_a_reason(name: str) -> None:
    covered = any(name in entry.covers for entry in ENTRIES)
    reason = ITEMS[name].get("no_rule", "")
    assert covered or len(reason) > 10, f"{name} has neither a rule nor a reason"
    assert not (covered and reason), f"{name} has a rule and says why it has none"


@each_item
def test_every_item_says_what_takes_its_place_and_where_that_is_written(name: str) -> None:
    item = ITEMS[name]
    assert item.keys() <= {"name", "kind", "keys", "calls", "classes", "facts", "now", "source", "no_rule"}
    assert item["kind"] in KINDS
    assert item["now"]
    assert item["source"]


@pytest.mark.parametrize("name", CHANGES)
def test_every_change_of_the_sdk_has_a_rule_or_a_reason(name: str) -> None:
    covered = any(name in entry.covers for entry in ENTRIES)
    reason = CHANGES[name].get("no_rule", "")
    assert covered or len(reason) > 10, f"{name} has neither a rule nor a reason"
    assert not (covered and reason), f"{name} has a rule and says why it has none"
    assert CHANGES[name]["fix"] in ("safe", "unsafe", "manual")


@each_entry
def test_the_two_packages_have_rules_of_their_own(entry: Entry) -> None:
    assert ("Standalone" in entry.match) == (entry.pack == "fastmcp4")
    assert not {"Symbol", "Standalone"} <= entry.match.keys()


def test_items_have_names_of_their_own() -> None:
    assert len(ITEMS) == sum(len(SPEC[section]) for section in SECTIONS)


@each_entry
def test_an_entry_covers_only_items_of_the_revision(entry: Entry) -> None:
    assert set(entry.covers) <= (CHANGES if entry.pack in SDK_PACKS else ITEMS).keys()
    assert entry.covers or entry.pack == "engine"


@each_entry
def test_an_entry_matches_only_words_of_the_revision(entry: Entry) -> None:
    words = {str(word) for item in ITEMS.values() for field in ("keys", "calls", "classes", "facts") for word in item.get(field, ())}
    for kind, keys in entry.match.items():
        assert issubclass(getattr(model, kind), Fact)
        if entry.pack in SDK_PACKS:
            # The type of an expression is asked for only where one of the words stands.
            of_fastmcp = sdk_vocabulary.WANTED_OF_STANDALONE | sdk_vocabulary.OF_COMPONENTS if kind == "Standalone" else frozenset()
            asked = sdk_vocabulary.WANTED | of_fastmcp | {catalog.ANY}
            assert kind in BESIDE or {key.rpartition(".")[2] for key in keys} <= asked
            assert any(entry.spec.startswith(releases) for releases in RELEASES)
            continue
        assert set(keys) <= words | {catalog.ANY}, f"{entry.name} matches words that no item has"
        assert len(set(keys)) == len(keys)


@each_entry
def test_an_entry_has_an_id_of_its_pack(entry: Entry) -> None:
    assert re.fullmatch(r"MCP\d{3}", entry.id)
    assert int(entry.id[3]) == HUNDREDS[entry.pack]
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", entry.name)


@each_entry
def test_messages_are_one_plain_sentence(entry: Entry) -> None:
    for text in (entry.message, *entry.messages.values()):
        assert text[0].islower() or text[0] in "`-", text
        assert not text.endswith("."), text
        assert text.count("`") % 2 == 0, text
        # Whatever a message asks of a fact, some kind that it is matched for must have.
        for name in re.findall(r"\{fact\.(\w+)\}", text):
            assert any(name in getattr(model, kind).__dataclass_fields__ for kind in entry.match)


@each_entry
def test_a_message_of_its_own_belongs_to_a_kind_that_is_matched(entry: Entry) -> None:
    kinds = {word for word in entry.messages if word[0].isupper()}
    assert kinds <= entry.match.keys()


@each_entry
def test_titles_and_texts_are_whole(entry: Entry) -> None:
    assert not entry.title.endswith(".")
    assert entry.why.endswith(".")
    assert entry.instead.endswith(".")


@each_entry
def test_every_rule_has_a_module_that_checks(entry: Entry) -> None:
    if entry.pack == "engine":
        return
    module = importlib.import_module(f"{catalog.PACKAGE}.{entry.pack}.{entry.name}")
    assert isinstance(module, ModuleType)
    assert catalog.load().module(entry) is module
    assert callable(module.check)
    # `fix: never` is a promise, and so is anything else.
    assert hasattr(module, "fix") <= (entry.fix != "never")
    assert module.__doc__ is not None
    assert module.__doc__.strip().endswith(".")


def test_every_rule_module_has_an_entry() -> None:
    named = {(entry.pack, entry.name) for entry in ENTRIES}
    modules = {(path.parent.name, path.stem) for path in (ROOT / "rules").glob("*/*.py") if path.stem != "__init__"}
    assert modules == {(pack, name) for pack, name in named if pack != "engine"}


def test_every_pack_is_packaged() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"]
    packs = {f"mcp_migrate.rules.{path.parent.name}" for path in (ROOT / "rules").glob("*/__init__.py")}
    assert packs <= set(listed)


def test_the_reading_wing_and_the_catalog_speak_of_the_same_revision() -> None:
    def spelled(section: str, kind: str) -> set[str]:
        return {str(key) for item in SPEC[section] if item["kind"] == kind for key in item.get("keys", ())}

    removed = spelled("removed", "request")
    assert removed == vocabulary.REMOVED_REQUESTS | vocabulary.CLIENT_REQUESTS
    assert spelled("added", "request") == vocabulary.ADDED_REQUESTS
    assert spelled("removed", "notification") | spelled("changed", "notification") | spelled("added", "notification") == (
        vocabulary.NOTIFICATIONS - {"notifications/cancelled"}
    )
    assert spelled("removed", "header") | spelled("added", "header") == vocabulary.HEADERS
    assert spelled("removed", "meta") == vocabulary.META_KEYS
    assert {"-32002", "-32042"} == {str(code) for code in vocabulary.RETIRED_CODES}
    assert {str(code) for code in vocabulary.RETIRED_CODES | vocabulary.DRAFT_CODES} == spelled("changed", "code")
    assert SPEC["revision"] == vocabulary.CURRENT
    assert {*SPEC["legacy_revisions"], *SPEC["never_released"], SPEC["revision"]} == vocabulary.VERSIONS
    calls = {call for item in ITEMS.values() for call in item.get("calls", ())}
    assert calls == vocabulary.SESSION_CALLS


def test_kept_requests_are_those_whose_results_are_stamped() -> None:
    assert set(ITEMS["added/resultType"]["keys"]) > vocabulary.KEPT_REQUESTS


def test_a_rule_is_found_by_id_and_by_name() -> None:
    found = catalog.load()
    assert found.rule("MCP103") is found.rule("mcp103") is found.rule("ping")
    assert found.rule("nothing") is None


def test_facts_find_their_entries() -> None:
    found = catalog.load()
    assert [entry.name for entry in found.entries_for(model.Handler(Span(0, 1), "ping"))] == ["ping", "kept_handler"]
    assert [entry.name for entry in found.entries_for(model.ErrorCode(Span(0, 1), "-32002"))] == ["retired_code", "reserved_code"]
    assert found.entries_for(model.Handler(Span(0, 1), "tools/list")) == ()
    assert found.entries_for(model.Handler(Span(0, 1), Ref("app.PING"))) == ()
    assert found.table["Handler", "ping"] == (found.rule("ping"), found.rule("kept_handler"))


def test_every_entry_has_the_hints_that_several_rules_share_and_may_word_them_anew() -> None:
    shared = {"bounded", "blocked", "alone", "removed", "deleted"}
    assert all(shared <= entry.hints.keys() for entry in ENTRIES)
    hard_coded = catalog.load().rule("hard_coded_version")
    assert hard_coded is not None
    assert hard_coded.hints["blocked"].format(rule="MCP301", place="line 3") == "goes away once MCP301 (line 3) is wired"


def test_an_entry_is_read_whole() -> None:
    entry = catalog.parse("removed", "thing", GOOD)
    assert entry == rule.Entry(
        id="MCP999",
        name="thing",
        pack="removed",
        title="A thing is wrong",
        message="`{fact.key}` is wrong",
        messages={},
        match={"Handler": ("ping",)},
        severity=Severity.ERROR,
        fix="never",
        why="Because.",
        instead="Do not.",
        spec="none",
    )


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("fix: never", "fix: never\nfixes: all"), "unknown field fixes"),
        (("spec: none", ""), "lacks spec"),
        (("fix: never", "fix: maybe"), "`fix` must be one of"),
        (("severity: error", "severity: fatal"), "`severity` must be"),
        (("title: A thing is wrong", "title: [A, thing]"), "`title` must be text"),
        (("{Handler: [ping]}", "[ping]"), "`match` must map"),
        (("{Handler: [ping]}", "{Handler: ping}"), "`match.Handler` must be a list"),
        (("spec: none", "spec: none\nmessages: {Send: [a]}"), "`messages` must map"),
        (("spec: none", "spec: none\nhints: {safe: [a]}"), "`hints` must map"),
        (("spec: none", "spec: none\ncovers: removed/ping"), "`covers` must be a list"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_entry_is_refused_with_its_file(change: tuple[str, str], complaint: str) -> None:
    with pytest.raises(CatalogError, match=f"removed/thing.yaml: .*{re.escape(complaint)}"):
        catalog.parse("removed", "thing", GOOD.replace(*change))


def test_text_that_is_no_mapping_is_refused() -> None:
    with pytest.raises(CatalogError, match="is no mapping"):
        catalog.parse("removed", "thing", "- a\n- b\n")


def test_two_rules_cannot_share_an_id() -> None:
    one = catalog.parse("removed", "one", GOOD)
    other = catalog.parse("removed", "other", GOOD)
    with pytest.raises(CatalogError, match="`MCP999` is taken by removed/one"):
        catalog.build(iter([one, other]))


GROUPED = (Group("first", "First", "Because.", ("removed",)), Group("second", "Second", "Because.", ("changed",)))


def test_a_rule_goes_with_the_group_of_its_pack_unless_it_names_another() -> None:
    plain = catalog.parse("removed", "plain", GOOD)
    moved = catalog.parse("removed", "moved", GOOD.replace("MCP999", "MCP998") + "group: second\n")
    held = catalog.build(iter([plain, moved]), GROUPED)
    assert [held.groups[held.group_of(rule)].name for rule in ("MCP999", "MCP998")] == ["first", "second"]


def test_a_group_that_is_none_is_named() -> None:
    with pytest.raises(CatalogError, match="removed/lost: no group is called `third`"):
        catalog.build(iter([catalog.parse("removed", "lost", GOOD + "group: third\n")]), GROUPED)


def test_every_pack_is_in_one_group() -> None:
    packs = [pack for group in catalog.load().groups for pack in group.packs]
    assert sorted(packs) == sorted({entry.pack for entry in ENTRIES})
