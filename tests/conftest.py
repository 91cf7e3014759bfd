"""What holds for all tests: bytecode in one place, no clock for examples, no run that is told again, and little garbage to collect.

The many programs that the tests start compile what they import once for all, out of the way.
"""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from calling import run
from hypothesis import HealthCheck, Phase, settings

__all__ = ["run"]

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ.setdefault("PYTHONPYCACHEPREFIX", str(Path(__file__).resolve().parent.parent / ".cache" / "bytecode"))

# What a test changes in the tool itself would not be seen by a run that is told again; `test_cache` looks at these.
os.environ["MCP_MIGRATE_NO_CACHE"] = "1"

# What the processes of one run share: the first one makes the folder, and takes it away.
if "MCP_MIGRATE_SHARED" not in os.environ:
    os.environ["MCP_MIGRATE_SHARED"] = tempfile.mkdtemp(prefix="tests-")
    atexit.register(shutil.rmtree, os.environ["MCP_MIGRATE_SHARED"], ignore_errors=True)

# How long one example takes says what else the machine does.
settings.register_profile("tests", deadline=None)
settings.register_profile("long", deadline=None, print_blob=True)
settings.load_profile("tests")


def pytest_collection_finish() -> None:
    """Nothing of what was collected ever goes: without this, going through it again and again is a third of a run of `fix`."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(200_000, 10, 10)


_SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.large_base_example, HealthCheck.data_too_large]


def is_long() -> bool:
    """Whether this run is one for hours: `--hypothesis-profile=long`."""
    return settings.get_current_profile_name() == "long"


def effort() -> float:
    """What the numbers of a long run are multiplied with."""
    return float(os.environ.get("MCP_MIGRATE_EFFORT", "1"))


def examples(*, quick: int, long: int, shrink: bool = True) -> Callable[[Any], Any]:
    """How many examples a property is tried with: the same few in every quick run, others in each long one.

    `shrink` is whether a smaller example that fails is looked for; where one takes seconds, that would take hours.
    """
    if is_long():
        phases = [phase for phase in Phase if phase is not Phase.explain and (shrink or phase is not Phase.shrink)]
        return settings(max_examples=max(1, round(long * effort())), phases=phases, suppress_health_check=_SLOW)
    return settings(max_examples=quick, derandomize=True, database=None, suppress_health_check=_SLOW)
