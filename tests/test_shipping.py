"""Lists that have to name a new file."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from mcp_migrate.shipping import gaps

BACKEND = '[build-system]\nbuild-backend = "{}"\n\n'


def told(folder: Path, new: str = "mcp_stateless.py", user: str = "server.py") -> list[str]:
    found = gaps(str(folder / new), [str(folder / user)], str(folder))
    return [f"{gap.what}: {Path(gap.file).relative_to(folder).as_posix()}:{gap.line}" for gap in found]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("Dockerfile", "FROM python:3.12\nCOPY server.py .\n", ["also copy mcp_stateless.py: Dockerfile:2"]),
        ("docker/prod.Dockerfile", "COPY server.py .\n", ["also copy mcp_stateless.py: docker/prod.Dockerfile:1"]),
        ("Containerfile", "COPY server.py .\n", ["also copy mcp_stateless.py: Containerfile:1"]),
        ("pyproject.toml", '[tool.setuptools]\npy-modules = ["server"]\n', ["also list mcp_stateless: pyproject.toml:2"]),
        ("pyproject.toml", '[tool]\nsetuptools.py-modules = ["server"]\n', ["also list mcp_stateless: pyproject.toml:2"]),
        (
            "pyproject.toml",
            '[tool.hatch.build.targets.wheel]\ninclude = [\n  "server.py",\n]\n',
            ["also list mcp_stateless: pyproject.toml:2"],
        ),
        ("pyproject.toml", '[tool.poetry]\npackages = [{ include = "server.py" }]\n', ["also list mcp_stateless: pyproject.toml:2"]),
        ("pyproject.toml", '[tool.pdm.build]\nincludes = ["server.py"]\n', ["also list mcp_stateless: pyproject.toml:2"]),
        ("pyproject.toml", '[tool.flit.module]\nname = "server"\n', ["also list mcp_stateless: pyproject.toml:2"]),
        ("setup.cfg", "[options]\npy_modules =\n    server\n    tools\n", ["also list mcp_stateless: setup.cfg:2"]),
        ("setup.py", 'from setuptools import setup\n\nsetup(\n    py_modules=["server"],\n)\n', ["also list mcp_stateless: setup.py:4"]),
    ],
)
def test_a_list_that_names_the_server_has_to_name_its_boundary_too(tmp_path, name, text, expected):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text)
    assert told(tmp_path) == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Dockerfile", "COPY . .\n"),
        ("Dockerfile", "COPY healthcheck.py .\n"),
        ("Dockerfile.md", "COPY server.py .\n"),
        ("pyproject.toml", '[tool.setuptools]\npy-modules = ["server", "mcp_stateless"]\n'),
        ("pyproject.toml", '[tool.setuptools]\npackages = ["app"]\n'),
        ("pyproject.toml", '[tool.hatch.build.targets.wheel]\ninclude = ["*.py", "server.py"]\n'),
        ("pyproject.toml", '[tool.poetry]\npackages = [{ include = "app" }]\n'),
        ("pyproject.toml", "[tool.setuptools\n"),
        ("setup.cfg", "[options]\npackages = find:\n"),
        ("setup.py", "import setuptools\nsetuptools.setup(py_modules=MODULES)\n"),
        ("setup.py", "def (\n"),
    ],
)
def test_other_lists_say_nothing(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert told(tmp_path) == []


@pytest.mark.parametrize(
    ("place", "copied", "expected"),
    [
        ("Dockerfile", "app/server.py", ["also copy mcp_stateless.py: Dockerfile:1"]),
        ("app/Dockerfile", "server.py", ["also copy mcp_stateless.py: app/Dockerfile:1"]),
        ("app/Dockerfile", "app/server.py", ["also copy mcp_stateless.py: app/Dockerfile:1"]),
        ("Dockerfile", "app", []),
        ("Dockerfile", "server.py", []),
    ],
)
def test_paths_are_read_from_the_folder_that_the_build_may_start_in(tmp_path, place, copied, expected):
    (tmp_path / "app").mkdir()
    (tmp_path / place).write_text(f"COPY {copied} /srv/\n")
    assert told(tmp_path, "app/mcp_stateless.py", "app/server.py") == expected


def test_settings_above_the_project_do_not_count(tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "Dockerfile").write_text("COPY project/server.py .\n")
    assert told(tmp_path / "project") == []


def test_a_file_that_git_would_ignore_is_told(tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".gitignore").write_text("build/\nmcp_*.py\n")
    assert told(tmp_path) == ["git would ignore mcp_stateless.py: .gitignore:2"]
    (tmp_path / ".gitignore").write_text("mcp_*.py\n!mcp_stateless.py\n")
    assert told(tmp_path) == []
