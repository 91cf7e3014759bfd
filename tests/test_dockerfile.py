"""What a Dockerfile copies."""

from __future__ import annotations

import pytest
from mcp_migrate.dockerfile import Copy, copies, missing


def test_instructions_are_found_in_all_their_forms():
    text = """\
# COPY comment.py .
FROM python:3.12 AS build
copy a.py b.py /app/
ADD --chown=app:app --link c.py /app/
COPY --from=build /x.py /app/
COPY ["d e.py", "./"]
COPY f.py \\
  # between

  g.py /app/
ADD https://example.org/h.py /app/
COPY <<EOF /app/i.py
RUN cp COPY j.py
"""
    assert list(copies(text)) == [
        Copy(3, ("a.py", "b.py")), Copy(4, ("c.py",)), Copy(6, ("d e.py",)), Copy(7, ("f.py", "g.py")), Copy(11, ()),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("COPY server.py .\n", 1),
        ("FROM x\nCOPY requirements.txt ./server.py /app/\n", 2),
        ("COPY server.py .\nCOPY other/ .\n", 1),
        ("COPY . .\n", None),
        ("COPY ./ /app/\nCOPY server.py /app/main.py\n", None),
        ("COPY *.py .\n", None),
        ("COPY server.py mcp_stateless.py .\n", None),
        ("COPY requirements.txt .\n", None),
        ("COPY a/server.py .\n", None),
    ],
)
def test_a_file_that_is_copied_alone_leaves_its_neighbour_behind(text, line):
    found = missing(copies(text), "server.py", "mcp_stateless.py")
    assert (found and found.line) == line


@pytest.mark.parametrize("text", ["COPY app app\n", "COPY app/*.py app/\n", "COPY a*/ x/\n"])
def test_a_folder_takes_all_that_is_in_it(text):
    assert missing(copies(f"COPY app/server.py .\n{text}"), "app/server.py", "app/mcp_stateless.py") is None
