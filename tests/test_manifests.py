"""Every kind of dependency file: what it says, where, and what the smallest edits leave of it."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_migrate import catalog, engine
from mcp_migrate.facts.model import FileFacts, Place, Remark, Requirement
from mcp_migrate.manifests import files, toml
from mcp_migrate.manifests.files import Kind
from mcp_migrate.project import Project, read
from mcp_migrate.rewrite import edits, requirements
from mcp_migrate.source import Source

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SERVER = 'from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP("quotes")\n'
CATALOG = catalog.load()


def of(path: str, text: str) -> FileFacts:
    return files.read(Source(path, text))


def asked(path: str, text: str) -> list[tuple[str, str, tuple[str, ...], Place]]:
    found = [fact for fact in of(path, text).facts if isinstance(fact, Requirement)]
    return [(str(fact.key), fact.specifier, fact.extras, fact.place) for fact in found]


def fixed(path: str, text: str, code: str = SERVER, **others: str) -> str:
    """What `fix` makes of one file beside a server of mcp 1."""
    beside = {name: of(name, content) for name, content in {path: text, **others}.items()}
    project = Project.link([read(Source("server.py", code))], manifests=beside)
    done = engine.fix(project, CATALOG, select=["deps"])
    assert done.dropped == ()
    again = engine.fix(done.project, CATALOG, select=["deps"])
    assert again.texts == {}
    return done.texts.get(path, text)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("pyproject.toml", Kind.PYPROJECT),
        ("requirements.txt", Kind.REQUIREMENTS),
        ("requirements-dev.txt", Kind.REQUIREMENTS),
        ("dev_requirements.in", Kind.REQUIREMENTS),
        ("requirements/base.txt", Kind.REQUIREMENTS),
        ("constraints.txt", Kind.REQUIREMENTS),
        ("setup.py", Kind.SETUP),
        ("app/Dockerfile", Kind.COMMANDS),
        ("Dockerfile.dev", Kind.COMMANDS),
        (".github/workflows/test.yml", Kind.COMMANDS),
        (".github/dependabot.yml", Kind.UPDATES),
        ("docker-compose.yml", Kind.COMMANDS),
        ("environment.yml", Kind.ENVIRONMENT),
        ("claude_desktop_config.json", Kind.COMMANDS),
        ("README.md", Kind.DOCUMENT),
        (".env.example", Kind.VARIABLES),
        ("uv.lock", None),
        ("poetry.lock", None),
        ("pylock.toml", None),
        ("Pipfile.lock", None),
        ("CHANGELOG.md", None),
        ("notes.txt", None),
        ("package.json", None),
        ("data/values.yml", None),
        ("Dockerfile.md", Kind.PAGE),
        ("server.py", None),
    ],
)
def test_a_file_is_read_by_its_name(path: str, kind: Kind | None) -> None:
    assert files.kind_of(path) is kind


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("pyproject.toml", '[project]\ndependencies = ["mcp[cli]>=1.2"]\n', [("mcp", ">=1.2", ("cli",), Place.DEPENDENCY)]),
        ("pyproject.toml", '[project.optional-dependencies]\na = ["MCP"]\n', [("mcp", "", (), Place.EXTRA)]),
        ("pyproject.toml", '[dependency-groups]\ndev = [{include-group = "x"}, "mcp==1.9"]\n', [("mcp", "==1.9", (), Place.GROUP)]),
        ("pyproject.toml", '[tool.uv]\noverride-dependencies = ["mcp<2"]\n', [("mcp", "<2", (), Place.CONSTRAINT)]),
        ("pyproject.toml", '[tool.poetry.dependencies]\nmcp = "^1.9.2"\n', [("mcp", ">=1.9.2,<2", (), Place.DEPENDENCY)]),
        ("pyproject.toml", '[tool.poetry.dependencies]\nmcp = "~1.9"\n', [("mcp", ">=1.9,<1.10", (), Place.DEPENDENCY)]),
        (
            "pyproject.toml",
            '[tool.poetry.dependencies.mcp]\nversion = "1.9.0"\nextras = ["cli"]\n',
            [("mcp", "==1.9.0", ("cli",), Place.DEPENDENCY)],
        ),
        (
            "pyproject.toml",
            '[tool.poetry.dependencies]\nmcp = [{version = "^1.9", python = "<3.12"}, {version = "^1.20", extras = ["cli"]}]\n',
            [("mcp", ">=1.9,<2", (), Place.DEPENDENCY), ("mcp", ">=1.20,<2", ("cli",), Place.DEPENDENCY)],
        ),
        ("pyproject.toml", '[project]\nname = "mcp"\nkeywords = ["mcp"]\n', []),
        ("pyproject.toml", 'dependencies = ["mcp"]\n', []),
        ("pyproject.toml", "[project\n", []),
        ("Pipfile", '[packages]\nmcp = "*"\n', [("mcp", "", (), Place.DEPENDENCY)]),
        ("requirements.txt", "mcp == 1.2 ; python_version > '3.9'  # pinned\n", [("mcp", "==1.2", (), Place.DEPENDENCY)]),
        ("requirements.txt", "-r other.txt\n--index-url https://x/mcp\n./mcp\n", []),
        ("setup.cfg", "[options]\ninstall_requires = mcp>=1; rich\n", [("mcp", ">=1", (), Place.DEPENDENCY)]),
        ("setup.cfg", "[options.extras_require]\nall =\n  mcp[cli]\n", [("mcp", "", ("cli",), Place.EXTRA)]),
        ("tox.ini", "[testenv]\ndeps =\n  mcp<2\n", [("mcp", "<2", (), Place.GROUP)]),
        ("setup.py", 'R = ["mcp>=1"]\nsetup(install_requires=R)\n', [("mcp", ">=1", (), Place.DEPENDENCY)]),
        ("setup.py", 'setup(extras_require={"a": ("mcp",)})\n', [("mcp", "", (), Place.EXTRA)]),
        ("setup.py", 'setup(install_requires=[f"mcp>={V}"])\n', []),
        ("environment.yml", "dependencies:\n  - pip:\n    - 'mcp>=1'\n", [("mcp", ">=1", (), Place.DEPENDENCY)]),
        (".pre-commit-config.yaml", "repos:\n- hooks:\n  - additional_dependencies: [mcp]\n", [("mcp", "", (), Place.GROUP)]),
        ("Dockerfile", "RUN pip install \\\n    -r requirements.txt \\\n    'mcp[cli]>=1'\n", [("mcp", ">=1", ("cli",), Place.COMMAND)]),
        ("Dockerfile", 'RUN ["pip", "install", "mcp==1.9"]\n', [("mcp", "==1.9", (), Place.COMMAND)]),
        ("Dockerfile", "RUN uv pip install --system mcp==1.9 && echo mcp\n", [("mcp", "==1.9", (), Place.COMMAND)]),
        ("run.sh", "uvx --with mcp==1.9 quotes --with mcp\n", [("mcp", "==1.9", (), Place.COMMAND)]),
        ("run.sh", "uv run --with=mcp==1.9 mcp dev server.py\n", [("mcp", "==1.9", (), Place.COMMAND)]),
        ("run.sh", "uvx mcp-server-time; uvx mcp dev; pip install mcp-server\n", [("mcp-server", "", (), Place.COMMAND)]),
        ("run.sh", "pip install mcp>=1\n", []),
        ("README.md", "    uv add 'mcp[cli]'\n", [("mcp", "", ("cli",), Place.COMMAND)]),
        ("README.md", "Use pip, then install mcp.\n", []),
        ("mcp.json", '{"args": ["--with", "mcp<2", "quotes"]}', [("mcp", "<2", (), Place.COMMAND)]),
        ("mcp.json", '{"args": ["run", "mcp", "mcp<2"]}', []),
        ("smithery.yaml", "args:\n  - --with\n  - mcp<2\n  - mcp\n", [("mcp", "<2", (), Place.COMMAND)]),
        ("server.json", '{"name": "--with", "value": "mcp<2"}', [("mcp", "<2", (), Place.COMMAND)]),
    ],
)
def test_what_a_file_asks_for(path: str, text: str, found: list[tuple[str, str, tuple[str, ...], Place]]) -> None:
    assert [one for one in asked(path, text) if one[0] not in ("rich", "quotes")] == found


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("pyproject.toml", "[project]\r\ndependencies = ['mcp']\r\n", "[project]\r\ndependencies = ['mcp>=2.3,<3']\r\n"),
        ("pyproject.toml", '[project]\ndependencies = ["é", "mcp  >= 1"]\n', '[project]\ndependencies = ["é", "mcp  >=2.3,<3"]\n'),
        (
            "Pipfile",
            '[packages]\nmcp = {version = "*", extras = ["cli"]}\n',
            '[packages]\nmcp = {version = ">=2.3,<3", extras = ["cli"]}\n',
        ),
        ("requirements.txt", "mcp ; python_version > '3.9'\t# why\n", "mcp>=2.3,<3 ; python_version > '3.9'\t# why\n"),
        ("requirements.txt", "mcp~=1.2", "mcp>=2.3,<3"),
        ("environment.yml", "dependencies:\n- pip: [mcp, rich]\n", 'dependencies:\n- pip: ["mcp>=2.3,<3", rich]\n'),
        ("Dockerfile", "RUN pip install mcp[cli]==1.9 \\\n  rich\n", 'RUN pip install "mcp[cli]>=2.3,<3" \\\n  rich\n'),
        (".github/workflows/a.yml", 'a:\n- run: "pip install mcp"\n', "a:\n- run: \"pip install 'mcp>=2.3,<3'\"\n"),
        ("run.sh", "uvx --from 'mcp[cli]==1.9' mcp version", "uvx --from 'mcp[cli]>=2.3,<3' mcp version"),
        ("mcp.json", '{"args": ["--with=mcp==1.9"]}', '{"args": ["--with=mcp>=2.3,<3"]}'),
        (
            "pyproject.toml",
            '[project]\ndependencies = ["mcp"]\n[tool.uv.sources]\nmcp = {git = "https://host/mcp"}\n',
            '[project]\ndependencies = ["mcp"]\n[tool.uv.sources]\nmcp = {git = "https://host/mcp"}\n',
        ),
        ("setup.py", "setup(install_requires=['mcp'])", "setup(install_requires=['mcp>=2.3,<3'])"),
        ("requirements.txt", "mcp @ git+https://host/mcp@v1\n", "mcp @ git+https://host/mcp@v1\n"),
        ("requirements.txt", "mcp==1.2 --hash=sha256:00\n", "mcp==1.2 --hash=sha256:00\n"),
        ("requirements.txt", "# autogenerated by pip-compile\nmcp==1.2\n", "# autogenerated by pip-compile\nmcp==1.2\n"),
        ("environment.yml", "dependencies:\n- mcp=1.2\n", "dependencies:\n- mcp=1.2\n"),
    ],
)
def test_the_smallest_edit_keeps_the_form(path: str, before: str, after: str) -> None:
    assert fixed(path, before) == after


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("pyproject.toml", '[project]\ndependencies = ["mcp>=2,<3",]\n', '[project]\ndependencies = ["mcp>=2,<3", "httpx",]\n'),
        ("pyproject.toml", '[project]\ndependencies = [\n  "mcp>=2,<3"]\n', '[project]\ndependencies = [\n  "mcp>=2,<3",\n  "httpx"]\n'),
        (
            "pyproject.toml",
            '[project]\r\ndependencies = [\r\n\t"mcp>=2,<3", # it\r\n]\r\n',
            '[project]\r\ndependencies = [\r\n\t"mcp>=2,<3", # it\r\n\t"httpx",\r\n]\r\n',
        ),
        ("pyproject.toml", '[tool.poetry.dependencies]\nmcp = "^2"  # it\n', '[tool.poetry.dependencies]\nmcp = "^2"  # it\nhttpx = "*"\n'),
        ("requirements.txt", "mcp>=2\r\nrich\r\n\r\n# end\r\n", "mcp>=2\r\nrich\r\nhttpx\r\n\r\n# end\r\n"),
        (
            "setup.cfg",
            "[options]\ninstall_requires =\n    mcp>=2\nzip_safe = 1\n",
            "[options]\ninstall_requires =\n    mcp>=2\n    httpx\nzip_safe = 1\n",
        ),
        ("setup.py", 'setup(install_requires=[\n    "mcp>=2",\n])', 'setup(install_requires=[\n    "mcp>=2",\n    "httpx",\n])'),
        (
            "environment.yml",
            "dependencies:\n  - pip:\n    - mcp>=2\n  - x\n",
            "dependencies:\n  - pip:\n    - mcp>=2\n    - httpx\n  - x\n",
        ),
    ],
)
def test_an_added_requirement_looks_like_those_before_it(path: str, before: str, after: str) -> None:
    assert fixed(path, before, f"import httpx\n{SERVER}") == after


def test_a_script_gets_its_own_packages() -> None:
    block = '# /// script\n# dependencies = [\n#   "mcp<2",\n# ]\n# ///\nimport httpx\n'
    project = Project.link([read(Source("server.py", block + SERVER))])
    done = engine.fix(project, CATALOG, select=["deps"])
    assert done.texts["server.py"].startswith('# /// script\n# dependencies = [\n#   "mcp>=2.3,<3",\n#   "httpx",\n# ]\n# ///\n')


def test_a_script_is_an_environment_of_its_own() -> None:
    block = '# /// script\n# dependencies = ["mcp", "langchain-mcp-adapters"]\n# ///\nimport httpx\n'
    files_of = [read(Source("script.py", block + SERVER)), read(Source("server.py", SERVER))]
    beside = {"requirements.txt": of("requirements.txt", "mcp\n")}
    done = engine.fix(Project.link(files_of, manifests=beside), CATALOG, select=["deps"])
    assert done.texts == {"requirements.txt": "mcp>=2.3,<3\n"}
    assert {(found.path, found.name) for found in done.remaining} >= {("script.py", "old_sdk_pin"), ("script.py", "blocking_package")}


@pytest.mark.parametrize(
    ("path", "told"), [("old/pyproject.toml", False), ("new/pyproject.toml", True), ("pyproject.toml", True)], ids=["other", "own", "above"]
)
def test_the_lowest_python_of_another_project_says_nothing(path: str, told: bool) -> None:
    code = [read(Source("new/server.py", "from fastmcp import FastMCP\n\nmcp = FastMCP('x', on_duplicate_tools='warn')\n"))]
    texts = {
        "new/requirements.txt": "fastmcp>=2.12,<3\n",
        path: '[project]\nname = "x"\nrequires-python = ">=3.10"\ndependencies = ["fastmcp>=2"]\n',
    }
    project = Project.link(code, manifests={name: of(name, text) for name, text in texts.items()})
    found = [one for one in engine.check(project, CATALOG, select=["MCP712"]) if one.path == "new/requirements.txt"]
    assert ["an older one" in one.hint for one in found] == [told]


def test_the_extra_that_goes_leaves_its_package() -> None:
    assert fixed("requirements.txt", "mcp[ws]\n", f"import websockets\n{SERVER}") == "mcp>=2.3,<3\nwebsockets\n"
    assert fixed("requirements.txt", "mcp\n", f"import websockets\n{SERVER}") == "mcp>=2.3,<3\n"


def test_several_packages_are_added_at_once() -> None:
    code = f"import httpx\nimport pydantic_settings\n{SERVER}"
    assert fixed("requirements.txt", "mcp\n", code) == "mcp>=2.3,<3\nhttpx\npydantic-settings\n"


def test_what_blocks_the_move_keeps_everything_as_it_is() -> None:
    text = "mcp>=1.2\nlangchain-mcp-adapters\n"
    assert fixed("requirements.txt", text, f"import httpx\n{SERVER}") == text
    assert (
        fixed("pyproject.toml", '[project]\ndependencies = ["mcp"]\n', **{"requirements.txt": text})
        == '[project]\ndependencies = ["mcp"]\n'
    )


def test_code_is_moved_with_its_requirement_or_not_at_all() -> None:
    def moved(text: str) -> dict[str, str]:
        project = Project.link([read(Source("server.py", SERVER))], manifests={"requirements.txt": of("requirements.txt", text)})
        return dict(engine.fix(project, CATALOG).texts)

    done = moved("mcp\n")
    assert done["requirements.txt"] == "mcp>=2.3,<3\n"
    assert "from mcp.server.mcpserver import MCPServer" in done["server.py"]
    assert moved("mcp\nlangchain-mcp-adapters\n") == {}
    assert moved("mcp\npydantic<2\n") == {}


def test_what_is_left_beside_moved_code_is_told() -> None:
    text = '[project]\ndependencies = ["mcp"]\n[tool.pytest.ini_options]\nfilterwarnings = ["error"]\n'
    project = Project.link([read(Source("server.py", SERVER))], manifests={"pyproject.toml": of("pyproject.toml", text)})
    done = engine.fix(project, CATALOG)
    assert {*done.texts} == {"server.py", "pyproject.toml"}
    assert "warnings_as_errors" in {finding.name for finding in done.remaining}


def test_a_blocker_of_an_example_does_not_block_what_lies_above_it() -> None:
    other = {"examples/requirements.txt": "mcp>=1.2\nlangchain-mcp-adapters\n"}
    assert fixed("requirements.txt", "mcp>=1.2\n", **other) == "mcp>=2.3,<3\n"


def test_a_suppression_is_a_comment_in_every_form() -> None:
    from mcp_migrate.suppress import judge

    for path, text in (
        ("requirements.txt", "mcp<2  # mcp-migrate: ignore[MCP701] -- held\n"),
        ("pyproject.toml", '[project]\ndependencies = ["mcp<2"]  # mcp-migrate: ignore\n'),
        ("README.md", "pip install 'mcp<2' <!-- # mcp-migrate: ignore[MCP701] -->\n"),
    ):
        project = Project.link([read(Source("server.py", SERVER))], manifests={path: of(path, text)})
        findings = [finding for finding in engine.check(project, CATALOG) if finding.path == path]
        entries = {entry.id: entry for entry in CATALOG.entries}
        judged = judge(project.manifests[path].source, findings, entries, frozenset(entries))
        assert (len(findings), judged.kept, judged.unused) == (1, [], [])


def test_a_lock_and_the_history_are_never_read() -> None:
    assert not any(files.kind_of(path) for path in ("uv.lock", "pdm.lock", "HISTORY.md", "docs/changes.md"))


def test_only_what_speaks_of_the_sdk_is_read() -> None:
    assert files.may_ask("pyproject.toml", b'dependencies = ["mcp"]')
    assert files.may_ask("requirements/base.txt", b"httpx\n")
    assert not files.may_ask("README.md", b"httpx\n")
    assert not files.may_ask("pyproject.toml", b'dependencies = ["rich"]')
    assert not files.may_ask("README.md", b"mcp" * files.MAX_SIZE)


def test_an_edit_that_says_something_else_as_well_is_refused() -> None:
    before = of("requirements.txt", "mcp<2\nrich\n")
    assert files.objection(before, of("requirements.txt", "mcp>=2\nrich\n"), frozenset({0})) is None
    assert files.objection(before, of("requirements.txt", "mcp>=2\nrich>1\n"), frozenset({0})) is not None
    assert files.objection(before, of("requirements.txt", "mcp>=2\n"), frozenset({0})) is not None


def test_a_remark_has_its_place() -> None:
    facts = of("Dockerfile", "ENV FASTMCP_PORT=1\n").facts
    assert [(fact.key, fact.text, fact.span) for fact in facts if isinstance(fact, Remark)] == [("variable", "FASTMCP_PORT", (4, 16))]


_KEYS = st.sampled_from(["a", "b-c", "d_1"])
_STRINGS = st.sampled_from(["", "x", "é'", '"', "\\", "#", "[a]", "{b = 1}", "a, b", "mcp>=1"])
_BLANKS = st.sampled_from(["", " ", "\n", ' # a ] " comment\n', "\r\n\t"])


@st.composite
def _documents(draw: st.DrawFn) -> str:
    """TOML with lists and tables in every spacing, and strings of both kinds."""

    def string() -> str:
        text = draw(_STRINGS)
        return f"'{text}'" if "'" not in text and draw(st.booleans()) else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

    def value(depth: int) -> str:
        kind = draw(st.sampled_from(["string", "number", "list", "table"] if depth else ["string", "number"]))
        if kind == "list":
            inside = [value(depth - 1) for _ in range(draw(st.integers(0, 3)))]
            blank = draw(_BLANKS)
            return f"[{blank}" + f",{blank}".join(inside) + (f",{blank}]" if inside and draw(st.booleans()) else f"{blank}]")
        if kind == "table":
            return "{" + ", ".join(f"{key} = {value(depth - 1)}" for key in draw(st.lists(_KEYS, max_size=2, unique=True))) + "}"
        return string() if kind == "string" else draw(st.sampled_from(["1", "true", "-2.5", "2026-12-01 10:00:00", "[ ]"]))

    lines = [f"{key} = {value(2)}" for key in draw(st.lists(_KEYS, max_size=3, unique=True))]
    for number in range(draw(st.integers(0, 2))):
        lines += [f"[t{number}.x]", f'k.y = "v{number}"', "[[many]]", f"n = {value(1)}"]
    return "\n".join(lines) + "\n"


@given(_documents())
def test_every_string_of_a_toml_file_is_found_at_its_place(text: str) -> None:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    found = toml.items(text)
    assert {item.path for item in found} >= {path for path, _ in _leaves(document)}
    for item in found:
        if item.text is not None:
            assert text[item.start + item.opened : item.end - item.opened] == item.text


def _leaves(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], object]]:
    if isinstance(value, dict):
        return [leaf for key, inner in value.items() for leaf in _leaves(inner, (*path, key))]
    if isinstance(value, list):
        return [leaf for number, inner in enumerate(value) for leaf in _leaves(inner, (*path, number))]
    return [(path, value)]


@pytest.mark.parametrize(
    ("text", "floor", "expected"),
    [
        (">=3.9", "3.10", ">=3.10"),
        ("^3.9", "3.10", "^3.10"),
        (">3.8,<4", "3.10", ">=3.10,<4"),
        (">= 3.8, !=3.9.1", "3.10", ">= 3.10, !=3.9.1"),
        ("==3.9.*", "3.10", None),
        ("<4", "3.10", None),
    ],
)
def test_a_lower_bound_is_raised_alone(text: str, floor: str, expected: str | None) -> None:
    assert requirements.raised(text, floor) == expected


def test_extras_go_by_name() -> None:
    (one,) = (fact for fact in of("requirements.txt", "mcp[cli, ws]>=1\n").facts if isinstance(fact, Requirement))
    assert edits.apply(b"mcp[cli, ws]>=1\n", requirements.without_extras(one, ["ws"])) == b"mcp[cli]>=1\n"
