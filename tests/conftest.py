"""What holds for all tests: bytecode in one place, no clock for examples, and no run that is told again.

The many programs that the tests start compile what they import once for all, out of the way.
"""

from __future__ import annotations

import os
from pathlib import Path

from calling import run
from hypothesis import settings

__all__ = ["run"]

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ.setdefault("PYTHONPYCACHEPREFIX", str(Path(__file__).resolve().parent.parent / ".cache" / "bytecode"))

# What a test changes in the tool itself would not be seen by a run that is told again; `test_cache` looks at these.
os.environ["MCP_MIGRATE_NO_CACHE"] = "1"

# How long one example takes says what else the machine does.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")
