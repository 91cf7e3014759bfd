"""Makes docs/demo.svg: what a terminal shows of a migration, from a real run on a fixture: `python docs/demo.py`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from io import StringIO
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs/demo.svg"
SERVER = ROOT / "fixtures/servers/notes_chain/before"
COLUMNS = 100
# A command, how many of its lines are shown, and whether these are the last ones.
CALL = '--call \'search_notes {"word": "milk"} => groceries\''
RUNS = (
    ("mcp-migrate verify --stdio 'python server.py' -q", 6, False),
    ("mcp-migrate check", 11, False),
    ("mcp-migrate fix", 8, False),
    ("mcp-migrate verify --stdio 'python server.py' --against HEAD --call 'search_notes {\"word\": \"a\"}'", 10, False),
)
# What rich makes, without the font that it would load from elsewhere.
_FONT = re.compile(r"\s*@font-face \{.*?\}\n", re.DOTALL)


def seen() -> str:
    """All that the terminal shows, with its escapes."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(shutil.copytree(SERVER, Path(scratch, "notes")))
        for argv in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "notes"]):
            subprocess.run(["git", *argv], cwd=folder, check=True)
        return "".join(f"\x1b[1;32m$\x1b[0m \x1b[1m{command}\x1b[0m\n{_cut(_shown(command, folder), *cut)}\n" for command, *cut in RUNS)


def _cut(text: str, most: int, last: bool) -> str:
    lines = text.strip("\n").split("\n")
    if len(lines) <= most:
        return "\n".join(lines) + "\n"
    dots = "\x1b[90m...\x1b[0m"
    return "\n".join([dots, *lines[-most:]] if last else [*lines[:most], dots]) + "\n"


def _shown(command: str, folder: Path) -> str:
    """What a terminal shows of a command."""
    import fcntl
    import struct
    import termios

    leader, follower = os.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    variables = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES")}
    process = subprocess.Popen(
        ["sh", "-c", command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=follower,
        env={**variables, "PATH": path, "TERM": "xterm-256color", "PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    os.close(follower)
    data = b""
    try:
        while piece := os.read(leader, 65536):
            data += piece
    except OSError:  # how Linux says that the other side was closed
        pass
    os.close(leader)
    if process.wait() not in (0, 1):
        raise SystemExit(f"{command} went wrong:\n{data.decode()}")
    return data.decode().replace("\r\n", "\n")


def picture(text: str) -> str:
    """A terminal's text as SVG."""
    from rich.console import Console
    from rich.text import Text

    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True, legacy_windows=False)
    console.print(Text.from_ansi(text.rstrip("\n")), soft_wrap=False)
    return _FONT.sub("", console.export_svg(title="mcp-migrate", unique_id="demo")).replace(
        "Fira Code", "ui-monospace, Menlo, Consolas, DejaVu Sans Mono"
    )


if __name__ == "__main__":
    PICTURE.write_text(picture(seen()), encoding="utf-8")
