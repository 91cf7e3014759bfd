"""The command line as its users meet it: real files, real git, exit statuses, and bad input of every kind."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import mcp_migrate
import pytest
from calling import FIX, FIXED, SERVER, Done, git, put
from mcp_migrate.catalog import load
from mcp_migrate.terminal import uninterrupted


def found(done: Done) -> list[tuple[str, int, str]]:
    return [(finding["path"], finding["line"], finding["rule"]) for finding in json.loads(done.out)["findings"]]


# What is checked


def test_check_finds_and_exits_with_1(run, tmp_path):
    put(tmp_path, "server.py")
    done = run("check")
    assert done.status == 1
    assert "server.py:9:18" in done.out
    assert done.err == ""


def test_a_folder_without_mcp_code_is_clean(run, tmp_path):
    put(tmp_path, "a.py", "print('hello')\n")
    put(tmp_path, "empty.py", "")
    assert run("check", ".") == Done(0, "No findings in 2 files.\n  None of them holds MCP code.\n", "")


def test_an_empty_folder_is_clean(run):
    assert run("check").status == 0


def test_files_and_folders_can_be_mixed(run, tmp_path):
    put(tmp_path, "one/server.py")
    put(tmp_path, "two/script")
    put(tmp_path, "three/server.py")
    done = run("check", "one", "two/script", "--output-format", "json")
    assert {path for path, _, _ in found(done)} == {"one/server.py", "two/script"}


def test_paths_are_told_as_they_were_given(run, tmp_path):
    file = put(tmp_path, "pkg/server.py")
    assert {path for path, _, _ in found(run("check", str(tmp_path), "--output-format", "json"))} == {file.as_posix()}
    assert {path for path, _, _ in found(run("check", "pkg", "--output-format", "json"))} == {"pkg/server.py"}


def test_paths_outside_of_the_working_folder_are_absolute(run, tmp_path, monkeypatch):
    file = put(tmp_path, "elsewhere/server.py")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert {path for path, _, _ in found(run("check", "../elsewhere", "--output-format", "json"))} == {file.as_posix()}


def test_code_scanning_gets_paths_from_the_working_folder(run, tmp_path):
    put(tmp_path, "pkg/server.py")
    assert "file=pkg/server.py," in run("check", str(tmp_path), "--output-format", "github").out
    assert '"uri": "pkg/server.py"' in run("check", str(tmp_path), "--output-format", "sarif").out


def test_standard_input_is_checked_under_the_name_it_is_given(run, tmp_path):
    put(tmp_path, "pyproject.toml", "[tool.mcp-migrate.per-file-ignores]\n'legacy/*' = ['ping']\n")
    by_name = {
        name: {rule for _, _, rule in found(run("check", "-", "--stdin-filename", name, "--output-format", "json", stdin=SERVER.encode()))}
        for name in ("server.py", "legacy/server.py")
    }
    assert by_name["server.py"] - by_name["legacy/server.py"] == {"MCP103"}
    assert found(run("check", "-", "--output-format", "json", stdin=SERVER.encode()))[0][0] == "stdin.py"


def test_gitignore_and_exclude_leave_files_out(run, tmp_path):
    for name in ("kept.py", "ignored.py", "excluded.py", "pkg/flag.py"):
        put(tmp_path, name)
    put(tmp_path, ".gitignore", "ignored.py\n")
    put(tmp_path, "pyproject.toml", '[tool.mcp-migrate]\nexclude = ["excluded.py"]\n')
    paths = {path for path, _, _ in found(run("check", "--exclude", "pkg", "--output-format", "json"))}
    assert paths == {"kept.py"}
    paths = {path for path, _, _ in found(run("check", "--no-respect-gitignore", "--output-format", "json"))}
    assert paths == {"kept.py", "ignored.py", "pkg/flag.py"}


# Which rules, and what makes it fail


def test_rules_are_selected_and_ignored(run, tmp_path):
    put(tmp_path, "server.py")
    every = {rule for _, _, rule in found(run("check", "--output-format", "json"))}
    assert every > {"MCP103", "MCP201"}
    assert {rule for _, _, rule in found(run("check", "--select", "MCP103,retired_code", "--output-format", "json"))} == {
        "MCP103",
        "MCP201",
    }
    assert {rule for _, _, rule in found(run("check", "--ignore", "ping", "--ignore", "MCP2", "--output-format", "json"))} == every - {
        rule for rule in every if rule == "MCP103" or rule.startswith("MCP2")
    }


def test_a_selection_on_the_command_line_replaces_the_settings_and_an_ignore_adds(run, tmp_path):
    put(tmp_path, "server.py")
    put(tmp_path, ".mcp-migrate.toml", 'select = ["MCP1", "MCP2"]\nignore = ["ping"]\n')
    assert {rule for _, _, rule in found(run("check", "--output-format", "json"))} == {"MCP201"}
    assert {rule for _, _, rule in found(run("check", "--ignore", "MCP201", "--output-format", "json"))} == set()
    assert {rule for _, _, rule in found(run("check", "--select", "ping", "--output-format", "json"))} == {"MCP103"}


@pytest.mark.parametrize(
    ("rule", "statuses"),
    [("MCP103", {"error": 1, "warning": 1, "note": 1, "never": 0}), ("MCP302", {"error": 0, "warning": 1, "note": 1, "never": 0})],
    ids=["an error", "a warning"],
)
def test_the_exit_status_follows_fail_on(run, tmp_path, rule, statuses):
    put(tmp_path, "server.py")
    assert {word: run("check", "--select", rule, "--fail-on", word).status for word in statuses} == statuses


def test_fail_on_can_be_a_setting_and_a_flag_goes_before_it(run, tmp_path):
    put(tmp_path, "server.py")
    put(tmp_path, ".mcp-migrate.toml", 'fail-on = "never"\n')
    assert run("check").status == 0
    assert run("check", "--fail-on", "error").status == 1


def test_suppressions_silence_and_unused_ones_are_notes(run, tmp_path):
    text = SERVER.replace('== "ping":', '== "ping":  # mcp-migrate: ignore[MCP103] -- a health probe')
    put(tmp_path, "server.py", text.replace("return None", "return None  # mcp-migrate: ignore"))
    done = run("check", "--output-format", "json")
    rules = {(line, rule) for _, line, rule in found(done)}
    assert (9, "MCP103") not in rules
    assert {line for line, rule in rules if rule == "MCP001"} == {17}
    assert json.loads(done.out)["summary"]["suppressed"] == 1


def test_an_unused_suppression_alone_does_not_fail(run, tmp_path):
    put(tmp_path, "a.py", "import mcp  # mcp-migrate: ignore[MCP103]\n")
    assert run("check", "--select", "MCP103,MCP001").status == 0
    assert run("check", "--select", "MCP103,MCP001", "--fail-on", "note").status == 1


# Baseline


def test_a_baseline_accepts_what_is_there_and_nothing_new(run, tmp_path):
    file = put(tmp_path, "pkg/server.py")
    written = run("check", "--write-baseline", "accepted.json")
    assert (written.status, written.out) == (0, "")
    assert re.fullmatch(r"mcp-migrate: wrote \d+ accepted findings to accepted.json\n", written.err)
    again = run("check", "--baseline", "accepted.json", "--fail-on", "note")
    assert again.status == 0
    assert "accepted by the baseline" in again.out
    file.write_text("import os\n\n\n" + SERVER + '\nHEALTH = {"method": "ping"}\nhandle({"jsonrpc": "2.0", "method": "tasks/list"})\n')
    new = found(run("check", "--baseline", "accepted.json", "--output-format", "json"))
    assert new
    assert {line for _, line, _ in new} <= {26, 27}


def test_a_baseline_can_be_a_setting_and_holds_in_every_working_folder(run, tmp_path, monkeypatch):
    put(tmp_path, "pkg/server.py")
    put(tmp_path, ".mcp-migrate.toml", 'baseline = "accepted.json"\n')
    run("check", "--write-baseline", "accepted.json")
    assert run("check").status == 0
    monkeypatch.chdir(tmp_path / "pkg")
    assert run("check").status == 0
    assert run("check", str(tmp_path)).status == 0


def test_stale_entries_of_a_baseline_are_named(run, tmp_path):
    file = put(tmp_path, "server.py")
    run("check", "--write-baseline", "accepted.json", "--era", "modern")
    assert json.loads(run("check", "--era", "modern", "--baseline", "accepted.json", "--output-format", "json").out)["stale"] == []
    file.write_text(FIXED)
    arguments = ("check", "--era", "modern", "--baseline", "accepted.json")
    assert "1 of the baseline without a finding any more (write it anew): server.py MCP201" in run(*arguments).out
    assert json.loads(run(*arguments, "--output-format", "json").out)["stale"] == [{"path": "server.py", "rule": "MCP201"}]
    told = "mcp-migrate: warning: 1 of the baseline without a finding any more (write it anew): server.py MCP201\n"
    assert [run(*arguments, "--output-format", form).err for form in ("concise", "github", "gitlab")] == [told] * 3
    assert run(*arguments, "-q").err == told


def test_what_was_accepted_in_a_file_that_is_gone_is_stale_and_in_one_that_was_not_read_is_not(run, tmp_path):
    put(tmp_path, "a/server.py")
    put(tmp_path, "b/server.py")
    run("check", "--write-baseline", "accepted.json")
    assert json.loads(run("check", "a", "--baseline", "accepted.json", "--output-format", "json").out)["stale"] == []
    (tmp_path / "b" / "server.py").unlink()
    stale = json.loads(run("check", "a", "--baseline", "accepted.json", "--output-format", "json").out)["stale"]
    assert stale
    assert {one["path"] for one in stale} == {"b/server.py"}


def test_reasons_of_suppressions_are_told_and_can_be_asked_for(run, tmp_path):
    text = SERVER.replace('if method == "ping":', 'if method == "ping":  # mcp-migrate: ignore -- a probe asks')
    put(tmp_path, "server.py", text.replace('"Resource not found"}}', '"Resource not found"}}  # mcp-migrate: ignore[error_code]'))
    put(tmp_path, ".mcp-migrate.toml", "require-reasons = true\n")
    document = json.loads(run("check", "--era", "modern", "--output-format", "json").out)
    first = document["suppressions"][0]
    assert (first["line"], first["rules"], first["reason"]) == (9, None, "a probe asks")
    assert ("server.py", 15, "MCP001") in {(one["path"], one["line"], one["rule"]) for one in document["findings"]}


@pytest.mark.parametrize("setting", [True, False], ids=["setting", "flag"])
def test_fix_leaves_alone_what_the_baseline_accepts(run, tmp_path, setting):
    file = put(tmp_path, "server.py")
    run("check", "--write-baseline", "accepted.json", "--era", "modern")
    if setting:
        put(tmp_path, ".mcp-migrate.toml", 'baseline = "accepted.json"\n')
    flags = () if setting else ("--baseline", "accepted.json")
    done = run("fix", "--era", "modern", "--fail-on", "note", *flags)
    assert (done.status, file.read_text()) == (0, SERVER)
    assert "Nothing to fix" in done.out
    assert "accepted by the baseline" in done.out
    # What is new is fixed, and nothing else.
    file.write_text(
        SERVER.replace("    return None\n", '    if method == "notes/read":\n        raise KeyError(-32002, "Resource not found")\n')
    )
    before = file.read_text()
    assert run("fix", "--era", "modern", "--unsafe-fixes", *flags).status == 0
    assert file.read_text() == before.replace("KeyError(-32002", "KeyError(-32602")


def test_a_fixed_line_does_not_wake_an_equal_one_that_is_accepted(run, tmp_path):
    line = '    send({"error": {"code": -32002, "message": "Resource not found"}})\n'
    file = put(tmp_path, "server.py", f"{SERVER}\n\ndef refuse():\n{line}")
    run("check", "--write-baseline", "accepted.json", "--era", "modern")
    file.write_text(file.read_text() + line)
    done = run("fix", "--era", "modern", "--baseline", "accepted.json", "--fail-on", "note")
    assert (done.status, file.read_text().count("-32602")) == (0, 1)
    assert run("check", "--era", "modern", "--baseline", "accepted.json", "--fail-on", "note").status == 0


@pytest.mark.parametrize(("text", "words"), [(None, "no such file"), ("{", "not JSON"), ('{"version": 7}', "version 1")])
def test_a_baseline_that_cannot_be_used_is_an_error(run, tmp_path, text, words):
    put(tmp_path, "server.py")
    if text is not None:
        put(tmp_path, "accepted.json", text)
    done = run("check", "--baseline", "accepted.json")
    assert (done.status, done.out) == (2, "")
    assert words in done.err
    assert "accepted.json" in done.err


# Formats

FORMATS = ["text", "concise", "json", "sarif", "github", "gitlab", "junit"]


def test_one_run_makes_as_many_reports_as_are_asked_for(run, tmp_path):
    put(tmp_path, "server.py")
    alone = {name: run("check", "--output-format", name).out for name in FORMATS}
    wanted = [argument for name in FORMATS for argument in ("--report", f"{name}={name}.out")]
    done = run("check", "--output-format", "concise", *wanted)
    assert (done.status, done.out) == (1, alone["concise"])
    assert {name: (tmp_path / f"{name}.out").read_text() for name in FORMATS} == alone


@pytest.mark.parametrize("wanted", ["sarif", "sarif=", "xml=a.xml", "=a.xml"])
def test_a_report_without_a_known_format_or_a_file_is_refused(run, tmp_path, wanted):
    put(tmp_path, "server.py")
    done = run("check", "--report", wanted)
    assert (done.status, done.out) == (2, "")
    assert "--report takes FORMAT=FILE" in done.err
    assert "gitlab" in done.err


# All that is found here is left to a human.
CLIENT = "from mcp import ClientSession\n\n\nasync def probe(session: ClientSession):\n    await session.send_ping()\n"


def test_only_what_has_an_edit_is_told_if_that_is_asked_for(run, tmp_path):
    put(tmp_path, "client.py", CLIENT)
    put(tmp_path, "server.py")
    every = json.loads(run("check", "--era", "modern", "--output-format", "json", "--fail-on", "never").out)["findings"]
    told = json.loads(run("check", "--era", "modern", "--output-format", "json", "--fail-on", "never", "--fixable-only").out)["findings"]
    assert told == [finding for finding in every if finding["fix"]]
    assert 0 < len(told) < len(every)


def test_the_exit_status_follows_what_has_an_edit(run, tmp_path):
    put(tmp_path, "client.py", CLIENT)
    every = json.loads(run("check", "--output-format", "json", "--fail-on", "note").out)["findings"]
    assert {finding["fix"] for finding in every} <= {False}, "the file is to hold nothing that fix can settle"
    assert (run("check", "--fail-on", "note").status, run("check", "--fail-on", "note", "--fixable-only").status) == (1, 0)


def test_what_cannot_be_read_is_told_whether_it_has_an_edit_or_not(run, tmp_path):
    put(tmp_path, "server.py", "import mcp\ndef (\n")
    done = run("check", "--fixable-only", "--output-format", "concise")
    assert done.status == 2
    assert "MCP000" in done.out


@pytest.mark.parametrize("with_it", [["--fixable-only"], ["--report", "json=a.json"]])
def test_a_baseline_is_written_of_all_findings_and_alone(run, tmp_path, with_it):
    put(tmp_path, "server.py")
    done = run("check", "--write-baseline", "accepted.json", *with_it)
    assert done.status == 2
    assert not (tmp_path / "accepted.json").exists()


@pytest.mark.parametrize("name", FORMATS)
def test_a_report_can_go_to_a_file(run, tmp_path, name):
    put(tmp_path, "server.py")
    shown = run("check", "--output-format", name)
    done = run("check", "--output-format", name, "--output-file", "report")
    assert done == Done(1, "", "")
    assert (tmp_path / "report").read_text() == shown.out


def test_a_report_that_cannot_be_written_is_an_error(run, tmp_path):
    put(tmp_path, "server.py")
    done = run("check", "--output-file", "missing/report")
    assert done.status == 2
    assert "missing/report" in done.err


def test_statistics_have_no_form_for_tools_that_want_places(run, tmp_path):
    put(tmp_path, "server.py")
    assert {entry["rule"] for entry in json.loads(run("check", "--statistics", "--output-format", "json").out)["statistics"]} >= {"MCP103"}
    for name in ("sarif", "github"):
        done = run("check", "--statistics", "--output-format", name)
        assert (done.status, done.out) == (2, "")
        assert "--statistics" in done.err


@pytest.mark.parametrize("command", ["check", "fix"])
def test_a_run_over_nothing_says_so(run, tmp_path, command):
    put(tmp_path, "notes.txt", "x")
    done = run(command)
    assert (done.status, done.err) == (0, "mcp-migrate: warning: no Python files found under the given paths\n")
    put(tmp_path, "app.py", "x = 1\n")
    assert run(command).err == ""


def test_statistics_count_rules(run, tmp_path):
    put(tmp_path, "server.py")
    assert re.search(r"^ *1  MCP103  \[.\] ping$", run("check", "--statistics").out, re.MULTILINE)


def test_quiet_leaves_out_the_summary(run, tmp_path):
    put(tmp_path, "a.py", "x = 1\n")
    assert run("check", "--quiet") == Done(0, "", "")


# What cannot be read


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"import mcp\nx = (\n", "syntax error: '(' was never closed"),
        (b'import mcp\nx = "\xff"\n', "byte 0xff at offset 16"),
        (b"# coding: martian\nimport mcp\n", "unknown encoding"),
        (b"# coding: rot13\nvzcbeg zpc\nimport mcp\n", "unusable encoding: rot13"),
        (b"# coding: idna\nimport mcp\nfrom x..y import z\n", "unusable encoding: idna"),
        (b"# coding: utf-7\nimport mcp\n+AGE- = 1\n", "unusable encoding: utf-7"),
        (b"import mcp\nx = \x00\n", "null bytes"),
        (b"import mcp\nprint 'tools/call'\n", "syntax error"),
    ],
    ids=["syntax", "not utf-8", "unknown encoding", "no text", "no bytes", "another spelling", "null byte", "python 2"],
)
def test_what_cannot_be_read_is_a_finding_and_exits_with_2(run, tmp_path, data, message):
    put(tmp_path, "bad.py", data)
    put(tmp_path, "good.py")
    done = run("check", "--output-format", "concise")
    assert done.status == 2
    assert re.search(rf"^bad\.py:\d+:\d+: MCP000 \[manual\] .*{re.escape(message)}", done.out, re.MULTILINE)
    assert "good.py:9:18: MCP103" in done.out


def test_a_syntax_error_is_shown_at_its_place(run, tmp_path):
    put(tmp_path, "bad.py", "import mcp\n\nx = 'é' +\n")
    assert "bad.py:3:10: MCP000" in run("check", "--output-format", "concise").out


def test_a_file_without_mcp_code_need_not_be_readable(run, tmp_path):
    put(tmp_path, "old.py", b"print 'hello'\n\xff")
    assert run("check").status == 0


def test_unreadable_files_cannot_be_silenced(run, tmp_path):
    put(tmp_path, "bad.py", "# mcp-migrate: ignore-file\nimport mcp\nx = (  # mcp-migrate: ignore\n")
    assert run("check", "--select", "MCP103", "--ignore", "MCP000", "--fail-on", "never").status == 2


def test_a_file_that_blocks_is_reported(run, tmp_path):
    os.mkfifo(tmp_path / "pipe.py")
    done = run("check", "--output-format", "concise")
    assert (done.status, done.out) == (2, "pipe.py:1:1: MCP000 [manual] not a regular file\n")


def test_absurd_nesting_is_reported_or_read(run, tmp_path):
    put(tmp_path, "deep.py", "import mcp\nx = " + "(" * 3000 + ")" * 3000 + "\n")
    assert run("check").status in (0, 2)


@pytest.mark.parametrize(
    "text",
    [SERVER.replace("\n", "\r\n"), "\ufeff" + SERVER, SERVER.replace("\n", "\r"), "# coding: latin-1\n" + SERVER],
    ids=["crlf", "bom", "cr", "latin-1"],
)
def test_line_ends_and_encodings_do_not_matter(run, tmp_path, text):
    put(tmp_path, "server.py", text)
    more = text.startswith("# coding")
    assert ("server.py", 9 + more, "MCP103") in found(run("check", "--output-format", "json"))


# Wrong usage


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check", "missing.py"], "missing.py"),
        (["fix", "missing.py"], "missing.py"),
        (["check", "--select", "MCP999"], "MCP999"),
        (["check", "--ignore", "pong"], "pong"),
        (["check", "--config", "missing.toml"], "missing.toml"),
        (["check", "-", "a.py"], "cannot be mixed"),
        (["check", "--stdin-filename", "a.py"], "--stdin-filename"),
        (["check", "--era", "stone"], "stone"),
        (["check", "--fail-on", "sometimes"], "sometimes"),
        (["check", "--output-format", "xml"], "xml"),
        (["check", "--frobnicate"], "--frobnicate"),
        (["frobnicate"], "frobnicate"),
        (["explain", "pong"], "pong"),
        (["explain"], "RULE"),
    ],
)
def test_wrong_usage_exits_with_2_and_one_clear_sentence(run, arguments, words):
    done = run(*arguments)
    assert (done.status, done.out) == (2, "")
    assert words in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[tool.mcp-migrate]\nerra = 1\n", "unknown key tool.mcp-migrate.erra"),
        ("[tool.mcp-migrate]\nselect = ['pong']\n", "pyproject.toml: tool.mcp-migrate.select: no rule answers to 'pong'"),
        ("[tool.mcp-migrate]\nignore = ['pong']\n", "pyproject.toml: tool.mcp-migrate.ignore: no rule answers to 'pong'"),
        ("[tool.mcp-migrate]\nper-file-ignores = {'a' = ['pong']}\n", "tool.mcp-migrate.per-file-ignores: no rule answers to 'pong'"),
        ("[tool.mcp-migrate]\nx = [\n", "pyproject.toml"),
    ],
)
@pytest.mark.parametrize("command", ["check", "fix"])
def test_a_wrong_setting_exits_with_2_and_one_line(run, tmp_path, command, text, words):
    put(tmp_path, "pyproject.toml", text)
    done = run(command)
    assert (done.status, done.out) == (2, "")
    assert words in done.err
    assert done.err.count("\n") == 1


# Rules, explain, version


def test_rules_lists_every_rule(run):
    done = run("rules")
    assert done.status == 0
    assert [line.split()[:2] for line in done.out.splitlines()] == [[entry.id, entry.name] for entry in load().entries]


@pytest.mark.parametrize("spelling", ["MCP103", "mcp103", "ping"])
def test_explain_says_why_and_what_instead(run, spelling):
    done = run("explain", spelling)
    entry = load().rule("MCP103")
    assert done.status == 0
    assert done.out.startswith("MCP103 ping (error")
    assert f"Why: {entry.why}" in done.out
    assert f"Instead: {entry.instead}" in done.out


def test_version_is_that_of_the_distribution(run):
    done = run("--version")
    pyproject = (Path(__file__).parent.parent / "pyproject.toml").read_text()
    assert (done.status, done.out) == (0, f"mcp-migrate {mcp_migrate.__version__}\n")
    assert f'version = "{mcp_migrate.__version__}"' in pyproject


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_completion_prints_the_script_of_a_shell(run, shell):
    done = run("completion", shell)
    assert done.status == 0
    assert "_MCP_MIGRATE_COMPLETE" in done.out
    assert "complete" in done.out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("mcp-migrate ", {"check", "fix", "rules", "explain", "guide", "verify", "completion", "cache"}),
        ("mcp-migrate ch", {"check"}),
        ("mcp-migrate check --output-fo", {"--output-format"}),
        ("mcp-migrate check --output-format ", {"text", "concise", "json", "sarif", "github", "gitlab", "junit"}),
        ("mcp-migrate fix --era m", {"modern"}),
    ],
)
def test_bash_completes_commands_options_and_their_words(tmp_path, words, expected):
    """In a real bash, which runs the script that `completion` prints."""
    bash = shutil.which("bash")
    assert bash is not None
    typed = words.split(" ")
    script = (
        f'PATH="{Path(sys.executable).parent}:$PATH"\neval "$(mcp-migrate completion bash)"\n'
        f"COMP_WORDS=({' '.join(typed[:-1])} {typed[-1]!r})\nCOMP_CWORD={len(typed) - 1}\n"
        '_mcp_migrate_completion mcp-migrate\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run([bash, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    assert set(done.stdout.split()) == expected


def test_help_has_no_word_of_completion_options(run):
    assert "--install-completion" not in run("--help").out
    assert "--show-completion" not in run("check", "--help").out


@pytest.mark.parametrize("command", ["check", "fix", "rules", "explain", "completion"])
def test_every_command_has_help(run, command):
    done = run(command, "--help")
    assert done.status == 0
    assert "Usage:" in done.out


# Fix


def test_fix_writes_in_place_and_tells_what_it_did(run, tmp_path):
    file = put(tmp_path, "pkg/server.py")
    done = run(*FIX)
    assert file.read_text() == FIXED
    assert done.out.startswith("Fixed 1 finding in 1 file:\n  pkg/server.py: MCP201 retired_code (1)\n")
    assert (done.status, done.err) == (0, "")


def test_a_second_fix_does_nothing(run, tmp_path):
    file = put(tmp_path, "server.py")
    run(*FIX)
    stamp = file.stat()
    assert run(*FIX).out.startswith("Nothing to fix.\n")
    assert (file.stat().st_mtime_ns, file.stat().st_ino) == (stamp.st_mtime_ns, stamp.st_ino)


def test_fix_exits_with_1_if_findings_are_left(run, tmp_path):
    put(tmp_path, "server.py")
    done = run("fix", "--era", "modern", "--select", "retired_code,MCP302", "--fail-on", "warning")
    assert done.status == 1
    assert "MCP302" in done.out


@pytest.mark.parametrize(
    "text",
    [SERVER.replace("\n", "\r\n"), "\ufeff" + SERVER, SERVER.rstrip("\n"), SERVER.replace('"x"', '"é"')],
    ids=["crlf", "bom", "no last newline", "utf-8"],
)
def test_fix_keeps_every_other_byte_and_the_mode(run, tmp_path, text):
    file = put(tmp_path, "server.py", text)
    file.chmod(0o750)
    run(*FIX)
    assert file.read_bytes() == text.encode().replace(b"-32002", b"-32602")
    assert file.stat().st_mode & 0o777 == 0o750


def test_fix_keeps_a_declared_encoding(run, tmp_path):
    data = ("# coding: latin-1\n" + SERVER.replace('"x"', '"é"')).encode("latin-1")
    file = put(tmp_path, "server.py", data)
    run(*FIX)
    assert file.read_bytes() == data.replace(b"-32002", b"-32602")


def test_fix_leaves_suppressed_findings_alone(run, tmp_path):
    text = SERVER.replace('not found"}}', 'not found"}}  # mcp-migrate: ignore[MCP201]')
    file = put(tmp_path, "server.py", text)
    assert run(*FIX).out.startswith("Nothing to fix.\n")
    assert file.read_text() == text


def test_fix_leaves_files_alone_whose_rule_is_ignored_there(run, tmp_path):
    put(tmp_path, ".mcp-migrate.toml", "[per-file-ignores]\n'legacy/*' = ['MCP201']\n")
    kept, fixed = put(tmp_path, "legacy/server.py"), put(tmp_path, "server.py")
    run(*FIX)
    assert (kept.read_text(), fixed.read_text()) == (SERVER, FIXED)


def test_a_file_that_cannot_be_read_does_not_keep_others_from_being_fixed(run, tmp_path):
    bad, good = put(tmp_path, "bad.py", "import mcp\nx = (\n"), put(tmp_path, "good.py")
    assert run(*FIX).status == 2
    assert (bad.read_text(), good.read_text()) == ("import mcp\nx = (\n", FIXED)


@pytest.mark.parametrize(
    "text", [SERVER, SERVER.replace("\n", "\r\n"), SERVER.rstrip("\n"), "\ufeff" + SERVER], ids=["lf", "crlf", "no newline", "bom"]
)
def test_diff_prints_what_fix_would_write_as_git_takes_it(run, tmp_path, text):
    file = put(tmp_path, "sub dir/server.py", text)
    git(tmp_path, "init", "-q")
    done = run(*FIX, "--diff")
    assert (done.status, file.read_bytes()) == (1, text.encode())
    assert done.err.startswith("Would fix 1 finding in 1 file:\n")
    git(tmp_path, "apply", stdin=done.out.encode())
    assert file.read_bytes() == text.encode().replace(b"-32002", b"-32602")


def test_diff_can_be_applied_from_a_folder_below_the_root(run, tmp_path, monkeypatch):
    file = put(tmp_path, "pkg/server.py")
    git(tmp_path, "init", "-q")
    monkeypatch.chdir(tmp_path / "pkg")
    git(tmp_path / "pkg", "apply", stdin=run(*FIX, "--diff").out.encode())
    assert file.read_text() == FIXED


def test_diff_exits_with_0_if_nothing_would_change(run, tmp_path):
    put(tmp_path, "server.py", FIXED)
    assert run(*FIX, "--diff") == Done(0, "", "Nothing to fix.\n")


def test_a_preview_tells_that_findings_are_left(run, tmp_path):
    put(tmp_path, "server.py", FIXED)
    left = "Nothing could be fixed.\nmcp-migrate: 1 finding left; `mcp-migrate check` shows it\n"
    assert run("fix", "--era", "modern", "--select", "MCP201,MCP103", "--diff") == Done(0, "", left)


def test_diff_of_latin_1_text_is_in_its_own_bytes(run, tmp_path):
    data = ("# coding: latin-1\n" + SERVER.replace("Resource not found", "Nicht gefunden: é, not found")).encode("latin-1")
    file = put(tmp_path, "server.py", data)
    git(tmp_path, "init", "-q")
    done = run(*FIX, "--diff")
    git(tmp_path, "apply", stdin=done.out.encode("utf-8", "surrogateescape"))
    assert file.read_bytes() == data.replace(b"-32002", b"-32602")


def test_fix_of_standard_input_prints_the_text(run, tmp_path):
    done = run(*FIX, "-", "--stdin-filename", "server.py", stdin=SERVER.replace("\n", "\r\n").encode())
    assert done.out == FIXED.replace("\n", "\r\n")
    assert done.err.startswith("Fixed 1 finding")
    assert done.status == 0
    assert list(tmp_path.iterdir()) == []


def test_standard_input_without_a_fix_comes_back_as_it_was(run):
    data = b"\xef\xbb\xbfx = 1\r\ny = 2"
    assert run("fix", "-", stdin=data).out.encode() == data


def test_standard_input_that_cannot_be_read_comes_back_as_it_was(run):
    done = run("fix", "-", stdin=b"import mcp\nx = (\n")
    assert (done.status, done.out) == (2, "import mcp\nx = (\n")


SERVERS = Path(__file__).parent.parent / "fixtures" / "servers"
NOTES = (SERVERS / "notes_chain" / "before" / "server.py").read_text()


def test_a_server_on_standard_input_is_said_to_need_a_file_beside_it(run):
    done = run("fix", "-", "--stdin-filename", "server.py", stdin=NOTES.encode())
    assert (done.status, done.out) == (1, NOTES)
    nothing, why, left = done.err.splitlines()
    assert nothing == "Nothing could be fixed."
    assert why == "mcp-migrate: server.py: not fixed: mcp_stateless.py cannot be written beside standard input, which is one file alone"
    assert re.fullmatch(r"mcp-migrate: \d+ findings left; `mcp-migrate check` shows them", left)


# Bad input


FORM_FEED = NOTES.replace("def handle", "\x0cdef handle")


def branches(number: int) -> str:
    """The notes server with a chain of so many branches."""
    one = '    elif method == "tools/list":'
    assert NOTES.count(one) == 1
    return NOTES.replace(one, "".join(f'    elif method == "x/{at}":\n        return None\n' for at in range(number)) + one)


@pytest.mark.parametrize("era", ["dual", "modern"])
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (FORM_FEED, "LibCST would lose bytes of this file, such as a form feed before code"),
        (branches(600), "this file is nested too deeply to be rewritten"),
        (branches(900), "this file is nested too deeply to be rewritten"),
    ],
    ids=["form feed", "600 branches", "900 branches"],
)
def test_a_file_that_cannot_be_rewritten_says_why_and_does_not_keep_others_from_being_fixed(run, tmp_path, era, text, reason):
    bad = put(tmp_path, "bad.py", text)
    good = [put(tmp_path, name, NOTES) for name in ("a/server.py", "z/server.py")]
    preview = run("fix", "--diff", "--era", era)
    assert [line for line in preview.err.splitlines() if "not fixed" in line and reason in line] != []
    done = run("fix", "--era", era)
    assert (done.status, done.err) == (1, "")
    assert f"by hand: {reason}" in done.out
    assert bad.read_text() == text
    assert all("Stateless" in file.read_text() for file in good)


def test_a_chain_of_thousands_of_branches_is_one_line(run, tmp_path):
    put(tmp_path, "bad.py", branches(3000))
    good = put(tmp_path, "server.py", NOTES)
    done = run("fix")
    # Python 3.11 and 3.12 refuse to parse it, others do not; nothing is proven of it in any.
    told = {2: "error[MCP000] nested too deeply", 1: "by hand: not wired: its code is nested too deeply to be proven"}
    assert done.err == ""
    assert told[done.status] in done.out
    assert "Stateless" in good.read_text()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions hold back neither root nor Windows")
def test_a_folder_without_permission_is_one_line(run, tmp_path):
    file = put(tmp_path, "closed/server.py", NOTES)
    file.parent.chmod(0o500)
    assert run("fix").status == 2
    file.parent.chmod(0o700)
    assert file.read_text() == NOTES


def test_every_kind_of_bad_input_in_one_run_is_one_line_each_and_the_good_files_are_fixed(run, tmp_path, monkeypatch):
    bad = {
        "syntax.py": b"import mcp\nx = (\n",
        "unknown.py": b"# coding: klingon\nimport mcp\n",
        "bytes.py": b"import mcp\nx = '\xff'\n",
        "null.py": b"import mcp\nx = '\0'\n",
        "deep.py": branches(3000).encode(),
        "unwritable.py": FORM_FEED.encode(),
    }
    for name, data in bad.items():
        put(tmp_path, name, data)
    (tmp_path / "gone.py").symlink_to(tmp_path / "nowhere.py")
    held = put(tmp_path, "held/server.py", NOTES)
    replace = os.replace

    def in_use(source, target):  # as Windows does where another program has the file open; permissions would not hold back root
        if Path(target) == held:
            raise PermissionError(13, "Permission denied", str(target))
        replace(source, target)

    monkeypatch.setattr(os, "replace", in_use)
    good = put(tmp_path, "good/server.py", NOTES)
    names = [*bad, "gone.py", "held", "good"]
    done = run("fix", "--mark", *names)
    assert done.status == 2
    assert done.err.count("\n") == 1
    assert "cannot write" in done.err
    assert "1 file that belongs to it stayed as before" in done.err
    assert "Traceback" not in done.err
    assert [path.name for path in held.parent.iterdir()] == [held.name]
    assert held.read_text() == NOTES
    assert "Stateless" in good.read_text()
    assert (good.parent / "mcp_stateless.py").exists()
    assert re.search(r"error\[MCP000\] .*\n *--> deep.py:|its code is nested too deeply to be proven", done.out)
    for name in ("syntax.py", "unknown.py", "bytes.py", "null.py", "gone.py"):
        (line,) = re.findall(rf"error\[MCP000\] (.*)\n *--> {name}:", done.out)
        assert line
    assert "Fixed 1 finding in 1 file and wrote 1 new file" in done.out
    for name, data in bad.items():
        # A file that can be read, as the deep one can on some Pythons, has marks.
        lines = [line for line in (tmp_path / name).read_bytes().split(b"\n") if b"mcp-migrate: TODO" not in line]
        assert name == "unwritable.py" or b"\n".join(lines) == data


def test_marks_of_an_earlier_run_in_a_file_that_cannot_be_read_stay(run, tmp_path):
    text = "# mcp-migrate: TODO[MCP103] `ping` is gone\nimport mcp\nx = = 1\n"
    file = put(tmp_path, "a.py", text)
    good = put(tmp_path, "server.py", NOTES)
    assert run("fix", "--mark").status == 2
    assert file.read_text() == text
    assert "Stateless" in good.read_text()


# Git


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    put(tmp_path, "server.py")
    put(tmp_path, "other.py", "x = 1\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "all")
    return tmp_path


def test_fix_rewrites_committed_and_staged_files(run, repo):
    assert run(*FIX).out.startswith("Fixed 1 finding")
    put(repo, "server.py", "# staged\n" + SERVER)
    git(repo, "add", "server.py")
    assert run(*FIX).out.startswith("Fixed 1 finding")
    assert (repo / "server.py").read_text() == "# staged\n" + FIXED


@pytest.mark.parametrize("name", ["server.py", "new.py"], ids=["changed", "untracked"])
def test_fix_refuses_what_git_could_not_give_back(run, repo, name):
    put(repo, name, "# mine\n" + SERVER)
    done = run(*FIX)
    assert (done.status, done.out) == (2, "")
    assert f"  {name}: " in done.err
    assert "--allow-dirty" in done.err
    assert (repo / name).read_text() == "# mine\n" + SERVER
    assert (repo / "server.py").read_text().endswith(SERVER)
    assert run(*FIX, "--allow-dirty").status == 0
    assert (repo / name).read_text() == "# mine\n" + FIXED


def test_changed_files_that_fix_does_not_touch_are_no_reason_to_refuse(run, repo):
    put(repo, "other.py", "x = 2\n")
    put(repo, "new.py", "x = 3\n")
    assert run(*FIX).status == 0
    assert (repo / "server.py").read_text() == FIXED


def test_what_git_does_not_track_can_be_left_out(run, repo):
    put(repo, "new.py")
    put(repo, "build_script/new.py")
    paths = lambda *flags: {path for path, *_ in found(run("check", "--output-format", "json", *flags))}  # noqa: E731
    assert paths() == {"server.py", "new.py", "build_script/new.py"}
    assert paths("--tracked") == {"server.py"}
    assert paths("--tracked", "build_script") == set()
    # A file that is named is always read, and one that is staged is tracked.
    assert paths("--tracked", "new.py", "build_script") == {"new.py"}
    git(repo, "add", "new.py")
    assert paths("--tracked", ".") == {"server.py", "new.py"}


def test_fix_leaves_alone_what_git_does_not_track(run, repo):
    put(repo, "new.py")
    assert run(*FIX, "--tracked").status == 0
    assert ((repo / "server.py").read_text(), (repo / "new.py").read_text()) == (FIXED, SERVER)


def test_outside_of_git_nothing_tells_what_is_tracked(run, tmp_path):
    put(tmp_path, "server.py")
    done = run("check", "--tracked")
    assert (done.status, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert "no git work tree" in done.err


def test_diff_and_standard_input_never_refuse(run, repo):
    put(repo, "server.py", "# mine\n" + SERVER)
    assert run(*FIX, "--diff").status == 1
    assert run(*FIX, "-", stdin=SERVER.encode()).status == 0


# Marks


def test_mark_leaves_a_comment_where_a_human_must_act(run, tmp_path):
    file = put(tmp_path, "server.py")
    done = run("fix", "--mark", "--select", "ping")
    lines = file.read_text().splitlines()
    assert lines[8].startswith("    # mcp-migrate: TODO[MCP103] `ping`")
    assert lines[9] == '    if method == "ping":'
    assert "server.py:10:18" in done.out
    once = file.read_text()
    run("fix", "--mark", "--select", "ping")
    assert file.read_text() == once


def test_mark_tells_of_fixes_that_were_not_asked_for(run, tmp_path):
    text = "from mcp.types import Tool\n\n\ndef schema(tool):\n    return tool.inputSchema\n"
    file = put(tmp_path, "server.py", text)
    run("fix", "--mark", "--select", "camel_case_field")
    comment = file.read_text().splitlines()[4]
    assert comment.startswith("    # mcp-migrate: TODO[MCP502]")
    assert "fix needs --unsafe-fixes: what it is read from is not known" in comment
    run("fix", "--unsafe-fixes", "--select", "camel_case_field")
    assert "return tool.input_schema" in file.read_text()


def test_diff_shows_marks_too(run, tmp_path):
    put(tmp_path, "server.py")
    assert "+    # mcp-migrate: TODO[MCP103]" in run("fix", "--mark", "--diff", "--select", "ping").out


# Terminals and signals


def start(folder: Path, *arguments: str, **options: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", "from mcp_migrate.cli import main; main()", *arguments], cwd=folder, **options)  # type: ignore[call-overload, no-any-return]


def shown(folder: Path, code: str, *arguments: str, **environment: str) -> tuple[int, bytes]:
    """The exit status, and what a terminal gets to see."""
    leader, follower = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=folder, stdin=subprocess.DEVNULL, stdout=follower, stderr=follower, env={**os.environ, "TERM": "xterm", **environment},
    )  # fmt: skip
    os.close(follower)
    seen = b""
    try:
        while piece := os.read(leader, 65536):
            seen += piece
    except OSError:  # Linux's way to say that the other side was closed
        pass
    os.close(leader)
    return process.wait(), seen


@pytest.mark.parametrize("variable", ["", "NO_COLOR"])
def test_colours_are_for_terminals_that_want_them(tmp_path, variable):
    put(tmp_path, "server.py")
    variables = {variable: "1"} if variable else {}
    status, seen = shown(tmp_path, "from mcp_migrate.cli import main; main()", "check", "--select", "ping", **variables)
    assert status == 1
    assert (b"\x1b[1;31merror[MCP103]" in seen) is not bool(variable)


MAIN = "from mcp_migrate.cli import main; main()"


def plain(seen: bytes) -> str:
    """What is read of it, without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", seen.decode()).replace("\r\n", "\n")


@pytest.mark.parametrize(
    ("variables", "frame"),
    [
        ({"PYTHONUTF8": "1"}, "╭─▸"),
        ({"PYTHONUTF8": "1", "NO_COLOR": "1"}, "╭─▸"),
        ({"PYTHONIOENCODING": "ascii"}, "-->"),
        ({"PYTHONIOENCODING": "latin-1"}, "-->"),
        ({"PYTHONUTF8": "1", "TERM": "dumb"}, "-->"),
        ({"PYTHONUTF8": "1", "TERM": "linux"}, "-->"),
    ],
    ids=["UTF-8", "no colour", "ASCII", "Latin-1", "dumb", "console"],
)
def test_frames_are_of_lines_where_a_terminal_can_show_them(tmp_path, variables, frame):
    put(tmp_path, "server.py")
    _, seen = shown(tmp_path, MAIN, "check", "--select", "ping", **variables)
    assert f" {frame} server.py:" in plain(seen)
    assert (b"\x1b[" in seen) is not ("NO_COLOR" in variables or variables.get("TERM") == "dumb")


@pytest.mark.parametrize(
    "command", [["check"], ["check", "--verbose"], ["explain", "MCP103"], ["explain", "Connection closed"], ["guide"]], ids=" ".join
)
def test_lines_fit_into_the_terminal(tmp_path, command):
    put(tmp_path, "server.py")
    _, seen = shown(tmp_path, MAIN, *command, PYTHONUTF8="1", COLUMNS="60")
    assert [line for line in plain(seen).splitlines() if len(line) > 60] == []


def test_colours_can_be_had_where_no_terminal_is(tmp_path):
    put(tmp_path, "server.py")

    def said(**variables: str) -> str:
        return subprocess.run(
            [sys.executable, "-c", MAIN, "check", "--select", "ping"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env={**os.environ, **variables},
        ).stdout

    assert "\x1b[1;31merror[MCP103]" in said(FORCE_COLOR="1", NO_COLOR="")
    assert "\x1b[" not in said(FORCE_COLOR="1", NO_COLOR="1")
    assert "\x1b[" not in said(FORCE_COLOR="", NO_COLOR="")


def test_verbose_says_why_once_for_each_rule(run, tmp_path):
    put(tmp_path, "a.py")
    put(tmp_path, "b.py")
    said = run("check", "--select", "ping", "--verbose").out
    assert said.count("error[MCP103]") == 2
    assert said.count(" = why: A stateless server keeps no connection alive") == said.count(" = instead: Remove the handler") == 1
    assert " = why: " not in run("check", "--select", "ping").out


def test_a_run_that_takes_long_shows_its_progress_and_takes_it_away_again(tmp_path):
    put(tmp_path, "server.py")
    status, seen = shown(
        tmp_path, "from mcp_migrate import cli, terminal; terminal.PATIENCE = 0; cli.main()", "check", "--select", "ping", NO_COLOR="1"
    )
    assert status == 1
    assert seen.startswith(b"\rfiles read: 1\r\x1b[Kserver.py: 1 finding\r\n")


def test_a_terminal_sees_a_coloured_patch_without_foreign_escapes(tmp_path):
    put(tmp_path, "server.py", SERVER.replace('not found"}}', 'not found"}}  # \x1b[2J'))
    _, seen = shown(tmp_path, "from mcp_migrate.cli import main; main()", *FIX, "--diff")
    assert b"\x1b[32m+" in seen
    assert b"\x1b[2J" not in seen


def test_a_reader_that_goes_away_is_no_reason_for_a_traceback(tmp_path):
    for number in range(40):
        put(tmp_path, f"server{number}.py")
    process = start(tmp_path, "check", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert b"Traceback" not in process.stderr.read()
    process.wait()
    process.stderr.close()


def test_a_fault_of_our_own_is_not_taken_for_findings(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", "from mcp_migrate import cli, run; del run.Run.read; cli.main()", "check"], cwd=tmp_path, capture_output=True
    )
    assert done.returncode == 2
    assert b"Traceback" in done.stderr
    assert done.stderr.endswith(b"mcp-migrate: error: internal error, please report it\n")


def test_ctrl_c_waits_until_files_that_belong_together_are_written():
    done = []

    def write() -> None:
        with uninterrupted():
            os.kill(os.getpid(), signal.SIGINT)
            done.append("all files")

    # What runs in the background of a shell has been told to ignore Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            write()
    finally:
        signal.signal(signal.SIGINT, before)
    assert done == ["all files"]


def test_ctrl_c_exits_with_130_and_one_line(tmp_path):
    process = start(
        tmp_path, "check", "-", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # a shell's background jobs ignore it
    )  # fmt: skip
    assert process.stdin is not None
    # More than a pipe holds: once it is gone, the command is reading.
    process.stdin.write(b"# import mcp\n" * 100_000)
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130, b"", b"mcp-migrate: interrupted\n")


# What belongs to a new file


def test_check_and_fix_name_what_else_has_to_take_the_new_file_along(run, tmp_path):
    server = (SERVERS / "notes_chain/before/server.py").read_text()
    put(tmp_path, "server.py", server)
    put(tmp_path, "Dockerfile", "FROM python:3.12\nCOPY server.py .\n")
    assert "also copy mcp_stateless.py: Dockerfile:2" in run("check").out
    assert "also copy mcp_stateless.py: Dockerfile:2" in run("fix", "--diff").err
    done = run("fix")
    assert "  mcp_stateless.py: new\n  also copy mcp_stateless.py: Dockerfile:2\n" in done.out
    put(tmp_path, "Dockerfile", "FROM python:3.12\nCOPY . .\n")
    put(tmp_path, "server.py", server)
    (tmp_path / "mcp_stateless.py").unlink()
    assert "also copy" not in run("check").out
    assert "also copy" not in run("fix").out


def folders(tmp_path: Path, **settings: str) -> None:
    """A folder for each name, with the server and with settings of its own where there are some."""
    for name, text in settings.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "server.py").write_text(SERVER)
        if text:
            (tmp_path / name / ".mcp-migrate.toml").write_text(text)


def by_folder(done: Done) -> dict[str, set[str]]:
    """The rules that have findings in each folder."""
    rules: dict[str, set[str]] = {}
    for line in done.out.splitlines():
        if placed := re.match(r"(\w+)/server\.py:\d+.*?(MCP\d+)", line):
            rules.setdefault(placed[1], set()).add(placed[2])
    return rules


def test_each_folder_is_judged_by_the_nearest_settings(run, tmp_path):
    folders(tmp_path, plain="", one='select = ["ping"]', without='ignore = ["ping"]', ours='[per-file-ignores]\n"server.py" = ["MCP201"]\n')
    rules = by_folder(run("check", "--output-format", "concise"))
    assert rules["one"] == {"MCP103"}
    assert {"MCP103", "MCP201"} <= rules["plain"]
    assert rules["without"] == rules["plain"] - {"MCP103"}
    assert rules["ours"] == rules["plain"] - {"MCP201"}


def test_settings_of_a_folder_inside_leave_out_its_own_files_but_not_one_that_is_named(run, tmp_path):
    folders(tmp_path, plain="", ours='exclude = ["server.py"]\n', other='exclude = ["../plain", "gen/"]\n')
    (tmp_path / "other/gen").mkdir()
    (tmp_path / "other/gen/server.py").write_text(SERVER)
    done = run("check", "--output-format", "concise")
    assert set(by_folder(done)) == {"plain", "other"}
    assert "other/gen" not in done.out
    assert set(by_folder(run("check", "--output-format", "concise", "ours/server.py", "plain"))) == {"ours", "plain"}


def test_the_severity_that_fails_is_that_of_the_findings_folder(run, tmp_path):
    folders(tmp_path, lax='fail-on = "never"\n')
    assert run("check").status == 0
    folders(tmp_path, plain="")
    assert run("check").status == 1
    assert run("check", "--fail-on", "never").status == 0
    assert run("check", "lax").status == 0


def test_a_baseline_of_a_folder_is_for_that_folder(run, tmp_path):
    folders(tmp_path, ours="", plain="")
    run("check", "ours", "--write-baseline", "ours/accepted.json")
    (tmp_path / "ours/.mcp-migrate.toml").write_text('baseline = "accepted.json"\n')
    assert set(by_folder(run("check", "--output-format", "concise"))) == {"plain"}


def test_a_wrong_setting_in_a_folder_inside_is_said(run, tmp_path):
    folders(tmp_path, plain="", ours="speed = 3\n")
    done = run("check")
    assert done.status == 2
    assert "ours/.mcp-migrate.toml: unknown key speed" in done.err


def test_a_named_file_of_settings_is_for_all(run, tmp_path):
    folders(tmp_path, plain="", one='select = ["ping"]')
    (tmp_path / "all.toml").write_text('select = ["MCP201"]\n')
    assert by_folder(run("check", "--output-format", "concise", "--config", "all.toml")) == {"plain": {"MCP201"}, "one": {"MCP201"}}


TOOL = "from mcp.types import Tool\n\n\ndef shape(tool: Tool) -> object:\n    return tool.inputSchema\n"
ASKED_FOR = '[project]\nname = "x"\nversion = "1"\nrequires-python = ">=3.10"\ndependencies = ["mcp>=1.9"]\n'
SERVED = 'from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP("x")\n'


@pytest.mark.parametrize(
    ("options", "said", "next_step"),
    [
        (
            ["--paths", "a.py"],
            "Nothing could be written: the fixes go together with files that are not among --paths.",
            "fix` without --paths would settle 1.",
        ),
        (["--paths", "a.py", "--paths", "b.py", "--paths", "pyproject.toml"], "Fixed 3 findings in 3 files:", None),
        (["--paths", "a.py", "--only", "MCP502"], "Fixed 1 finding in 1 file:", None),
        (["--paths", "b.py", "--only", "MCP512"], "Nothing could be fixed without --unsafe-fixes.", "fix --unsafe-fixes` would settle 1."),
        (["--only", "MCP512"], "Nothing could be fixed without --unsafe-fixes.", "fix --unsafe-fixes` would settle 1."),
        (["--only", "MCP512", "--unsafe-fixes"], "Fixed 1 finding in 1 file:", None),
        (
            ["--paths", "b.py", "--unsafe-fixes"],
            "Nothing could be written: the fixes go together with files",
            "fix` without --paths would settle 1 and with --unsafe-fixes 1 more.",
        ),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)
def test_fix_says_one_thing_about_what_it_did_and_what_another_run_would_do(run, tmp_path, options, said, next_step):
    for name, text in {"a.py": TOOL, "b.py": SERVED, "pyproject.toml": ASKED_FOR}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    told = run("fix", *options).out
    assert said in told
    assert ("would settle" in told) is (next_step is not None)
    assert next_step is None or next_step in told
