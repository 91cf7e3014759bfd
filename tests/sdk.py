"""Environments with the official SDK of either major, with the standalone `fastmcp`, or with web frameworks.

Each is built once from the pinned requirements beside this file.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = HERE.parent / ".cache" / "sdk"
BENCHMARKS = HERE.parent / "benchmarks"


def python(major: int) -> Path:
    """The interpreter of an environment that holds `mcp` of this major; builds it when it is not there."""
    return _environment(f"sdk-v{major}", f"v{major}")


def fastmcp(major: int) -> Path:
    """The interpreter of an environment that holds the standalone `fastmcp` of this major, with the SDK that it takes."""
    return _environment(f"fastmcp-v{major}", f"fastmcp-v{major}")


def frameworks() -> Path:
    """The interpreter of an environment that holds the web frameworks that servers are written for."""
    return _environment("frameworks", "frameworks")


@functools.cache
def measurements() -> Path:
    """The folder of the environments of `benchmarks`. Those with the packages of one of these here are that one."""
    if str(BENCHMARKS) not in sys.path:
        sys.path.append(str(BENCHMARKS))
    from starting import key_of

    folder = CACHE.parent / "benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    for interpreter, stem in [
        *((python(major), f"sdk-v{major}") for major in (1, 2)),
        *((fastmcp(major), f"fastmcp-v{major}") for major in (2, 3, 4)),
    ]:
        home = interpreter.parent.parent
        (home / "complete").touch()
        with suppress(FileExistsError):
            (folder / key_of((HERE / f"{stem}.txt").read_text(encoding="utf-8").split())).symlink_to(home, target_is_directory=True)
    return folder


@functools.cache
def _environment(stem: str, name: str) -> Path:
    requirements = HERE / f"{stem}.txt"
    key = hashlib.sha256(requirements.read_bytes() + sys.version.encode() + sys.base_prefix.encode()).hexdigest()[:12]
    home = CACHE / f"{name}-{key}"
    if not home.is_dir():
        _build(home, requirements)
    return _interpreter(home)


def _build(home: Path, requirements: Path) -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    # Built elsewhere and renamed: whatever has the final name is complete, also after an interruption or a race of two sessions.
    draft = Path(tempfile.mkdtemp(prefix="draft-", dir=CACHE))
    try:
        uv = shutil.which("uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
        _run(sys.executable, "-m", "venv", *(["--without-pip"] if uv else []), str(draft))
        python = str(_interpreter(draft))
        # pip takes ten times as long. What is imported is compiled then, as tests/conftest.py says where.
        pip = [python, "-m", "pip", "install", "--no-compile", "--disable-pip-version-check"]
        _run(*([uv, "pip", "install", "--python", python] if uv else pip), "--quiet", "-r", str(requirements))
        try:
            os.rename(draft, home)
        except OSError:
            if not home.is_dir():
                raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _interpreter(home: Path) -> Path:
    return home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _run(*argv: str) -> None:
    done = subprocess.run(argv, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(argv)} failed:\n{done.stdout}{done.stderr}")
