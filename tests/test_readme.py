"""What the README says is true: commands, options, settings and links."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from textwrap import dedent

import pytest
from mcp_migrate import config
from mcp_migrate.catalog import load
from mcp_migrate.cli import app
from typer.main import get_command

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def test_ci_runs_exactly_the_test_command():
    (command,) = re.findall(r"^.*\.venv/bin/pytest$", README, re.MULTILINE)
    assert f"\n{command}\n" in (ROOT / ".ci" / "run").read_text()


def test_every_option_is_told():
    commands = get_command(app).commands  # type: ignore[attr-defined]
    options = {
        option
        for command in commands.values()
        for parameter in command.params
        for option in (parameter.secondary_opts or parameter.opts)
        if option.startswith("--")
    }
    assert options
    assert {option for option in options if option not in README} == set()


def test_no_option_is_told_that_does_not_exist():
    helps = "".join(
        command.get_help(command.make_context(name, [], resilient_parsing=True)) for name, command in get_command(app).commands.items()
    )  # type: ignore[attr-defined]
    others = {"--quiet", "--version", "--strict"}
    assert {option for option in re.findall(r"--[a-z][a-z-]+", README) if option not in helps} - others == set()


def test_the_report_shown_is_what_check_says(monkeypatch, capsys):
    (shown,) = re.findall(r"```text\n(.*?)```", README, re.DOTALL)
    monkeypatch.chdir(ROOT)
    with pytest.raises(SystemExit):
        app(["check", "fixtures/servers/notes_chain/before"])
    said = capsys.readouterr().out
    assert [part for part in shown.split("...\n") if part not in said] == []


def test_the_explanation_shown_is_what_explain_says(capsys):
    ((command, shown),) = re.findall(r"```console\n\$ mcp-migrate ([^\n]*)\n(.*?)```", README, re.DOTALL)
    with pytest.raises(SystemExit):
        app(command.split())
    assert capsys.readouterr().out == shown


def test_the_settings_shown_are_settings(tmp_path):
    (text,) = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    (tmp_path / "pyproject.toml").write_text(text)
    shown = config.load(tmp_path)
    assert shown.file is not None
    assert set(re.findall(r"^(?:# )?([a-z-]+) = ", text, re.MULTILINE)) | {"per-file-ignores"} == set(config._READERS)


def test_whoever_copies_the_settings_can_run_with_them(tmp_path, monkeypatch):
    (text,) = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    (tmp_path / "pyproject.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as left:
        app(["check"])
    assert left.value.code == 0


def test_the_diffs_shown_are_what_fix_makes():
    shown = re.findall(r"```diff\n(--- ([^\n]*)\n\+\+\+ ([^\n]*)\n.*?)\n```", README, re.DOTALL)
    assert len(shown) == 2
    for text, before, after in shown:
        old, new = ((ROOT / path).read_text().splitlines() for path in (before, after))
        assert text.splitlines() == [*difflib.unified_diff(old, new, before, after, n=1, lineterm="")]


def test_every_rule_that_is_named_exists():
    assert {id for id in re.findall(r"MCP\d{3}", README) if load().rule(id) is None} == set()


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_somewhere(name):
    links = re.findall(r"\]\(([^)#]+)", (ROOT / name).read_text())
    assert [link for link in links if not link.startswith("http") and not (ROOT / link).exists()] == []


def test_the_hooks_are_those_that_the_readme_names():
    hooks = set(re.findall(r"^- id: (\S+)", (ROOT / ".pre-commit-hooks.yaml").read_text(), re.MULTILINE))
    assert hooks == {"mcp-migrate", "mcp-migrate-fix"}
    assert {hook for hook in hooks if hook not in README} == set()


def test_the_rule_shown_to_contributors_is_the_one_of_the_catalog():
    (shown,) = re.findall(r"```yaml\n(.*?) *```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)
    assert dedent(shown) == (ROOT / "rules" / "removed" / "ping.yaml").read_text()


def test_the_command_that_checks_types_is_the_one_that_ci_runs():
    assert "`bash .ci/types`" in (ROOT / "CONTRIBUTING.md").read_text()
    assert "\nbash .ci/types\n" in (ROOT / ".ci" / "run").read_text()
