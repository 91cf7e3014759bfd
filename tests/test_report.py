"""Every format tells the same findings; none lets source text or file names paint a terminal."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
import xmlschema
from hypothesis import given
from hypothesis import strategies as st
from mcp_migrate.report import concise, github, gitlab, junit, sarif, text
from mcp_migrate.report import json as json_report
from mcp_migrate.report.model import Report, Seen, Silenced, Stale, place, stale, visible
from mcp_migrate.rule import Applicability, Era, Finding, Severity
from mcp_migrate.source import Source
from samples import CODES, ENTRIES, PING, TASKS, at

SERVER = Source("app/server.py", 'def handle(method):\n    if method == "ping":\n        return {}\n    raise RpcError(-32002, "no")\n')


def report_of(*findings: Finding, source: Source = SERVER, **counts: object) -> Report:
    places = place(findings, [f"mark{number}" for number in range(len(findings))], {source.path: source}, lambda path: path)
    return replace(Report(era=Era.DUAL, places=places, entries=ENTRIES, checked=3), **counts)


BOTH = report_of(at(SERVER, "-32002", CODES, applicability=Applicability.MANUAL, hint="its meaning is not clear"), at(SERVER, '"ping"'))
NONE = report_of()
SILENCED = (Silenced("a.py", 1, ("ping",), "a probe asks", 2), Silenced("a.py", 3, None, "", 1))
GONE = (Stale("a.py", "MCP103"), Stale("b.py", "MCP201"), Stale("a.py", "MCP103"))
# What an attacker would like a terminal, a log or a workflow to swallow.
EVIL = "\x1b[31m\r\n::error::x\x9b\u202e\udc80[red]%0A,:"


def evil() -> Report:
    source = Source(f"a{EVIL}.py", f'x = "ping"  # \x1b]0;owned\x07 {EVIL[0]}\n')
    return report_of(at(source, '"ping"', message=f"`{EVIL}` is gone", hint=EVIL), source=source)


# Text


def test_a_terminal_shows_frames_of_lines_and_breaks_long_ones():
    look = text.Look(glyphs=text.LINES, width=60)
    hint = "what it means is not clear, so that a human has to say which of the codes is right here"
    report = report_of(at(SERVER, "-32002", CODES, applicability=Applicability.MANUAL, hint=hint))
    assert (
        text.render(report, look=look, summary=False)
        == """\
app/server.py: 1 finding
warning[MCP201] `error_code` is gone
  ╭─▸ app/server.py:4:20
4 │     raise RpcError(-32002, "no")
  │                    ━━━━━━
  ╰─ by hand: what it means is not clear, so that a human
     has to say which of the codes is right here

"""
    )


def test_text_shows_the_code_with_carets_under_the_finding():
    assert """\
app/server.py: 2 findings
error[MCP103] `ping` is gone
 --> app/server.py:2:18
  |
2 |     if method == "ping":
  |                  ^^^^^^
  = fix is safe
warning[MCP201] `error_code` is gone
 --> app/server.py:4:20
  |
4 |     raise RpcError(-32002, "no")
  |                    ^^^^^^
  = by hand: its meaning is not clear
""" in text.render(BOTH)


def test_text_sums_up_what_fix_would_do_and_what_is_left():
    summary = text.render(BOTH).rpartition("\n\n")[2]
    assert summary.splitlines() == [
        "2 findings in 1 of 3 files: 1 error, 1 warning.",
        "  `mcp-migrate fix` would settle 1.",
        "  1 left to you: MCP201 error_code (1).",
        "  `mcp-migrate explain MCP103` says why, and what to write instead.",
    ]


def test_text_says_what_was_seen_and_is_fine():
    seen = (Seen("app/server.py"), Seen("app/tools.py", ("tools/call",), ("handle",)))
    summary = text.render(replace(BOTH, seen=seen, suppressed=2, baselined=1, stale=GONE))
    assert "  1 file with MCP code and no finding: app/tools.py.\n" in summary
    assert "  Behind a stateless boundary: app/tools.py:handle.\n" in summary
    assert (
        "2 silenced by comments, 1 accepted by the baseline, 3 of the baseline without a finding any more (write it anew): a.py MCP103 (2), b.py MCP201.\n"
        in summary
    )


def test_text_of_a_clean_run_says_whether_there_was_anything_to_find():
    assert text.render(NONE) == "No findings in 3 files.\n  None of them holds MCP code.\n"
    assert text.render(replace(NONE, seen=(Seen("a.py"),))) == "No findings in 3 files.\n  1 file with MCP code and no finding: a.py.\n"


def test_text_can_leave_out_the_summary():
    assert text.render(NONE, summary=False) == ""
    assert "fix` would" not in text.render(BOTH, summary=False)


def test_text_shows_findings_over_several_lines_with_a_bar_and_cuts_long_ones():
    source = Source("a.py", "x = [\n" + "    1,\n" * 20 + "]\n")
    assert [line for line in text.render(report_of(at(source, source.text[4:-1]), source=source)).splitlines() if re.match(r" *[.\d]+ \|", line)] == [
        "1 | / x = [", "2 | |     1,", "3 | |     1,", "4 | |     1,", "5 | |     1,", "6 | |     1,", "... | |",
    ]  # fmt: skip


def test_text_cuts_a_long_line_around_the_finding():
    source = Source("a.py", "x = '" + "a" * 400 + "ping" + "b" * 400 + "'\n")
    lines = text.render(report_of(at(source, "ping"), source=source)).splitlines()
    code, carets = (lines[number].partition("|")[2] for number in (4, 5))
    assert carets.index("^") == code.index("ping")
    assert carets.count("^") == 4
    assert len(code) < 140


@pytest.mark.parametrize(("before", "width"), [("\t", 4), ("é = ", 4), ("中 = ", 5), ("e\u0301 = ", 4), ("\x1b = ", 7)])
def test_carets_stand_under_the_finding_behind_tabs_and_wide_characters(before, width):
    source = Source("a.py", f"{before}ping\n")
    lines = text.render(report_of(at(source, "ping"), source=source)).splitlines()
    assert lines[5].partition("| ")[2] == " " * width + "^^^^"


def test_text_of_a_file_that_could_not_be_decoded_has_no_frame():
    finding = at(SERVER, "def", message="not utf-8")
    places = place([finding], ["x"], {}, lambda path: path)
    assert text.render(replace(NONE, places=places), summary=False).splitlines()[1:] == [
        "error[MCP103] not utf-8", " --> app/server.py:1:1", "  = fix is safe", "",
    ]  # fmt: skip


def test_colour_changes_nothing_but_colour():
    coloured = text.render(BOTH, look=text.Look(colour=True))
    assert "\x1b[1;31merror[MCP103]\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == text.render(BOTH)


def test_statistics_count_each_rule_the_most_frequent_first():
    source = Source("a.py", "ping ping ping tasks\n")
    findings = [at(source, "ping", nth=number) for number in range(2)] + [at(source, "ping", nth=2, applicability=Applicability.MANUAL)]
    counted = text.statistics(report_of(*findings, at(source, "tasks", TASKS, applicability=Applicability.MANUAL), source=source))
    assert counted.splitlines()[:2] == ["3  MCP103  [-] ping", "1  MCP114  [ ] core_tasks"]


def test_what_fix_did_is_told_by_file_and_rule():
    told = text.fixes(
        {"b.py": {"MCP103": 2}, "a.py": {"MCP201": 1}}, ["mcp_stateless.py"], {"MCP103": "ping", "MCP201": "code"}, would=False
    )
    assert told.splitlines() == [
        "Fixed 3 findings in 2 files and wrote 1 new file:", "  a.py: MCP201 code (1)", "  b.py: MCP103 ping (2)", "  mcp_stateless.py: new",
    ]  # fmt: skip
    assert text.fixes({}, [], {}, would=True) == "Nothing to fix.\n"
    assert text.fixes({}, [], {}, left=2, would=True) == "Nothing could be fixed.\n"


def test_what_a_half_moved_program_waits_for_is_told_last():
    assert text.stops([], would=False) == ""
    head, place = text.stops(["a.py:2 mcp.shared.session.BaseSession"], would=True).splitlines()
    assert head.startswith("Does not start yet: the rest would be written for newer releases")
    assert place == "  a.py:2 mcp.shared.session.BaseSession"
    assert "\x1b[" in text.stops(["a.py:2 mcp.x"], colour=True, would=False)


def test_a_patch_for_the_eyes_is_coloured_and_harmless():
    shown = text.diff(b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\x1b[2J\r\n+new\xff\n")
    assert "\x1b[31m-old\\x1b[2J\x1b[0m\n" in shown
    assert "\x1b[32m+new\\xff\x1b[0m\n" in shown


# Safety of all formats


@pytest.mark.parametrize("render", [text.render, concise.render, github.render, json_report.render, sarif.render, text.statistics])
def test_source_text_and_file_names_cannot_paint_the_terminal(render):
    written = render(evil())
    assert [char for char in written if not char.isprintable() and char != "\n"] == []
    written.encode("utf-8")


@given(st.text(st.characters()))
def test_visible_text_is_printable_and_says_nothing_new_of_plain_text(raw):
    shown = visible(raw)
    assert all(char.isprintable() or char == "\u3000" or char == "\xa0" or char.isspace() for char in shown)
    assert "\n" not in shown
    assert "\x1b" not in shown
    if raw.isprintable():
        assert shown == raw


def test_markup_of_a_terminal_library_is_shown_as_it_is():
    source = Source("a.py", "x = ['[bold]ping[/bold]']\n")
    assert "[bold]ping[/bold]" in re.sub(
        r"\x1b\[[0-9;]*m", "", text.render(report_of(at(source, "ping"), source=source), look=text.Look(colour=True))
    )


# Concise and GitHub


def test_concise_is_one_line_a_finding():
    assert concise.render(BOTH).splitlines() == [
        "app/server.py:2:18: MCP103 [safe] `ping` is gone",
        "app/server.py:4:20: MCP201 [manual] `error_code` is gone",
    ]
    assert concise.render(NONE) == ""
    assert len(concise.render(evil()).splitlines()) == 1


def test_github_commands_carry_place_rule_and_message():
    assert github.render(BOTH).splitlines() == [
        "::error file=app/server.py,line=2,endLine=2,title=MCP103 ping,col=18,endColumn=24::`ping` is gone",
        "::warning file=app/server.py,line=4,endLine=4,title=MCP201 error_code,col=20,endColumn=26::`error_code` is gone; its meaning is not clear",
    ]


def test_github_commands_cannot_be_broken_out_of():
    (line,) = github.render(evil()).splitlines()
    properties, message = line.removeprefix("::error ").split("::", 1)
    assert "%0D" not in message
    assert re.fullmatch(r"file=[^,:]*,line=1,endLine=1,title=MCP103 ping,col=5,endColumn=11", properties)
    assert "%250A" in message


# GitLab and JUnit

# Paths and texts of every kind, a file that is fine, and no finding at all.
REPORTS = {"both": BOTH, "none": NONE, "evil": evil(), "seen": replace(BOTH, seen=(Seen("fine.py"), Seen("app/server.py")))}


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_code_quality_is_what_gitlab_reads(report):
    schema = json.loads(Path(__file__).with_name("gitlab.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    issues = json.loads(gitlab.render(report))
    jsonschema.validate(issues, schema, jsonschema.Draft202012Validator)
    assert len(issues) == len(report.places)


def test_code_quality_tells_how_bad_a_finding_is_and_what_to_do():
    first, second = json.loads(gitlab.render(BOTH))
    assert first == {
        "type": "issue", "check_name": "MCP103 ping", "description": "MCP103: `ping` is gone", "categories": ["Compatibility"],
        "content": {"body": "Nobody answers.\n\n**Instead:** Write something else."}, "fingerprint": "mark1", "severity": "major",
        "location": {"path": "app/server.py", "lines": {"begin": 2, "end": 2}},
    }  # fmt: skip
    assert (second["severity"], second["description"]) == ("minor", "MCP201: `error_code` is gone; its meaning is not clear")


@pytest.mark.parametrize("broken", [{"severity": "error"}, {"fingerprint": ""}, {"location": {"path": "/a.py", "lines": {"begin": 1}}}])
def test_the_schema_of_code_quality_refuses_what_gitlab_would_not_show(broken):
    (issue, _) = json.loads(gitlab.render(BOTH))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate([{**issue, **broken}], json.loads(Path(__file__).with_name("gitlab.schema.json").read_text()))


def failing(report: Report, fail_on: Severity | None) -> Report:
    return replace(report, least=dict.fromkeys([place.path for place in report.places], fail_on))


@pytest.mark.parametrize("fail_on", [Severity.ERROR, Severity.NOTE, None])
@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_test_results_keep_to_the_schema_of_those_who_read_them(report, fail_on):
    schema = xmlschema.XMLSchema(Path(__file__).with_name("junit.xsd"))
    results = ElementTree.fromstring(junit.render(failing(report, fail_on)))
    schema.validate(results)
    suites = results.findall("testsuite")
    assert {suite.get("name") for suite in suites} == {
        visible(path) for path in (*(it.path for it in report.places), *(it.path for it in report.seen))
    }
    for counted in (results, *suites):
        assert counted.get("tests") == str(len([*counted.iter("testcase")]))
        assert counted.get("failures") == str(len([*counted.iter("failure")]))


def test_a_test_fails_from_the_severity_on_that_fails_the_run():
    def outcomes(fail_on: Severity | None) -> list[list[str]]:
        results = ElementTree.fromstring(junit.render(failing(REPORTS["seen"], fail_on)))
        return [[f"{case.get('name')}: {case[0].tag if len(case) else 'passed'}" for case in suite] for suite in results]

    fine = ["speaks 2026-07-28: passed"]
    assert outcomes(Severity.ERROR) == [["MCP103 ping (2:18): failure", "MCP201 error_code (4:20): skipped"], fine]
    assert outcomes(Severity.WARNING)[0] == ["MCP103 ping (2:18): failure", "MCP201 error_code (4:20): failure"]
    assert outcomes(None)[0] == ["MCP103 ping (2:18): skipped", "MCP201 error_code (4:20): skipped"]


def test_a_failure_shows_the_code_and_the_way_out():
    failure = ElementTree.fromstring(junit.render(failing(BOTH, Severity.ERROR))).find(".//failure")
    assert failure is not None
    assert failure.attrib == {"type": "error", "message": "`ping` is gone"}
    assert failure.text == 'app/server.py:2:18\n      if method == "ping":\n`mcp-migrate fix` does this.'


def test_what_is_gone_from_the_baseline_is_named_but_not_without_end():
    many = replace(NONE, stale=tuple(Stale(f"{name}.py", "MCP103") for name in "abcde"))
    assert stale(many).endswith("(write it anew): a.py MCP103, b.py MCP103, c.py MCP103 and 2 more")


# JSON and SARIF


SEEN = replace(BOTH, seen=(Seen("a.py", ("ping",), ("handle",)),), stale=GONE, suppressions=SILENCED)


@pytest.mark.parametrize("render", [json_report.render, json_report.statistics])
@pytest.mark.parametrize("report", [BOTH, NONE, evil(), SEEN])
def test_json_keeps_to_its_published_schema(report, render):
    schema = json.loads(files("mcp_migrate.report").joinpath("findings.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(render(report)), schema, jsonschema.Draft202012Validator)


def test_json_counts_in_place_of_findings_when_it_is_asked_to():
    source = Source("a.py", "ping tasks ping\n")
    findings = [at(source, "tasks", TASKS, applicability=Applicability.MANUAL), at(source, "ping"), at(source, "ping", nth=1)]
    document = json.loads(json_report.statistics(report_of(*findings, source=source)))
    assert document["statistics"] == [
        {"rule": "MCP103", "name": "ping", "count": 2, "fixable": 2},
        {"rule": "MCP114", "name": "core_tasks", "count": 1, "fixable": 0},
    ]
    assert document["summary"]["severity"]["error"] == 3
    assert "findings" not in document


def test_json_tells_everything_about_a_finding():
    first = json.loads(json_report.render(BOTH))["findings"][0]
    assert first == {
        "rule": "MCP103", "name": "ping", "severity": "error", "applicability": "safe", "message": "`ping` is gone", "hint": "",
        "path": "app/server.py", "cell": None, "line": 2, "column": 18, "end_line": 2, "end_column": 24, "fix": True,
        "document": False, "fingerprint": "mark1",
    }  # fmt: skip


def test_the_schema_takes_fields_of_later_versions_but_lacks_none_and_mistakes_none():
    schema = json.loads(files("mcp_migrate.report").joinpath("findings.schema.json").read_text())
    document = json.loads(json_report.render(SEEN))
    for grown in (
        document,
        document["summary"],
        document["findings"][0],
        document["files"][0],
        document["stale"][0],
        document["suppressions"][0],
    ):
        grown["later"] = 1
    jsonschema.validate(document, schema, jsonschema.Draft202012Validator)
    for broken in ({"line": "1"}, {"rule": None}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**document, "findings": [{**document["findings"][0], **broken}]}, schema)
    with pytest.raises(jsonschema.ValidationError, match="'era' is a required property"):
        jsonschema.validate({key: value for key, value in document.items() if key != "era"}, schema)


def test_json_has_no_field_that_its_schema_does_not_tell():
    schema = json.loads(files("mcp_migrate.report").joinpath("findings.schema.json").read_text())
    document = json.loads(json_report.render(SEEN))
    properties = schema["properties"]
    counted = json.loads(json_report.statistics(SEEN))
    assert document.keys() | counted.keys() == properties.keys()
    assert counted["statistics"][0].keys() == properties["statistics"]["items"]["properties"].keys()
    assert document["summary"].keys() == properties["summary"]["properties"].keys()
    assert document["suppressions"][0].keys() == properties["suppressions"]["items"]["properties"].keys()
    assert document["stale"][0].keys() == properties["stale"]["items"]["properties"].keys()
    assert document["files"][0].keys() == properties["files"]["items"]["properties"].keys()
    assert document["findings"][0].keys() == schema["$defs"]["finding"]["properties"].keys()


@pytest.mark.parametrize("report", [BOTH, NONE, evil(), report_of(at(SERVER, '"ping"', PING), at(SERVER, "return", TASKS))])
def test_sarif_keeps_to_its_schema(report):
    schema = json.loads(Path(__file__).with_name("sarif.schema.json").read_text())
    jsonschema.validate(json.loads(sarif.render(report)), schema, jsonschema.Draft202012Validator)


def test_sarif_results_point_to_their_rules():
    (run,) = json.loads(sarif.render(BOTH))["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in run["results"]] == [True, True]
    assert rules[0]["help"]["text"] == "Nobody answers.\n\nInstead: Write something else.\n\nSource: SEP-0000"
    assert run["results"][0]["partialFingerprints"] == {"mcpMigrate/v1": "mark1"}


def test_sarif_messages_are_sentences():
    (run,) = json.loads(sarif.render(BOTH))["runs"]
    assert [result["message"]["text"] for result in run["results"]] == [
        "`ping` is gone. `mcp-migrate fix` does this.",
        "`error_code` is gone; its meaning is not clear. Only a human can decide this.",
    ]


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("a/b.py", "a/b.py"),
        ("a b/c%d#.py", "a%20b/c%25d%23.py"),
        ("/tmp/ü.py", "file:///tmp/%C3%BC.py"),
        ("C:/x/y.py", "file:///C:/x/y.py"),
        ("a:b.py", "a%3Ab.py"),
        ("x\udcff.py", "x%FF.py"),
    ],
)
def test_sarif_paths_are_uris(path, uri):
    source = Source(path, "ping\n")
    (run,) = json.loads(sarif.render(report_of(at(source, "ping"), source=source)))["runs"]
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": uri}


# Positions


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_positions_are_lines_and_columns_in_characters(newline):
    source = Source("a.py", newline.join(["# é中😀", "x = 'é' + 'ping'", ""]))
    (found,) = report_of(at(source, "'ping'"), source=source).places
    assert (found.line, found.column, found.end_line, found.end_column) == (2, 11, 2, 17)
    assert found.lines == ("x = 'é' + 'ping'",)


def test_places_are_sorted_by_path_and_position():
    one, other = Source("b.py", "x ping\nping\n"), Source("a.py", "ping\n")
    findings = [at(one, "ping", nth=1), at(one, "ping"), at(other, "ping"), at(one, "x")]
    places = place(findings, "wxyz", {"a.py": other, "b.py": one}, lambda path: path)
    assert [(it.path, it.line, it.column) for it in places] == [("a.py", 1, 1), ("b.py", 1, 1), ("b.py", 1, 3), ("b.py", 2, 1)]


def test_findings_that_differ_in_their_hint_alone_have_one_order():
    """Two dispatchers in one function have two reasons at one place; a set gives them in any order."""
    source = Source("a.py", "x = 1\n")
    one, other = (replace(at(source, "x"), hint=hint) for hint in "ab")
    both = [place(found, ["1", "2"], {"a.py": source}, str) for found in ([one, other], [other, one])]
    assert [[it.hint for it in places] for places in both] == [["a", "b"], ["a", "b"]]
