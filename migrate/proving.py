"""Which command would prove a package: what its code and its settings tell of how it is run. Reads settings, runs nothing."""

from __future__ import annotations

import ast
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path, PurePosixPath
from typing import Any

from . import discover, tables
from .facts.code import last
from .facts.mask import parse
from .facts.model import Dispatcher, FileFacts, Route, Send
from .project import Project, module_name

# What cannot be told from the code. No shell takes them for a command.
_NO_COMMAND = "<the command that runs this server>"
_NO_PORT = "<the command that runs this server on port {port}>"
_NO_TRANSPORT = "<--stdio or --start, with the command that runs this server>"

# What servers stand on whose earlier revisions need another release of it.
_OLDER = {"mcp.server": "mcp 1", "fastmcp": "the fastmcp that it was written for"}
_SERVER_IMPORTS = ("mcp.server", "fastmcp.FastMCP")
_CLIENT_IMPORTS = ("mcp.client", "mcp.ClientSession", "mcp.ClientSessionGroup", "mcp.Client", "mcp.stdio_client", "fastmcp.Client")
_CLIENT_SENDS = frozenset(
    {"initialize", "tools/list", "tools/call", "resources/list", "resources/read", "prompts/list", "prompts/get", "server/discover"}
)
_WEB = ("fastapi", "starlette", "flask", "django", "rest_framework", "aiohttp", "tornado", "http.server")
_ASGI = frozenset({"FastAPI", "Starlette", "streamable_http_app", "http_app"})
_HTTP_CALLS = frozenset({"streamable_http_app", "http_app", "run_streamable_http_async", "StreamableHTTPSessionManager"})
_HTTP_NAMES = frozenset({"streamable-http", "http"})
_DEFAULT_PATH, _DEFAULT_PORT = "/mcp", 8000


class Kind(Enum):
    """What a package is to those who speak with it."""

    SERVER = "server"
    CLIENT = "client"
    BOTH = "both"

    @property
    def serves(self) -> bool:
        """Whether others ask it."""
        return self is not Kind.CLIENT

    @property
    def asks(self) -> bool:
        """Whether it asks others."""
        return self is not Kind.SERVER


@dataclass(frozen=True, slots=True)
class Proof:
    """How a package is proven. `options` are those of `verify`; none are for what is a client and nothing else."""

    kind: Kind
    options: tuple[str, ...] = ()
    older: str = ""  # what an environment has to have that an earlier revision runs in, where it needs another one


@dataclass(frozen=True, slots=True)
class _Package:
    """A package of a run: `base` is where it lies in the run, `folder` where on disk."""

    project: Project
    base: str
    folder: Path

    def has(self, path: str) -> bool:
        return not self.base or path.startswith(f"{self.base}/")

    def within(self, path: str) -> str:
        """The path of a file from the folder of the package."""
        return path.removeprefix(f"{self.base}/") if self.base else path

    def module(self, path: str) -> str:
        """The dotted name that a file is imported by from that folder."""
        return module_name(self.within(path))


@dataclass(frozen=True, slots=True)
class _Http:
    """How a module serves over HTTP, as far as that is written there."""

    application: str = ""  # the name of an ASGI application at the top of the module
    flask: str = ""
    port: int = 0
    path: str = ""


def proof(project: Project, paths: Iterable[str], base: str, folder: Path, *, silent: Iterable[FileFacts] = ()) -> Proof | None:
    """How the package of these files is proven, which lies at `base` in the run; None where nothing of it speaks MCP.

    `silent` are modules of it that may run what others define, without a word of the protocol.
    """
    files = [project.files[path] for path in sorted(paths) if path in project.files and not project.is_test(path)]
    servers = [file for file in files if _is_server(file)]
    clients = [file for file in files if _is_client(file)]
    if not servers:
        return Proof(Kind.CLIENT) if clients else None
    kind = Kind.BOTH if any(file not in servers for file in clients) else Kind.SERVER
    older = next((what for name, what in _OLDER.items() if any(_imports(file, (name,)) for file in servers)), "")
    package = _Package(project, base, folder)
    return Proof(kind, tuple(_options(package, servers, [*servers, *_runners(package, servers, files), *silent])), older)


def _runners(package: _Package, servers: list[FileFacts], files: list[FileFacts]) -> Iterator[FileFacts]:
    """The files that serve nothing by themselves and import what does."""
    serving = {file.source.path for file in servers}
    yield from (file for file in files if file not in servers and serving & {*package.project.imports(file.source.path)})


def _is_server(file: FileFacts) -> bool:
    return bool(file.makes) or _imports(file, _SERVER_IMPORTS) or any(isinstance(fact, Dispatcher) for fact in file.facts)


def _is_client(file: FileFacts) -> bool:
    return _imports(file, _CLIENT_IMPORTS) or any(isinstance(fact, Send) and fact.key in _CLIENT_SENDS for fact in file.facts)


def _imports(file: FileFacts, wanted: Iterable[str]) -> bool:
    targets = (*file.imports.values(), *file.stars)
    return any(target == name or target.startswith(f"{name}.") for target in targets for name in wanted)


def _options(package: _Package, servers: list[FileFacts], runners: list[FileFacts]) -> Iterator[str]:
    trees = {file.source.path: parse(file.source)[0] for file in runners}
    http = {file.source.path: _http(file, trees[file.source.path]) for file in runners}
    mains = [path for path, tree in trees.items() if _runs(path, tree)]
    command = _run(package, mains, servers)
    speaks_lines = any(_speaks_lines(file, trees[file.source.path], package.project) for file in runners)
    if speaks_lines:
        yield f'--stdio "{command or _NO_COMMAND}"'
        return
    if not any(http.values()):
        yield _NO_TRANSPORT
        return
    serving = [(path, found) for path, found in http.items() if found is not None]
    path = next((found.path for _, found in serving if found.path), "")
    applications = [(where, found) for where, found in serving if found.application or found.flask]
    port = next((found.port for _, found in serving if found.port), 0)
    if len(applications) == 1 and not (port and mains):
        where, found = applications[0]
        module = package.module(where)
        host = f"uvicorn {module}:{found.application}" if found.application else f"flask --app {module} run"
        yield f'--start "{host} --port {{port}}"'
    elif port and command:
        yield f'--start "{command}" --port {port}'
    else:
        yield f'--start "{_NO_PORT}"'
    if path and path != _DEFAULT_PATH:
        yield f"--path {path}"


def _runs(path: str, tree: ast.Module) -> bool:
    if PurePosixPath(path).name == "__main__.py":
        return True
    guarded = any(isinstance(node, ast.If) and "__main__" in ast.unparse(node.test) for node in tree.body)
    # A script may begin its loop, or run its server, without asking how it came to be loaded.
    loose = any(isinstance(node, ast.For | ast.While) for node in tree.body)
    calls = [node.value for node in tree.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
    return guarded or loose or any(_called(call) in ("run", "main", "serve", "serve_forever") for call in calls)


def _http(file: FileFacts, tree: ast.Module) -> _Http | None:
    """How a module serves over HTTP; None where it does not."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    transports = [word for call in calls for word in _transports(call)]
    routes = [fact.path.partition("#")[0] for fact in file.facts if isinstance(fact, Route) and fact.path]
    if not (_imports(file, _WEB) or transports or any(_called(call) in _HTTP_CALLS for call in calls)):
        return None
    paths = [*dict.fromkeys(route for route in routes if route.startswith("/") and "{" not in route and "<" not in route)]
    made = {node.targets[0].id: _called(node.value) for node in tree.body if isinstance(node, ast.Assign) if _is_made(node)}  # type: ignore[attr-defined]
    application = next((name for name, maker in made.items() if maker in _ASGI), "")
    flask = next((name for name, maker in made.items() if maker == "Flask"), "")
    ports = [word.value.value for call in calls for word in call.keywords if word.arg == "port" and _is_number(word.value)]  # type: ignore[attr-defined]
    ports += [call.args[0].elts[1].value for call in calls if _is_address(call)]  # type: ignore[attr-defined]
    given = any(word.arg == "port" for call in calls for word in call.keywords)
    port = ports[0] if len({*ports}) == 1 else _DEFAULT_PORT if transports and not given else 0
    return _Http(application, flask, port, paths[0] if len(paths) == 1 else "")


def _transports(call: ast.Call) -> Iterator[str]:
    """The names of transports over HTTP that a call is given."""
    if _called(call) in ("run", "run_async"):
        yield from (value.value for value in _given(call) if isinstance(value, ast.Constant) and value.value in _HTTP_NAMES)


def _is_made(node: ast.Assign) -> bool:
    return len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and isinstance(node.value, ast.Call)


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int


def _is_address(call: ast.Call) -> bool:
    """`HTTPServer(("127.0.0.1", 8000), Handler)`."""
    return bool(call.args) and isinstance(call.args[0], ast.Tuple) and len(call.args[0].elts) == 2 and _is_number(call.args[0].elts[1])


def _speaks_lines(file: FileFacts, tree: ast.Module, project: Project) -> bool:
    """Whether a module serves over standard streams."""
    if any(word in file.source.utf8 for word in (b"sys.stdin", b"from sys import stdin", b"connect_read_pipe")):
        return True
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    named = any(_called(call) in ("stdio_server", "run_stdio_async") for call in calls)
    runs = [call for call in calls if _called(call) in ("run", "run_async") and _is_of_server(call, file, project)]
    stdio = any(not call.args and not any(word.arg in ("transport", None) for word in call.keywords) for call in runs)
    return named or stdio or any(isinstance(value, ast.Constant) and value.value == "stdio" for call in calls for value in _given(call))


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(word.value for word in call.keywords)]


def _is_of_server(call: ast.Call, file: FileFacts, project: Project) -> bool:
    """Whether a method may be that of a server of the SDK: one that is made here, or that comes from another file of the project."""
    func = call.func
    if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name):
        return False
    target = file.imports.get(func.value.id)
    if target is not None:
        return project.module(target.rpartition(".")[0], file.source.path) is not None
    return any(one.rpartition(".")[2] in ("FastMCP", "MCPServer") for one in file.imports.values())


def _called(call: ast.expr) -> str:
    return last(call.func if isinstance(call, ast.Call) else call)


def _run(package: _Package, mains: list[str], servers: list[FileFacts]) -> str:
    """The command that runs the server of a package from its folder; "" where that cannot be told."""
    led = [name for name, target in _scripts(package.folder).items() if _leads(target, package, servers)]
    if led:
        return led[0] if len(led) == 1 else ""
    first = [path for path in mains if PurePosixPath(path).name == "__main__.py"]
    chosen = first if len(first) == 1 else mains
    return _command(chosen[0], package) if len(chosen) == 1 else ""


def _leads(target: str, package: _Package, servers: list[FileFacts]) -> bool:
    """Whether a script of the package begins in a file that serves, or in one that imports such a file."""
    module = target.partition(":")[0].strip()
    serving = {file.source.path for file in servers}
    started = [path for path in package.project.files if package.has(path) and package.module(path) == module]
    return any(path in serving or serving & {*package.project.imports(path)} for path in started)


def _scripts(folder: Path) -> Mapping[str, str]:
    try:
        data = discover.read(discover.File("pyproject.toml", str(folder / "pyproject.toml")))
        read: dict[str, Any] = {} if isinstance(data, discover.Unreadable) else tables.loads(data.decode("utf-8"))
    except ValueError:
        return {}
    tool = read.get("tool")
    poetry = tool.get("poetry") if isinstance(tool, dict) else None
    found: dict[str, str] = {}
    for table in (poetry, read.get("project")):
        scripts = table.get("scripts") if isinstance(table, dict) else None
        found |= {name: target for name, target in scripts.items() if isinstance(target, str)} if isinstance(scripts, dict) else {}
    return found


def _command(path: str, package: _Package) -> str:
    """How a file is run from the folder of its package: as a module where it lies in one of Python's packages."""
    inside = package.within(path)
    if (package.folder / inside).with_name("__init__.py").is_file():
        return f"python -m {package.module(path).removesuffix('.__main__')}"
    return f"python {shlex.quote(inside)}"
