"""Reading a run: which files are parsed, and what cannot be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from mcp_migrate import catalog, discover, reading
from mcp_migrate.facts.model import Handler, Version

SERVER = 'from {module} import {name}\n\n\ndef handle(method):\n    if method == {use}: pass\n    elif method == "tools/list": pass\n'


def gather(folder: Path) -> reading.Reading:
    files = (file for file in discover.find([str(folder)], str(folder)) if not isinstance(file, discover.Unreadable))
    return reading.gather(((file, discover.read(file)) for file in files), catalog.load().entries[0], root=str(folder))


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


# A file with a word that other protocols say as well, and the modules around it.
TREE = {
    "main.py": "from consts import LIMIT\n\n\ndef send(value):\n    return {'jsonrpc': LIMIT, 'value': value}\n",
    "consts.py": "from numbers_of import LIMIT\nfrom tables import ROWS\n",
    "numbers_of.py": "import heavy\n\nLIMIT = heavy.MOST\n",
    "heavy.py": "from tables import ROWS\n\nMOST = '2.0'\n",
    "tables.py": "ROWS = 1\n",
}


def test_where_nothing_speaks_only_what_is_asked_for_is_read(tmp_path):
    for name, text in TREE.items():
        (tmp_path / name).write_text(text)
    assert sorted(gather(tmp_path).project.files) == ["consts.py", "heavy.py", "main.py", "numbers_of.py"]


def test_where_something_speaks_all_that_its_constants_import_is_read(tmp_path):
    for name, text in TREE.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "server.py").write_text('def handle(method):\n    if method == "tools/list":\n        return 1\n')
    assert sorted(gather(tmp_path).project.files) == sorted([*TREE, "server.py"])


DISPATCHER = 'def handle(method):\n    if method == "initialize":\n        return 1\n    if method == "tools/list":\n        return 2\n'


@pytest.mark.parametrize(
    ("server", "feeder", "text"),
    [
        ("app/server.py", "loop.py", "from app.server import handle\n"),
        ("app/server.py", "app/__main__.py", "from .server import handle\n"),
        ("app/server.py", "app/__main__.py", "from . import server\n"),
        ("app/routers/mcp.py", "app/main.py", "from app.routers import (\n    files,\n    mcp as rpc,\n)\n"),
        ("src/app/server.py", "run.py", "import json, app.server as server\n"),
        ("deep/app/server.py", "deep/cli/run.py", "def main():\n    from app.server import handle\n"),
        ("app/__init__.py", "run.py", "import app\n"),
        ("app/__init__.py", "app/__main__.py", "from . import handle\n"),
        ("app/server.py", "tools/run.py", "from app.server import handle\n"),
    ],
    ids=["absolute", "relative", "sibling", "submodule", "src", "inside a function", "package", "dots alone", "from another folder"],
)
def test_a_file_that_feeds_a_dispatcher_is_read(tmp_path, server, feeder, text):
    for path, content in ((server, DISPATCHER), (feeder, text), ("unrelated.py", "import json, sys\n")):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content)
    read = gather(tmp_path)
    assert sorted(read.project.files) == sorted([server, feeder])
    assert read.project.importers(server) == (feeder,)


def test_a_package_hands_its_dispatcher_on(tmp_path):
    (tmp_path / "app").mkdir()
    (tmp_path / "app/server.py").write_text(DISPATCHER)
    (tmp_path / "app/__init__.py").write_text("from .server import handle\n")
    (tmp_path / "run.py").write_text("from app import handle\n")
    assert sorted(gather(tmp_path).project.files) == ["app/__init__.py", "app/server.py", "run.py"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("tests/test_server.py", "from app.server import handle\n"),
        ("other/run.py", "from server import handle\n"),
        ("run.py", "import server_tools\nfrom app import tools\n"),
        ("run.py", "# from app.server import handle\n"),
    ],
    ids=["test", "module of another folder", "other modules", "comment"],
)
def test_what_does_not_feed_a_dispatcher_is_not_read(tmp_path, path, text):
    for name, content in (("app/server.py", DISPATCHER), (path, text)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    assert sorted(gather(tmp_path).project.files) == ["app/server.py"]


def test_a_feeder_that_cannot_be_parsed_is_reported_once(tmp_path):
    (tmp_path / "server.py").write_text(DISPATCHER)
    (tmp_path / "__init__.py").write_text("from .server import handle\n")
    (tmp_path / "loop.py").write_text("from server import handle\nwhile True print(handle())\n")
    assert [finding.path for finding in gather(tmp_path).unreadable] == ["loop.py"]


@pytest.mark.parametrize(
    ("feeder", "loop", "known"),
    [
        ("def main():\n    from server import handle\n    from loop import serve\n    serve(handle)\n", "import sys\nfor line in sys.stdin: pass\n", True),
        ("from server import handle\nimport loop\n", "line = input()\n", True),
        ("from server import handle\nfrom loop import serve\n", "def serve(react): pass\n", False),
        ("from loop import serve\n", "import sys\nfor line in sys.stdin: pass\n", False),
    ],
    ids=["inside a function", "module", "reads nothing", "no dispatcher"],
)  # fmt: skip
def test_a_loop_is_read_beside_what_hands_it_a_dispatcher(tmp_path, feeder, loop, known):
    for path, content in (("server.py", DISPATCHER), ("app.py", feeder), ("loop.py", loop)):
        (tmp_path / path).write_text(content)
    assert ("loop.py" in gather(tmp_path).project.files) is known


@pytest.mark.parametrize(
    ("server", "known"),
    [
        ("async def book(ctx: Context): await ctx.elicit('Sure?', Answer)\n", True),
        ("async def book(ctx: Context): await ctx.info('booked')\n", False),
    ],
    ids=["asks its client", "does not"],
)
def test_a_test_is_read_that_calls_what_asks_its_client(tmp_path, server, known):
    (tmp_path / "tests").mkdir()
    (tmp_path / "server.py").write_text(f"from mcp.server.fastmcp import Context\n\n\n{server}")
    (tmp_path / "tests" / "test_server.py").write_text("from server import book\n")
    assert ("tests/test_server.py" in gather(tmp_path).project.files) is known


@pytest.mark.parametrize(
    ("name", "server", "known"),
    [
        ("_is_admin", "def _is_admin(ctx: Context): return ctx.get_state('role') == 'admin'\n", True),
        ("_enter", "def _enter(ctx: Context): ctx.set_state('role', 'admin')\n", True),
        ("_name", "def _name(ctx: Context): return ctx.client_id\n", False),
    ],
    ids=["reads state", "writes state", "neither"],
)
def test_whoever_imports_what_uses_the_state_of_a_context_is_read(tmp_path, name, server, known):
    (tmp_path / "server.py").write_text(f"from fastmcp import Context\n\n\n{server}")
    (tmp_path / "guard.py").write_text(
        f"from server import {name} as asked\n\n\ndef guard(c):\n    if not asked(c):\n        raise ValueError\n"
    )
    assert ("guard.py" in gather(tmp_path).project.files) is known


@pytest.mark.parametrize("copies", [True, False])
def test_whoever_imports_a_server_is_read_where_one_is_copied(tmp_path, copies):
    (tmp_path / "weather.py").write_text("from fastmcp import FastMCP\n\nweather = FastMCP('weather')\n")
    copied = "async def setup():\n    await main.import_server(weather)\n" if copies else ""
    (tmp_path / "main.py").write_text(f"from fastmcp import FastMCP\nfrom weather import weather\n\nmain = FastMCP('main')\n\n\n{copied}")
    (tmp_path / "more.py").write_text("from weather import weather as w\n\n\n@w.tool\ndef more(): ...\n")
    assert ("more.py" in gather(tmp_path).project.files) is copies


@pytest.mark.parametrize(
    ("path", "text", "known"),
    [
        ("tests/test_tools.py", "from app.tools import TOOL\nassert TOOL.inputSchema\n", True),
        ("tests/test_tools.py", "from unittest.mock import patch\nimport app.tools\n\nwith patch('app.tools.McpError'): pass\n", True),
        ("app/more.py", "from .tools import server\n@server.list_prompts()\nasync def f(): ...\n", True),
        ("tests/test_stars.py", "from app.stars import TOOL\nassert TOOL.inputSchema\n", True),
        ("tests/test_tools.py", "from app.tools import TOOL\nassert TOOL\n", False),
        ("tests/test_other.py", "from app.other import THING\nassert THING.inputSchema\n", False),
        ("tests/test_other.py", "# from app.tools import TOOL\nassert THING.inputSchema\n", False),
    ],
    ids=["field", "patch", "decorator", "star", "no use", "other module", "comment"],
)
def test_what_takes_values_of_the_sdk_from_the_project_is_read(tmp_path, path, text, known):
    files = {
        "app/__init__.py": "",
        "app/tools.py": "from mcp.types import Tool\n\nTOOL = Tool(name='a', inputSchema={})\n",
        "app/other.py": "THING = 1\n",
        "app/stars.py": "from .tools import *\n\n\ndef schema():\n    return TOOL.inputSchema\n",
        path: text,
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    assert (path in gather(tmp_path).project.files) is known


@pytest.mark.parametrize(
    ("path", "text", "known"),
    [
        ("app/__main__.py", 'from .server import run\n\nrun()\nprint("stopped")\n', True),
        ("app/__main__.py", "from .server import run\n\nrun()\n", False),
        ("app/__main__.py", 'from .other import run\n\nrun()\nprint("stopped")\n', False),
        ("app/shown.py", 'from .server import run\n\nrun()\nprint("stopped")\n', False),
    ],
    ids=["prints", "prints nothing", "runs something else", "no main"],
)
def test_a_main_is_read_that_runs_a_server_and_prints(tmp_path, path, text, known):
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "server.py").write_text(
        'from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP("a")\n\n\ndef run():\n    mcp.run(transport="stdio")\n'
    )
    (tmp_path / "app" / "other.py").write_text("def run():\n    pass\n")
    (tmp_path / path).write_text(text)
    assert (path in gather(tmp_path).project.files) is known


# A server, and a package that it imports.
BESIDE = {
    "server.py": SERVER.format(module="kit", name="LIMIT", use="LIMIT"),
    "env/kit/__init__.py": "from kit.rows import ROWS\nfrom kit.much import LIMIT\n",
    "env/kit/rows.py": "ROWS = 1\n",
    "env/kit/much.py": "LIMIT = 1\n",
}
KIT = "kit/__init__.py,sha256=x,9\nkit/much.py,,\nkit/rows.py,,\n"


@pytest.mark.parametrize(
    ("more", "read_too"),
    [
        ({}, ["__init__.py", "much.py", "rows.py"]),  # somebody's folder
        ({"env/kit-1.0.dist-info/RECORD": KIT + "../bin/kit,,\n"}, []),
        ({"env/kit-1.0.dist-info/RECORD": "\ufeff" + KIT.replace("\n", "\r\n")}, []),
        ({"env/kit-1.0.dist-info/RECORD": "".join(f'"{line.partition(",")[0]}",,\n' for line in KIT.splitlines())}, []),
        ({"env/kit-1.0.dist-info/RECORD": KIT.replace("/", "\\")}, []),
        # What lies beside packages, as in the folder of a function of Lambda, is the project's own.
        ({"env/other-1.0.dist-info/RECORD": "other.py,,\n"}, ["__init__.py", "much.py", "rows.py"]),
        # So is what lies in a folder that a package has put something into as well.
        ({"env/other-1.0.dist-info/RECORD": "kit/other.py,,\n"}, ["__init__.py", "much.py", "rows.py"]),
        ({"env/kit-1.0.dist-info/METADATA": "Name: kit\n"}, ["__init__.py", "much.py", "rows.py"]),
        ({"env/kit-1.0.dist-info/RECORD/kit.py": KIT}, ["__init__.py", "much.py", "rows.py"]),
        ({"env/kit-1.0.dist-info/RECORD": "/abs/kit/rows.py,,\n../env/kit/rows.py,,\n\n,,\n\"\n\0\n"}, ["__init__.py", "much.py", "rows.py"]),
        # What an installation for development records leads to the project's code, and is none of it.
        ({"env/kit-1.0.dist-info/RECORD": "__editable__.kit-1.0.pth,,\n__editable___kit_finder.py,,\n"}, ["__init__.py", "much.py", "rows.py"]),
        ({"kit-1.0.dist-info/RECORD": "env/" + KIT.replace("\n", "\nenv/")}, []),
        # A package inside of a package brings its own record.
        ({"env/kit-1.0.dist-info/RECORD": KIT, "env/kit/six-1.0.dist-info/RECORD": "six.py,,\n"}, []),
        # It has a server of its own, which is looked at as a whole; the project's is not followed into it.
        (
            {
                "env/kit-1.0.dist-info/RECORD": f"{KIT}kit/serve.py,,\n",
                "env/kit/serve.py": SERVER.format(module="kit", name="ROWS", use="ROWS"),
            },
            ["__init__.py", "much.py", "rows.py", "serve.py"],
        ),
        # So has what was installed together with it.
        (
            {
                "env/kit-1.0.dist-info/RECORD": f"{KIT}kitserve.py,,\n",
                "env/kitserve.py": SERVER.format(module="kit", name="ROWS", use="ROWS"),
            },
            ["../kitserve.py", "__init__.py", "much.py", "rows.py"],
        ),
        # One common word is none of the protocol's.
        (
            {
                "env/kit-1.0.dist-info/RECORD": f"{KIT}kit/console.py,,\n",
                "env/kit/console.py": 'def send(x):\n    return {"jsonrpc": "2.0", "x": x}\n',
            },
            ["console.py"],
        ),
    ],
    ids=[
        "none", "installed", "from Windows", "quoted", "with backslashes", "beside another", "among another's", "without a record",
        "a folder", "elsewhere", "editable", "around", "with another inside", "with a server", "together with a server", "with a word",
    ],
)  # fmt: skip
def test_code_is_not_followed_into_packages_that_are_installed_in_the_tree(tmp_path, more, read_too):
    for name, text in {**BESIDE, **more}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(text.encode())
    read = gather(tmp_path)
    own = {os.path.normpath(f"env/kit/{name}").replace(os.sep, "/") for name in read_too}
    assert {*read.project.files} == {"server.py", *own}
    assert read.checked == sum(name.endswith(".py") for name in (*BESIDE, *more))
