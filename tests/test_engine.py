"""The engine asks rules by table, applies fixes in rounds, and accepts nothing that would harm a file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from textwrap import dedent, indent
from types import SimpleNamespace

import pytest
from mcp_migrate import engine
from mcp_migrate.catalog import Catalog, build, load
from mcp_migrate.engine import InternalError
from mcp_migrate.facts.model import Fact, Handler
from mcp_migrate.manifests import files as manifests
from mcp_migrate.project import Project, read
from mcp_migrate.rewrite import handlers
from mcp_migrate.rewrite.edits import Edit
from mcp_migrate.rewrite.tree import Tree, Unwritable
from mcp_migrate.rule import Applicability, Context, Entry, Era, Finding, Import, Need, NewFile, Severity
from mcp_migrate.source import Source, Span, decode

SERVER = dedent(
    """
    import json
    import time


    def alive():
        return {"at": time.time()}


    def handle(message):
        method = message.get("method")
        if method == "initialize":
            return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {}}
        elif method == "ping":
            return alive()
        elif method == "tools/list":
            return {"tools": []}
        elif method == "tools/call":
            return {"content": [json.dumps(message)]}
    """
).lstrip()

Fix = Callable[[Fact, Tree, Context], Iterator[Edit | Need]]


@dataclass(frozen=True)
class Rules(Catalog):
    """A catalog with rules of its own."""

    modules: dict[str, object] = field(default_factory=dict)

    def module(self, entry: Entry):
        return self.modules[entry.id]


def rule(fix: Fix | None = None, applicability: Applicability = Applicability.SAFE) -> SimpleNamespace:
    """A rule that objects to everything it is shown."""
    module = SimpleNamespace(check=lambda fact, ctx: iter([ctx.finding(fact, applicability)]))
    if fix is not None:
        module.fix = fix
    return module


def rules(*modules: tuple[str, object, dict[str, tuple[str, ...]]]) -> Rules:
    entries = [
        Entry(
            id=id_,
            name=id_.lower(),
            pack="test",
            title="",
            message="`{fact.key}` is not wanted",
            messages={},
            match=match,
            severity=Severity.ERROR,
            fix="sometimes",
            why="",
            instead="",
            spec="",
        )
        for id_, _, match in modules
    ]
    made = build(iter(entries))
    return Rules(made.entries, made.table, made._named, {id_: module for id_, module, _ in modules})


def project(**files: str | bytes) -> Project:
    sources = {f"{name.replace('__', '/')}.py": text for name, text in files.items()}
    return Project.link([read(decode(path, text.encode() if isinstance(text, str) else text)) for path, text in sources.items()])


def remove(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit]:
    assert isinstance(fact, Handler)
    yield from handlers.remove(fact, tree)


def says(key: str, text: str) -> Fix:
    """A fix that writes `text` in place of the handler's name where it is `key`, and removes the others."""

    def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit | Need]:
        if fact.key == key:
            yield Edit(fact.span, text)
        else:
            yield from remove(fact, tree, ctx)

    return fix


GONE = {"Handler": ("initialize", "ping")}


def fixed(catalog: Catalog, era: Era = Era.DUAL, text: str = SERVER) -> engine.Fixed:
    return engine.fix(project(app=text), catalog, era)


# check


def test_only_rules_that_match_a_fact_see_it_and_findings_are_in_order() -> None:
    catalog = rules(
        ("MCP902", rule(), {"Handler": ("ping",)}), ("MCP901", rule(), {"Handler": ("*",)}), ("MCP903", rule(), {"Store": ("*",)})
    )
    found = engine.check(project(b=SERVER, a=SERVER), catalog)
    assert [(finding.path, finding.rule, finding.message.split("`")[1]) for finding in found] == [
        (path, rule, method)
        for path in ("a.py", "b.py")
        for rule, method in [
            ("MCP901", "initialize"), ("MCP901", "ping"), ("MCP902", "ping"), ("MCP901", "tools/list"), ("MCP901", "tools/call"),
        ]
    ]  # fmt: skip


def test_a_selection_and_file_ignores_decide_which_rules_run() -> None:
    catalog = rules(("MCP901", rule(), {"Handler": ("ping",)}), ("MCP902", rule(), {"Handler": ("ping",)}))
    server = project(app=SERVER, old__app=SERVER)
    assert {(f.path, f.rule) for f in engine.check(server, catalog, ignore=["MCP902"], per_file_ignores={"old/": ["MCP901"]})} == {
        ("app.py", "MCP901")
    }


def test_a_rule_that_fails_is_named_and_the_others_go_on() -> None:
    def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
        raise KeyError("oops")

    catalog = rules(("MCP901", SimpleNamespace(check=check), GONE), ("MCP902", rule(), {"Handler": ("ping",)}))
    errors: list[InternalError] = []
    assert [finding.rule for finding in engine.check(project(app=SERVER), catalog, on_error=errors.append)] == ["MCP902"]
    assert {(error.rule, error.path) for error in errors} == {("MCP901", "app.py")}
    with pytest.raises(InternalError, match=r"app\.py: MCP901: KeyError"):
        engine.check(project(app=SERVER), catalog)


# fix


def test_fixes_of_one_chain_are_made_in_rounds_and_a_second_run_does_nothing() -> None:
    catalog = rules(("MCP901", rule(remove), GONE))
    result = fixed(catalog)
    text = result.texts["app.py"]
    assert '        if method == "tools/list":' in text.replace("\n    if", "\n        if")
    assert "ping" not in text
    assert "initialize" not in text
    assert result.applied == {"app.py": {"MCP901": 2}}
    assert result.remaining == []
    assert fixed(catalog, text=text).texts == {}


def test_what_only_deleted_code_used_goes_in_the_modern_era_only() -> None:
    catalog = rules(("MCP901", rule(remove), GONE))
    assert "def alive" in fixed(catalog).texts["app.py"]
    modern = fixed(catalog, Era.MODERN).texts["app.py"]
    assert "alive" not in modern
    assert "import time" not in modern
    assert modern.startswith("import json\n\n\ndef handle(message):\n    method = ")
    assert fixed(catalog, Era.MODERN, text=modern).texts == {}


def test_unsafe_fixes_wait_for_their_flag_and_manual_ones_are_never_made() -> None:
    unsafe = rules(("MCP901", rule(remove, Applicability.UNSAFE), GONE))
    assert engine.fix(project(app=SERVER), unsafe).texts == {}
    assert "ping" not in engine.fix(project(app=SERVER), unsafe, unsafe=True).texts["app.py"]
    assert engine.fix(project(app=SERVER), rules(("MCP901", rule(remove, Applicability.MANUAL), GONE)), unsafe=True).texts == {}


def test_suppressed_findings_are_not_fixed() -> None:
    catalog = rules(("MCP901", rule(remove), GONE))
    result = engine.fix(
        project(app=SERVER), catalog, may_fix=lambda source, found: [it for it in found if it.fact and it.fact.key != "ping"]
    )
    assert '"ping"' in result.texts["app.py"]
    assert [(finding.message, finding.applicability.word) for finding in result.remaining] == [("`ping` is not wanted", "safe")]


@pytest.mark.parametrize(
    ("text", "reason"),
    [('"ping":', "cannot be parsed"), ("undefined_name", "`undefined_name` would be undefined")],
    ids=["syntax", "undefined name"],
)
def test_a_fix_that_would_harm_is_dropped_and_named_and_the_others_are_made(text: str, reason: str) -> None:
    result = fixed(rules(("MCP901", rule(says("ping", text)), GONE)))
    assert '"initialize"' not in result.texts["app.py"]
    assert '"ping"' in result.texts["app.py"]
    (dropped,) = result.dropped
    assert (dropped.rule, dropped.path) == ("MCP901", "app.py")
    assert reason in dropped.reason
    (left,) = result.remaining
    assert left.applicability is Applicability.MANUAL
    assert reason in left.hint


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python reads it")
@pytest.mark.parametrize(
    ("line", "reasons"), [("", {"the result needs a newer Python"}), ('print(f"{"a"}")\n', set())], ids=["older", "newer"]
)
def test_syntax_that_is_newer_than_that_of_the_file_is_dropped(line: str, reasons: set[str]) -> None:
    result = fixed(rules(("MCP901", rule(says("ping", 'f"{"a"}"')), {"Handler": ("ping",)})), text=SERVER + line)
    assert {dropped.reason for dropped in result.dropped} == reasons
    assert ('f"{"a"}":' in result.texts.get("app.py", "")) is not bool(reasons)


def test_text_that_the_files_encoding_cannot_hold_is_dropped() -> None:
    text = "# -*- coding: latin-1 -*-\n" + SERVER.replace('"tools": []', '"tools": ["é"]')
    catalog = rules(("MCP901", rule(says("ping", '"→"')), {"Handler": ("ping",)}))
    result = engine.fix(project(app=text.encode("latin-1")), catalog)
    assert result.texts == {}
    assert [dropped.reason for dropped in result.dropped] == ["iso-8859-1 cannot hold '→'"]


def test_a_name_that_another_file_imports_stays() -> None:
    def rename(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit]:
        start = tree.source.utf8.index(b"def handle") + 4
        yield Edit(Span(start, start + 6), "other")

    result = engine.fix(project(app=SERVER, main="from app import handle\n"), rules(("MCP901", rule(rename), GONE)))
    assert result.texts == {}
    assert {dropped.reason for dropped in result.dropped} == {"main.py imports `handle`"}


def test_the_last_yield_of_a_generator_stays() -> None:
    text = SERVER.replace("return alive()", "yield alive()")
    result = fixed(rules(("MCP901", rule(remove), {"Handler": ("ping",)})), text=text)
    assert result.texts == {}
    assert [dropped.reason for dropped in result.dropped] == ["`handle` would be no generator any more"]


def test_a_name_that_only_removed_branches_assign_keeps_the_last_of_them() -> None:
    text = SERVER.replace("return alive", "x = alive").replace('return {"protocol', 'x = {"protocol') + "    return x\n"
    result = fixed(rules(("MCP901", rule(remove), GONE)), text=text)
    assert [dropped.reason for dropped in result.dropped] == ["`x` would be undefined"]
    assert result.applied == {"app.py": {"MCP901": 1}}


@pytest.mark.parametrize(
    ("other", "goes"),
    [
        (b"from app import alive\n", False),
        (b"from .app import (\n    json,\n    alive as a,\n)\n", False),
        (b"import app\napp.alive()\n", False),
        (b"server.alive()\n", False),
        (b"from app import *\nalive()\n", False),
        (b"from app import handle\nalive = 1\n", True),
        (b"# alive and well\n", True),
    ],
)
def test_a_sweep_asks_the_files_that_hold_no_protocol_code_as_well(other: bytes, goes: bool) -> None:
    catalog = rules(("MCP901", rule(remove), {"Handler": ("ping",)}))
    text = engine.fix(project(app=SERVER), catalog, Era.MODERN, others=lambda: [other]).texts["app.py"]
    assert ("def alive" not in text) is goes


def test_what_a_deletion_leaves_unused_in_another_file_goes_too() -> None:
    words = "PING = 'ping'\nCALL = 'tools/call'\nOLD = 1\n"
    text = "from words import CALL, PING\n" + SERVER.replace('"ping"', "PING").replace('"tools/call"', "CALL")
    catalog = rules(("MCP901", rule(remove), {"Handler": ("ping",)}))
    result = engine.fix(project(app=text, words=words), catalog, Era.MODERN)
    assert result.texts["words.py"] == "CALL = 'tools/call'\nOLD = 1\n"
    assert result.texts["app.py"].startswith("from words import CALL\n")


def test_so_does_what_it_leaves_unused_in_a_module_that_nothing_else_speaks_of() -> None:
    words = Source("words.py", "WORD = 'here'\nOLD = 1\n")
    text = "from words import WORD\n" + SERVER.replace("return alive()", 'return {"word": WORD}')
    catalog = rules(("MCP901", rule(remove), {"Handler": ("ping",)}))
    result = engine.fix(project(app=text), catalog, Era.MODERN, silent=lambda importer, names: [words] if importer == "app.py" else [])
    assert result.texts["words.py"] == "OLD = 1\n"


def test_a_module_that_was_only_looked_at_for_what_became_unused_is_no_part_of_the_result() -> None:
    words = Source("words.py", "WORD = 'here'\n")
    text = "from words import WORD\n" + SERVER.replace("return alive()", 'return {"word": WORD}') + "print(WORD)\n"
    catalog = rules(
        ("MCP901", rule(remove), {"Handler": ("ping",)}),
        ("MCP902", rule(says("tools/call", "pass"), Applicability.UNSAFE), {"Handler": ("tools/call",)}),
    )
    result = engine.fix(project(app=text), catalog, Era.MODERN, silent=lambda importer, names: [words] if importer == "app.py" else [])
    assert "app.py" in result.texts
    assert "words.py" not in result.project.files
    assert [finding.rule for finding in result.remaining] == ["MCP902"]


def test_fixes_that_undo_each_other_are_an_error_and_the_file_stays() -> None:
    def toggle(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit]:
        name = b"mxthod" if b" mxthod" in tree.source.utf8 else b"method"
        for start in range(len(tree.source.utf8)):
            if tree.source.utf8.startswith(b" " + name, start):
                yield Edit(Span(start + 1, start + 7), "method" if name == b"mxthod" else "mxthod")

    errors: list[InternalError] = []
    result = engine.fix(project(app=SERVER), rules(("MCP901", rule(toggle), {"Handler": ("ping",)})), on_error=errors.append)
    assert result.texts == {}
    assert [(error.rule, error.path) for error in errors] == [("MCP901", "app.py")]
    assert "10 rounds" in errors[0].reason


def toggle(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit]:
    """A fix that never comes to rest."""
    name = b"mxthod" if b" mxthod" in tree.source.utf8 else b"method"
    for start in range(len(tree.source.utf8)):
        if tree.source.utf8.startswith(b" " + name, start):
            yield Edit(Span(start + 1, start + 7), "method" if name == b"mxthod" else "mxthod")


def test_what_was_taken_away_beside_fixes_that_do_not_come_to_rest_comes_back() -> None:
    """`alive` is swept when its only user has gone, and wanted again when that is undone."""

    def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit]:
        if fact.key == "ping" and ctx.file.source.path == "app.py":
            yield from remove(fact, tree, ctx)
        elif fact.key == "initialize" and ctx.file.source.path == "app.py" and "alive" not in ctx.project.files["words.py"].source.text:
            yield from toggle(fact, tree, ctx)

    words = "from app import handle\n\n\ndef alive():\n    return {}\n"
    text = "from words import alive\n" + SERVER.replace('def alive():\n    return {"at": time.time()}\n', "")
    errors: list[InternalError] = []
    catalog = rules(("MCP901", rule(fix), GONE))
    result = engine.fix(project(app=text, words=words), catalog, Era.MODERN, on_error=errors.append)
    assert [error.path for error in errors] == ["app.py"]
    assert result.texts == {}
    assert result.applied == {}


def test_files_that_have_nothing_to_do_with_fixes_that_do_not_come_to_rest_stay_fixed() -> None:
    def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit]:
        yield from (toggle if ctx.file.source.path == "app.py" else remove)(fact, tree, ctx)

    errors: list[InternalError] = []
    catalog = rules(("MCP901", rule(fix), {"Handler": ("ping",)}))
    result = engine.fix(project(app=SERVER, other=SERVER), catalog, on_error=errors.append)
    assert [error.path for error in errors] == ["app.py"]
    assert result.texts.keys() == result.applied.keys() == {"other.py"}


def test_a_fault_in_one_result_is_named_and_other_files_are_fixed() -> None:
    def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit | Need]:
        yield from remove(fact, tree, ctx)
        if ctx.file.source.path == "bad.py":
            yield Import(None, "x")  # type: ignore[arg-type]

    errors: list[InternalError] = []
    catalog = rules(("MCP901", rule(fix), {"Handler": ("ping",)}))
    result = engine.fix(project(bad=SERVER, good=SERVER), catalog, on_error=errors.append)
    assert result.texts.keys() == {"good.py"}
    assert {(error.rule, error.path) for error in errors} == {("MCP901", "bad.py")}


def test_a_fix_that_fails_is_named_and_the_others_are_made() -> None:
    def fail(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit]:
        raise ValueError("oops")
        yield

    errors: list[InternalError] = []
    catalog = rules(("MCP901", rule(fail), {"Handler": ("initialize",)}), ("MCP902", rule(remove), {"Handler": ("ping",)}))
    result = engine.fix(project(app=SERVER), catalog, on_error=errors.append)
    assert '"ping"' not in result.texts["app.py"]
    assert {error.rule for error in errors} == {"MCP901"}


def test_each_finding_that_could_not_be_fixed_says_its_own_reason() -> None:
    def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit]:
        yield Edit(fact.span, f"unknown_{fact.key}")

    result = fixed(rules(("MCP901", rule(fix), GONE)))
    assert [(left.message, left.hint) for left in result.remaining] == [
        (f"`{key}` is not wanted", f"`unknown_{key}` would be undefined") for key in ("initialize", "ping")
    ]


def test_what_cannot_be_written_at_one_place_is_written_at_the_others() -> None:
    def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit]:
        if fact.key == "initialize":
            raise Unwritable("not here")
        yield from remove(fact, tree, ctx)

    result = fixed(rules(("MCP901", rule(fix), GONE)))
    assert '"ping"' not in result.texts["app.py"]
    assert [dropped.reason for dropped in result.dropped] == ["not here"]


def test_a_sweep_leaves_the_files_of_the_dual_era_alone() -> None:
    catalog = rules(("MCP901", rule(remove), {"Handler": ("ping",)}))
    eras = {"old.py": Era.DUAL, "new.py": Era.MODERN}
    texts = engine.fix(project(old=SERVER, new=SERVER), catalog, eras.__getitem__).texts
    assert {path: "def alive" in text for path, text in texts.items()} == {"old.py": True, "new.py": False}


def test_fixes_beside_the_code_that_undo_each_other_are_an_error_and_the_file_stays() -> None:
    def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit]:
        start = tree.source.utf8.index(b"==1.") + 4
        yield Edit(Span(start, start + 1), "1" if tree.source.slice(Span(start, start + 1)) == "0" else "0")

    errors: list[InternalError] = []
    beside = manifests.read(decode("requirements.txt", b"mcp==1.0\n"))
    start = Project.link([read(decode("app.py", SERVER.encode()))], manifests={"requirements.txt": beside})
    result = engine.fix(start, rules(("MCP901", rule(fix), {"Requirement": ("*",)})), on_error=errors.append)
    assert (result.texts, result.applied) == ({}, {})
    assert [(error.rule, error.path) for error in errors] == [("MCP901", "requirements.txt")]
    assert "10 rounds" in errors[0].reason


def test_edits_of_two_rules_at_one_place_are_made_once() -> None:
    catalog = rules(("MCP901", rule(remove), {"Handler": ("ping",)}), ("MCP902", rule(remove), {"Handler": ("ping",)}))
    assert fixed(catalog).applied == {"app.py": {"MCP901": 1, "MCP902": 1}}


# needs


def wire(text: str = "S = 1\n", path: str = "stateless.py") -> Fix:
    def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit | Need]:
        if b"S.begin" not in tree.source.utf8:
            start = tree.source.utf8.index(b"    method =")
            yield Edit(Span(start, start), "    S.begin()\n")
            yield Import("stateless", "S")
            yield NewFile(path, text)

    return fix


def test_needs_are_met_once_though_two_findings_have_them() -> None:
    result = fixed(rules(("MCP901", rule(wire()), GONE)))
    assert result.texts["app.py"].startswith("import json\nimport time\n\nfrom stateless import S\n\n\ndef alive")
    assert result.texts["app.py"].count("S.begin()") == 1
    assert result.created == {"stateless.py": "S = 1\n"}
    assert "stateless.py" in result.project.files


@pytest.mark.parametrize("where", ["project", "disk"])
def test_wiring_is_dropped_as_a_whole_when_its_file_is_taken(where: str) -> None:
    files = {"app": SERVER, "stateless": "S = 2\n"} if where == "project" else {"app": SERVER}
    result = engine.fix(
        project(**files), rules(("MCP901", rule(wire()), GONE)), obstacle=lambda path: f"{path} exists already" if where == "disk" else ""
    )
    assert result.texts == {}
    assert result.created == {}
    assert {dropped.reason for dropped in result.dropped} == {"stateless.py exists already"}


def test_a_file_that_is_there_as_wanted_is_not_created_again() -> None:
    result = engine.fix(project(app=SERVER, stateless="S = 1\n"), rules(("MCP901", rule(wire()), GONE)), obstacle=lambda path: "taken")
    assert result.created == {}
    assert "S.begin" in result.texts["app.py"]


def test_a_new_file_that_would_not_parse_drops_its_wiring() -> None:
    result = fixed(rules(("MCP901", rule(wire("S = (\n")), GONE)))
    assert (result.texts, result.created) == ({}, {})
    assert {dropped.reason for dropped in result.dropped} == {"stateless.py would not parse"}


def test_imports_that_a_fix_made_useless_go_and_those_that_were_useless_stay() -> None:
    catalog = rules(("MCP901", rule(remove), {"Handler": ("tools/call",)}))
    text = fixed(catalog, text="import os\n" + SERVER).texts["app.py"]
    assert text.startswith("import os\nimport time\n\n\ndef alive")


def test_bytes_outside_of_the_edits_are_kept() -> None:
    text = SERVER.replace("\n", "\r\n").replace('"tools": []', '"tools": ["äöü"]')
    result = engine.fix(project(app=b"\xef\xbb\xbf" + text.encode()), rules(("MCP901", rule(remove), {"Handler": ("ping",)})))
    gone = '    elif method == "ping":\r\n        return alive()\r\n'
    assert result.texts["app.py"] == text.replace(gone, "")


def test_what_an_early_rule_has_found_is_followed_through_what_other_rules_rewrite() -> None:
    """Over lines that only text has, and to the line that a rewritten one has become."""
    text = (
        "from mcp.server.fastmcp import FastMCP\n\n"
        'PAGE = "a\u2028b\x85c\u2028d\u2028e\u2028f\u2028g\u2028h"\n'
        'mcp = FastMCP(\n    "notes",\n    port=8000,\n)\n\n\n'
        '@mcp.resource("file://{path}")\ndef read(path: str) -> str:\n    return open(path).read()\n\n\nmcp.run(transport="sse")\n'
    )
    project = Project.link([read(decode("server.py", text.encode()))])
    done = engine.fix(project, load(), select=["mcp2"])
    new = done.project.files["server.py"].source
    assert "FastMCP" not in new.text
    early = {finding.name: new.line(new.position(finding.span.start).line) for finding in done.remaining}
    assert early["strict_template"] == '@mcp.resource("file://{path}")'
    hints = {finding.name: finding.hint for finding in done.remaining}
    assert hints["server_version"].startswith("give `version=` to the constructor; `fix --unsafe-fixes` writes it in a first run only")


def test_a_long_line_is_followed_to_the_one_that_begins_as_it_did() -> None:
    """Although another one has more of its words."""
    text = (
        "from mcp.server.fastmcp import FastMCP\nfrom mcp.server.transport_security import TransportSecuritySettings\n\n"
        'mcp = FastMCP("tools", stateless_http=True, json_response=True, streamable_http_path="/",\n'
        "              transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False))\n"
        "app = mcp.streamable_http_app()\n"
    )
    done = engine.fix(Project.link([read(Source("server.py", text))]), load(), select=["mcp2"])
    new = done.project.files["server.py"].source
    assert {new.line(new.position(finding.span.start).line) for finding in done.remaining if finding.name == "server_version"} == {
        'mcp = MCPServer("tools")'
    }


PAGE = "async def page(session: ClientSession, x: str):\n    return await session.list_tools(cursor=x)\n"


@pytest.mark.parametrize(
    "taken",
    [
        "class PaginatedRequestParams: ...\n",
        "from other import PaginatedRequestParams\n",
        "try:\n    PaginatedRequestParams = make()\nfinally:\n    pass\n",
        "import other as PaginatedRequestParams\n",
        "def outer(PaginatedRequestParams):\n  if 1:",
    ],
    ids=["class", "import", "assignment", "alias", "parameter around it"],
)
def test_no_import_takes_a_name_that_means_something_else(taken: str) -> None:
    within = "    " if taken.endswith(":") else ""
    text = f"from mcp import ClientSession\n{taken}\n\n{indent(PAGE, within)}"
    done = engine.fix(Project.link([read(decode("client.py", text.encode()))]), load(), select=["cursor_argument"])
    assert done.texts == {}
    assert [(one.applicability, one.hint) for one in done.remaining] == [
        (Applicability.MANUAL, "`PaginatedRequestParams` means something else here")
    ]


@pytest.mark.parametrize(
    "same",
    [
        "from mcp.types import PaginatedRequestParams\n",
        "try:\n    from mcp.types import PaginatedRequestParams\nexcept ImportError:\n    PaginatedRequestParams = None\n",
        "def own(PaginatedRequestParams): ...\n",
        "KNOWN = [PaginatedRequestParams for PaginatedRequestParams in ()]\n",
    ],
    ids=["same import", "with a fallback", "parameter", "comprehension"],
)
def test_a_name_that_means_the_same_or_is_of_an_inner_scope_is_no_hindrance(same: str) -> None:
    text = f"from mcp import ClientSession\n{same}\n\n{PAGE}"
    done = engine.fix(Project.link([read(decode("client.py", text.encode()))]), load(), select=["cursor_argument"])
    assert "params=PaginatedRequestParams(cursor=x)" in done.texts["client.py"]
