"""Settings: where they are found, what they mean, and how a wrong one is said."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
from mcp_migrate import config
from mcp_migrate.config import Config, ConfigError
from mcp_migrate.rule import Era, Severity


def written(folder: Path, text: str, name: str = "pyproject.toml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return folder


def test_without_a_file_the_defaults_hold(tmp_path):
    assert config.load(tmp_path) == Config(base=tmp_path)
    assert config.load(tmp_path).fail_on is Severity.ERROR


def test_every_setting_is_read(tmp_path):
    written(
        tmp_path,
        """
        [tool.mcp-migrate]
        era = "modern"
        exclude = ["legacy", "src/old/*.py"]
        select = ["MCP1"]
        ignore = ["ping"]
        fail-on = "warning"
        baseline = "migrate-baseline.json"
        inline = true
        require-reasons = true
        [tool.mcp-migrate.per-file-ignores]
        "tests/*" = ["MCP103", "MCP2"]
        """,
    )
    assert config.load(tmp_path) == Config(
        base=tmp_path,
        era=Era.MODERN,
        exclude=("legacy", "src/old/*.py"),
        select=("MCP1",),
        ignore=("ping",),
        per_file_ignores={"tests/*": ("MCP103", "MCP2")},
        fail_on=Severity.WARNING,
        baseline=tmp_path / "migrate-baseline.json",
        inline=True,
        require_reasons=True,
        file=tmp_path / "pyproject.toml",
    )


def test_every_field_can_be_set_and_every_key_has_a_field():
    assert set(config._READERS) == {field.name.replace("_", "-") for field in fields(Config)} - {"base", "file"}


def test_the_nearest_file_upwards_holds_and_a_pyproject_without_our_table_is_passed_over(tmp_path):
    written(tmp_path, '[tool.mcp-migrate]\nera = "modern"\n')
    inner = written(tmp_path / "pkg" / "inner", "[project]\nname = 'mcp-migrate-user'\n")
    assert config.load(inner).era is Era.MODERN
    assert config.load(inner).base == tmp_path


def test_the_file_of_our_own_goes_before_pyproject(tmp_path):
    written(tmp_path, '[tool.mcp-migrate]\nera = "dual"\n')
    written(tmp_path, 'era = "modern"\n', ".mcp-migrate.toml")
    assert config.load(tmp_path).era is Era.MODERN


def test_never_failing_is_a_setting(tmp_path):
    written(tmp_path, 'fail-on = "never"\n', ".mcp-migrate.toml")
    assert config.load(tmp_path).fail_on is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[tool.mcp-migrate]\nerra = 'dual'\n", ["pyproject.toml", "unknown key tool.mcp-migrate.erra", "per-file-ignores"]),
        ("[tool.mcp-migrate]\nera = 'old'\n", ["pyproject.toml", "tool.mcp-migrate.era", "dual, modern", "'old'"]),
        ("[tool.mcp-migrate]\nera = 3\n", ["tool.mcp-migrate.era", "not 3"]),
        ("[tool.mcp-migrate]\nexclude = 'tests'\n", ["tool.mcp-migrate.exclude", "list of texts", "'tests'"]),
        ("[tool.mcp-migrate]\nignore = [103]\n", ["tool.mcp-migrate.ignore", "list of texts", "not a list"]),
        ("[tool.mcp-migrate]\nper-file-ignores = ['x']\n", ["tool.mcp-migrate.per-file-ignores", "table"]),
        ("[tool.mcp-migrate]\nper-file-ignores = {'x' = 'MCP1'}\n", ["tool.mcp-migrate.per-file-ignores", "'x'", "'MCP1'"]),
        ("[tool.mcp-migrate]\nfail-on = true\n", ["tool.mcp-migrate.fail-on", "error, warning, note, never"]),
        ("[tool.mcp-migrate]\nbaseline = ''\n", ["tool.mcp-migrate.baseline", "text"]),
        ("[tool]\nmcp-migrate = 1\n", ["tool.mcp-migrate", "table"]),
        ("[tool.mcp-migrate\n", ["pyproject.toml", "line 1"]),
    ],
    ids=["unknown", "era", "era type", "exclude", "ignore", "ignores", "ignores value", "fail-on", "baseline", "no table", "toml"],
)
def test_a_wrong_setting_is_said_in_one_line_with_file_and_key(tmp_path, text, words):
    written(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        config.load(tmp_path)
    assert "\n" not in str(caught.value)
    assert [word for word in words if word not in str(caught.value)] == []


def test_a_file_that_is_not_utf8_is_said(tmp_path):
    (tmp_path / ".mcp-migrate.toml").write_bytes(b"era = '\xff'\n")
    with pytest.raises(ConfigError, match=r"mcp-migrate\.toml.*utf-8"):
        config.load(tmp_path)


def test_a_named_file_is_read_wherever_it_lies(tmp_path):
    written(tmp_path / "etc", 'era = "modern"\n', "migrate.toml")
    named = config.load_file(tmp_path / "etc" / "migrate.toml")
    assert (named.era, named.base) == (Era.MODERN, tmp_path / "etc")


def test_a_named_file_must_exist(tmp_path):
    with pytest.raises(ConfigError, match=r"nowhere\.toml: no such file"):
        config.load_file(tmp_path / "nowhere.toml")


def test_a_named_pyproject_without_our_table_gives_the_defaults(tmp_path):
    written(tmp_path, "[project]\nname = 'x'\n")
    assert config.load_file(tmp_path / "pyproject.toml").era is Era.DUAL
