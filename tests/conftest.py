"""What holds for all tests: the many programs that they start compile what they import once for all, in one place out of the way."""

from __future__ import annotations

import os
from pathlib import Path

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ.setdefault("PYTHONPYCACHEPREFIX", str(Path(__file__).resolve().parent.parent / ".cache" / "bytecode"))
