"""Files are replaced whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from mcp_migrate import files


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def test_content_is_replaced_and_the_mode_stays(tmp_path: Path) -> None:
    path = tmp_path / "app.py"
    path.write_bytes(b"old\r\n")
    path.chmod(0o751)
    files.write(path, b"new\r\n")
    assert path.read_bytes() == b"new\r\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o751
    assert names(tmp_path) == ["app.py"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_the_owner_stays(tmp_path: Path) -> None:
    path = tmp_path / "app.py"
    path.write_bytes(b"old")
    os.chown(path, 12345, 12346)
    files.write(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 12346)


def test_a_link_still_leads_to_the_file_that_changed(tmp_path: Path) -> None:
    real, link = tmp_path / "real" / "app.py", tmp_path / "app.py"
    real.parent.mkdir()
    real.write_bytes(b"old")
    link.symlink_to(real)
    files.write(link, b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"


def test_a_reader_with_the_file_open_never_sees_half_of_it(tmp_path: Path) -> None:
    path = tmp_path / "app.py"
    path.write_bytes(b"old")
    with path.open("rb") as reader:
        files.write(path, b"new and longer")
        assert reader.read() == b"old"


def test_a_failure_leaves_the_file_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "app.py"
    path.write_bytes(b"old")
    with pytest.raises(TypeError):
        files.write(path, "no bytes")  # type: ignore[arg-type]
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["app.py"]


def test_an_interrupt_leaves_the_file_and_nothing_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "app.py"
    path.write_bytes(b"old")

    def interrupt(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        files.write(path, b"new")
    with pytest.raises(KeyboardInterrupt):
        files.create(tmp_path / "new.py", b"new")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["app.py"]


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write everything")
def test_a_read_only_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "app.py"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(PermissionError):
        files.write(path, b"new")
    assert path.read_bytes() == b"old"


def test_a_file_that_is_gone_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        files.write(tmp_path / "app.py", b"new")
    assert names(tmp_path) == []


def test_a_new_file_is_written_with_the_mode_of_new_files(tmp_path: Path) -> None:
    files.create(tmp_path / "new.py", b"new")
    (tmp_path / "other.py").touch()
    assert (tmp_path / "new.py").read_bytes() == b"new"
    assert (tmp_path / "new.py").stat().st_mode == (tmp_path / "other.py").stat().st_mode


def test_a_new_file_never_takes_the_place_of_another(tmp_path: Path) -> None:
    (tmp_path / "new.py").write_bytes(b"old")
    with pytest.raises(FileExistsError):
        files.create(tmp_path / "new.py", b"new")
    assert (tmp_path / "new.py").read_bytes() == b"old"
