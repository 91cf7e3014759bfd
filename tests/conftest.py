"""What holds for all tests: bytecode in one place, and no clock for examples.

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

# How long one example takes says what else the machine does.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")
