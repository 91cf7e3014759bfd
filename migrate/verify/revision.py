"""A server as it was at another revision of its repository, in a work tree that goes when it is not needed any more."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from .process import CannotStart


@contextmanager
def checkout(revision: str, folder: str | None = None) -> Iterator[str]:
    """The folder that corresponds to `folder` (by default the current one) at a revision. Raises CannotStart."""
    here = os.path.realpath(folder or os.getcwd())
    root = os.path.realpath(_git(here, "rev-parse", "--show-toplevel"))
    commit = _git(
        here, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}", wrong=f"git knows no revision {revision!r}"
    )
    with tempfile.TemporaryDirectory(prefix="mcp-migrate-") as scratch:
        tree = os.path.join(scratch, os.path.basename(root) or "tree")
        try:
            # A hook of the repository (post-checkout) would run code that nobody has asked for.
            _git(root, "-c", f"core.hooksPath={os.devnull}", "worktree", "add", "--detach", "--quiet", tree, commit)
            inner = os.path.join(tree, os.path.relpath(here, root))
            if not os.path.isdir(inner):
                raise CannotStart(f"{os.path.relpath(here, root)} is not there at {revision}")
            yield os.path.normpath(inner)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", tree], cwd=root, capture_output=True)


def search_path(folder: str, known: str) -> str:
    """A `PYTHONPATH` with the packages of a work tree before all others.

    A project that is installed in place (`pip install -e .`) would run its newer code there, and be compared with itself.
    """
    own = [os.path.join(folder, "src"), folder]
    return os.pathsep.join([*(one for one in own if os.path.isdir(one) and not _hides_others(one)), *filter(None, [known])])


def _hides_others(folder: str) -> bool:
    """Whether something in a folder would be imported in place of the standard library or of what servers stand on."""
    taken = {*sys.stdlib_module_names, "mcp", "mcp_types", "fastmcp"}
    for entry in os.scandir(folder):
        name, extension = os.path.splitext(entry.name)
        if name in taken and (extension == ".py" or os.path.isfile(os.path.join(entry.path, "__init__.py"))):
            return True
    return False


def _git(folder: str, *argv: str, wrong: str = "") -> str:
    try:
        done = subprocess.run(["git", *argv], cwd=folder, capture_output=True, text=True, encoding="utf-8")
    except FileNotFoundError:
        raise CannotStart("--against needs git, which is not installed") from None
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise CannotStart(wrong or (said[-1] if said else f"git {argv[0]} failed"))
    return done.stdout.strip()
