"""The environments of the two SDK majors hold what their requirements pin, and nothing half built is ever used."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import sdk


@pytest.mark.parametrize("major", [1, 2])
def test_an_environment_holds_the_pinned_release(major: int) -> None:
    pinned = (sdk.HERE / f"sdk-v{major}.txt").read_text().split()
    names = [pin.partition("==")[0] for pin in pinned]
    code = f"import importlib.metadata; print(*(f'{{name}}=={{importlib.metadata.version(name)}}' for name in {names}))"
    done = subprocess.run([sdk.python(major), "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == pinned


def test_a_build_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("./no-such-package\n")
    monkeypatch.setattr(sdk, "CACHE", tmp_path / "cache")
    with pytest.raises(RuntimeError, match="no-such-package"):
        sdk._build(tmp_path / "cache" / "v0", requirements)
    assert list((tmp_path / "cache").iterdir()) == []
