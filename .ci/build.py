"""Builds the source distribution, and the wheel from it, with nothing of the machine in them: `python .ci/build.py FOLDER` in a checkout.

What setuptools packs has the times, modes and owners of the files as they lie there. Everything gets those of the commit: the time of
SOURCE_DATE_EPOCH, and the modes that git knows.
"""

from __future__ import annotations

import gzip
import io
import os
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

from setuptools import build_meta

EPOCH = int(os.environ["SOURCE_DATE_EPOCH"])


def main(target: Path) -> None:
    target.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as name:
        source = Path(name, build_meta.build_sdist(name))
        packed = target / source.name
        packed.write_bytes(of_tar(source.read_bytes()))
        with tarfile.open(packed) as archive:
            archive.extractall(name, filter="data")
        os.chdir(source.with_name(source.name.removesuffix(".tar.gz")))
        wheel = Path(name, build_meta.build_wheel(name))
        (target / wheel.name).write_bytes(of_zip(wheel.read_bytes()))


def of_tar(data: bytes) -> bytes:
    """The same archive, in the order of its names."""
    out = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(data)) as old,
        gzip.GzipFile(fileobj=out, mode="wb", filename="", mtime=EPOCH) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in sorted(old.getmembers(), key=lambda one: one.name):
            file = old.extractfile(member) if member.isfile() else None
            member.mtime, member.uid, member.gid, member.uname, member.gname, member.pax_headers = EPOCH, 0, 0, "", "", {}
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            new.addfile(member, file)
    return out.getvalue()


def of_zip(data: bytes) -> bytes:
    """The same archive, in the order of its names, its RECORD last."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in sorted(old.namelist(), key=lambda one: (one.endswith("/RECORD"), one)):
            entry = zipfile.ZipInfo(name, time.gmtime(max(EPOCH, 315532800))[:6])  # a zip knows no time before 1980
            entry.compress_type, entry.external_attr, entry.create_system = zipfile.ZIP_DEFLATED, 0o100644 << 16, 3
            new.writestr(entry, old.read(name))
    return out.getvalue()


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
