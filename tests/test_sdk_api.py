"""The table of the SDK says what the installed releases of both majors say."""

from __future__ import annotations

import json
from pathlib import Path

import sdk_api
from mcp_migrate.sdk import vocabulary
from mcp_migrate.sdk.api import load

TABLE = Path(__file__).parent.parent / "rules/mcp2/api.json"
TABLE_OF_FASTMCP = TABLE.parent.parent / "fastmcp4/api.json"


def test_the_table_is_what_the_installed_releases_hold() -> None:
    assert sdk_api.text(sdk_api.both()) == TABLE.read_text(encoding="utf-8"), "run `python tests/sdk_api.py rules/mcp2/api.json`"


def test_the_table_of_fastmcp_is_what_its_installed_releases_hold() -> None:
    told = "run `python tests/sdk_api.py fastmcp rules/fastmcp4/api.json`"
    assert sdk_api.text(sdk_api.fastmcp()) == TABLE_OF_FASTMCP.read_text(encoding="utf-8"), told


def test_a_thing_of_fastmcp_has_one_name_in_all_releases() -> None:
    table = json.loads(TABLE_OF_FASTMCP.read_text(encoding="utf-8"))
    for thing in ("fastmcp.FastMCP", "fastmcp.Client", "fastmcp.Context", "fastmcp.tools.Tool", "fastmcp.exceptions.ToolError"):
        assert all(thing in table[major]["classes"] for major in "234"), thing
    assert table["2"]["modules"]["fastmcp.tools.tool"]["Tool"] == table["4"]["modules"]["fastmcp.tools"]["Tool"] == "fastmcp.tools.Tool"


def test_only_code_that_imports_fastmcp_has_its_names() -> None:
    assert not load().standalone
    assert load().exported("fastmcp", "FastMCP") is None
    assert load(standalone=True).exported("fastmcp", "FastMCP") == "fastmcp.FastMCP"
    assert load(standalone=True).exported("mcp.server.fastmcp", "FastMCP") == "mcp.server.fastmcp.server.FastMCP"


def test_the_fields_that_are_looked_for_are_those_that_the_newer_release_spells_otherwise() -> None:
    new = json.loads(TABLE.read_text(encoding="utf-8"))["2"]["classes"]
    old = json.loads(TABLE.read_text(encoding="utf-8"))["1"]["classes"]
    renamed = {
        alias
        for name, entry in new.items()
        for field, alias in entry.get("aliases", {}).items()
        if alias in old.get(name, {}).get("fields", ())
    }
    assert renamed - {"_meta"} <= vocabulary.FIELDS
    assert vocabulary.ONLY <= vocabulary.FIELDS
    assert all(any(load().renamed(name, field) for name in new) for field in vocabulary.FIELDS)
