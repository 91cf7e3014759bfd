"""Imports every module of the project in the working directory, each in a process of its own, and prints what became of it.

    python importing.py FIRST ROOT...

Runs in the environment of the project; FIRST is a statement to run before each, ROOTs are the folders that imports start from. The
answer is one JSON object: the path of each module, and null or why it could not be imported. A module is imported by its dotted
name, or, where it is a script, as if it had been started in its own folder.
"""

from __future__ import annotations

import ast
import collections
import contextlib
import importlib
import importlib.util
import json
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path

LIMIT = 40  # seconds for one module
MANY = 4  # modules, from which on what they share is imported before they part
UNSHARED = {"grpc", "chromadb", "crewai", "streamlit", "temporalio", "playwright"}  # start threads, or much else


def main() -> None:
    here = Path.cwd()
    roots = [(here / root).resolve() for root in sys.argv[2:]]
    sys.path[:] = [*map(str, roots), *(p for p in sys.path if Path(p or ".").resolve() != Path(__file__).resolve().parent)]
    modules = sorted(
        p for p in here.rglob("*.py") if p.name != "setup.py" and not any(part.startswith(".") for part in p.relative_to(here).parts)
    )
    warnings.simplefilter("ignore")
    if len(modules) > MANY:
        _share(modules, here)
    told = {str(path.relative_to(here)): _tried(path, here, roots) for path in modules}
    json.dump(told, sys.stdout)


def _share(modules: list[Path], here: Path) -> None:
    own = {path.stem for path in here.rglob("*.py")} | {path.name for path in here.rglob("*") if path.is_dir()}
    counts: collections.Counter[str] = collections.Counter()
    for path in modules:
        with contextlib.suppress(SyntaxError, ValueError):
            for node in ast.walk(ast.parse(path.read_bytes())):
                if isinstance(node, ast.Import):
                    counts.update(alias.name for alias in node.names)
                elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                    counts[node.module] += 1
    for name in counts:
        # A folder of tests for it is often called as the SDK is.
        first = name.split(".")[0]
        if (first not in own or (first == "mcp" and _is_installed(first, here))) and first not in UNSHARED:
            with contextlib.suppress(BaseException):
                importlib.import_module(name)


def _is_installed(name: str, here: Path) -> bool:
    spec = importlib.util.find_spec(name)
    return spec is not None and spec.origin is not None and here not in Path(spec.origin).parents


def _tried(path: Path, here: Path, roots: list[Path]) -> dict[str, object] | None:
    told: dict[str, object] | None = None
    for folder, name in _names(path, roots):
        failed = _forked(path, here, folder, name)
        if failed is None:
            return None
        told = told or failed
    return told


def _names(path: Path, roots: list[Path]) -> Iterator[tuple[Path | None, str]]:
    parts = [root for root in roots if root in path.parents]
    if parts:
        root = max(parts, key=lambda root: len(root.parts))
        names = list(path.relative_to(root).with_suffix("").parts)
        if names[-1] == "__init__" and len(names) > 1:
            names.pop()
        if all(name.isidentifier() for name in names):
            yield None, ".".join(names)
    if not (path.parent / "__init__.py").exists():
        yield path.parent, path.stem


def _forked(path: Path, here: Path, folder: Path | None, name: str) -> dict[str, object] | None:
    inlet, outlet = os.pipe()
    child = os.fork()
    if not child:
        os.close(inlet)
        os.setsid()
        signal.alarm(LIMIT)
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        told = _imported(path, here, folder, name)
        os.write(outlet, json.dumps(told).encode()[:60000])
        os._exit(0)
    os.close(outlet)
    with os.fdopen(inlet, "rb") as stream:
        said = stream.read()
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if not said:
        return {
            "error": f"ended by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "ended without a word",
            "file": "",
            "line": 0,
        }
    answer: dict[str, object] | None = json.loads(said)
    return answer


def _imported(path: Path, here: Path, folder: Path | None, name: str) -> dict[str, object] | None:
    if folder is not None:
        sys.path.insert(0, str(folder))
    try:
        exec(sys.argv[1], {})
        if name.isidentifier() or folder is None:
            module = importlib.import_module(name)
            origin = getattr(module, "__file__", None)
            if origin is None or Path(origin).resolve() != path.resolve():
                raise ImportError(f"{name} is another module here: {origin}")
        else:
            spec = importlib.util.spec_from_file_location("script", path)
            assert spec is not None
            assert spec.loader is not None
            spec.loader.exec_module(importlib.util.module_from_spec(spec))
    except BaseException as error:
        # The deepest line of the project that took part.
        frames = [f for f in traceback.extract_tb(error.__traceback__) if here in Path(f.filename).parents and f.filename != __file__]
        file, line = (str(Path(frames[-1].filename).relative_to(here)), frames[-1].lineno) if frames else (str(path.relative_to(here)), 0)
        if isinstance(error, SyntaxError) and error.filename and here in Path(error.filename).parents:
            file, line = str(Path(error.filename).relative_to(here)), error.lineno or 0
        return {"error": f"{type(error).__name__}: {error}"[:400], "file": file, "line": line}
    return None


if __name__ == "__main__":
    main()
