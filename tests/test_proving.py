"""The command that the body of a pull request offers as proof fits what the project is, or cannot be taken for one."""

from __future__ import annotations

from pathlib import Path

import pytest
from fixture_cases import FIXTURES
from servers import migrate

FAST = 'from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP("x")\n\n\n@mcp.tool()\ndef one() -> str:\n    return "1"\n'
MAIN = '\n\nif __name__ == "__main__":\n    '
DECLARED = '[project]\nname = "desk"\nversion = "1"\nrequires-python = ">=3.10"\ndependencies = ["mcp>=1.9"]\n'
CLIENT = (FIXTURES / "mcp2" / "client_session" / "folded" / "before.py").read_text(encoding="utf-8")

PROJECTS = {
    "stdio": ({"desk.py": FAST + MAIN + "mcp.run()\n"}, '--stdio "python desk.py"'),
    "named stdio": ({"desk.py": FAST + MAIN + 'mcp.run(transport="stdio")\n'}, '--stdio "python desk.py"'),
    "http": ({"desk.py": FAST + MAIN + 'mcp.run(transport="streamable-http")\n'}, '--start "python desk.py" --port 8000'),
    "http on a port": (
        {"desk.py": FAST.replace('"x"', '"x", port=9123') + MAIN + 'mcp.run(transport="streamable-http")\n'},
        '--start "python desk.py" --port 9123',
    ),
    "application": ({"desk.py": FAST + "\napp = mcp.streamable_http_app()\n"}, '--start "uvicorn desk:app --port {port}"'),
    "run elsewhere": (
        {"shop/__init__.py": "", "shop/desk.py": FAST, "shop/__main__.py": "from shop.desk import mcp\n\nmcp.run()\n"},
        '--stdio "python -m shop"',
    ),
    "run by another file": (
        {"desk.py": FAST, "main.py": 'from desk import mcp\n\nif __name__ == "__main__":\n    mcp.run(transport="streamable-http")\n'},
        '--start "python main.py" --port 8000',
    ),
    "script": (
        {
            "pyproject.toml": DECLARED + '\n[project.scripts]\nserve-desk = "desk.main:main"\n',
            "src/desk/__init__.py": "",
            "src/desk/main.py": FAST + "\n\ndef main() -> None:\n    mcp.run()\n",
        },
        '--stdio "serve-desk"',
    ),
    "nobody runs it": ({"desk.py": FAST}, "<--stdio or --start, with the command that runs this server>"),
    "two that run": (
        {"a.py": FAST + MAIN + "mcp.run()\n", "b.py": FAST + MAIN + "mcp.run()\n"},
        '--stdio "<the command that runs this server>"',
    ),
}


@pytest.mark.parametrize("name", PROJECTS)
def test_the_command_fits_a_server_on_the_sdk(name: str, tmp_path: Path) -> None:
    files, wanted = PROJECTS[name]
    told = summary(tmp_path, files)
    assert f'\nmcp-migrate verify {wanted} --against HEAD --against-command "<' in told
    assert "with what stands in <...> written by you" in told
    assert "Clients of earlier revisions are served as before." in told


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("notes_chain", '--stdio "python server.py"'),
        ("wc_registry", '--stdio "python -m wordcount"'),
        ("library_fastapi", '--start "uvicorn app:app --port {port}"'),
        ("timers_starlette", '--start "uvicorn timers:app --port {port}" --path /timers/mcp'),
        ("recipes_flask", '--start "flask --app server run --port {port}"'),
        ("tickets_django", '--start "<the command that runs this server on port {port}>"'),
        ("words_tornado", '--start "<the command that runs this server on port {port}>"'),
        ("geo_asgi", "<--stdio or --start, with the command that runs this server>"),
    ],
)
def test_the_command_fits_a_hand_written_server(name: str, wanted: str, tmp_path: Path) -> None:
    before = FIXTURES / "servers" / name / "before"
    files = {str(path.relative_to(before)): path.read_text(encoding="utf-8") for path in before.rglob("*.py")}
    assert f"\nmcp-migrate verify {wanted} --against HEAD --output-format markdown\n" in summary(tmp_path, files)


def test_a_client_alone_has_no_server_to_verify(tmp_path: Path) -> None:
    told = summary(tmp_path, {"ask.py": CLIENT})
    assert "mcp-migrate verify" not in told
    assert "Clients of earlier revisions" not in told
    assert "Servers of earlier revisions are asked as before." in told
    assert "This code asks servers: its own tests prove that" in told


def test_each_package_of_a_repository_has_a_proof_of_its_own(tmp_path: Path) -> None:
    told = summary(
        tmp_path,
        {
            "one/pyproject.toml": DECLARED,
            "one/desk.py": FAST + MAIN + "mcp.run()\n",
            "two/pyproject.toml": DECLARED,
            "two/ask.py": CLIENT,
            "three/requirements.txt": "",
            "three/server.py": (FIXTURES / "servers" / "notes_chain" / "before" / "server.py").read_text(encoding="utf-8"),
        },
    )
    assert '\ncd one && mcp-migrate verify --stdio "python desk.py" --against' in told
    assert '\ncd three && mcp-migrate verify --stdio "python server.py" --against HEAD --output-format markdown\n' in told
    assert "`two` asks servers" in told
    assert told.count("mcp-migrate verify ") == 2


def test_a_server_of_the_new_era_alone_is_verified_as_one(tmp_path: Path) -> None:
    told = summary(tmp_path, {"desk.py": FAST + MAIN + "mcp.run()\n"}, "--era", "modern")
    assert '--stdio "python desk.py" --era modern --against HEAD' in told


def test_no_two_lines_in_a_row_are_empty(tmp_path: Path) -> None:
    assert "\n\n\n" not in summary(tmp_path, {"desk.py": FAST + MAIN + "mcp.run()\n", "ask.py": CLIENT})


def summary(folder: Path, files: dict[str, str], *options: str) -> str:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    migrate("fix", "--summary", "told.md", *options, ".", cwd=folder)
    return (folder / "told.md").read_text(encoding="utf-8")


def test_an_earlier_server_on_fastmcp_needs_the_fastmcp_of_then(tmp_path: Path) -> None:
    declared = DECLARED.replace("mcp>=1.9", "fastmcp>=2.13,<3")
    server = 'from fastmcp import FastMCP\n\nmcp = FastMCP("x")\n' + MAIN + "mcp.run()\n"
    told = summary(tmp_path, {"pyproject.toml": declared, "desk.py": server})
    wanted = "<the same, with the Python of an environment that has the fastmcp that it was written for>"
    assert f'\nmcp-migrate verify --stdio "python desk.py" --against HEAD --against-command "{wanted}"' in told


def test_what_is_left_in_a_document_needs_the_option_for_documents(tmp_path: Path) -> None:
    example = 'from fastmcp import FastMCP\n\nmcp = FastMCP("x", port=9000)\nmcp.run(transport="http")\n'
    told = summary(tmp_path, {"README.md": f"```python\n{example}```\n"})
    assert "Way out: `fix --docs` does it." in told
    assert "Way out: `fix` does it." not in told


def test_a_server_that_nobody_runs_is_not_offered_an_app_for_its_port(tmp_path: Path) -> None:
    told = summary(tmp_path, {"desk.py": FAST.replace('"x"', '"x", port=9123')})
    assert 'give `port=9123` to what does, as in `run(transport="streamable-http", port=9123)`' in told
    assert "partial(" not in told
