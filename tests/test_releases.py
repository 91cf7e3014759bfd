"""What is audited before a release, and that a release has nothing of the machine that it was built on."""

from __future__ import annotations

import importlib.util
import io
import os
import re
import tarfile
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

CI = Path(__file__).resolve().parent.parent / ".ci"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, CI / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FLAW = '{"name": "rich", "version": "1", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2"]}]}'
FINE = '{"name": "libcst", "version": "1", "vulns": []}'
UNKNOWN = '{"name": "yaml", "skip_reason": "not found"}'


@pytest.mark.parametrize(
    ("found", "status", "said", "expected"),
    [
        ([FINE, FLAW], 1, "", (1, ["audit: rich 1: PYSEC-1, mended in 2"])),
        ([FINE], 0, "", (0, ["audit: no known vulnerability in 1 packages"])),
        ([FINE, UNKNOWN], 0, "", (0, ["audit: no known vulnerability in 1 packages; not known there: yaml"])),
        ([UNKNOWN], 0, "", (0, ["audit: skipped, no advisories are to be had here for any of the packages"])),
        (
            None,
            1,
            "x\nConnectionError: Max retries\n",
            (0, ["audit: skipped, no advisories are to be had here: ConnectionError: Max retries"]),
        ),
        (None, 1, "x\nERROR: invalid requirement\n", (1, ["audit: pip-audit has failed: ERROR: invalid requirement"])),
        (None, 0, "", (1, ["audit: pip-audit has failed: it said nothing"])),
    ],
    ids=["flaw", "fine", "partly", "a mirror", "no network", "wrong usage", "nothing"],
)
def test_the_audit_fails_for_a_flaw_and_passes_where_nobody_can_be_asked(tmp_path, found, status, said, expected):
    report = tmp_path / "report.json"
    if found is not None:
        report.write_text(f'{{"dependencies": [{", ".join(found)}]}}')
    assert load("audited").told(report, status, said) == expected


def test_every_pin_is_exact() -> None:
    lines = (CI / "constraints.txt").read_text().splitlines()
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+(; .+)?|#.*", line) for line in lines)


def test_an_archive_tells_nothing_of_where_and_when_it_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("setuptools")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    build = load("build")

    def packed(*, time: int, mode: int, owner: str, names: list[str]) -> tuple[bytes, bytes]:
        tar, wheel = io.BytesIO(), io.BytesIO()
        with tarfile.open(fileobj=tar, mode="w:gz") as archive, zipfile.ZipFile(wheel, "w") as zipped:
            for name in names:
                member = tarfile.TarInfo(name)
                member.size, member.mtime, member.mode, member.uid, member.uname = 4, time, mode, time % 1000, owner
                archive.addfile(member, io.BytesIO(b"text"))
                entry = zipfile.ZipInfo(name, (2000 + time % 20, 1, 1, 0, 0, 0))
                entry.external_attr = mode << 16
                zipped.writestr(entry, b"text")
        return build.of_tar(tar.getvalue()), build.of_zip(wheel.getvalue())

    one = packed(time=1, mode=0o644, owner="a", names=["x/a", "x/b", "x/RECORD"])
    assert one == packed(time=1_600_000_003, mode=0o600, owner="b", names=["x/RECORD", "x/b", "x/a"])
    assert zipfile.ZipFile(io.BytesIO(one[1])).namelist() == ["x/a", "x/b", "x/RECORD"]
    with tarfile.open(fileobj=io.BytesIO(one[0])) as archive:
        assert {member.mtime for member in archive} == {1_700_000_000}


def test_ci_runs_the_audit_and_the_builds() -> None:
    run = (CI / "run").read_text()
    for script in ("audit", "reproducible"):
        assert f"bash .ci/{script}\n" in run
        assert os.access(CI / script, os.X_OK)
