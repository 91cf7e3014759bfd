"""The module for low-level servers: where it lies, how it is imported, and when it is not written."""

from __future__ import annotations

import pytest
from mcp_migrate import catalog, engine
from mcp_migrate.project import Project, read
from mcp_migrate.rewrite import adapters, module, written
from mcp_migrate.rule import Applicability
from mcp_migrate.source import Source

CATALOG = catalog.load()
SERVER = """\
from mcp.server import Server

server = Server("s")


@server.list_tools()
async def list_tools():
    return []
"""
PROMPTS = SERVER.replace("tools", "prompts")


def fixed(**files: str) -> engine.Fixed:
    """What `fix` makes of files, given by their paths with `__` for a slash."""
    return fixed_paths({f"{name.replace('__', '/')}.py": text for name, text in files.items()})


def fixed_paths(files: dict[str, str]) -> engine.Fixed:
    project = Project.link(read(Source(path, text)) for path, text in files.items())
    return engine.fix(project, CATALOG, select=["mcp2"], ignore=["missing_server_version"])


def imports_of(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if "mcp_handlers" in line and "import" in line]


def test_scripts_in_one_folder_share_one() -> None:
    done = fixed(one=SERVER, two=PROMPTS)
    assert [*done.created] == ["mcp_handlers.py"]
    assert written.parts(done.created["mcp_handlers.py"]) == ("tools", "prompts")
    assert imports_of(done.texts["one.py"]) == imports_of(done.texts["two.py"]) == ["import mcp_handlers"]


def test_programs_in_folders_of_their_own_have_one_each() -> None:
    done = fixed(one__server=SERVER, two__server=PROMPTS)
    assert [*done.created] == ["one/mcp_handlers.py", "two/mcp_handlers.py"]
    assert written.parts(done.created["one/mcp_handlers.py"]) == ("tools",)


def test_the_modules_of_a_package_share_one_above_them() -> None:
    files = {
        "src/app/__init__.py": "",
        "src/app/a/__init__.py": "",
        "src/app/b/__init__.py": "",
        "src/app/a/server.py": f"from . import other\n{SERVER}",
        "src/app/b/server.py": f"from app.a import server as first\n{PROMPTS}",
    }
    done = fixed_paths(files)
    assert [*done.created] == ["src/app/mcp_handlers.py"]
    assert imports_of(done.texts["src/app/a/server.py"]) == ["from .. import mcp_handlers"]
    assert imports_of(done.texts["src/app/b/server.py"]) == ["from app import mcp_handlers"]


def test_a_test_uses_the_one_of_the_server() -> None:
    files = {
        "src/app/__init__.py": "",
        "src/app/server.py": f"from . import other\n{SERVER}",
        "tests/test_server.py": "from app.server import server\nfrom mcp import types\n\n\n"
        "def test_it():\n    assert server.request_handlers[types.ListToolsRequest]\n",
    }
    done = fixed_paths(files)
    assert [*done.created] == ["src/app/mcp_handlers.py"]
    assert written.parts(done.created["src/app/mcp_handlers.py"]) == ("tools", "answering")
    assert imports_of(done.texts["tests/test_server.py"]) == ["from app import mcp_handlers"]


def test_a_package_of_tests_imports_what_lies_beside_it_by_its_name() -> None:
    test = "from mcp.types import CallToolRequest\nfrom server import server\n\n\nasync def test_it():\n    assert server.request_handlers[CallToolRequest]\n"
    done = fixed_paths({"server.py": SERVER, "tests/__init__.py": "", "tests/test_server.py": test})
    assert [*done.created] == ["mcp_handlers.py"]
    assert imports_of(done.texts["tests/test_server.py"]) == ["import mcp_handlers"]


def test_what_is_fixed_later_uses_the_one_that_is_there() -> None:
    test = (
        "from app.server import server\nfrom mcp import types\n\n\ndef test_it():\n    assert server.request_handlers[types.PingRequest]\n"
    )
    files = {
        "src/app/__init__.py": "",
        "src/app/server.py": "from mcp.server import Server\nserver = Server('s', version='1')\n",
        "src/app/mcp_handlers.py": module.handlers(["tools"]),
        "tests/test_server.py": test,
    }
    done = fixed_paths(files)
    assert (done.created, imports_of(done.texts["tests/test_server.py"])) == ({}, ["from app import mcp_handlers"])
    del files["tests/test_server.py"]
    more = fixed_paths({**files, "src/app/more/__init__.py": "", "src/app/more/server.py": f"from . import other\n{SERVER}"})
    assert (more.created, imports_of(more.texts["src/app/more/server.py"])) == ({}, ["from .. import mcp_handlers"])


def test_a_later_run_adds_what_is_new() -> None:
    first = fixed(server=SERVER)
    text = first.texts["server.py"] + "\n\n@server.read_resource()\nasync def read(uri): ...\n"
    done = fixed(server=text, mcp_handlers=first.created["mcp_handlers.py"])
    assert written.parts(done.texts["mcp_handlers.py"]) == ("tools", "resources")
    assert "@mcp_handlers.read_resource(server)" in done.texts["server.py"]


@pytest.mark.parametrize(
    ("files", "hint"),
    [
        ({"server": SERVER, "mcp_handlers": "HANDLERS = {}\n"}, "mcp_handlers.py exists, and is not as `fix` writes it"),
        (
            {"server": SERVER, "mcp_handlers": module.handlers(["tools"]).replace("anew", "again")},
            "mcp_handlers.py exists, and is not as `fix` writes it",
        ),
        ({"server": f"{SERVER}\n\nmcp_handlers = []\n"}, "`mcp_handlers` means something else here"),
    ],
    ids=["another module", "one that was changed", "another name"],
)
def test_nothing_of_the_project_is_overwritten(files: dict[str, str], hint: str) -> None:
    done = fixed(**files)
    assert (done.texts, done.created) == ({}, {})
    assert [(finding.applicability, finding.hint) for finding in done.remaining] == [(Applicability.MANUAL, hint)]


def test_line_ends_and_comments_stay() -> None:
    text = SERVER.replace("@server.list_tools()", "@server.list_tools()  # all of them").replace("\n", "\r\n")
    done = fixed(server=text)
    assert done.texts["server.py"] == text.replace("@server.list_tools()", "@mcp_handlers.list_tools(server)").replace(
        "import Server\r\n", "import Server\r\n\r\nimport mcp_handlers\r\n"
    )
    assert "\n" not in done.created["mcp_handlers.py"].replace("\r\n", "")


def test_the_module_itself_is_no_finding() -> None:
    text = module.handlers([*adapters.DECORATORS.values(), "request_handler", "notification_handler", "answering", "listening"])
    project = Project.link([read(Source("mcp_handlers.py", text)), read(Source("server.py", SERVER))])
    assert [finding.path for finding in engine.check(project, CATALOG) if finding.path != "server.py"] == []


def test_a_test_in_a_folder_of_its_own_uses_the_one_that_is_there() -> None:
    """Whichever written module it is, one place decides where it lies."""
    files = {"src/app/__init__.py": "", "src/app/mcp_http.py": written.seal(written.source("mcp_http.py"), "Written.", (), "\n")}
    test = "from mcp.client.streamable_http import streamablehttp_client\n\n\ndef opened(url):\n    return streamablehttp_client(url)\n"
    done = fixed_paths({**files, "tests/test_it.py": test})
    assert done.created == {}
    assert "from app import mcp_http" in done.texts["tests/test_it.py"]


def test_a_folder_without_init_inside_of_a_package_is_part_of_it_where_others_import_it_so() -> None:
    files = {"src/app/__init__.py": "", "src/app/serving/server.py": SERVER}
    done = fixed_paths({**files, "tests/test_it.py": "from app.serving.server import server\nimport mcp\n"})
    assert "from app.serving import mcp_handlers" in done.texts["src/app/serving/server.py"]
    alone = fixed_paths({**files, "run.py": "import mcp\n"})
    assert imports_of(alone.texts["src/app/serving/server.py"]) == ["import mcp_handlers"]
