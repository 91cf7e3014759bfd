"""Who may import whom. A new arrow is a change of this table, with a reason."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp_migrate import __version__
from mcp_migrate.rewrite.module import render

ROOT = Path(__file__).parent.parent
TREE = {"source", "rewrite.edits", "rewrite.tree", "rewrite.lazy"}
CUT = TREE | {"rewrite.cut", "rewrite.lines"}
CHECK = {"source", "facts", "rule"}

# A layer sees itself and these. `facts.model` is a layer of its own: plain data, which everybody may hold.
LAYERS: dict[str, set[str]] = {
    "source": set(),
    "facts": {"source"},
    "sdk": {"source", "facts"},
    # The code of notebooks and documents, which is read as modules, and goes back where it stood.
    "cells": {"source", "facts"},
    "documents": {"source", "facts", "cells", "scope", "rewrite.edits"},
    "notebooks": {"source", "facts", "cells"},
    "manifests": {"source", "facts", "cells", "documents", "tables"},
    "locks": set(),
    "project": {"source", "facts", "sdk", "manifests"},
    "rule": {"source", "facts.model"},
    "scope": set(),
    "rewrite.edits": {"source"},
    "rewrite.lazy": set(),
    "rewrite.places": {"source"},
    "rewrite.tree": {"source", "rewrite.edits", "rewrite.places", "rewrite.lazy"},
    "rewrite.requirements": {"source", "rewrite.edits", "facts.model"},
    "rewrite.lines": {"source", "facts", "rewrite.edits"},
    "rewrite.cut": TREE | {"rewrite.lines"},
    "rewrite.written": {"runtime"},
    "rewrite.module": {"__version__", "facts", "rewrite.joined", "rewrite.written"},
    "rewrite.joined": set(),
    "rewrite.calls": CUT | {"rewrite.cut"},
    "rewrite.renames": CUT | {"rewrite.cut", "facts", "sdk", "rule"},  # who may ask for a name is the typed wing's to say
    "rewrite.moves": CUT | {"facts.model", "rewrite.imports", "rewrite.renames", "rule"},
    "rewrite.unwrapped": {"source", "sdk", "rewrite.edits"},
    "rewrite.imported": CUT | {"facts"},  # nearly all of it needs no tree that LibCST has to parse
    "rewrite.imports": CUT | {"rewrite.imported"},
    # What asks a client, and what has to run again for its answer, is spread over files, and only types tell it.
    "rewrite.questions": {"source", "facts", "project", "sdk"},
    "rewrite.resolvers": CUT | {"rewrite.cut", "rewrite.questions", "facts", "rule", "sdk"},
    "rewrite.quotes": {"sdk"},
    "rewrite.homes": {"source", "facts.model", "rewrite.edits", "rewrite.lines", "rewrite.written", "project", "rule", "sdk"},
    "rewrite.rounds": {"*"},
    "rewrite.answers": {"source", "facts", "project", "rule", "sdk"}
    | {"rewrite.edits", "rewrite.homes", "rewrite.lines", "rewrite.module", "rewrite.questions"},
    "rewrite.decided": CUT | {"rewrite.cut"},
    "rewrite.handlers": CUT | {"facts.model", "rewrite.decided"},
    "rewrite.idle": CUT | {"facts", "rewrite.cut", "rewrite.decided"},
    "rewrite.hollow": CUT | {"facts", "rewrite.cut", "rewrite.decided", "rewrite.idle"},
    "rewrite.sweep": CUT | {"facts", "rewrite.hollow"},
    "rewrite": CUT | {"facts", "rule", "runtime"},  # the boundary's verbs read chains and speak in needs
    "rewrite.traced": {"facts.model"},
    "rewrite.servers": TREE | {"facts", "rule", "runtime", "project", "rewrite"},  # a server may be spread over files
    "rewrite.clients": TREE | {"facts", "rule", "project", "rewrite"},  # as servers, it asks the project where a file is run from
    "rewrite.connections": {"source", "facts", "rewrite.edits", "rewrite.homes", "rewrite.module", "project", "rule"},
    "rewrite.adapters": CUT
    | {"facts", "rule", "project", "sdk", "rewrite.homes", "rewrite.module", "rewrite.written"},  # one module serves a project
    "rewrite.compat": CUT
    | {"facts", "rule", "project", "sdk"}  # as that one
    | {"rewrite.homes", "rewrite.module", "rewrite.quotes", "rewrite.renames", "rewrite.written"},
    "counterparts": {"rule", "sdk"},
    "catalog": {"facts.model", "rule"},
    "symptoms": {"catalog"},
    "guide": {"catalog", "facts.model", "project"},
    "selection": {"rule"},
    "bystanders": set(),
    "aside": set(),
    "accept": TREE | {"facts", "scope", "bystanders", "cells"},
    "needed": TREE | {"facts", "project", "rewrite.imports", "rule", "scope"},
    "engine": CHECK
    | {"aside", "project", "manifests", "catalog", "selection", "accept", "bystanders", "needed", "counterparts", "rewrite", "scope"},
    "pieces": {"source"},
    # What a fix has done, told again with the work of some rules; it is held against what the engine holds it against.
    "series": CHECK | TREE | {"project", "catalog", "accept", "bystanders", "needed", "engine", "pieces"},
    "units": {"rule", "files", "project", "disk"},
    "files": set(),
    "flags": {"rule"},
    "commits": {"files", "worktree"},
    "proving": CHECK | {"discover", "project", "tables"},  # how a package is run
    "pull_request": {"*"},  # what a run gives its reviewers; it writes nothing either
    "forecast": {"source", "facts.model", "rule", "project"},
    "unimportable": {"facts.model", "rule", "project", "sdk"},
    "house": {"source", "rule"},
    "suppress": {"source", "rule", "house", "selection", "documents"},
    "baseline": {"source", "rule"},
    "mark": {"source", "rule"},
    "config": {"rule", "disk", "tables"},
    "report": {"source", "rule", "__version__"},
    "rules": CHECK | {"rewrite", "rules", "sdk"},
    "cli": {"*"},
    "__main__": {"cli"},
    "terminal": {"baseline", "config", "discover", "selection", "worktree", "report"},  # the errors that its users can act on
    "examples": {"*"},  # what a run asks for with each document; it writes nothing either
    "run": {"*"},  # what `cli` asks for in one word; it reads the disk and writes nothing
    "reading": CHECK | {"discover", "disk", "house", "manifests", "project", "feeders", "inline", "sdk", "documents", "notebooks"},
    "inline": {"source", "facts", "rewrite.edits", "rewrite.module"},
    "feeders": {"source", "facts", "project"},
    "sieve": {"source", "rule", "baseline", "house", "suppress"},
    "discover": {"disk"},
    "disk": set(),
    "cache": {"disk", "files", "manifests", "worktree", "__version__"},  # it asks anew what a run has asked
    "patch": set(),
    "tables": set(),
    "dockerfile": set(),
    "shipping": {"discover", "disk", "dockerfile", "tables", "worktree"},
    "worktree": {"disk"},
    "verify": set(),  # it knows servers by what they say, and no code
}
LIBRARIES = {
    "libcst": {"rewrite", "rules"},
    "typer": {"cli"},
    "rich": {"cli", "report", "verify"},
    "jsonschema": {"verify"},
    "referencing": {"verify"},
    "yaml": {"catalog", "guide", "manifests", "symptoms"},
    "packaging": {"facts"},
    "pathspec": {"discover", "selection"},
    "platformdirs": {"cache"},
}


def imports_of(path: Path) -> Iterator[str]:
    """What a module imports when it runs, as dotted names inside of the package; `if TYPE_CHECKING` does not count."""
    module = module_of(path).split(".")
    package = module if path.stem == "__init__" else module[:-1]
    todo: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            whole = [*base, *(node.module or "").split(".")] if node.module else base
            names = [".".join([*whole, alias.name]) for alias in node.names]
            yield from (name if file_of(name) or not node.module else ".".join(whole) for name in names)
        todo += ast.iter_child_nodes(node)


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = parts[1:] if parts[0] == "migrate" else parts
    return ".".join(part for part in parts if part != "__init__")


def file_of(module: str) -> bool:
    return (ROOT / "migrate" / f"{module.replace('.', '/')}.py").exists() or (ROOT / f"{module.replace('.', '/')}.py").exists()


def layer_of(module: str) -> str:
    """The longest prefix of a module that the table names."""
    while module and module not in LAYERS:
        module = module.rpartition(".")[0]
    return module


def may_import(layer: str, target: str) -> bool:
    parts = target.split(".")
    prefixes = {".".join(parts[:end]) for end in range(1, len(parts) + 1)}
    return bool(prefixes & (LAYERS[layer] | {layer, "*"} if "*" not in LAYERS[layer] else prefixes))


MODULES = sorted(path for room in ("migrate", "rules") for path in (ROOT / room).rglob("*.py") if path.name != "__init__.py")
CODE = [path for path in MODULES if not module_of(path).startswith("runtime.")]


@pytest.mark.parametrize("path", CODE, ids=[module_of(path) for path in CODE])
def test_a_module_imports_only_what_its_layer_may_see(path: Path) -> None:
    module = module_of(path)
    layer = layer_of(module)
    assert layer, f"{module} is in no layer"
    for target in imports_of(path):
        root = target.partition(".")[0]
        if root in LIBRARIES:
            assert layer.partition(".")[0] in LIBRARIES[root], f"{module} imports {root}"
        elif root in STANDARD or root == "tomli":
            continue
        else:
            assert may_import(layer, target), f"{module} imports {target}"


def test_the_readme_shows_all_arrows_between_the_wings_and_no_others() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[^|]*) \| ([^|]*) \|$", readme[readme.index("Who imports whom") : readme.index("## Limits")], re.MULTILINE)
    shown = {wing: set(re.findall(r"`(\w+)`", targets)) for wings, targets in rows for wing in re.findall(r"`(\w+)`", wings)}
    arrows: dict[str, set[str]] = {wing: set() for wing in shown}
    for path in CODE:
        wing = module_of(path).partition(".")[0]
        if wing in arrows:
            arrows[wing] |= {target.partition(".")[0] for target in imports_of(path)} - {wing, "__version__"}
    for wing in shown.keys() - {"run", "cli", "runtime", "source"}:
        assert shown[wing] == {target for target in arrows[wing] if target in {*LAYERS, "runtime"}}, wing
    assert not arrows["source"] & LAYERS.keys()
    assert not arrows["run"] & {"rewrite", "rules"}
    assert {"run", "report", "terminal", "files"} <= arrows["cli"]


def test_rules_never_import_each_other() -> None:
    packs = {path.parent.name for path in MODULES if path.is_relative_to(ROOT / "rules") and path.parent.name != "rules"}
    for path in MODULES:
        for target in imports_of(path):
            assert not (target.startswith("rules.") and target.split(".")[1] in packs), f"{module_of(path)} imports {target}"


def calls_of(path: Path) -> Iterator[tuple[str, ast.Call]]:
    """Every call with the last part of what is called, and the whole of it where a module is called by name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            called = ast.unparse(node.func)
            yield (called if called.partition(".")[0] in DISK_MODULES else called.rpartition(".")[2]), node


# Python 3.10 has no `tomllib` yet.
STANDARD = sys.stdlib_module_names | {"tomllib"}
# What touches the disk, as far as this code knows how: `Path` methods by their names, the functions of modules with theirs.
DISK_MODULES = {"os", "shutil", "tempfile", "subprocess", "stat"}
WRITING = {"write_text", "write_bytes", "unlink", "mkdir", "touch", "rename", "rmdir", "symlink_to", "fdopen"}
WRITING |= {f"os.{name}" for name in ("replace", "rename", "unlink", "remove", "chmod", "chown", "fsync", "mkdir", "makedirs")}
WRITING |= {"os.link", "tempfile.mkstemp", "tempfile.mkdtemp", "shutil.copy", "shutil.move", "shutil.rmtree"}
OPENING = {"open", "os.open", "read_text", "read_bytes", "os.scandir", "os.listdir", "os.walk", "subprocess.run", "subprocess.Popen"}
# `catalog`, `guide`, `symptoms`, `rewrite.module` and `sdk.api` read what is part of the package, and `worktree` asks git.
WRITERS = {"cache", "files", "terminal"}  # that one has what cannot be printed go nowhere
OPENERS = {
    "verify.process",
    "verify.revision",
    "verify.schema",
    "catalog",
    "cache",
    "disk",
    "files",
    "guide",
    "rewrite.written",
    "sdk.api",
    "symptoms",
    "terminal",
    "worktree",
}


def is_writing(called: str, call: ast.Call) -> bool:
    if called == "os.open":
        return "os.O_RDONLY" not in ast.unparse(call)
    modes = [*call.args[1:2], *(keyword.value for keyword in call.keywords if keyword.arg == "mode")] if called == "open" else []
    return called in WRITING or any(isinstance(mode, ast.Constant) and {*str(mode.value)} & {*"wax+"} for mode in modes)


def test_only_the_command_line_prints() -> None:
    printing = {module_of(path) for path in CODE for called, _ in calls_of(path) if called in ("print", "print_exc")}
    # A console that prints into a text makes the table of a proof, and a guide for the eyes.
    assert printing == {"cli", "terminal", "report.guide", "verify.telling"}


def test_only_the_command_line_and_its_files_write() -> None:
    assert {module_of(path) for path in CODE for called, call in calls_of(path) if is_writing(called, call)} == WRITERS


def test_only_these_modules_open_files_or_run_programs() -> None:
    assert {module_of(path) for path in CODE for called, _ in calls_of(path) if called in OPENING} == OPENERS


def test_nothing_is_kept_from_one_run_to_the_next_but_what_the_package_holds() -> None:
    """A cache of a function that takes nothing holds a constant. `rewrite.module` and `verify.schema` keep files of the package; what `facts.mask`,
    `facts.kept` and `rewrite.tree` keep is bounded, and goes by the whole text."""
    keeping = {
        module_of(path)
        for path in CODE
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.args.args
        if any("cache" in ast.unparse(decorator) for decorator in node.decorator_list)
    }
    filled = {
        module_of(path)
        for path in CODE
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        and (
            isinstance(node.value, ast.Dict | ast.List | ast.Set)
            or (isinstance(node.value, ast.Call) and ast.unparse(node.value.func) in ("_Store", "_Recent"))
        )
        for name in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(name, ast.Name) and name.id.islower() and not name.id.startswith("__")
    }
    assert keeping <= {"facts.mask", "rewrite.tree", "rewrite.written", "verify.schema"}
    assert filled == {"facts.kept"}


def test_the_version_stands_in_one_place_of_the_code() -> None:
    assert [module_of(path) for path in CODE if "importlib.metadata" in {*imports_of(path)}] == []
    assert f"Written by mcp-migrate {__version__} " in render(frozenset())


def test_checking_never_loads_libcst() -> None:
    rules = [f"mcp_migrate.{module_of(path)}" for path in MODULES if path.is_relative_to(ROOT / "rules")]
    code = f"import importlib, sys\nfor name in {[*rules, 'mcp_migrate.engine', 'mcp_migrate.cli']!r}: importlib.import_module(name)\n"
    result = subprocess.run([sys.executable, "-c", f"{code}print('libcst' in sys.modules)"], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"


def test_a_check_loads_nothing_that_it_has_no_use_for(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text('from mcp.server.fastmcp import FastMCP\nserver = FastMCP("a")\n')
    loaded = [
        "libcst",
        "rich",
        "jsonschema",
        "http.client",
        "xml.etree.ElementTree",
        "mcp_migrate.verify",
        "mcp_migrate.commits",
        "mcp_migrate.series",
    ]
    code = (
        "import sys\nfrom mcp_migrate.cli import app\ntry:\n    app(['check', '.'])\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {loaded!r} if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "MCP" in result.stdout
    assert result.stdout.splitlines()[-1] == "[]"
