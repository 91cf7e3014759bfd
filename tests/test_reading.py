"""Reading a run: which files are parsed, and what cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcp_migrate import catalog, discover, reading
from mcp_migrate.facts.model import Handler, Version

SERVER = 'from {module} import {name}\n\n\ndef handle(method):\n    if method == {use}: pass\n    elif method == "tools/list": pass\n'


def gather(folder: Path) -> reading.Reading:
    files = (file for file in discover.find([str(folder)], str(folder)) if not isinstance(file, discover.Unreadable))
    return reading.gather(((file, discover.read(file)) for file in files), catalog.load().entries[0])


@pytest.mark.parametrize(
    ("path", "text", "module", "name", "use"),
    [
        ("consts.py", 'METHOD = "pi" + "ng"\n', "consts", "METHOD", "METHOD"),
        ("consts.py", 'class Names:\n    METHOD = "ping"\n', "consts", "Names", "Names.METHOD"),
        ("app/consts.py", 'METHOD = "ping"\n', "app.consts", "METHOD", "METHOD"),
        ("consts.py", 'METHOD = "ping"\n', "consts", "*", "METHOD"),
    ],
    ids=["name", "class", "package", "star"],
)
def test_a_module_of_constants_is_read_when_a_server_asks_for_it(tmp_path, path, text, module, name, use):
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_text(text)
    (tmp_path / "server.py").write_text(SERVER.format(module=module, name=name, use=use))
    (tmp_path / "unrelated.py").write_text('METHOD = "ping"\n')
    read = gather(tmp_path)
    assert sorted(read.project.files) == sorted([path, "server.py"])
    assert "ping" in [fact.key for fact in read.project.files["server.py"].facts if isinstance(fact, Handler)]


def test_a_constant_behind_a_re_export_is_found(tmp_path):
    (tmp_path / "consts.py").write_text('VERSION = "2025-06-18"\n')
    (tmp_path / "shims.py").write_text("from consts import VERSION\n")
    (tmp_path / "server.py").write_text(
        'from shims import VERSION\nr = {"protocolVersion": VERSION, "capabilities": {}}\nt = {"tools/list": f}\n'
    )
    read = gather(tmp_path)
    assert [fact.key for fact in read.project.files["consts.py"].facts if isinstance(fact, Version)] == ["2025-06-18"]
