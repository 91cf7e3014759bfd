"""The command's first step: what it imports is its own, never the code that it looks at."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """The entry point of the command `mcp-migrate`."""
    own_path()
    from .cli import main as run

    run()


def own_path() -> None:
    """Moves the working folder and the folders of PYTHONPATH behind all others that modules are loaded from.

    A `yaml.py` or a `types.py` of the project that is looked at would go before the library of that name. What is nowhere else is
    still found there.
    """
    try:
        os.getcwd()
    except OSError:  # it has been deleted, or nobody may look into what is around it: no module is loaded from there
        sys.path[:] = [folder for folder in sys.path if os.path.isabs(folder)]
        here: set[str] = set()
    else:
        here = {"", os.getcwd()}
    named = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    theirs = here | {os.path.abspath(folder) for folder in named if here or os.path.isabs(folder)}
    behind = [folder for folder in sys.path if folder == "" or os.path.abspath(folder) in theirs]
    sys.path[:] = [folder for folder in sys.path if folder not in behind] + behind


if __name__ == "__main__":
    main()
